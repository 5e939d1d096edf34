// Attention of the sample's heads on the example sentences, and what the model makes of them without each head.
import type { BuildTools } from '../../../build-tools.mts';
import { EXAMPLES } from '../patterns/patterns';

export async function build(tools: BuildTools): Promise<void> {
  const attended = EXAMPLES.map(async ({ reading }) => {
    const answer = await tools.eigenscope('attend', tools.sample, '--text', reading, '--weights', '--ablate', 'each');
    const short = (keys: number[]) => keys.map((weight) => Number(weight.toFixed(4)));
    const weights = answer.weights.map((row: { weights: number[][] }) => ({ ...row, weights: row.weights.map(short) }));
    return [reading, tools.rounded({ ...answer, weights }, 4)];
  });
  tools.write('sample-texts.json', Object.fromEntries(await Promise.all(attended)));
}

// Predicted against measured attention of the sample, whose weights the page does not have, for each source of statistics.
import type { BuildTools } from '../../../build-tools.mts';

export async function build(tools: BuildTools): Promise<void> {
  const answers = tools.statistics.map(async (source) => [source, await tools.prediction(source)]);
  tools.write('sample-predictions.json', tools.rounded(Object.fromEntries(await Promise.all(answers)), 4));
}

// Predicted against measured attention of the sample, whose weights the page does not have, for each source of statistics.
import type { BuildTools } from '../../../build-tools.mts';

export async function build(tools: BuildTools): Promise<void> {
  const answers = tools.statistics.map(async (source) => [source, await tools.prediction(source)]);
  // Levels that add to the one before: what the first and the last of them explain.
  const levels: { explains: string }[] = tools.schema['x-predictor-levels'];
  const nested = levels.filter(({ explains }) => explains !== '').length;
  const { summary } = await tools.prediction('zipf');
  // Two digits: the third depends on how many rows are sampled.
  const rank = (level: number) => Number(summary[level].entropy_rank_correlation.toFixed(2));
  tools.values('heads', { entropy_rank: { first: rank(0), last: rank(nested - 1) } });
  tools.write('sample-predictions.json', tools.rounded(Object.fromEntries(await Promise.all(answers)), 4));
}

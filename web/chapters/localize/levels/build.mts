// The attention entropy of the sample's heads at every level that adds to the one before.
import type { BuildTools } from '../../../build-tools.mts';

const RANK = 'entropy_rank_correlation';

export async function build(tools: BuildTools): Promise<void> {
  const levels: { explains: string }[] = tools.schema['x-predictor-levels'];
  const nested = levels.filter(({ explains }) => explains !== '').length;
  const zipf = await tools.prediction('zipf');
  const summary: Record<string, number>[] = zipf.summary.slice(0, nested);
  tools.write(
    'sample-levels.json',
    tools.rounded(
      {
        heads: zipf.layer.map((layer: number, i: number) => ({
          layer,
          head: zipf.head[i],
          measured: zipf.measured_entropy[i],
          predicted: zipf.entropy[i].slice(0, nested),
        })),
        summary: summary.map((row) => ({
          rank_correlation: row[RANK],
          low: row[`${RANK}_low`],
          high: row[`${RANK}_high`],
          error: row.entropy_mean_absolute_error,
        })),
      },
      4,
    ),
  );
  // The step of the tour that shows trained heads has no state of its own to measure.
  tools.values('localize', { trained: { first: summary[0][RANK], last: summary[nested - 1][RANK] } });
}

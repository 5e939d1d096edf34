// How well each quantity of the theory ranks the heads by their measured attention. The theory is that of sequences as
// long as the passages.
import type { BuildTools } from '../../../build-tools.mts';
import { onText } from '../heads/build.mts';
import { CORRELATIONS, quantityOf } from './rows';

export async function build(tools: BuildTools): Promise<void> {
  const { eigenscope, passages, sample } = tools;
  const { covariances, measured: attention } = await onText(tools);
  const [length, tokens] = passages;
  const identity = (await eigenscope('heads', sample, length, tokens)).heads;
  const theories = Object.entries({ identity, ...covariances });
  const ranked = CORRELATIONS.map(async ({ quantity, measured }) => {
    const b = attention.map((row) => row[measured]).join();
    const rank = async (rows: Parameters<typeof quantityOf>[0][]) => {
      const a = rows.map((row) => quantityOf(row, quantity)).join();
      return (await eigenscope('rank-correlation', `--a=${a}`, `--b=${b}`)).rank_correlation as number;
    };
    const found = theories.map(async ([covariance, rows]) => [covariance, await rank(rows as never)]);
    return Object.fromEntries(await Promise.all(found)) as Record<string, number>;
  });
  tools.write('correlations.json', tools.rounded(await Promise.all(ranked), 6));
}

// The heads of the sample: eigenvalues, traces with the covariances that its tokens have, and attention on passages of
// the text. The first passages are measured; random ones give the covariance.
import type { BuildTools } from '../../../build-tools.mts';
import { withoutConjugates } from '../../../heads/conjugates';
import { FREE_TRACES, MEASURED } from '../../../heads/traces';

type Row = Record<string, number>;

const pick = (row: Row, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, row[name]]));

/** Rows of the sample's heads with each covariance other than the identity, and their measured attention. */
export async function onText({ defaults, eigenscope, passages, sample, text }: BuildTools) {
  const drawn = [...passages, '--seed', defaults('localize').seed];
  const rows = async (...words: Parameters<typeof eigenscope>) => (await eigenscope(...words)).heads as Row[];
  const [embeddings, layer, random, measured] = await Promise.all([
    rows('heads', sample, '--frame', 'embeddings'),
    rows('layer-spectra', sample, '--file', text, ...drawn),
    rows('layer-spectra', sample, ...drawn),
    rows('attend', sample, '--file', text, ...passages),
  ]);
  return { covariances: { embeddings, layer, random }, measured };
}

export async function build(tools: BuildTools): Promise<void> {
  const { rounded } = tools;
  const { length, tokens } = tools.defaults('localize');
  const words = ['--eigenvalues', '--length', length, '--tokens', tokens];
  const { heads } = await tools.eigenscope('heads', tools.sample, ...words);
  const { covariances, measured } = await onText(tools);
  const known = heads.map(({ singular_values: _, eigenvalues, ...head }: HeadRow, i: number) => {
    const traces = Object.entries(covariances).map(([name, rows]) => [name, pick(rows[i], FREE_TRACES)]);
    return {
      ...rounded({ ...head, eigenvalues: rounded(withoutConjugates(eigenvalues).flat(), 4) }, 6),
      traces: rounded(Object.fromEntries(traces), 6),
      measured: rounded(pick(measured[i], MEASURED), 6),
    };
  });
  tools.write('sample.json', known);

  const asymmetries = heads
    .map(({ eta_s, eta_f }: HeadRow) => eta_f / Math.abs(eta_s))
    .sort((a: number, b: number) => a - b);
  tools.values('heads', {
    count: heads.length,
    normality: { median: median(asymmetries), least: asymmetries[0], most: asymmetries.at(-1) },
  });
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}

interface HeadRow {
  eigenvalues: [number, number][];
  singular_values: unknown; // nothing on the page shows them
  eta_s: number;
  eta_f: number;
}

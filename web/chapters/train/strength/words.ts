// What the figure of the experiment in the paper's setting shows.
import { short } from '../../../charts/format';
import type { Regularizer } from '../../../engine/protocol';
import type { CellTrial } from '../experiments/cells';
import type { PublishedResults } from '../experiments/results';
import { isInsignificant, testedOf, testText, type Tested } from '../experiments/rows';
import { regularizers } from '../methods';

/** A form of the regularizer, `none`, or a model that replaces attention by nothing. */
export type Form = Regularizer | 'no-attention';

/** A method of the grid: a form at one strength; null for none. */
export interface Strength {
  method: string;
  form: Form;
  strength: number | null;
}

/** The methods in the grid's order. */
export function strengthsOf({ grid }: PublishedResults): Strength[] {
  return Object.entries(grid.axes.method!).map(([method, settings]) => ({
    method,
    form: settings.attention === 'none' ? 'no-attention' : ((settings.regularizer ?? 'none') as Regularizer),
    strength: typeof settings.scale_weight === 'number' ? settings.scale_weight : null,
  }));
}

/** Places on a logarithmic axis of strengths: of no regularizer a tenth of the least, which the axis can name. */
export function strengthPlaces(methods: readonly Strength[]) {
  const strengths = [...new Set(methods.flatMap(({ strength }) => strength ?? []))];
  const none = Math.min(...strengths) / 10; // logarithmic axes name powers of ten only
  return { none, strengths, of: (strength: number | null) => strength ?? none };
}

/** The place and the value of runs of this tab, with or without regularizer. */
export function strengthsTrained(
  results: PublishedResults,
  trials: readonly CellTrial[],
  value: 'perplexity' | 'entropy',
) {
  const methods = strengthsOf(results);
  return trials.map(({ choice, final }) => ({
    biases: choice.axes.query_key_bias!,
    strength: methods.find(({ method }) => method === choice.axes.method)!.strength,
    value: final[value],
  }));
}

/** Perplexities above this multiple of the highest without regularizer would flatten all others. */
const CUT = 1.1;

/** The value above which points stand at the upper edge of their panel, with their number. */
export function cutOf(points: readonly StrengthPoint[], value: 'perplexity' | 'entropy'): number {
  if (value === 'entropy') return Infinity;
  const baselines = points.filter(({ form }) => form === 'none');
  return CUT * Math.max(...baselines.map(({ perplexity }) => perplexity.mean));
}

export const formName = (form: Form) => (form === 'no-attention' ? 'no attention' : regularizers[form]);

export function strengthName({ form, strength }: Strength): string {
  return strength === null ? formName(form) : `${formName(form)}, ${strength}`;
}

/** The runs of a method with or without the biases of queries and keys. */
export interface StrengthPoint extends Strength {
  biases: string;
  runs: number;
  failures: number;
  perplexity: Tested;
  entropy: Tested;
}

/** Those that have a run, in the grid's order. */
export function strengthPoints(results: PublishedResults): StrengthPoint[] {
  return strengthsOf(results).flatMap((it) =>
    results.summary
      .filter(({ axes, perplexity }) => axes.method === it.method && perplexity.mean !== null)
      .map(({ axes, runs, failures, perplexity, entropy }) => ({
        ...it,
        biases: axes.query_key_bias!,
        runs,
        failures,
        perplexity: testedOf(perplexity),
        entropy: testedOf(entropy),
      })),
  );
}

/** The lowest perplexity with a regularizer beside that without, and which are significantly lower. */
export function strengthText(points: readonly StrengthPoint[]): string {
  const sentences = ['with', 'without'].flatMap((biases) => {
    const own = points.filter((point) => point.biases === biases);
    const baseline = own.find(({ form }) => form === 'none');
    const others = own.filter(({ strength }) => strength !== null);
    if (!baseline || others.length === 0) return [];
    const perplexity = (point: StrengthPoint) => point.perplexity.mean;
    const best = others.reduce((a, b) => (perplexity(b) < perplexity(a) ? b : a));
    const lower = others.filter(
      (point) => perplexity(point) < perplexity(baseline) && !isInsignificant(point.perplexity),
    );
    return (
      `Perplexity ${biases} biases: ${regularizers.none} ${perplexity(baseline).toFixed(1)} ` +
      `(entropy ${short(baseline.entropy.mean)}); lowest with a regularizer ` +
      `${perplexity(best).toFixed(1)}, ${strengthName(best)} (entropy ${short(best.entropy.mean)}; ` +
      `${testText(best.perplexity.p)}); significantly lower: ${lower.map(strengthName).join(', ') || 'none'}.`
    );
  });
  return sentences.join(' ');
}

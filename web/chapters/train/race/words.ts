import { count, short } from '../../../charts/format';
import type { Regularizer } from '../../../engine/protocol';
import { referTo } from '../../../ui/registry';
import { cellOf } from '../experiments/cells';
import { labelsOf, type PublishedCell, type PublishedResults } from '../experiments/results';
import { REGULARIZERS } from '../methods';
import type { Row } from '../runs/log';

/** A run as sentences on it see it. */
export interface JudgedRun {
  kind: Regularizer;
  name: string;
  rows: Row[];
}

/** Heads whose Frobenius variance is above this have a norm that nothing trained here needs. */
const RUNAWAY = 1000;

/** A variance that grew by this factor in a run did not shrink, whatever the seed. */
const GROWN = 1.5;

function signed(value: number): string {
  return value > 0 ? `+${short(value)}` : short(value);
}

/** The last rows of two runs at the same step; null when they have none in common but the first. */
function lastTogether(a: Row[], b: Row[]): [Row, Row] | null {
  for (let i = a.length - 1; i >= 0 && a[i].step > 0; i--) {
    const other = b.find(({ step }) => step === a[i].step);
    if (other) return [a[i], other];
  }
  return null;
}

const rangeText = (range: readonly [number, number]) => range.map(signed).join(' to ');

/** The differences of one seed from the baseline, beside those of the published seeds. */
function against(run: JudgedRun, baseline: JudgedRun, spread: SeedSpread | undefined): string {
  const pair = lastTogether(run.rows, baseline.rows);
  if (!pair) return '';
  const [own, other] = pair.map(({ value }) => value);
  const loss = own.bits_per_byte - other.bits_per_byte;
  const entropy = own.entropy - other.entropy;
  const numbers =
    `${run.name} against ${baseline.name} at step ${pair[0].step}, one seed: loss ${signed(loss)} bits ` +
    `per byte, entropy ${signed(entropy)}`;
  const expected = REGULARIZERS[run.kind].shrinks ? '; the paper expects a lower loss and a higher entropy' : '';
  const seeds =
    spread &&
    ` Over ${spread.seeds} seeds of ${referTo('published')} (${count(spread.steps)} steps on Moby Dick, own ` +
      `settings) they range from ${rangeText(spread.loss)} and from ${rangeText(spread.entropy)}.`;
  return `${numbers}${expected}.${seeds ?? ''}`;
}

/** Which runs end above what a table of bigrams reaches on the same text, for which attention is not needed. */
function aboveBigrams(runs: readonly JudgedRun[]): string {
  const ends = runs.flatMap(({ name, rows }) => {
    const last = rows.at(-1);
    return last && last.step > 0 ? [{ name, value: last.value }] : [];
  });
  const above = ends.filter(({ value }) => value.bits_per_byte > value.bigram_bits);
  if (above.length === 0) return '';
  const level = short(above[0].value.bigram_bits);
  const names = above.map(({ name }) => name).join(' and of ');
  return (
    `A table of bigrams, which has no attention, reaches ${level} bits per byte on the same text; ` +
    `the loss of ${names} is above that.`
  );
}

function runaway({ name, rows }: JudgedRun): string {
  const variance = rows.at(-1)?.value.variance_frobenius ?? 0;
  if (!(variance > RUNAWAY)) return '';
  return `Warning: with this seed the norm of W_QK in ${name} diverged (Frobenius variance ${short(variance)}).`;
}

/** Whether the scale of W_QK grew although the regularizer is to shrink it. */
function grown({ kind, name, rows }: JudgedRun, baseline: JudgedRun | undefined): string {
  const [first, last] = [rows[0]?.value, rows.at(-1)?.value];
  const { shrinks } = REGULARIZERS[kind];
  if (!shrinks || !first || !last) return '';
  const [from, to] = [first.variance_frobenius, last.variance_frobenius];
  if (!(to > GROWN * from) || to > RUNAWAY) return '';
  const other = baseline?.rows.at(-1)?.value.variance_frobenius ?? NaN;
  const beside = Number.isFinite(other) ? ` (${baseline?.name}: ${short(other)})` : '';
  const trace = [first.variance, last.variance].map(short).join(' to ');
  const penalized =
    shrinks === 'variance_frobenius'
      ? ', which it penalizes'
      : `; the trace variance, which it penalizes, changed from ${trace}`;
  return (
    `${name} should shrink W_QK, but with this seed the Frobenius variance rose ${short(to / from)} times, ` +
    `to ${short(to)}${beside}${penalized}.`
  );
}

/** Each run against the one without a regularizer, in sentences. `spreads` are those of published runs, where they are known. */
export function comparisonText(runs: JudgedRun[], spreads: ReadonlyMap<string, SeedSpread> = new Map()): string {
  const [baseline, others] = divided(runs);
  const compared = baseline ? others.map((run) => against(run, baseline, spreads.get(run.kind))) : [];
  return compared.filter(Boolean).join(' ');
}

/** Which runs are above the loss of a bigram table, whose scales grew although they are regularized, and whose norms ran away. */
export function warningsText(runs: JudgedRun[]): string {
  const [baseline, others] = divided(runs);
  const scales = others.map((run) => grown(run, baseline));
  return [aboveBigrams(runs), ...scales, ...runs.map(runaway)].filter(Boolean).join(' ');
}

function divided(runs: JudgedRun[]): [JudgedRun | undefined, JudgedRun[]] {
  const baseline = runs.find(({ kind }) => kind === 'none');
  return [baseline, runs.filter((run) => run !== baseline)];
}

// How much the differences from the baseline vary over the seeds of published runs.

/** The smallest and the largest difference of a method from the baseline, over seeds. */
export interface SeedSpread {
  seeds: number;
  /** Training steps of those runs. */
  steps: number;
  /** In bits per byte. */
  loss: [number, number];
  entropy: [number, number];
}

/** Of the methods of an experiment that has no other axis, by their labels. */
export function spreadsOf(results: PublishedResults): Map<string, SeedSpread> {
  const spreads = new Map<string, SeedSpread>();
  for (const method of labelsOf(results, 'method').filter((it) => it !== 'none')) {
    const pairs = results.cells.flatMap((own): [PublishedCell, PublishedCell][] => {
      const baseline = cellOf(results, { axes: { method: 'none' }, seed: own.seed });
      return own.axes.method === method && baseline ? [[own, baseline]] : [];
    });
    const range = (name: 'bits_per_byte' | 'entropy'): [number, number] => {
      const differences = pairs.map(([own, baseline]) => own.final[name]! - baseline.final[name]!);
      return [Math.min(...differences), Math.max(...differences)];
    };
    if (pairs.length > 0)
      spreads.set(method, {
        seeds: pairs.length,
        steps: Number(results.grid.settings.steps),
        loss: range('bits_per_byte'),
        entropy: range('entropy'),
      });
  }
  return spreads;
}

/** How a run of one seed differs from the baseline at the last common step, beside the published seeds. */
interface Verdict {
  kind: Regularizer;
  /** Loss minus that of the baseline, in bits per byte. */
  loss: number;
  /** The smallest and the largest difference over the published seeds, where there are some. */
  band?: readonly [number, number];
  text: string;
}

/** The verdicts on all runs but the baseline, where they have a step in common with it. */
export function verdictsOf(runs: readonly JudgedRun[], spreads: ReadonlyMap<string, SeedSpread>): Verdict[] {
  const baseline = runs.find(({ kind }) => kind === 'none');
  return runs.flatMap((run): Verdict[] => {
    const pair = baseline && run !== baseline ? lastTogether(run.rows, baseline.rows) : null;
    if (!pair) return [];
    const loss = pair[0].value.bits_per_byte - pair[1].value.bits_per_byte;
    const { step } = pair[0];
    // The cards show the last step of each run, which may be another one.
    const isLast = [run, baseline!].every(({ rows }) => rows.at(-1)!.step === step);
    const at = `step ${count(step)}${isLast ? '' : ', the last that both have'}`;
    const spread = spreads.get(run.kind);
    // Their rate, steps and text are others, so that the run is not judged by them.
    const band = spread ? `; band: ${spread.seeds} seeds of ${referTo('published')}` : '';
    const text = `${run.name} minus baseline at ${at}, one seed: ${signed(loss)} bits per byte${band}`;
    return [{ kind: run.kind, loss, text, ...(spread && { band: spread.loss }) }];
  });
}

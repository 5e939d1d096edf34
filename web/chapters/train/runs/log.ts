import type { RunHeadMeasure, RunMeasure, RunRows, Training } from '../../../engine/protocol';
import { REFERENCES, type Reference } from '../experiments/results';
import type { State } from '../state';

/** The parts of the logits' variance, which add up to it; each is a covariance and may be negative. */
export const LOGIT_PARTS = [
  'content_content',
  'content_position',
  'position_position',
  'bias_part',
  'sink_part',
] as const satisfies readonly RunHeadMeasure[];
export type LogitPart = (typeof LOGIT_PARTS)[number];

/** What is kept of a run's log; of heads and layers the mean over those that have a value. */
export type Shown =
  | 'bits_per_byte'
  | 'train_bits'
  | `${Reference}_bits`
  | 'entropy'
  | 'entropy_bound'
  | 'variance'
  | 'variance_modulus'
  | 'variance_frobenius'
  | 'localization'
  | 'residual'
  | 'loss'
  | 'perplexity'
  | 'sensitivity'
  | 'gradient_query_key'
  | 'self_mass'
  | 'self_reference'
  | 'logit_variance'
  | LogitPart;

/** A head's place in the units of the phase map. */
export interface HeadPlace {
  /** xi / lambda. */
  x: number;
  /** sqrt(eta_F) / lambda. */
  y: number;
}

/** One moment of a run. NaN where there is nothing. */
export interface Row {
  step: number;
  value: Record<Shown, number>;
  /** Layer by layer. */
  heads: HeadPlace[];
  /** What alarms watch, by the names of the published thresholds; none in recorded runs. */
  signals: Readonly<Record<string, number>>;
}

/** More rows than this are thinned to every second: what a run keeps does not grow with its steps. */
export const MOST_ROWS = 4096;

const HEAD_MEANS = [
  'entropy',
  'entropy_bound',
  'localization',
  'variance',
  'variance_modulus',
  'variance_frobenius',
  'sensitivity',
  'self_mass',
  'self_reference',
  'logit_variance',
  ...LOGIT_PARTS,
] as (Shown & RunHeadMeasure)[];

/** The extremes of a measure over the heads that have one, by the names of alarms; NaN where none has. */
function extremesOf(name: string, values: Float64Array): Record<string, number> {
  const known = values.filter((value) => !Number.isNaN(value));
  const of = (extreme: (...all: number[]) => number) => (known.length > 0 ? extreme(...known) : NaN);
  return { [`${name}.largest`]: of(Math.max), [`${name}.smallest`]: of(Math.min) };
}

/** Mean of those that are numbers; NaN for none. */
function meanOf(values: ArrayLike<number>): number {
  const known = Array.from(values).filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** The part of a row-major table that belongs to row `at` of `rows`. */
function rowOf(table: Float64Array, rows: number, at: number): Float64Array {
  const width = table.length / rows;
  return table.subarray(at * width, (at + 1) * width);
}

/** The engine's rows as the page keeps them. */
export function rowsOf(log: RunRows, { width, heads }: Pick<Training, 'width' | 'heads'>): Row[] {
  const count = log.step.length;
  const lambda = Math.sqrt(width / heads);
  const value = (name: RunMeasure, at: number) => log.run[name][at];
  // A byte for a token, or as many as the validation text has.
  const bits = (name: RunMeasure, at: number) => (value(name, at) * value('bits_per_byte', at)) / value('loss', at);
  return Array.from(log.step, (step, at) => {
    const means = HEAD_MEANS.map((name) => [name, meanOf(rowOf(log.heads[name], count, at))]);
    const spread = rowOf(log.heads.eta_f, count, at);
    return {
      step,
      value: {
        ...(Object.fromEntries(means) as Record<(typeof HEAD_MEANS)[number], number>),
        bits_per_byte: value('bits_per_byte', at),
        loss: value('loss', at),
        perplexity: value('perplexity', at),
        gradient_query_key: value('gradient_query_key', at),
        train_bits: bits('train_loss', at),
        ...Object.fromEntries(REFERENCES.map((name) => [`${name}_bits`, bits(`${name}_loss`, at)])),
        residual: meanOf(rowOf(log.layers.residual, count, at)),
      } as Record<Shown, number>,
      heads: Array.from(rowOf(log.heads.mean, count, at), (mean, head) => ({
        x: (mean * width) / lambda,
        y: Math.sqrt(spread[head]) / lambda,
      })),
      signals: {
        train_loss: value('train_loss', at),
        bits_per_byte: value('bits_per_byte', at),
        gradient_norm: value('gradient_norm', at),
        last_residual: rowOf(log.layers.residual, count, at).at(-1)!,
        ...Object.assign(
          {},
          ...Object.entries(log.heads).map(([name, values]) => extremesOf(name, rowOf(values, count, at))),
        ),
      },
    };
  });
}

/** The losses of tables of n-grams on the text of a row, in bits per byte. */
export function referencesOf({ value }: Row): Record<Reference, number> {
  return Object.fromEntries(REFERENCES.map((name) => [name, value[`${name}_bits`]])) as Record<Reference, number>;
}

/** Rows with newer ones after them: a step that both have is the newer's; too many are thinned. */
export function joined(old: Row[], fresh: Row[]): Row[] {
  if (fresh.length === 0) return old;
  let all = [...old.filter(({ step }) => step < fresh[0].step), ...fresh];
  while (all.length > MOST_ROWS) {
    const last = all.length - 1;
    all = all.filter((_, i) => i % 2 === 0 || i === last);
  }
  return all;
}

/** The step that the state's `moment` names; Infinity for the newest. */
export function momentOf({ moment }: Pick<State, 'moment'>): number {
  return /^\d+$/.test(moment) ? Number(moment) : Infinity;
}

/** The rows up to a step. */
export function upTo(rows: Row[], step: number): Row[] {
  return rows.filter((row) => row.step <= step);
}

// A results file of web/results/experiments, which figures fetch.

import { count } from '../../../charts/format';

/**
 * One measure over the runs of a combination of labels; with a baseline, against its runs of the same seeds: mean
 * difference with its 95% interval, and the p value of the paired t test corrected by Holm's method. Measures that
 * the plan does not test have no interval and no such p value.
 */
export interface Comparison {
  runs: number;
  mean: number | null;
  deviation: number | null;
  difference?: number | null;
  low?: number | null;
  high?: number | null;
  holm?: number | null;
}

/** A mean over runs with its standard error, NaN for one run. */
export interface MeanError {
  mean: number;
  error: number;
}

export function meanErrorOf({ runs, mean, deviation }: Comparison): MeanError {
  return { mean: mean ?? NaN, error: (deviation ?? NaN) / Math.sqrt(runs) };
}

/** Measures over runs that figures show. */
const COMPARED = ['bits_per_byte', 'perplexity', 'entropy'] as const;

/** One combination of labels. */
interface SummaryRow extends Record<(typeof COMPARED)[number], Comparison> {
  axes: Record<string, string>;
  runs: number;
  failures: number;
}

/** Measures of the untrained model that may tell how well it can be trained. */
export const PREDICTORS = [
  'entropy',
  'last_residual',
  'self_mass',
  'localization',
  'logit_variance',
  'mean',
  'variance',
  'variance_frobenius',
  'sensitivity',
] as const;
export type Predictor = (typeof PREDICTORS)[number];

/** What plateaus may depend on; of each logged row after step 0. */
export const DRIVERS = ['gradient_query_key', 'sensitivity'] as const;
export type Driver = (typeof DRIVERS)[number];

/** One training run. An experiment keeps only some of the measures. */
export interface PublishedCell {
  axes: Record<string, string>;
  seed: number;
  /** At which step it stopped, and why, or ''. */
  failure: string;
  initial: Partial<Record<Predictor, number | null>>;
  final: Partial<Record<(typeof COMPARED)[number] | 'loss', number | null>>;
  /** First logged step with a loss below each of some losses; null for never. */
  below: Record<string, number | null>;
  curve: Partial<Record<Driver, (number | null)[]>>;
}

export type Setting = number | string;

/** What all runs of an experiment have in common, and what its axes set: see docs/cluster.md. */
export interface Grid {
  tokenizer?: string;
  min_count?: number;
  settings: Record<string, Setting>;
  axes: Record<string, Setting[] | Record<string, Record<string, Setting>>>;
  stages: { seeds: number; first_seed?: number }[];
}

/** What frequencies of tokens alone achieve on the text that the runs are scored on. */
export const REFERENCES = ['unigram', 'bigram', 'trigram'] as const;
export type Reference = (typeof REFERENCES)[number];

/** The results of an experiment. */
export interface PublishedResults {
  experiment: string;
  grid: Grid;
  /** In the unit of the final loss: bits per byte, or perplexity. */
  references: Record<Reference, number>;
  summary: SummaryRow[];
  /** With what each was asked for. */
  analysis: { kind: string; below?: number; tolerance?: number; excess?: number; rows: Record<string, unknown>[] }[];
  /** Logged steps after 0. */
  steps: number[];
  cells: PublishedCell[];
  /** Runs of the plan without a result: "method=none,learning_rate=0.003,seed=2". */
  missing: string[];
}

type Columns<Value> = Record<string, Value[]>;

/** The same as web/results/experiments/publish.py writes it, with its grid: runs as columns. */
export interface ResultsFile extends Omit<PublishedResults, 'steps' | 'cells'> {
  columns: {
    labels: Columns<string>;
    /** The place of each run's label among those of the axis. */
    axes: Columns<number>;
    seed: number[];
    /** By the place of the run. */
    failures: Record<string, string>;
    initial: Columns<number | null>;
    final: Columns<number | null>;
    below: Columns<number | null>;
    curve: { step?: number[] } & Partial<Record<Driver, (number | null)[][]>>;
  };
}

/** The results that a file holds. */
export function resultsOf({ columns, ...file }: ResultsFile): PublishedResults {
  const { labels, axes, seed, failures, initial, final, below } = columns;
  const { step = [], ...curves } = columns.curve;
  const at = <Value>(of: Columns<Value>, i: number) =>
    Object.fromEntries(Object.entries(of).map(([name, values]) => [name, values[i]]));
  const cells = seed.map((own, i) => ({
    axes: Object.fromEntries(Object.keys(axes).map((name) => [name, labels[name][axes[name][i]]])),
    seed: own,
    failure: failures[i] ?? '',
    initial: at(initial, i),
    final: at(final, i),
    below: at(below, i),
    curve: at(curves as Columns<(number | null)[]>, i),
  }));
  return { ...file, steps: step, cells };
}

/** The labels of an axis, in the grid's order. */
export function labelsOf({ grid }: PublishedResults, axis: string): string[] {
  const values = grid.axes[axis]!;
  return Array.isArray(values) ? values.map(String) : Object.keys(values);
}

/** The rows of one of the analyses; none where the experiment has no such. */
export function analysed<Row>({ analysis }: PublishedResults, kind: string): Row[] {
  return (analysis.find((it) => it.kind === kind)?.rows ?? []) as Row[];
}

/** How much of an experiment is published, where it is not everything. */
export function partText({ cells, missing }: PublishedResults): string {
  const planned = cells.length + missing.length;
  return missing.length > 0 ? `These are ${count(cells.length)} of ${count(planned)} planned runs.` : '';
}

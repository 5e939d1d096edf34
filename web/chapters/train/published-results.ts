// What the page has of a results file of docs/experiments; the build makes it, figures fetch it.

/** One measure over the runs of a combination of labels; with a baseline, against its runs of the same seeds. */
export interface Comparison {
  runs: number;
  mean: number | null;
  deviation: number | null;
  difference?: number | null;
  p?: number | null;
}

/** A mean over runs with its standard error, NaN for one run. */
export interface MeanError {
  mean: number;
  error: number;
}

export function meanErrorOf({ runs, mean, deviation }: Comparison): MeanError {
  return { mean: mean ?? NaN, error: (deviation ?? NaN) / Math.sqrt(runs) };
}

/** Measures of a summary that figures show; those of an experiment are among them. */
const COMPARED = ['bits_per_byte', 'perplexity', 'entropy'] as const;

/** One combination of labels. */
export interface SummaryRow extends Record<(typeof COMPARED)[number], Comparison> {
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

/** What is kept of every logged row, and at the end. */
const CURVE = ['step', 'bits_per_byte', 'sensitivity', 'gradient_query_key'] as const;
const FINAL = ['bits_per_byte', 'perplexity', 'entropy'] as const;

/** Values by their names; null where there is none. */
type Values<Name extends string> = Record<Name, number | null>;

/** One training run. */
export interface PublishedCell {
  axes: Record<string, string>;
  seed: number;
  /** At which step it stopped, and why, or ''. */
  failure: string;
  initial: Values<Predictor>;
  final: Values<(typeof FINAL)[number]>;
  /** Row by row; an experiment keeps only some of these. */
  curve: Partial<Record<(typeof CURVE)[number], (number | null)[]>>;
}

export type Setting = number | string;

/** What all runs of an experiment have in common, and what its axes set: see docs/cluster.md. */
export interface Grid {
  tokenizer?: string;
  min_count?: number;
  settings: Record<string, Setting>;
  axes: Record<string, Setting[] | Record<string, Record<string, Setting>>>;
  stages: { seeds: number }[];
}

/** A results file, as collect_results() (src/experiment/collect.h) makes it, or what the page has of it. */
export interface PublishedResults {
  experiment: string;
  grid: Grid;
  summary: SummaryRow[];
  /** With what each was asked for. */
  analysis: {
    kind: string;
    below?: number;
    tolerance?: number;
    rows: Record<string, unknown>[];
  }[];
  cells: PublishedCell[];
  /** Runs of the plan without a result: "method=none,learning_rate=0.003,seed=2". */
  missing: string[];
}

/** The named ones among the values of an object. */
function picked<Value>(of: Record<string, Value>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(names.filter((name) => name in of).map((name) => [name, of[name]]));
}

/** What the page has of a results file. */
export function publishedOf(results: PublishedResults): PublishedResults {
  const { experiment, grid, summary, analysis, cells, missing } = results;
  const { tokenizer, min_count, settings, axes, stages } = grid;
  return {
    ...{ experiment, analysis, missing },
    grid: { ...(tokenizer && { tokenizer, min_count }), settings, axes, stages },
    summary: summary.map((row) => ({
      ...{ axes: row.axes, runs: row.runs, failures: row.failures },
      ...picked(row as unknown as Record<string, unknown>, COMPARED),
    })) as SummaryRow[],
    cells: cells.map(({ axes, seed, failure, initial, final, curve }) => ({
      ...{ axes, seed, failure },
      initial: picked(initial, PREDICTORS) as PublishedCell['initial'],
      final: picked(final, FINAL) as PublishedCell['final'],
      // Only plateaus are drawn from curves, over what drives them.
      curve: 'sensitivity' in curve ? picked(curve, CURVE) : {},
    })),
  };
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
  return missing.length > 0 ? ` These are ${cells.length} of ${planned} planned runs.` : '';
}

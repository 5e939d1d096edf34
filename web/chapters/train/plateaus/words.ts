// What the figure on plateaus shows: how long runs stay at the loss of letter frequencies, and what that correlates with.
import { areEqual } from '../../../state/control';
import type { CellTrial } from '../experiments/cells';
import { analysed, labelsOf, type Driver, type PublishedResults } from '../experiments/results';

/** One run. */
export interface Plateau extends Record<Driver, number> {
  experiment: string;
  axes: Readonly<Record<string, string>>;
  seed: number;
  /** First logged step with a loss below the threshold; null when there is none. */
  step: number | null;
}

/** A logged row of a run after its first step. */
export interface LoggedRow extends Record<Driver, number> {
  experiment: string;
  axes: Readonly<Record<string, string>>;
  seed: number;
  step: number;
}

/** The loss, in bits per byte, above which a run has learned no more than letter frequencies. */
export function plateauThreshold({ analysis }: PublishedResults): number {
  return analysis.find(({ kind }) => kind === 'plateau')!.below!;
}

/** The runs that did not fail, with the drivers in the first logged row after step 0. */
export function plateausOf(results: PublishedResults): Plateau[] {
  const { experiment, cells } = results;
  const below = plateauThreshold(results);
  return cells
    .filter(({ failure }) => failure === '')
    .map(({ axes, seed, ...cell }) => ({
      experiment,
      axes,
      seed,
      step: cell.below[below],
      gradient_query_key: cell.curve.gradient_query_key?.[0] ?? NaN,
      sensitivity: cell.curve.sensitivity?.[0] ?? NaN,
    }));
}

/** The same of runs of this experiment that were trained in this tab. */
export function plateausTrained(results: PublishedResults, trials: readonly CellTrial[]): Plateau[] {
  const below = plateauThreshold(results);
  return trials.map(({ choice, rows }) => ({
    experiment: results.experiment,
    ...choice,
    step: rows.find(({ value }) => value.bits_per_byte < below)?.step ?? null,
    gradient_query_key: rows[1]?.value.gradient_query_key ?? NaN,
    sensitivity: rows[1]?.value.sensitivity ?? NaN,
  }));
}

/** Every logged row after step 0 of all runs. */
export function loggedRows({ experiment, steps, cells }: PublishedResults): LoggedRow[] {
  return cells.flatMap(({ axes, seed, curve: { gradient_query_key, sensitivity } }) =>
    steps
      .slice(0, sensitivity?.length)
      .map((step, i) => ({
        experiment,
        axes,
        seed,
        step,
        gradient_query_key: gradient_query_key?.[i] ?? NaN,
        sensitivity: sensitivity?.[i] ?? NaN,
      })),
  );
}

/** How the length of the plateau goes with one of the drivers, over runs. */
interface PlateauCorrelation {
  driver: Driver;
  runs: number;
  /** Runs that never come below. */
  never: number;
  rank_correlation: number | null;
}

/** How the gradient norm goes with the sensitivity over the logged rows of the same runs. */
interface DriverRelation {
  runs: number;
  /** Over the rows of all runs, and the mean of that within a run. */
  rank_correlation: number | null;
  mean_within_runs: number | null;
}

/** The runs of an experiment that are compared with each other: those with these labels. */
export interface PlateauPart {
  experiment: string;
  /** Of a part of the axes; of none where all runs are compared. */
  axes: Readonly<Record<string, string>>;
  correlations: PlateauCorrelation[];
  relation: DriverRelation;
}

/** In the grid's order of the labels. */
export function partsOf(results: PublishedResults): PlateauPart[] {
  type Row<Of> = Of & { axes?: Record<string, string> };
  const relations = analysed<Row<DriverRelation>>(results, 'relation');
  const parts: PlateauPart[] = [];
  for (const { axes = {}, ...row } of analysed<Row<PlateauCorrelation>>(results, 'plateau')) {
    const part = parts.find((it) => areEqual(it.axes, axes));
    if (part) {
      part.correlations.push(row);
      continue;
    }
    const relation = relations.find((it) => areEqual(it.axes ?? {}, axes))!;
    parts.push({ experiment: results.experiment, axes, correlations: [row], relation });
  }
  const place = ({ axes }: PlateauPart) =>
    Object.entries(axes).map(([axis, label]) => labelsOf(results, axis).indexOf(label));
  const order = (a: number[], b: number[]) => a.map((it, i) => it - b[i]).find(Boolean) ?? 0;
  return parts.sort((a, b) => order(place(a), place(b)));
}

/** Whether a run is of a part. */
export function isOf(part: PlateauPart, { experiment, axes }: Pick<Plateau, 'experiment' | 'axes'>): boolean {
  return part.experiment === experiment && Object.entries(part.axes).every(([axis, label]) => axes[axis] === label);
}

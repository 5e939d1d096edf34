// What the figure of the experiment on learning rates shows.
import { analysed, labelsOf, type PublishedResults } from '../experiments/results';
import { methodsOf, type MethodRow } from '../experiments/rows';

/** The runs of each method by rising learning rate; methods in the grid's order. */
export function ratesOf(results: PublishedResults): Map<string, MethodRow[]> {
  const methods = new Map<string, MethodRow[]>();
  const rows = methodsOf(results).sort((a, b) => a.rate - b.rate);
  for (const method of labelsOf(results, 'method')) {
    const points = rows.filter((row) => row.method === method);
    if (points.length > 0) methods.set(method, points);
  }
  return methods;
}

/** How a method's loss depends on the learning rate. */
interface RateSensitivity {
  method: string;
  /** Learning rates with runs. */
  values: number;
  /** The lowest mean loss over the learning rates, in bits per byte. */
  best: number | null;
  mean_excess: number | null;
  largest_stable: number | null;
  /** At each learning rate, how many runs came below a loss, and after how many steps on average. */
  points: {
    learning_rate: number;
    reached: { level: number; reached: number; runs: number; mean_step: number | null }[];
  }[];
}

/** Those of methods with runs at every learning rate. */
export function sensitivitiesOf(results: PublishedResults): RateSensitivity[] {
  const rates = labelsOf(results, 'learning_rate').length;
  return analysed<RateSensitivity>(results, 'sensitivity').filter(
    ({ values, mean_excess }) => values === rates && mean_excess !== null,
  );
}

/** Losses to which the steps of every run were counted. */
export function reachedLevels(results: PublishedResults): number[] {
  return sensitivitiesOf(results)[0]?.points[0]!.reached.map(({ level }) => level) ?? [];
}

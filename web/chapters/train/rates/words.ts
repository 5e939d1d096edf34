// What the figure of the experiment on learning rates shows.
import { analysed, labelsOf, type PublishedResults } from '../experiments/results';
import { methodsOf, signed, testText, type MethodRow } from '../experiments/rows';
import { methodName } from '../methods';

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
export interface RateSensitivity {
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

/** What the named methods have, and which method is best: their excess, lowest loss and largest stable rate. */
export function sensitivityText(results: PublishedResults, named: readonly string[]): string {
  const all = sensitivitiesOf(results);
  if (all.length === 0) return '';
  const own = named.flatMap((method) => all.find((it) => it.method === method) ?? []);
  const losses = (of: 'mean_excess' | 'best', words: string) => {
    const said = (row: RateSensitivity) => `${row[of]!.toFixed(3)} (${methodName(row.method)})`;
    const least = all.reduce((a, b) => (b[of]! < a[of]! ? b : a));
    return `${words}: ${own.map(said).join(', ')}; the ${of === 'best' ? 'lowest' : 'smallest'} is ${said(least)}.`;
  };
  const { tolerance } = results.analysis.find(({ kind }) => kind === 'sensitivity')!;
  const stable = own.map(({ method, largest_stable }) => `${largest_stable ?? 'none'} (${methodName(method)})`);
  return [
    losses('mean_excess', 'Mean excess of the loss over the method’s own best, in bits per byte'),
    losses('best', 'Lowest loss over the learning rates'),
    `Largest learning rate within ${tolerance} of it: ${stable.join(', ')}.`,
  ].join(' ');
}

/**
 * How the named methods differ from the baseline at learning rates, with the tests; methods that lack a run at one of
 * them are left out.
 */
export function differencesText(results: PublishedResults, named: readonly string[], rates: readonly string[]): string {
  const columns = rates.map((rate) => methodsOf(results, rate));
  const said = named.flatMap((name) => {
    const own = columns.flatMap((rows) => rows.find(({ method }) => method === name) ?? []);
    const tests = own.map(({ loss }) => `${signed(loss.difference)} (${testText(loss.p)})`);
    return own.length === rates.length ? `${methodName(name)} ${tests.join(', ')}` : [];
  });
  if (said.length === 0) return '';
  return (
    `Difference from the baseline in bits per byte at ${rates.slice(0, -1).join(', ')} and ` +
    `${rates.at(-1)}: ${said.join('; ')}.`
  );
}

/** Learning rates at which methods have no run: by the rates, the methods that lack all of them. */
export function withoutRuns(results: PublishedResults): Map<string, string[]> {
  const points = ratesOf(results);
  const methods = new Map<string, string[]>();
  for (const method of labelsOf(results, 'method')) {
    const known = (points.get(method) ?? []).map(({ rate }) => String(rate));
    const rates = labelsOf(results, 'learning_rate')
      .filter((rate) => !known.includes(rate))
      .join(', ');
    if (rates) methods.set(rates, [...(methods.get(rates) ?? []), method]);
  }
  return methods;
}

/** The same in a sentence. */
export function lackingText(results: PublishedResults): string {
  const lacking = [...withoutRuns(results)].map(
    ([rates, methods]) => `${methods.map(methodName).join('; ')} at ${rates}`,
  );
  return lacking.length > 0 ? `No run yet of ${lacking.join('; of ')}.` : '';
}

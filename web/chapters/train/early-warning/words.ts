// What the figure of early warnings says and draws, and the alarms that it publishes.
import { short } from '../../../charts/format';
import { analysed, type PublishedResults } from '../experiments/results';
import type { Row } from '../runs/log';

/** The published performance of an alarm over runs of a group; a `given` threshold is the freezing line. */
export interface Alarm {
  signal: string;
  direction: 1 | -1;
  threshold: number;
  given: boolean;
  chosen: boolean;
  group: string;
  healthy: number;
  false_alarms: number;
  failing: number;
  detected: number;
  /** Steps from the alarm to the failure, median over failing runs with its 95% interval. */
  lead: number;
  lead_low: number;
  lead_high: number;
}

/** The test of an alarm against a reference. */
interface Advantage {
  signal: string;
  given: boolean;
  against: string;
  group: string;
  runs: number;
  steps: number;
  low: number;
  high: number;
  verdict: string | null;
}

const rowsOfKind = <Kind>(results: PublishedResults, of: string) =>
  analysed<{ of: string } & Kind>(results, 'early_warning').filter((row) => row.of === of);

/** The alarms, over the runs that fail of the seeds that chose nothing. */
export function alarmsOf(results: PublishedResults): Alarm[] {
  return rowsOfKind<Alarm>(results, 'signal').filter(
    ({ group, signal }) => group === 'hypothesis' && signal !== 'step',
  );
}

/** What measures of the log are called whose field is no word. */
const SYMBOLS: Readonly<Record<string, string>> = { eta_f: 'squared norm of W', sigma_max: 'spectral norm of W' };

/** "spread, largest": a measure of the log, over the heads. */
function signalName(signal: string): string {
  const [measure, ...over] = signal.split('.');
  return [SYMBOLS[measure] ?? measure.replaceAll('_', ' '), ...over].join(', ');
}

/** "spread, largest > 2.88 (freezing)": a signal and its threshold. */
export function alarmName({ signal, direction, threshold, given }: Alarm): string {
  return `${signalName(signal)} ${direction > 0 ? '>' : '<'} ${short(threshold)}${given ? ' (freezing)' : ''}`;
}

/** By how many bits per byte more a loss has failed, as the plan says. */
export const excessOf = ({ analysis }: PublishedResults) =>
  analysis.find(({ kind }) => kind === 'early_warning')?.excess ?? NaN;

/** The step at which each run of the file reaches the failure level; null for runs that do not fail. */
export function failuresOf(results: PublishedResults): (number | null)[] {
  return rowsOfKind<{ reached: (number | null)[] }>(results, 'fates')[0].reached;
}

/** How much earlier than the references the chosen alarm is, and what the plan decides, in a sentence. */
export function advantageText(results: PublishedResults): string {
  const tested = rowsOfKind<Advantage>(results, 'advantage').filter(
    ({ given, group, against }) => !given && group === 'hypothesis' && ['z score', 'gradient_norm'].includes(against),
  );
  if (tested.length === 0) return 'No signal of the heads has a lead on even seeds.';
  const parts = tested.map(
    ({ against, steps, low, high }) =>
      `than the ${against.replace('_', ' ')} by ${short(steps)} steps (${short(low)} to ${short(high)})`,
  );
  const verdicts = [...new Set(tested.map(({ verdict }) => verdict))].join(', ');
  const name = signalName(tested[0].signal);
  return `The chosen alarm, ${name}, is earlier ${parts.join(' and ')}; with its false alarms the plan decides: ${verdicts}.`;
}

/** Logged rows before a loss's own that its z score is taken over. */
const WINDOW = 10;

function zScore(rows: readonly Row[], at: number): number {
  const past = rows.slice(Math.max(0, at - WINDOW), at).map(({ value }) => value.bits_per_byte);
  const mean = past.reduce((sum, it) => sum + it, 0) / WINDOW;
  const variance = past.reduce((sum, it) => sum + (it - mean) ** 2, 0) / (WINDOW - 1);
  return past.length < WINDOW || variance === 0 ? NaN : (rows[at].value.bits_per_byte - mean) / Math.sqrt(variance);
}

/** A signal at a logged row, of all rows of a run. */
export function signalAt(rows: readonly Row[], at: number, signal: string): number {
  return signal === 'z score' ? zScore(rows, at) : (rows[at].signals[signal] ?? NaN);
}

/** The first logged step after `from` at which an alarm rings; null for none. */
export function alarmStep(rows: readonly Row[], { signal, direction, threshold }: Alarm, from: number): number | null {
  const rings = (at: number) => direction * (signalAt(rows, at, signal) - threshold) > 0;
  return rows.find(({ step }, at) => step > from && rings(at))?.step ?? null;
}

/** The first logged step after `from` from which on the validation loss is above that before by more than `excess`. */
export function failureStep(rows: readonly Row[], from: number, excess: number): number | null {
  const before = rows.findLast(({ step }) => step <= from);
  if (!before) return null;
  const isBelow = ({ step, value }: Row) => step <= from || value.bits_per_byte <= before.value.bits_per_byte + excess;
  return rows[rows.findLastIndex(isBelow) + 1]?.step ?? null;
}

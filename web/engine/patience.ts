// How long a worker or a host may be silent.
// A worker that is silent for longer counts as stuck. Its seconds are those in which the page was seen and its
// timers ran: a page in the background, or a machine that slept, has not waited.
import type { JobName, Remote } from './protocol';

/** A step is many times as long as the longest of its job so far only when something is wrong. */
const MARGIN = 20;
/** The least for a job whose steps are known. */
const KNOWN = 30;
/** For a job of which no step has ended: it may be one of minutes on a slow device. */
const UNKNOWN = 120;
/** For a job that reads a file of another host, within one step and as slowly as the host sends. */
const REMOTE = 600;
/** A job that starts again gets so many times as long. */
const AGAIN = 4;

/** What is known of how long a job is silent. */
export interface Pace {
  input: unknown;
  /** Milliseconds of its longest step, or of such a job before; 0 where none has ended. */
  slowest: number;
  /** Seconds of all of it as estimated; 0 where it is not. */
  expected: number;
  /** How often its worker was stuck. */
  stalls: number;
}

/** Seconds without a sign of work after which the worker of a job counts as stuck. */
export function patienceOf({ input, slowest, expected, stalls }: Pace): number {
  const values = Object.values(input as object).flat();
  const least = values.some(isRemote) ? REMOTE : slowest > 0 ? KNOWN : UNKNOWN;
  const longest = slowest > 0 ? slowest / 1000 : expected;
  return Math.max(least, MARGIN * longest) * (stalls > 0 ? AGAIN : 1);
}

/** Whether a value of an input is a file on another host. */
export function isRemote(value: unknown): value is Remote {
  return typeof value === 'object' && value !== null && 'url' in value;
}

/** A host that does not answer within so many milliseconds, or sends fewer bytes a second, is given up. */
const HOST = 30_000;
const HOST_SPEED = 20_000;

/** Milliseconds that a host may take to send so many bytes. */
export function hostPatience(bytes: number): number {
  return HOST + (1000 * bytes) / HOST_SPEED;
}

/** The longest text that tells kinds of jobs apart; longer ones are data. */
const LONGEST_TEXT = 100;

/** What jobs with steps of equal length have in common: all but their data and how many steps they take. */
export function kindOf(job: JobName, input: unknown): string {
  const settings = Object.entries(input as object).filter(
    ([name, value]) =>
      name !== 'more' && (typeof value === 'number' || (typeof value === 'string' && value.length < LONGEST_TEXT)),
  );
  return JSON.stringify([job, settings]);
}

/** Milliseconds of a second that may pass until the next one, in a page that is busy. */
const MOST = 3000;
const SECOND = 1000;

/**
 * Calls back after each second in which the page was visible and its timers ran. Timers of hidden pages are
 * throttled, and none runs while a machine sleeps.
 */
export function everySeenSecond(listener: () => void): void {
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    if (document.visibilityState === 'visible' && now - last < MOST) listener();
    last = now;
  }, SECOND);
}

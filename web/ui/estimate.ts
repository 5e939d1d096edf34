import type { Pool } from '../engine/pool';
import type { OnSilence, RunOptions } from '../engine/run-options';
import type { Input, JobName } from '../engine/protocol';

/** How much smaller the problem is whose time is measured. */
const SHRINK = 8;
/** A problem with neither so many tokens nor so wide ones is soon computed, and not estimated. */
const LARGE = 1024;

/** Jobs whose time is that of products and decompositions of matrices. */
const CUBIC: readonly JobName[] = ['collapse', 'cosines', 'random-head'];
/** Sizes in which the products of the matrices are cubic when all of them shrink together. */
const SIZES = ['width', 'length', 'head_width', 'window', 'query'];
/** Numbers of equal parts of the work. */
const COUNTS = ['depth', 'stacks', 'heads'];
/** One point of the work for each entry. */
const POINTS = ['means', 'variances'];

/** Input of a job, an eighth as large and of one part, and how many times the work of it the whole job is. */
export function shrunk(input: object): { small: object; times: number } | null {
  const given = input as Record<string, unknown>;
  const number = (name: string) => (typeof given[name] === 'number' ? given[name] : 0);
  if (Math.max(number('width'), number('length')) < LARGE) return null;
  const small: Record<string, unknown> = { ...given };
  let times = SHRINK ** 3;
  for (const name of SIZES) {
    if (name in given) small[name] = Math.max(2, Math.round(number(name) / SHRINK));
  }
  for (const name of COUNTS) {
    if (name in given) small[name] = 1;
    if (name !== 'heads') times *= Math.max(1, number(name)); // heads share the width
  }
  for (const name of POINTS) {
    if (Array.isArray(given[name])) small[name] = given[name].slice(0, 1);
  }
  const points = POINTS.map((name) => (Array.isArray(given[name]) ? given[name].length : 1));
  if ('first_stack' in given) small.first_stack = 0;
  return { small, times: times * Math.max(...points) };
}

/** What the time of a small problem does not depend on. */
const IDLE = new Set([...POINTS, 'mean', 'variance', 'first_stack', 'layers', 'layer', 'stacks']);

/** What small problems of equal work have in common: all jobs on stacks take their time for the layers. */
function kindOf(job: JobName, small: object): string {
  const fields = Object.entries(small).filter(([name]) => !IDLE.has(name));
  return JSON.stringify(['depth' in small ? 'stack' : job, ...fields.sort()]);
}

/** A measurement of a small problem, which ends early when none of those who asked for it waits any more. */
interface Measurement {
  seconds: Promise<number>;
  waiting: Set<OnSilence>;
  stop: AbortController;
}

/** Measurements of small problems, by their kind. */
const measured = new Map<string, Measurement>();

/** Seconds of the faster of two runs: the first one compiles. */
async function secondsOf<J extends JobName>(
  pool: Pool,
  job: J,
  input: Input<J>,
  options: RunOptions<J>,
): Promise<number> {
  const times = [];
  for (let i = 0; i < 2; i++) {
    const start = performance.now();
    await pool.run(job, input, options);
    times.push((performance.now() - start) / 1000);
  }
  return Math.min(...times);
}

/** Begins to measure a small problem; what fails is forgotten. */
function measure<J extends JobName>(pool: Pool, job: J, input: Input<J>, key: string): Measurement {
  const stop = new AbortController();
  const waiting = new Set<OnSilence>();
  const onSilence: OnSilence = (...found) => waiting.forEach((hear) => hear(...found));
  const seconds = secondsOf(pool, job, input, { signal: stop.signal, onSilence });
  const measurement = { seconds, waiting, stop };
  measured.set(key, measurement);
  seconds.catch(() => forget(key, measurement));
  return measurement;
}

function forget(key: string, measurement: Measurement): void {
  if (measured.get(key) === measurement) measured.delete(key);
}

/**
 * Seconds that a large job takes on one worker, from the time of a smaller one; null for a job that is not
 * large, or whose smaller one is refused.
 */
export async function estimated<J extends JobName>(
  pool: Pool,
  job: J,
  input: Input<J>,
  signal: AbortSignal,
  onSilence: OnSilence = () => {},
): Promise<number | null> {
  const found = CUBIC.includes(job) ? shrunk(input) : null;
  if (!found) return null;
  signal.throwIfAborted();
  const key = kindOf(job, found.small);
  const measurement = measured.get(key) ?? measure(pool, job, found.small as Input<J>, key);
  const { seconds, waiting, stop } = measurement;
  const hear: OnSilence = (...heard) => onSilence(...heard); // of this question alone
  waiting.add(hear);
  const leave = () => {
    waiting.delete(hear);
    if (waiting.size > 0) return;
    forget(key, measurement); // at once: who asks next starts another
    stop.abort();
  };
  signal.addEventListener('abort', leave, { once: true });
  try {
    return found.times * (await seconds);
  } catch {
    return null;
  } finally {
    signal.removeEventListener('abort', leave);
    waiting.delete(hear);
  }
}

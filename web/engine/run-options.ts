import type { JobName, Output } from './protocol';

/**
 * `silent` seconds without a sign of work of `patience` after which the worker counts as stuck; `stalls` is how often
 * that has happened to the job.
 */
export type OnSilence = (silent: number, patience: number, stalls: number) => void;

/** How a job runs in the pool of workers, and what it calls meanwhile. */
export interface RunOptions<J extends JobName> {
  /** Cancels the job; the promise then rejects with an AbortError. */
  signal?: AbortSignal;
  onPartial?: (output: Output<J>, progress: number) => void;
  /** The worker vanished or was stuck, and the job starts again in another. */
  onRestart?: () => void;
  /** Called each second in which the page is seen: how long the job's worker has given no sign of work. */
  onSilence?: OnSilence;
  /** The engine is loaded, and a worker has the job. */
  onStart?: () => void;
  /** Seconds that the job takes by an estimate: a step of it may take as long. */
  expected?: number;
  /** Other jobs go first while it says so; by default none does. */
  background?: Background;
}

/**
 * Whether a job is in the background: its worker advances it, and gives it memory, only while it has no other. That
 * may change while the job runs.
 */
export class Background {
  private readonly changed = new EventTarget();

  constructor(private value = false) {}

  get is(): boolean {
    return this.value;
  }

  set is(value: boolean) {
    if (value === this.value) return;
    this.value = value;
    this.changed.dispatchEvent(new Event('change'));
  }

  /** Calls the listener after each change, until the signal aborts. */
  follow(listener: () => void, signal: AbortSignal): void {
    this.changed.addEventListener('change', listener, { signal });
  }
}

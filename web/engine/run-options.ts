import type { Background } from './background';
import type { JobName, Output } from './protocol';

/** How a job runs in the pool of workers, and what it calls meanwhile. */
export interface RunOptions<J extends JobName> {
  /** Cancels the job; the promise then rejects with an AbortError. */
  signal?: AbortSignal;
  onPartial?: (output: Output<J>, progress: number) => void;
  /** The worker vanished or was stuck, and the job starts again in another. */
  onRestart?: () => void;
  /** The engine is loaded, and a worker has the job. */
  onStart?: () => void;
  /** Seconds that the job takes by an estimate: a step of it may take as long. */
  expected?: number;
  /** Other jobs go first while it says so; by default none does. */
  background?: Background;
}

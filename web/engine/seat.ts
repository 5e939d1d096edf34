import type { FromWorker, JobName, Share, ToWorker } from './protocol';
import type { ModuleName } from './module-names';
import { moduleOf } from './sections';
import EngineWorker from './worker?worker&inline';

/** A job that was asked for and has not answered yet. */
export interface Call {
  id: number;
  job: JobName;
  input: unknown;
  /** Null for a job that is not divided. */
  share: Share | null;
  /** How often its worker vanished. */
  restarts: number;
  onPartial: ((output: never, progress: number) => void) | undefined;
  onRestart: (() => void) | undefined;
  resolve: (output: never) => void;
  /** Ends it with an error. */
  reject: (error: unknown) => void;
}

/** Events of a seat, for the pool. */
export interface SeatEvents {
  message(seat: Seat, message: FromWorker): void;
  /** The worker broke with an error; before `started`, it never ran. */
  broke(seat: Seat, reason: string): void;
  /** The worker is gone, without an error. */
  vanished(seat: Seat): void;
  /** The worker does not see that a job was cancelled. */
  stuck(seat: Seat): void;
}

/** A worker that does not see a cancel for so many milliseconds is inside one long step. */
const PATIENCE = 1500;
/** Milliseconds between two looks at a worker without a lock that shows that it lives. */
const LOOK = 5000;
/** More jobs than a worker has at once. */
const MANY = 1000;
/** A worker that should send something, and does not during so many looks, is gone. */
const MOST_SILENT = 12;

/** One worker: the modules that it has, and the jobs that it runs. */
export class Seat {
  readonly calls = new Map<number, Call>();
  /** Whether the worker has run at all. */
  started = false;
  private worker: Worker;
  private loaded = new Set<ModuleName>();
  /** Timers of cancelled jobs whose worker has not yet confirmed the cancellation. */
  private leaving = new Map<number, number>();
  private closed = new AbortController();
  private timer = setInterval(() => this.look(), LOOK);
  /** Looks since the worker last sent something. */
  private silent = 0;

  /** Throws where the browser forbids workers at once. */
  constructor(private events: SeatEvents) {
    this.worker = new EngineWorker();
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      if (!this.closed.signal.aborted) events.broke(this, event.message);
    };
  }

  /** How little this worker is the one for a job: shares of one work are for workers of their own. */
  reluctance({ input }: Call): number {
    const others = [...this.calls.values()].filter((call) => call.input === input);
    return this.calls.size + MANY * others.length;
  }

  /** Gives the worker a module, unless it has it. */
  load(name: ModuleName, module: WebAssembly.Module): void {
    if (!this.loaded.has(name)) this.post({ kind: 'load', name, module });
    this.loaded.add(name);
  }

  /** Starts a job; its module goes first where the worker does not have it. */
  send(module: WebAssembly.Module, call: Call): void {
    this.calls.set(call.id, call);
    const { id, job, input, share } = call;
    this.load(moduleOf(job, input), module);
    this.post({ kind: 'run', id, job, input, share });
  }

  /** Lets a job go, and says so when the worker does not listen. */
  cancel(id: number): void {
    this.calls.delete(id);
    this.post({ kind: 'cancel', id });
    this.leaving.set(
      id,
      window.setTimeout(() => this.events.stuck(this), PATIENCE),
    );
  }

  /** Ends the worker; its calls are for the pool to start again elsewhere. */
  close(): void {
    this.closed.abort();
    clearInterval(this.timer);
    this.worker.terminate();
    this.leaving.forEach((timer) => clearTimeout(timer));
  }

  post(message: ToWorker, transfer: Transferable[] = []): void {
    this.worker.postMessage(message, transfer);
  }

  private receive(message: FromWorker): void {
    this.silent = 0;
    if (message.kind === 'ready') this.begin(message.lock);
    else if (message.kind === 'cancelled') {
      clearTimeout(this.leaving.get(message.id));
      this.leaving.delete(message.id);
    } else this.events.message(this, message);
  }

  /**
   * Watches over the worker. A worker may end without any event, when the browser needs its memory;
   * then the lock that it holds is free. Where there are no locks (a page without https), long silence
   * must do.
   */
  private begin(lock: string | null): void {
    this.started = true;
    if (lock === null) return;
    clearInterval(this.timer);
    const { signal } = this.closed;
    navigator.locks.request(lock, { signal }, () => this.events.vanished(this)).catch(() => {}); // closed
  }

  /** Counts looks, not time: a page that slept has not waited. Only short steps are never silent. */
  private look(): void {
    const jobs = [...this.calls.values()].map(({ job, input }) => moduleOf(job, input));
    const isShort = !this.started || jobs.includes('train');
    this.silent = isShort ? this.silent + 1 : 0;
    if (this.silent > MOST_SILENT) this.events.vanished(this);
  }
}

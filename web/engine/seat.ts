import { patienceOf, type Pace } from './patience';
import type { FromWorker, JobName, Partition, ToWorker } from './protocol';
import type { OnSilence, Background } from './run-options';
import EngineWorker from './worker?worker&inline';

/** A job that was asked for and has not answered yet. */
export interface Call extends Pace {
  id: number;
  job: JobName;
  /** Null for a job that is not divided. */
  partition: Partition | null;
  background: Background;
  /** How often its worker vanished, or lost it. */
  restarts: number;
  /** Seconds since it was sent to its worker, or since a sign of work from there. */
  silent: number;
  /** The last partial result; null before the first. */
  partial: unknown;
  onPartial: ((output: never, progress: number) => void) | undefined;
  onRestart: (() => void) | undefined;
  onSilence: OnSilence | undefined;
  resolve: (output: never) => void;
  /** Ends it with an error. */
  reject: (error: unknown) => void;
}

/** Events of a seat, for the pool. */
interface SeatEvents {
  message(seat: Seat, message: FromWorker): void;
  /** The worker broke with an error; before `started`, it never ran. */
  broke(seat: Seat, reason: string): void;
  /** The worker is gone without an error, or has lost a job. */
  vanished(seat: Seat): void;
  /** The worker shows no sign of work for longer than its jobs may take. */
  stalled(seat: Seat): void;
  /** The worker does not see that a job was cancelled. */
  deaf(seat: Seat): void;
  /** The worker rests, and holds more memory than one that rests should. */
  swollen(seat: Seat): void;
}

/** A worker that does not see a cancel for so many milliseconds is inside one long step. */
const PATIENCE = 1500;
/** More jobs than a worker has at once. */
const MANY = 1000;
/** Seconds between two questions to a worker that has jobs. */
const PING = 5;
/** Seconds after which a worker that has not begun to run never will. */
const START = 60;
/** Seconds without a job after which a worker is asked for its memory. */
const REST = 10;
/** Bytes of WASM memory, which never shrinks, that a worker may keep while it rests: twice what it begins with. */
const MOST_KEPT = 1 << 25;

/** One worker, and the jobs that it runs. */
export class Seat {
  readonly calls = new Map<number, Call>();
  /** Whether the worker has run at all. */
  started = false;
  private worker: Worker;
  private loaded = false;
  /** Timers of cancelled jobs whose worker has not yet confirmed the cancellation. */
  private leaving = new Map<number, number>();
  private closed = new AbortController();
  /** Seconds with jobs. */
  private working = 0;
  /** Seconds without jobs. */
  private resting = 0;
  /** The newest question, and the jobs that the worker had been sent by then. */
  private ping: { number: number; ids: number[] } = { number: 0, ids: [] };

  /** Throws where the browser forbids workers at once. */
  constructor(private events: SeatEvents) {
    this.worker = new EngineWorker();
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    this.worker.onmessageerror = () => events.vanished(this); // what it sent cannot be read: it is lost
    this.worker.onerror = (event) => {
      event.preventDefault();
      if (!this.closed.signal.aborted) events.broke(this, event.message);
    };
  }

  /** How little this worker is the one for a job: partitions of one work are for workers of their own. */
  reluctance({ input }: Call): number {
    const others = [...this.calls.values()].filter((call) => call.input === input);
    return this.calls.size + MANY * others.length;
  }

  /** Gives the worker the engine, unless it has it. */
  load(engine: WebAssembly.Module): void {
    if (!this.loaded) this.post({ kind: 'load', engine });
    this.loaded = true;
  }

  /** Starts a job; the engine goes first where the worker does not have it. */
  send(engine: WebAssembly.Module, call: Call): void {
    this.calls.set(call.id, call);
    call.silent = 0;
    const { id, job, input, partition, background } = call;
    this.load(engine);
    this.post({ kind: 'run', id, job, input, partition, background: background.is });
  }

  /** Says that a job came into the background, or out of it. */
  move({ id, background }: Call): void {
    this.post({ kind: 'move', id, background: background.is });
  }

  /** Lets a job go, and says so when the worker does not listen. */
  cancel(id: number): void {
    this.calls.delete(id);
    this.post({ kind: 'cancel', id });
    this.leaving.set(
      id,
      window.setTimeout(() => this.events.deaf(this), PATIENCE),
    );
  }

  /** Ends the worker; its calls are for the pool to start again elsewhere. */
  close(): void {
    this.closed.abort();
    this.worker.terminate();
    this.leaving.forEach((timer) => clearTimeout(timer));
  }

  post(message: ToWorker, transfer: Transferable[] = []): void {
    this.worker.postMessage(message, transfer);
  }

  /** A second has passed, as `everySeenSecond` counts. */
  tick(): void {
    if (this.calls.size === 0) {
      this.working = 0;
      if (++this.resting === REST) this.ask();
      return;
    }
    this.resting = 0;
    for (const call of this.calls.values()) {
      call.silent++;
      call.onSilence?.(call.silent, patienceOf(call), call.stalls);
    }
    if (++this.working % PING === 0) this.ask();
    const suspects = this.suspects();
    if (!this.started && suspects.some(({ silent }) => silent > START)) this.events.vanished(this);
    else if (suspects.every((call) => call.silent > patienceOf(call))) this.events.stalled(this);
  }

  /**
   * The jobs of which one may be in a long step: those that the worker had at its last sign of work or was sent
   * before the next question to it. Later ones only wait behind them.
   */
  suspects(): Call[] {
    const calls = [...this.calls.values()];
    const longest = Math.max(...calls.map(({ silent }) => silent));
    return calls.filter(({ silent }) => longest - silent <= PING);
  }

  private showsWork(): void {
    for (const call of this.calls.values()) call.silent = 0;
  }

  private ask(): void {
    const number = this.ping.number + 1;
    this.ping = { number, ids: [...this.calls.keys()] };
    this.post({ kind: 'ping', number });
  }

  private receive(message: FromWorker): void {
    if (message.kind === 'pong') return this.compare(message);
    this.showsWork();
    if (message.kind === 'ready') this.begin(message.lock);
    else if (message.kind === 'cancelled') {
      clearTimeout(this.leaving.get(message.id));
      this.leaving.delete(message.id);
    } else this.events.message(this, message);
  }

  /** Compares the jobs that the worker has with those that it should have. Messages keep their order. */
  private compare({ number, ids, busy, memory }: FromWorker & { kind: 'pong' }): void {
    if (busy) this.showsWork();
    if (number !== this.ping.number) return;
    if (this.ping.ids.some((id) => this.calls.has(id) && !ids.includes(id))) {
      this.events.vanished(this);
    } else if (this.calls.size + this.leaving.size === 0 && memory > MOST_KEPT) {
      this.events.swollen(this);
    }
  }

  /**
   * Watches over the worker. A worker may end without any event, when the browser needs its memory; then
   * the lock that it holds is free. Where there are no locks (a page without https), its silence tells.
   */
  private begin(lock: string | null): void {
    this.started = true;
    if (lock === null) return;
    const { signal } = this.closed;
    navigator.locks.request(lock, { signal }, () => this.events.vanished(this)).catch(() => {}); // closed
  }
}

import { crashOf, EngineError, notStarted, stalledFor, VANISHED } from './engine-error';
import { compileEngine } from './modules';
import type { EngineFailure, FromWorker, Input, JobName, Output, Partition } from './protocol';
import { kindOf, patienceOf, everySeenSecond } from './patience';
import { Seat, type Call } from './seat';
import { divided } from './divided';
import { divisionOf } from './operations';
import { type RunOptions, Background } from './run-options';

export { EngineError } from './engine-error';

/** Workers that may fail to start one after the other before none is made any more. */
const MOST_FAILED_STARTS = 4;
/** Times that a job starts again after its worker vanished, or was stuck: then the job is what sticks. */
const MOST_RESTARTS = 3;
const MOST_STALLS = 1;
/** Kinds of jobs whose steps are remembered. */
const MOST_KINDS = 500;
/** What is known of a job at its beginning. */
const BEGUN = { partial: null, restarts: 0, silent: 0, stalls: 0 };

/**
 * Workers, each with its own instance of the engine. A job runs in the least busy one. A worker
 * whose engine broke (out of memory, most likely) is replaced and its other jobs start again.
 */
export class Pool {
  readonly size = Math.min(4, Math.max(2, navigator.hardwareConcurrency || 2));
  private engine: Promise<WebAssembly.Module> | null = null;
  private seats: Seat[] = [];
  private count = 0;
  /** Workers that failed to start, since one last did, and why the last of them. */
  private failedStarts = 0;
  private whyNotStarted = '';
  /** Milliseconds of the longest step of each kind of job. */
  private slowest = new Map<string, number>();

  constructor() {
    for (let i = 0; i < this.size; i++) this.open();
    everySeenSecond(() => [...this.seats].forEach((seat) => seat.tick()));
    this.load().then(
      (engine) => this.seats.forEach((seat) => seat.load(engine)), // before their first jobs
      () => {}, // whoever needs it hears of it
    );
  }

  /**
   * Runs a job. Rejects with EngineError, with the signal's reason when it was cancelled, or with
   * the reason why the engine cannot be loaded.
   */
  async run<J extends JobName>(job: J, input: Input<J>, options: RunOptions<J> = {}): Promise<Output<J>> {
    const division = divisionOf(job);
    if (division.partitions === 1) return this.call(job, input, null, options);
    const run = <Answer>(partition: Partition, own: RunOptions<J>) => this.call<J, Answer>(job, input, partition, own);
    return divided(run, division, options);
  }

  /** Runs a job, or a partition of it, in one worker. */
  async call<J extends JobName, Answer = Output<J>>(
    job: J,
    input: Input<J>,
    partition: Partition | null,
    options: RunOptions<J>,
  ): Promise<Answer> {
    const { signal, onPartial, onRestart, onSilence, onStart, expected = 0, background = new Background() } = options;
    const engine = await this.load();
    signal?.throwIfAborted();
    const id = ++this.count;
    const cancel = () => this.cancel(id, signal?.reason);
    const ended = new AbortController();
    signal?.addEventListener('abort', cancel, { once: true, signal: ended.signal });
    background.follow(() => this.move(id), ended.signal);
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const slowest = this.slowest.get(kindOf(job, input)) ?? 0;
        const call = { id, job, input, partition, background, slowest, expected, ...BEGUN };
        this.send(engine, { ...call, onPartial, onRestart, onSilence, resolve, reject });
        onStart?.();
      });
    } finally {
      ended.abort();
    }
  }

  private load(): Promise<WebAssembly.Module> {
    const engine = (this.engine ??= compileEngine());
    // Whoever waits for it sees the error; the next one may have more luck.
    engine.catch(() => (this.engine = null));
    return engine;
  }

  /** Gives a job to the least busy worker. */
  private send(engine: WebAssembly.Module, call: Call): void {
    const [first, ...others] = this.seats;
    if (!first) return call.reject(new EngineError(notStarted(this.whyNotStarted)));
    others.reduce((best, it) => (it.reluctance(call) < best.reluctance(call) ? it : best), first).send(engine, call);
  }

  private cancel(id: number, reason: unknown): void {
    const { seat, call } = this.find(id);
    seat?.cancel(id);
    call?.reject(reason);
  }

  private move(id: number): void {
    const { seat, call } = this.find(id);
    if (call) seat?.move(call);
  }

  /** A job and its worker; without these while it is between two workers. */
  private find(id: number): { seat?: Seat; call?: Call } {
    const seat = this.seats.find((it) => it.calls.has(id));
    return { seat, call: seat?.calls.get(id) };
  }

  /** Makes one more worker, unless those before did not start: a page can be forbidden to have any. */
  private open(): void {
    if (this.failedStarts >= MOST_FAILED_STARTS) return;
    try {
      this.seats.push(
        new Seat({
          message: (seat, message) => this.receive(seat, message),
          broke: (seat, reason) => this.broke(seat, reason),
          vanished: (seat) => this.vanished(seat),
          stalled: (seat) => this.stalled(seat),
          deaf: (seat) => this.replace(seat),
          swollen: (seat) => this.replace(seat),
        }),
      );
    } catch {
      this.failedStarts = MOST_FAILED_STARTS;
    }
  }

  private receive(seat: Seat, message: FromWorker): void {
    this.failedStarts = 0;
    if (!('id' in message) || message.kind === 'cancelled') return; // the seat's own
    const call = seat.calls.get(message.id);
    if (!call) return; // cancelled meanwhile
    if ('slowest' in message) this.learn(call, message.slowest);
    if (message.kind === 'partial') {
      call.partial = message.output ?? call.partial;
      call.onPartial?.(call.partial as never, message.progress);
    } else if (message.kind === 'read') {
      void this.read(seat, call, message);
    } else if (message.kind === 'done') {
      seat.calls.delete(call.id);
      call.resolve(message.output as never);
    } else if (message.failure.name !== 'Error') {
      this.fail(seat, call, message.failure);
    } else {
      this.fail(seat, call, crashOf(message.failure.message));
      this.replace(seat);
    }
  }

  /** Takes how long the steps of a job are: those of the next such job will be like them. */
  private learn(call: Call, slowest: number): void {
    call.slowest = Math.max(call.slowest, slowest);
    this.slowest.set(kindOf(call.job, call.input), call.slowest);
    const [oldest] = this.slowest.keys();
    if (this.slowest.size > MOST_KINDS) this.slowest.delete(oldest);
  }

  /** Reads a part of a file for a worker that may not. */
  private async read(seat: Seat, call: Call, message: FromWorker & { kind: 'read' }) {
    const { id, file, offset, length } = message;
    const blob = blobsOf(call.input)[file];
    const bytes = await blob
      .slice(offset, offset + length)
      .arrayBuffer()
      .then(
        (buffer) => new Uint8Array(buffer),
        () => null,
      );
    if (!seat.calls.has(id)) return;
    seat.post({ kind: 'bytes', id, file, offset, bytes }, bytes ? [bytes.buffer] : []);
  }

  private fail(seat: Seat, call: Call, failure: EngineFailure): void {
    seat.calls.delete(call.id);
    call.reject(new EngineError(failure));
  }

  private broke(seat: Seat, reason: string): void {
    if (!seat.started) {
      this.failedStarts++;
      this.whyNotStarted = reason;
    } else {
      const [first] = seat.calls.values();
      if (first) this.fail(seat, first, crashOf(reason));
    }
    this.replace(seat);
  }

  private vanished(seat: Seat): void {
    for (const call of seat.calls.values()) {
      if (++call.restarts > MOST_RESTARTS) this.fail(seat, call, VANISHED);
      else call.onRestart?.();
    }
    this.replace(seat);
  }

  /** All jobs start again elsewhere, the suspects with more patience; those that stick once more are given up. */
  private stalled(seat: Seat): void {
    for (const call of seat.suspects()) {
      const patience = patienceOf(call);
      if (++call.stalls > MOST_STALLS) this.fail(seat, call, stalledFor(patience));
    }
    for (const call of seat.calls.values()) call.onRestart?.();
    this.replace(seat);
  }

  /** Puts a new worker in the place of one, and starts there what the old one had not finished. */
  private replace(seat: Seat): void {
    const at = this.seats.indexOf(seat);
    if (at < 0) return;
    seat.close();
    this.seats.splice(at, 1);
    this.open();
    for (const call of seat.calls.values()) {
      this.load().then((engine) => this.send(engine, call), call.reject);
    }
  }
}

/** The files in a job's input, which stand in its fields alone or in lists, in their order. */
function blobsOf(input: unknown): Blob[] {
  return Object.values(input as object)
    .flat()
    .filter((value) => value instanceof Blob);
}

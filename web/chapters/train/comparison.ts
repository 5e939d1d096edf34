import { whenReachable } from '../../engine/network';
import type { Regularizer, Training } from '../../engine/protocol';
import { NetworkError } from '../../engine/shipped';
import { areEqual } from '../../state/equal';
import { Signal } from '../../state/signal';
import { TrainingRun, type SavedRun, type Train } from './training-run';

/** What happened: rows came, a piece ended, or the comparison itself changed (`run` null). */
export interface Happening {
  run: TrainingRun | null;
  ended: boolean;
  error?: Error;
}

/** One to four runs with the same seed, and so the same batches, each with its own regularizer. */
export class RunComparison {
  runs: TrainingRun[] = [];
  /** Runs go on until this step: 0 at rest, Infinity while playing. */
  private goal = 0;
  private asked: Training[] = [];
  private text: Promise<Uint8Array> | null = null;
  /** Times that the host could not be reached, since it last was. */
  private failedLoads = 0;
  /** Waits until it can. */
  private reaching: Promise<void> | null = null;
  readonly changed = new Signal<Happening>();

  /** `load` gives the text to learn from, which is fetched when it is first needed. */
  constructor(
    private train: Train,
    readonly load: () => Promise<Uint8Array>,
  ) {}

  get playing(): boolean {
    return this.goal > 0 && !this.done;
  }

  /** Plays again as soon as the host can be reached. */
  get waiting(): boolean {
    return this.playing && this.reaching !== null;
  }

  /** Asked to rest, with pieces still under way. */
  get pausing(): boolean {
    return this.goal === 0 && this.runs.some((run) => run.busy);
  }

  get begun(): boolean {
    return this.runs.some((run) => run.begun);
  }

  /** The settings asked for are not those of the runs: they hold after a reset. */
  get stale(): boolean {
    return !this.runs.every((run, i) => areEqual(run.training, this.asked[i]));
  }

  get done(): boolean {
    return this.runs.every((run) => run.done);
  }

  /** What the runs learn from, which stays the same until a reset; one that did not come is asked for again. */
  get learned(): Promise<Uint8Array> {
    const text = (this.text ??= this.load());
    text.catch(() => {
      if (this.text === text) this.text = null;
    });
    return text;
  }

  /** Sets the runs. A comparison that has begun keeps its settings and runs; new ones join with its settings. */
  configure(asked: Training[]): void {
    this.asked = asked;
    if (!this.begun) return this.reset();
    const [first] = this.runs;
    const kept = asked.map(({ regularizer }) => this.find(regularizer));
    for (const run of this.runs) if (!kept.includes(run)) run.cancel();
    this.runs = asked.map(
      ({ regularizer }, i) => kept[i] ?? this.make({ ...first.training, regularizer }),
    );
    if (this.goal > 0) void this.drive();
    this.changed.send({ run: null, ended: false });
  }

  play(): Promise<void> {
    return this.run(Infinity);
  }

  /** To the next row of the log; those that are behind come along. */
  advance(): Promise<void> {
    const { log_every } = this.runs[0].training;
    const most = Math.max(...this.runs.map((run) => run.step));
    return this.run((Math.floor(most / log_every) + 1) * log_every);
  }

  pause(): void {
    this.goal = 0;
    this.changed.send({ run: null, ended: false });
  }

  /** Forgets everything, and takes the settings last asked for. */
  reset(): void {
    for (const run of this.runs) run.cancel();
    this.goal = 0;
    this.text = null;
    this.runs = this.asked.map((training) => this.make(training));
    this.changed.send({ run: null, ended: false });
  }

  /** What the runs have in common, the seed among it, as the first has it. */
  get settings(): Record<string, string | number> {
    const { regularizer, ...common } = this.runs[0].training;
    const known = Object.entries(common).filter(([, value]) => value !== null);
    return Object.fromEntries(known.map(([name, value]) => [name, settingText(value!)]));
  }

  /** The run of a kind. */
  find(kind: Regularizer): TrainingRun | undefined {
    return this.runs.find((run) => run.kind === kind);
  }

  /** Puts a checkpoint in the place of the run of its kind, which is let go. */
  resume(saved: SavedRun): void {
    this.runs = this.runs.map((run) => {
      if (run.kind !== saved.training.regularizer) return run;
      run.cancel();
      return this.make(saved.training, saved);
    });
    if (this.goal > 0) void this.drive();
    this.changed.send({ run: null, ended: true });
  }

  private make(training: Training, saved?: SavedRun): TrainingRun {
    const changed = (run: TrainingRun, ended: boolean, error?: Error) => {
      if (!error) this.failedLoads = 0;
      if (error instanceof NetworkError) this.retry();
      else if (error)
        this.goal = 0; // what one was refused the others would be too
      else if (!this.waiting && this.runs.every(({ busy }) => !busy)) this.goal = 0;
      this.changed.send({ run, ended, ...(error && { error }) });
    };
    return new TrainingRun(training, this.train, changed, saved);
  }

  private async run(goal: number): Promise<void> {
    this.goal = goal;
    this.changed.send({ run: null, ended: false });
    await this.drive();
  }

  private async drive(): Promise<void> {
    const text = this.learned;
    try {
      const bytes = await text;
      if (this.text !== text) return; // a reset came between
      await Promise.all(this.runs.map((run) => run.go(bytes, () => this.goal)));
    } catch (error) {
      if (error instanceof NetworkError) this.retry();
      else this.goal = 0;
      this.changed.send({ run: null, ended: false, error: error as Error });
    }
  }

  /** Goes on when the host can be reached, unless the person has paused meanwhile. */
  private retry(): void {
    this.reaching ??= whenReachable(++this.failedLoads).then(() => {
      this.reaching = null;
      if (this.goal > 0) void this.run(this.goal);
    });
  }
}

function settingText(value: string | number | boolean): string | number {
  return typeof value === 'boolean' ? String(value) : value;
}

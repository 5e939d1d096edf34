import { whenReachable } from '../../../engine/network';
import type { Regularizer, Training } from '../../../engine/protocol';
import { NetworkError } from '../../../engine/shipped';
import { areEqual } from '../../../state/control';
import { Signal } from '../../../state/signal';
import { TrainingRun, type SavedRun, type Train } from './run';

/** What happened: rows came, a piece ended, or the comparison itself changed (`run` null). */
export interface Happening {
  run: TrainingRun | null;
  ended: boolean;
  error?: Error;
}

/** One to four runs with the same seed, and so the same batches, each with its own regularizer. */
export class RunComparison {
  runs: TrainingRun[] = [];
  /** Runs that were taken out since the last reset: chosen again, they go on from where they were. */
  private aside: TrainingRun[] = [];
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
    return this.all.some((run) => run.begun);
  }

  /** The runs, and those that were taken out. */
  get all(): readonly TrainingRun[] {
    return [...this.runs, ...this.aside];
  }

  /** The settings asked for are not those of the runs: they hold after a reset. */
  get stale(): boolean {
    return !this.runs.every((run, i) => areEqual(run.training, this.asked[i]));
  }

  /** Leaving the page would end a run, or lose its steps. */
  get losable(): boolean {
    return this.all.some((run) => !run.done && run.unsaved);
  }

  get done(): boolean {
    return this.runs.every((run) => run.done);
  }

  /** No run has begun or is about to. */
  get idle(): boolean {
    return !this.begun && !this.playing;
  }

  /** What the runs learn from, which stays the same until a reset; one that did not come is asked for again. */
  get learned(): Promise<Uint8Array> {
    const text = (this.text ??= this.load());
    text.catch(() => {
      if (this.text === text) this.text = null;
    });
    return text;
  }

  /**
   * Sets the runs. A comparison that has begun keeps its settings and runs; new ones join with its settings.
   * A run that is taken out rests after its steps under way.
   */
  configure(asked: Training[]): void {
    this.asked = asked;
    if (!this.begun) return this.reset();
    const [first] = this.runs;
    const { all } = this;
    this.runs = asked.map(
      ({ regularizer }) =>
        all.find(({ kind }) => kind === regularizer) ?? this.make({ ...first.training, regularizer }),
    );
    this.aside = all.filter((run) => !this.runs.includes(run));
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
    for (const run of this.all) run.cancel();
    this.goal = 0;
    this.text = null;
    this.aside = [];
    this.runs = this.asked.map((training) => this.make(training));
    this.changed.send({ run: null, ended: false });
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
      const isRefused = error && this.runs.includes(run); // the others would be too
      if (error instanceof NetworkError) this.retry();
      else if (isRefused || (!this.waiting && this.runs.every(({ busy }) => !busy))) this.goal = 0;
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
      const goalOf = (run: TrainingRun) => () => (this.runs.includes(run) ? this.goal : 0);
      await Promise.all(this.runs.map((run) => run.go(bytes, goalOf(run))));
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

/** The settings of a run that others may share, the seed among them. */
export function settingsOf({ regularizer: _, ...common }: Training): Record<string, string | number> {
  const known = Object.entries(common).filter(([, value]) => value !== null);
  return Object.fromEntries(known.map(([name, value]) => [name, typeof value === 'boolean' ? String(value) : value!]));
}

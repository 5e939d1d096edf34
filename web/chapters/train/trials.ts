import type { Training } from '../../engine/protocol';
import { Signal } from '../../state/signal';
import type { RunComparison } from './comparison';
import type { Row } from './log-rows';
import { choicesOf, keyOf, trainingOfCell, type CellChoice } from './published-cells';
import type { PublishedResults } from './published-results';
import type { TrainingRun } from './training-run';

/** A run of an experiment that was trained in this tab. */
export interface Trial {
  training: Training;
  rows: readonly Row[];
  /** The last of its rows. */
  final: Row['value'];
}

/** The same with its cell. */
export type CellTrial = Trial & { choice: CellChoice };

/** Runs that were trained to their end in this tab, on the text of the published experiments. */
export class Trials {
  /** A run that is under way came further, or ended. */
  readonly changed = new Signal();
  /** A trial came. */
  readonly joined = new Signal();
  private done = new Map<string, Trial>();
  private book: Promise<Uint8Array> | null = null;

  /**
   * `allows` asks whether one run may take the place of others, and of the controls' settings; `start` trains
   * it anew, with the bytes that it returns.
   */
  constructor(
    private comparison: RunComparison,
    private allows: (training: Training, lost: readonly TrainingRun[]) => boolean,
    private start: (training: Training) => Promise<Uint8Array>,
  ) {
    comparison.changed.subscribe(({ ended }) => {
      if (ended) void this.keep();
      this.changed.send();
    });
  }

  /** Trains a run from its first step on, in place of the comparison. */
  train(training: Training): void {
    const lost = this.comparison.all.filter((run) => run.begun && !this.find(run.training));
    if (!this.allows(training, lost)) return;
    this.book = this.start(training);
    this.book.catch((error: Error) => this.comparison.changed.send({ run: null, ended: false, error }));
  }

  find(training: Training): Trial | undefined {
    return this.done.get(keyOf(training));
  }

  /** Those that are cells of an experiment. */
  ofExperiment(results: PublishedResults): CellTrial[] {
    if (this.done.size === 0) return [];
    return choicesOf(results).flatMap((choice) => {
      const trial = this.find(trainingOfCell(results, choice));
      return trial ? [{ ...trial, choice }] : [];
    });
  }

  /** The step of a run that is under way; null when it is not. */
  stepOf(training: Training): number | null {
    if (!this.comparison.playing) return null;
    const key = keyOf(training);
    return this.comparison.runs.find((run) => keyOf(run.training) === key)?.step ?? null;
  }

  private async keep(): Promise<void> {
    const book = await this.book?.catch(() => null);
    if (!book || (await this.comparison.learned) !== book) return;
    for (const { training, rows, failure, step } of this.comparison.runs) {
      const last = rows.at(-1);
      if (failure || !last || step < training.steps || last.step < training.steps) continue;
      this.done.set(keyOf(training), { training, rows, final: last.value });
    }
    this.changed.send();
    this.joined.send();
  }
}

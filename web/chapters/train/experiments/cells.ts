// A cell of a published experiment as a training run of this page.
import type { Training } from '../../../engine/protocol';
import operations from '../../../generated/operations.json';
import { pick } from '../../../state/control';
import { Signal } from '../../../state/signal';
import type { RunComparison } from '../runs/comparison';
import type { Row } from '../runs/log';
import type { TrainingRun } from '../runs/run';
import { TRAINING, type State } from '../state';
import { labelsOf, type Grid, type PublishedCell, type PublishedResults, type Setting } from './results';

/** A cell of a grid, whether or not its run is published. */
export interface CellChoice {
  axes: Readonly<Record<string, string>>;
  seed: number;
}

/** The settings that the label of an axis stands for. */
function settingsOf({ axes }: Grid, axis: string, label: string): Record<string, Setting> {
  const values = axes[axis]!;
  if (!Array.isArray(values)) return values[label]!;
  return { [axis]: values.find((value) => String(value) === label)! };
}

/** The run of a cell: the library's defaults, then the grid's settings, then those of its labels. */
export function trainingOfCell({ grid }: PublishedResults, { axes, seed }: CellChoice): Training {
  const { defaults } = operations.train;
  const fields: string[] = [...TRAINING, 'regularizer'];
  const entries = Object.entries(defaults).filter(([name]) => fields.includes(name));
  const { tokenizer, min_count, settings } = grid;
  const labels = Object.entries(axes).map(([axis, label]) => settingsOf(grid, axis, label));
  return Object.assign(
    Object.fromEntries(entries),
    tokenizer && { tokenizer },
    min_count && { min_count },
    settings,
    ...labels,
    { seed },
  ) as Training;
}

/** The controls' values for a run. */
export function stateOfTraining(training: Training): Partial<State> {
  return { ...pick(training, TRAINING), runs: training.regularizer };
}

/** Equal for two runs exactly when all their settings are. */
export function keyOf(training: Training): string {
  return JSON.stringify(Object.entries(training).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The published run of a cell; nothing when it is missing. */
export function cellOf({ cells }: PublishedResults, choice: CellChoice): PublishedCell | undefined {
  return cells.find(
    ({ axes, seed }) => seed === choice.seed && Object.entries(choice.axes).every(([name, it]) => axes[name] === it),
  );
}

/** Every combination of labels and seeds of a grid, run or not. */
export function choicesOf(results: PublishedResults): CellChoice[] {
  let all: Record<string, string>[] = [{}];
  for (const axis of Object.keys(results.grid.axes)) {
    all = all.flatMap((axes) => labelsOf(results, axis).map((it) => ({ ...axes, [axis]: it })));
  }
  return all.flatMap((axes) => seedsOf(results).map((seed) => ({ axes, seed })));
}

/** The seeds of the plan of an experiment, in order. */
export function seedsOf({ grid }: PublishedResults): number[] {
  const seeds = grid.stages.flatMap(({ seeds: count, first_seed = 1 }) =>
    Array.from({ length: count }, (_, i) => first_seed + i),
  );
  return [...new Set(seeds)].sort((a, b) => a - b);
}

/** A run of an experiment that was trained in this tab. */
interface Trial {
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

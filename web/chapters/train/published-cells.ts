// A cell of a published experiment as a training run of this page.
import operations from '../../generated/operations.json';
import type { Training } from '../../engine/protocol';
import { pick } from '../../state/control';
import { labelsOf, type Grid, type PublishedCell, type PublishedResults, type Setting } from './published-results';
import { TRAINING, type State } from './state';

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
  const seeds = Array.from({ length: seedsOf(results) }, (_, i) => i + 1);
  return all.flatMap((axes) => seeds.map((seed) => ({ axes, seed })));
}

/** How many seeds the plan of an experiment has at most. */
export function seedsOf({ grid }: PublishedResults): number {
  return Math.max(...grid.stages.map(({ seeds }) => seeds));
}

import { Signal } from '../../state/signal';
import { html } from '../../ui/dom';
import { CellPicker } from './cell-picker';
import type { CellChoosing } from './cells-figure';
import type { CellChoice } from './published-cells';
import type { PublishedResults } from './published-results';
import type { Trials } from './trials';

/** Chooses one run of several experiments: a list of these, and the picker of the chosen one below. */
export class ExperimentPicker {
  readonly changed = new Signal();
  private readonly rows: HTMLElement[];
  private readonly pickers: CellPicker[];
  private readonly select = html('select', {});

  /** `names` and `choosing` are those of the experiments, in one order. */
  constructor(
    place: HTMLElement,
    names: readonly string[],
    choosing: readonly CellChoosing[],
    trials: Trials,
  ) {
    names.forEach((name, at) => this.select.append(new Option(name, String(at))));
    this.select.addEventListener('change', () => this.choose({ experiment: this.select.value }));
    const field = html('label', { className: 'watch' });
    field.append('Experiment', this.select);
    this.rows = choosing.map((_, at) => html('div', { className: 'picker', hidden: at > 0 }));
    this.pickers = choosing.map(
      (own, at) => new CellPicker(this.rows[at], own.names, own.first, own.outcome, trials),
    );
    place.append(field, ...this.rows);
  }

  /** The place of the chosen experiment among them, and its chosen run. */
  get choice(): CellChoice & { experiment: number } {
    const experiment = Number(this.select.value);
    return { experiment, ...this.pickers[experiment].choice };
  }

  /** The results came, in the order of the names. */
  fill(results: readonly PublishedResults[]): void {
    this.pickers.forEach((picker, at) => picker.fill(results[at]));
  }

  /** What the lists of an experiment say of one of its runs. */
  textOf(experiment: number, run: CellChoice): string {
    return this.pickers[experiment].textOf(run);
  }

  /** Chooses a run of the experiment that is named by its place; labels that are not named stay. */
  choose({ experiment, ...labels }: Record<string, string>): void {
    this.select.value = experiment;
    this.rows.forEach((row, at) => (row.hidden = String(at) !== experiment));
    this.pickers[Number(experiment)].choose(labels);
    this.changed.send();
  }
}

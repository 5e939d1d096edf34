import { Signal } from '../../state/signal';
import { html } from '../../ui/dom';
import { CellPicker, type CellChoosing } from './cell-picker';
import type { CellChoice } from './published-cells';
import type { PublishedResults } from './published-results';
import type { Trials } from './trials';

/** A chosen run, and the place of its experiment among them. */
export interface ExperimentChoice extends CellChoice {
  experiment: number;
}

/** Chooses one run of an experiment; of several by a list of these, with the picker of the chosen one below. */
export class ExperimentPicker {
  readonly changed = new Signal();
  private readonly rows: HTMLElement[];
  private readonly pickers: CellPicker[];
  private readonly select = html('select', {});

  constructor(place: HTMLElement, experiments: readonly { subject: string; choosing: CellChoosing }[], trials: Trials) {
    experiments.forEach(({ subject }, at) => this.select.append(new Option(subject, String(at))));
    this.select.addEventListener('change', () => this.choose({ experiment: this.select.value }));
    const several = experiments.length > 1;
    this.rows = experiments.map((_, at) => (several ? html('div', { className: 'picker', hidden: at > 0 }) : place));
    this.pickers = experiments.map(({ choosing }, at) => new CellPicker(this.rows[at], choosing, trials));
    for (const picker of this.pickers) picker.changed.subscribe(() => this.changed.send());
    if (!several) return;
    const field = html('label', { className: 'watch' });
    field.append('Experiment', this.select);
    place.append(field, ...this.rows);
  }

  get choice(): ExperimentChoice {
    const experiment = Number(this.select.value);
    return { experiment, ...this.pickers[experiment].choice };
  }

  /** The results came, in the order of the experiments. */
  fill(results: readonly PublishedResults[]): void {
    this.pickers.forEach((picker, at) => picker.fill(results[at]));
  }

  /** What the lists of an experiment say of one of its runs. */
  textOf(experiment: number, run: CellChoice): string {
    return this.pickers[experiment].textOf(run);
  }

  /** Chooses a run of the experiment that is named by its place; what is not named stays. */
  choose({ experiment = this.select.value, ...labels }: Record<string, string>): void {
    this.select.value = experiment;
    this.rows.forEach((row, at) => (row.hidden = String(at) !== experiment));
    this.pickers[Number(experiment)].choose(labels);
  }
}

import { Signal } from '../../state/signal';
import { html } from '../../ui/dom';
import { referTo } from '../../ui/registry';
import { count } from '../../charts/format';
import { cellOf, seedsOf, trainingOfCell, type CellChoice } from './published-cells';
import { labelsOf, type PublishedResults } from './published-results';
import type { Trials } from './trials';

/** How an axis of an experiment and its labels are called. */
export interface AxisName {
  name: string;
  /** What the page calls a label; itself where there is none. */
  label?: (label: string, results: PublishedResults) => string;
}

/** The measure that decides an experiment. */
export interface Outcome {
  measure: 'bits_per_byte' | 'perplexity';
  /** After the number. */
  unit: string;
  digits: number;
}

/** Of experiments on bytes. */
export const FINAL_LOSS: Outcome = { measure: 'bits_per_byte', unit: 'bits per byte', digits: 3 };

/** How the runs of an experiment are chosen. */
export interface CellChoosing {
  names: Readonly<Record<string, AxisName>>;
  /** The labels that are chosen at first; of the other axes the first label is. */
  first: Readonly<Record<string, string>>;
  outcome: Outcome;
}

/** Chooses one run of an experiment, says its result, and trains it in this tab. */
export class CellPicker {
  readonly changed = new Signal();
  private results: PublishedResults | null = null;
  private axes: Record<string, string> = {};
  private seed = 1;
  private selects = new Map<string, HTMLSelectElement>();
  private said = html('span', { role: 'status' });
  private button = html('button', { type: 'button', textContent: 'Train this run here' });

  constructor(
    private place: HTMLElement,
    private choosing: CellChoosing,
    private trials: Trials,
  ) {
    trials.changed.subscribe(() => this.say());
    this.button.addEventListener('click', () => {
      if (this.results) trials.train(trainingOfCell(this.results, this.choice));
    });
  }

  get choice(): CellChoice {
    return { axes: this.axes, seed: this.seed };
  }

  /** The results came: builds the lists of labels. */
  fill(results: PublishedResults): void {
    this.results = results;
    for (const axis of Object.keys(results.grid.axes)) {
      const labels = labelsOf(results, axis);
      this.axes[axis] = this.choosing.first[axis] ?? labels[0];
      const { name } = this.choosing.names[axis]!;
      if (labels.length > 1) this.list(axis, name, labels, (it) => this.labelOf(axis, it));
    }
    const seeds = Array.from({ length: seedsOf(results) }, (_, i) => String(i + 1));
    if (seeds.length > 1) this.list('seed', 'Seed', seeds);
    this.place.append(this.button, this.said);
    this.say();
  }

  /** What the lists say of a cell: "Method: baseline, Seed: 2". */
  textOf({ axes, seed }: CellChoice): string {
    const texts = [...this.selects.keys()].map((axis) =>
      axis === 'seed' ? `Seed: ${seed}` : `${this.choosing.names[axis]!.name}: ${this.labelOf(axis, axes[axis])}`,
    );
    return texts.join(', ');
  }

  /** Chooses another cell; axes that are not named stay. */
  choose({ seed, ...axes }: Record<string, string>): void {
    Object.assign(this.axes, axes);
    if (seed) this.seed = Number(seed);
    for (const [axis, select] of this.selects) select.value = axis === 'seed' ? String(this.seed) : this.axes[axis];
    this.say();
    this.changed.send();
  }

  /** What the page calls a label of an axis. */
  private labelOf(axis: string, label: string): string {
    return this.choosing.names[axis]!.label?.(label, this.results!) ?? label;
  }

  private list(axis: string, name: string, labels: string[], text = (label: string) => label) {
    const select = document.createElement('select');
    for (const label of labels) select.append(new Option(text(label), label));
    select.value = axis === 'seed' ? String(this.seed) : this.axes[axis];
    select.addEventListener('change', () => this.choose({ [axis]: select.value }));
    const field = html('label', { className: 'watch' });
    field.append(name, select);
    this.place.append(field);
    this.selects.set(axis, select);
  }

  private say(): void {
    const text = this.text();
    if (this.said.textContent !== text) this.said.textContent = text;
  }

  /** What is known of the chosen cell. */
  private text(): string {
    const { results, trials } = this;
    if (!results) return '';
    const { measure, unit, digits } = this.choosing.outcome;
    const shown = (value?: number | null) => `${value?.toFixed(digits) ?? 'none'} ${unit}`;
    const cell = cellOf(results, this.choice);
    const published = !cell
      ? 'Not run yet.'
      : cell.failure
        ? `Published: stopped at ${cell.failure}.`
        : `Published: ${shown(cell.final[measure])}.`;
    const training = trainingOfCell(results, this.choice);
    const step = trials.stepOf(training);
    const own = trials.find(training);
    if (step !== null) {
      const at = `step ${count(step)} of ${count(training.steps)}`;
      return `${published} Here: ${at}; its curves are in ${referTo('run-curves')}.`;
    }
    return own ? `${published} Here: ${shown(own.final[measure])}.` : published;
  }
}

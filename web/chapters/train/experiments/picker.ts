import { count } from '../../../charts/format';
import { makeTip, placeTip } from '../../../charts/mark-tip';
import { Signal } from '../../../state/signal';
import { html } from '../../../ui/dom';
import { referTo } from '../../../ui/registry';
import { cellOf, seedsOf, trainingOfCell, type CellChoice, type Trials } from './cells';
import { labelsOf, type PublishedResults } from './results';

/** A mark of a picture, in its pixels, that stands for cells of an experiment. */
export interface CellPlace {
  x: number;
  y: number;
  /** What the tip says of it. */
  text: string;
  /** What a click chooses: labels of axes, or a seed. */
  choice: Record<string, string>;
}

/** How near, in pixels, a pointer must come. */
const REACH = 16;

/** Lets a pointer find marks: a ring and a tip while it is near, chosen by a click. */
export class CellPointer {
  private ring = html('div', { className: 'ring', hidden: true });
  private tip: HTMLElement;
  private places: readonly CellPlace[] = [];

  constructor(
    private area: HTMLElement,
    choose: (choice: Record<string, string>) => void,
  ) {
    area.append(this.ring);
    this.tip = makeTip(area);
    area.addEventListener('pointermove', (event) => this.show(this.near(event)));
    area.addEventListener('pointerleave', () => this.show(undefined));
    area.addEventListener('click', (event) => {
      const place = this.near(event);
      if (place) choose(place.choice);
    });
  }

  /** Takes the places of a new picture. */
  put(places: readonly CellPlace[]): void {
    this.places = places;
  }

  private near(event: MouseEvent): CellPlace | undefined {
    const box = this.area.getBoundingClientRect();
    const distance = ({ x, y }: CellPlace) => Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
    let best: CellPlace | undefined;
    for (const place of this.places) if (!best || distance(place) < distance(best)) best = place;
    return best && distance(best) < REACH ? best : undefined;
  }

  private show(place: CellPlace | undefined): void {
    this.ring.hidden = this.tip.hidden = !place;
    if (!place) return;
    const { x, y, text } = place;
    this.ring.style.transform = `translate(${x}px, ${y}px)`;
    this.tip.textContent = text;
    placeTip(this.tip, this.area, x, y, 14);
  }
}

/** How an axis of an experiment and its labels are called. */
interface AxisName {
  name: string;
  /** What the page calls a label; itself where there is none. */
  label?: (label: string, results: PublishedResults) => string;
}

/** The measure that decides an experiment. */
interface Outcome {
  measure: 'bits_per_byte' | 'loss' | 'perplexity';
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
class CellPicker {
  readonly changed = new Signal();
  private results: PublishedResults | null = null;
  private axes: Record<string, string> = {};
  private seed = NaN;
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
    const seeds = seedsOf(results).map(String);
    this.seed = Number(seeds[0]);
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
    const select = html('select', {}, ...labels.map((label) => new Option(text(label), label)));
    select.value = axis === 'seed' ? String(this.seed) : this.axes[axis];
    select.addEventListener('change', () => this.choose({ [axis]: select.value }));
    this.place.append(html('label', { className: 'watch' }, name, select));
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
    place.append(html('label', { className: 'watch' }, 'Experiment', this.select), ...this.rows);
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

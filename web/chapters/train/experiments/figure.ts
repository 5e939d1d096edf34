import type { legend } from '../../../charts/legend';
import { fieldRamp } from '../../../charts/palette';
import { element } from '../../../charts/picture';
import { finiteCell, type Table } from '../../../charts/table';
import { child } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import { draw, type Drawing } from '../../../ui/queue';
import type { FigureOf } from '../../../ui/registry';
import type { Figure } from '../state';
import type { CellTrial, Trials } from './cells';
import { loadResults } from './files';
import { arranged, referencesText, type Panel, type PanelSize } from './panels';
import { CellPointer, ExperimentPicker, type CellChoosing, type ExperimentChoice } from './picker';
import { partText, REFERENCES, type PublishedResults } from './results';
import type { Tested } from './rows';

/** An experiment whose runs can be chosen, by its name; its subject is what the list of several says. */
export interface ChosenExperiment {
  name: string;
  subject: string;
  choosing: CellChoosing;
}

/** What a figure of panels draws from. */
export interface Shown<Rows> {
  rows: Rows;
  /** In the order of the experiments. */
  results: readonly PublishedResults[];
  choice: ExperimentChoice;
  /** Runs of each experiment that were trained in this tab. */
  trained: readonly (readonly CellTrial[])[];
  /** What the lists say of a run of an experiment. */
  textOf: ExperimentPicker['textOf'];
}

/** Panels of one size below a legend. */
export interface Panels extends Omit<PanelSize, 'width'> {
  names: ReturnType<typeof legend>;
  panels: readonly Panel[];
}

/** Panels in one picture, with what can be pointed at. */
type Picture = ReturnType<typeof arranged>;

/** A column of exported numbers: its name, and its value in a row. */
export type Column<Row> = readonly [name: string, value: (row: Row) => string | number | null];

/** Columns of a mean, its error, its difference from the baseline and the p value of that, for these ends of names. */
export function testedColumns<Row>(
  name: string,
  of: (row: Row) => Tested,
  error = '_error',
): readonly [Column<Row>, Column<Row>, Column<Row>, Column<Row>] {
  return [
    [name, (row) => finiteCell(of(row).mean)],
    [name + error, (row) => finiteCell(of(row).error)],
    [`${name}_difference`, (row) => finiteCell(of(row).difference)],
    [`${name}_p_holm`, (row) => of(row).p],
  ];
}

/** Columns of fields of a row that have their names; a number that is not finite has an empty cell. */
export function fieldsOf<F extends string>(...names: F[]): Column<Record<F, string | number | null>>[] {
  return names.map((name) => [
    name,
    ({ [name]: value }) => (typeof value === 'number' ? finiteCell(value) : (value as string | null)),
  ]);
}

/** Columns of runs and of those that failed. */
export const RUN_COLUMNS = fieldsOf('runs', 'failures');

/** A table of rows; with results also the losses of the tables of n-grams. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[], results?: PublishedResults): Table {
  const references = results ? REFERENCES : [];
  return {
    columns: [...columns.map(([name]) => name), ...references],
    rows: rows.map((row) => [
      ...columns.map(([, value]) => value(row)),
      ...references.map((name) => results!.references[name]),
    ]),
  };
}

/**
 * A figure of published experiments: panels whose marks stand for runs, which a reader chooses by pointing or in
 * lists and trains in this tab.
 */
export interface PanelsDescription<Rows> {
  id: FigureOf<'train'>;
  experiments: readonly ChosenExperiment[];
  /** What the picture shows, for screen readers; the caption follows. */
  title: string;
  /** What is shown of the results; called once. */
  rows(...results: PublishedResults[]): Rows;
  /** Draws, in a width in pixels; yields between what takes long. */
  panels(shown: Shown<Rows>, width: number): Generator<undefined, Panels>;
  /**
   * Marks of chosen and trained runs over panels that stay while only these change; without it the panels have
   * them.
   */
  overlay?(shown: Shown<Rows>, picture: Picture): SVGSVGElement;
  /** Sentences of the caption; those that are empty are left out. */
  caption(shown: Shown<Rows>): readonly string[];
  /** The unit in which the caption has the losses of the tables of n-grams; without it the caption lacks them. */
  unit?: string;
  /** The numbers of exports. */
  table(shown: Shown<Rows>): Table;
}

/** The figure of a description, whose results come when it is first looked at. */
export class PanelsFigure<Rows> implements Figure {
  readonly id: FigureOf<'train'>;
  readonly inputs = [];
  readonly repaintOn = [];
  readonly frame: Frame;
  /** In the order of the experiments; none before they came. */
  private results: readonly PublishedResults[] = [];
  private rows!: Rows;
  private drawn: (Picture & { key: string; overlay: SVGSVGElement }) | null = null;
  private readonly picker: ExperimentPicker;
  private readonly pointer: CellPointer;

  constructor(
    private readonly of: PanelsDescription<Rows>,
    private readonly trials: Trials,
  ) {
    this.id = of.id;
    this.frame = new Frame(of.id, () => this.table());
    this.picker = new ExperimentPicker(child(this.frame.root, '[data-picker]'), of.experiments, trials);
    this.pointer = new CellPointer(this.frame.chart, (choice) => {
      child<HTMLDetailsElement>(this.frame.root, 'details.more').open = true; // there the run is named
      this.picker.choose(choice);
    });
    this.picker.changed.subscribe(() => draw(this.drawing));
  }

  async compute(): Promise<void> {
    if (this.results.length > 0) return;
    this.results = await Promise.all(this.of.experiments.map(({ name }) => loadResults(name)));
    this.rows = this.of.rows(...this.results);
    this.picker.fill(this.results);
  }

  paint(): ReturnType<Drawing> {
    if (this.results.length > 0) return this.draw(this.frame.width);
  }
  private drawing = () => this.paint();

  /** Its experiments, for exports. */
  origin() {
    return { experiment: this.of.experiments.map(({ name }) => name).join(', ') };
  }

  table(): Table | null {
    return this.results.length > 0 ? this.of.table(this.shown) : null;
  }

  private *draw(width: number) {
    const { of, shown } = this;
    const key = JSON.stringify([width, fieldRamp()(0)]);
    if (!of.overlay || this.drawn?.key !== key) {
      const { names, panels, ...size } = yield* of.panels(shown, width);
      const caption = this.caption(shown);
      const picture = arranged(panels, { ...size, width }, names, `${of.title}. ${caption}`);
      this.drawn = { ...picture, key, overlay: element('svg') };
      if (of.overlay) picture.svg.append(this.drawn.overlay);
      this.pointer.put(picture.places);
      this.frame.put(picture.svg);
      this.frame.say(caption);
    }
    const { drawn } = this;
    if (!of.overlay || !drawn) return;
    const overlay = of.overlay(this.shown, drawn);
    drawn.overlay.replaceWith(overlay);
    drawn.overlay = overlay;
  }

  private caption(shown: Shown<Rows>): string {
    const { caption, unit } = this.of;
    const references = unit ? [referencesText(shown.results[0].references, unit)] : [];
    return [...caption(shown), ...references, ...shown.results.map(partText)].filter(Boolean).join(' ');
  }

  private get shown(): Shown<Rows> {
    const { rows, results, picker, trials } = this;
    return {
      rows,
      results,
      choice: picker.choice,
      trained: results.map((own) => trials.ofExperiment(own)),
      textOf: (experiment, run) => picker.textOf(experiment, run),
    };
  }
}

import type { legend } from '../../charts/legend';
import { fieldRamp } from '../../charts/palette';
import { element } from '../../charts/picture';
import type { Table } from '../../charts/table';
import { child } from '../../ui/dom';
import type { FigureOf } from '../../ui/registry';
import type { CellChoosing } from './cell-picker';
import { CellPointer } from './cell-pointer';
import { ExperimentPicker, type ExperimentChoice } from './experiment-picker';
import { arranged, type Panel, type PanelSize } from './panel-parts';
import { PublishedFigure } from './published-figure';
import type { PublishedResults } from './published-results';
import type { CellTrial, Trials } from './trials';

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
export type Picture = ReturnType<typeof arranged>;

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
  caption(shown: Shown<Rows>): string;
  /** The numbers of exports. */
  table(shown: Shown<Rows>): Table;
}

/** Any of the figures that descriptions of panels make. */
export class PanelsFigure<Rows> extends PublishedFigure {
  private rows!: Rows;
  private drawn: (Picture & { key: string; overlay: SVGSVGElement }) | null = null;
  private readonly picker: ExperimentPicker;
  private readonly pointer: CellPointer;

  constructor(
    private readonly of: PanelsDescription<Rows>,
    private readonly trials: Trials,
  ) {
    super(of.id, ...of.experiments.map(({ name }) => name));
    this.picker = new ExperimentPicker(child(this.frame.root, '[data-picker]'), of.experiments, trials);
    this.pointer = new CellPointer(this.frame.chart, (choice) => {
      child<HTMLDetailsElement>(this.frame.root, 'details.more').open = true; // there the run is named
      this.picker.choose(choice);
    });
    this.picker.changed.subscribe(this.redraw);
  }

  protected take(...results: PublishedResults[]): void {
    this.rows = this.of.rows(...results);
    this.picker.fill(results);
  }

  protected *draw(width: number) {
    const { of, shown } = this;
    const key = JSON.stringify([width, fieldRamp()(0)]);
    if (!of.overlay || this.drawn?.key !== key) {
      const { names, panels, ...size } = yield* of.panels(shown, width);
      const caption = of.caption(shown);
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

  protected numbers(): Table {
    return this.of.table(this.shown);
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

import type { legend } from '../../charts/legend';
import { child } from '../../ui/dom';
import type { FigureOf } from '../../ui/registry';
import { CellPicker, type AxisName, type Outcome } from './cell-picker';
import { CellPointer } from './cell-pointer';
import { arranged, type Panel, type PanelSize } from './panel-parts';
import { PublishedFigure } from './published-figure';
import type { PublishedResults } from './published-results';
import type { CellTrial, Trials } from './trials';

/** How the runs of an experiment are chosen. */
export interface CellChoosing {
  names: Readonly<Record<string, AxisName>>;
  /** The labels that are chosen at first; of the other axes the first label is. */
  first: Readonly<Record<string, string>>;
  outcome: Outcome;
}

/** A figure of one experiment whose runs are chosen by pointing or in lists, and trained in this tab. */
export abstract class CellsFigure extends PublishedFigure {
  /** There before `read`, `draw` and `numbers` are called. */
  protected found!: PublishedResults;
  protected readonly picker: CellPicker;
  private readonly pointer: CellPointer;

  constructor(
    id: FigureOf<'train'>,
    experiment: string,
    { names, first, outcome }: CellChoosing,
    private readonly trials: Trials,
  ) {
    super(id, experiment);
    const place = child(this.frame.root, '[data-picker]');
    this.picker = new CellPicker(place, names, first, outcome, trials);
    this.pointer = new CellPointer(this.frame.chart, (choice) => this.picker.choose(choice));
    this.picker.changed.subscribe(this.redraw);
  }

  protected take(results: PublishedResults): void {
    this.found = results;
    this.read(results);
    this.picker.fill(results);
  }

  /** The results came. */
  protected abstract read(results: PublishedResults): void;

  /** Shows panels of one size below a legend; returns the picture. Its label is the title and the caption. */
  protected put(
    panels: readonly Panel[],
    size: PanelSize,
    names: ReturnType<typeof legend>,
    title: string,
    caption: string,
  ): ReturnType<typeof arranged> {
    const picture = arranged(panels, size, names, `${title}. ${caption}`);
    this.pointer.put(picture.places);
    this.frame.put(picture.svg);
    this.frame.say(caption);
    return picture;
  }

  /** Runs of the experiment that were trained in this tab. */
  protected trained(): CellTrial[] {
    return this.trials.ofExperiment(this.found);
  }
}

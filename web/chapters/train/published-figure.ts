import type { Table } from '../../charts/table';
import { Frame } from '../../ui/frame';
import { draw, type Drawing } from '../../ui/queue';
import type { FigureOf } from '../../ui/registry';
import type { PublishedResults } from './published-results';
import { loadResults } from './results-files';
import type { Figure } from './state';

/** A figure of published experiments, whose results come when it is first looked at. */
export abstract class PublishedFigure implements Figure {
  readonly inputs = [];
  readonly repaintOn = [];
  readonly frame: Frame;
  /** In the order of the experiments' names; none before they came. */
  protected results: readonly PublishedResults[] = [];
  private readonly experiments: readonly string[];

  constructor(
    readonly id: FigureOf<'train'>,
    ...experiments: readonly string[]
  ) {
    this.frame = new Frame(id, () => this.table());
    this.experiments = experiments;
  }

  async compute(): Promise<void> {
    if (this.results.length > 0) return;
    this.results = await Promise.all(this.experiments.map(loadResults));
    this.take(...this.results);
  }

  paint(): ReturnType<Drawing> {
    if (this.results.length > 0) return this.draw(this.frame.width);
  }

  /** Draws again soon, in turn with the others. */
  protected redraw = (): void => draw(this.drawing);
  private drawing = () => this.paint();

  /** Its experiments, for exports. */
  origin() {
    return { experiment: this.experiments.join(', ') };
  }

  table(): Table | null {
    return this.results.length > 0 ? this.numbers() : null;
  }

  /** The results came, in the order of the experiments' names. */
  protected abstract take(...results: PublishedResults[]): void;
  /** Draws into the frame, so many pixels wide; what takes long yields between its steps. */
  protected abstract draw(width: number): ReturnType<Drawing>;
  /** The numbers shown. */
  protected abstract numbers(): Table;
}

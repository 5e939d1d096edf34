import { legend, type Entry } from '../../charts/legend';
import { element } from '../../charts/picture';
import { compose, partOf } from '../../charts/plot';
import type { Frame } from '../../ui/frame';

/** Panels under a legend of their own, all of one height; one that is `wide` has two columns where there are. */
export interface PanelBlock {
  entries: Entry[];
  panels: { height: number; wide?: boolean }[];
}

/** Pixels that a panel needs beside others. */
const LEAST = 165;

/** Pixels between two blocks. */
const GAP = 12;

/** Where a panel lies in the picture. */
interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A picture of panels that are drawn anew one by one: all in one task would hold up the hand at the page. */
export class PanelPicture {
  private svg: SVGSVGElement | null = null;
  private key = '';
  private places: Place[] = [];
  private panels: SVGSVGElement[] = [];

  /** `most` panels stand in a row. */
  constructor(
    private frame: Frame,
    private most: number,
  ) {}

  /** Panels for which a row has room. */
  get columns(): number {
    return Math.max(1, Math.min(this.most, Math.floor(this.frame.width / LEAST)));
  }

  /** Lays the panels out, empty, unless they lie so already; `label` is what a screen reader says. */
  layOut(blocks: PanelBlock[], label: string): void {
    const key = JSON.stringify([this.frame.width, blocks]);
    if (this.key !== key) {
      this.key = key;
      this.svg = this.empty(blocks, label);
      this.frame.put(this.svg);
    }
    this.svg?.setAttribute('aria-label', label);
  }

  /** Puts a panel at its place; `draw` is told its size, `name` goes into `data-panel`. */
  put(at: number, name: string, draw: (size: Pick<Place, 'width' | 'height'>) => SVGSVGElement) {
    const { x, y, width, height } = this.places[at];
    const svg = partOf(draw({ width, height }));
    svg.setAttribute('x', String(x));
    svg.setAttribute('y', String(y));
    svg.dataset.panel = name;
    this.panels[at].replaceWith(svg);
    this.panels[at] = svg;
  }

  private empty(blocks: PanelBlock[], label: string): SVGSVGElement {
    const { columns } = this;
    const { width } = this.frame;
    const legends: SVGGElement[] = [];
    this.places = [];
    let top = 0;
    for (const { entries, panels } of blocks) {
      const names = legend(entries, 0, width, top > 0 ? top + GAP : 0);
      legends.push(names.render());
      top = names.height + 6;
      let column = 0;
      for (const { height, wide } of panels) {
        const span = Math.min(wide ? 2 : 1, columns);
        if (column + span > columns) [column, top] = [0, top + height];
        this.places.push({ x: (column * width) / columns, y: top, width: (span * width) / columns, height });
        column += span;
      }
      top += panels[panels.length - 1].height;
    }
    this.panels = this.places.map((place) => element('svg', { ...place }));
    const parts = this.panels.map((svg, i) => ({ svg, x: this.places[i].x, y: this.places[i].y }));
    const svg = compose(parts, { width, height: top }, label);
    svg.append(...legends);
    return svg;
  }
}

import { legend, type Entry } from '../../charts/legend';
import { element } from '../../charts/picture';
import { compose, partOf } from '../../charts/plot';
import type { Frame } from '../../ui/frame';

/** Panels under a legend of their own. `whole` has a row for itself; others stand two in a row. */
export interface PanelBlock {
  entries: Entry[];
  panels: { height: number; whole?: boolean }[];
}

/** Pixels from which two panels have room beside each other. */
const WIDE = 640;

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

  constructor(private frame: Frame) {}

  /** There is room for two panels in a row. */
  get wide(): boolean {
    return this.frame.width >= WIDE;
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
    const { width } = this.frame;
    const legends: SVGGElement[] = [];
    this.places = [];
    let top = 0;
    for (const { entries, panels } of blocks) {
      const names = legend(entries, 0, width, top > 0 ? top + GAP : 0);
      legends.push(names.render());
      top = names.height + 6;
      let left = true; // the place of the next panel of half the width
      for (const { height, whole } of panels) {
        const alone = !this.wide || whole === true;
        const x = alone || left ? 0 : width / 2;
        this.places.push({ x, y: top, width: alone ? width : width / 2, height });
        left = alone || !left;
        if (left) top += height;
      }
      if (!left) top += panels[panels.length - 1].height;
    }
    this.panels = this.places.map((place) => element('svg', { ...place }));
    const parts = this.panels.map((svg, i) => ({ svg, x: this.places[i].x, y: this.places[i].y }));
    const svg = compose(parts, { width, height: top }, label);
    svg.append(...legends);
    return svg;
  }
}

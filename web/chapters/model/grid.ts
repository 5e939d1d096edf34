// Small pictures of all heads in a grid: one row for each layer, one column for each head.
import { textWidth } from '../../charts/legend';
import { element, type Bitmap } from '../../charts/picture';
import { compose } from '../../charts/plot';
import { RectangleBrush, type Box } from '../../charts/rectangle';
import { makeTip } from '../../charts/mark-tip';
import { brushed, brushOnly, isBrushing, placeOf, toggle } from '../../heads/brush';
import type { HeadRegistry, PlacedHead } from '../../heads/registry';
import type { Frame } from '../../ui/frame';
import type { Checkpoints } from './opening/checkpoints';
import type { Store } from './state';

/** Pixels of the names of both axes with the numbers of the heads, and of the least and largest side of a cell. */
const TOP = 38;
const LEAST = 22;
const MOST = 62;

/** Cells in pixels. */
interface Layout {
  cell: number;
  columns: number;
  /** Pixels for the names of the layers. */
  left: number;
  rows: string[];
}

/** What a grid shows of each head. */
interface GridOptions {
  /** What the grid is, for readers of the screen. */
  label: string;
  /** What the tip of a head shows; a cell's size in pixels is `cell`. */
  tip(head: PlacedHead): (Node | string)[];
  /** Marks of a head over its picture, in a cell of `side` pixels. */
  mark?(head: PlacedHead, side: number): SVGElement | null;
}

/** Lets a pointer hover, choose and brush the heads of the opened model in a grid of cells. */
export class HeadGrid {
  private canvas = document.createElement('canvas');
  private tip: HTMLElement;
  private painted: unknown[] = [];

  constructor(
    private frame: Frame,
    private store: Store,
    private registry: HeadRegistry,
    private checkpoints: Checkpoints,
    private options: GridOptions,
  ) {
    const area = frame.chart;
    area.classList.add('head-grid');
    this.canvas.className = 'bitmap smooth';
    this.tip = makeTip(area);
    area.addEventListener('pointermove', (event) => registry.hover(this.headAt(event)?.id ?? ''));
    area.addEventListener('pointerleave', () => registry.hover(''));
    area.addEventListener('click', (event) => this.click(event));
    new RectangleBrush(area, (box) => this.brush(box));
    registry.hovering.subscribe(() => this.showTip());
  }

  /**
   * The picture, with its cells below `top`. `draw` paints all heads into a canvas whose pixels are `ratio` for one
   * of the page; it is called again where one of `seen` has changed.
   */
  picture(
    caption: string,
    top: number,
    seen: readonly unknown[],
    draw: (context: CanvasRenderingContext2D, corner: (head: PlacedHead) => [number, number], cell: number) => void,
  ): { svg: SVGSVGElement; bitmap: Bitmap } {
    const layout = this.layout();
    const { cell, columns, left, rows } = layout;
    this.top = top + TOP;
    const size = { width: left + columns * cell + 2, height: this.top + rows.length * cell + 2 };
    this.makeScrollable(size.width > this.frame.width); // a wide one scrolls, also by keys
    const svg = compose([], size, caption);
    svg.style.maxWidth = 'none';
    svg.append(this.titles(layout), this.outlines(layout));
    const [width, height] = [columns * cell, rows.length * cell];
    const all = [...seen, cell, this.checkpoints.model, devicePixelRatio];
    if (all.some((it, i) => it !== this.painted[i])) {
      this.painted = all;
      const ratio = Math.max(1, devicePixelRatio);
      this.canvas.width = width * ratio;
      this.canvas.height = height * ratio;
      const context = this.canvas.getContext('2d');
      context?.scale(ratio, ratio);
      if (context) draw(context, ({ row, head }) => [head * cell, row * cell], cell);
    }
    return { svg, bitmap: { canvas: this.canvas, x: left, y: this.top, width, height } };
  }

  /** Of the first row of cells. */
  private top = TOP;

  private makeScrollable(wide: boolean): void {
    const { chart } = this.frame;
    const names = { tabindex: '0', role: 'group', 'aria-label': this.options.label };
    for (const [name, value] of Object.entries(names)) {
      if (wide) chart.setAttribute(name, value);
      else chart.removeAttribute(name);
    }
  }

  private layout(): Layout {
    const { heads, rows } = this.checkpoints.model;
    const left = Math.max(30, 8 + Math.max(...rows.map(textWidth)));
    const columns = 1 + Math.max(0, ...heads.map(({ head }) => head));
    const room = (this.frame.width - left - 2) / columns;
    return { cell: Math.floor(Math.min(MOST, Math.max(LEAST, room))), columns, left, rows };
  }

  private corner({ row, head }: PlacedHead, { cell, left }: Layout): [number, number] {
    return [left + head * cell, this.top + row * cell];
  }

  private titles({ cell, columns, left, rows }: Layout): SVGGElement {
    const group = element('g', { 'font-size': 11, fill: 'currentColor', 'aria-hidden': 'true' });
    const every = Math.ceil(18 / cell);
    group.append(element('text', { x: 0, y: this.top - TOP + 12 }, '↓ layer, head →'));
    for (let head = 0; head < columns; head += every) {
      const look = { x: left + (head + 0.5) * cell, y: this.top - 7, 'text-anchor': 'middle' };
      group.append(element('text', look, String(head)));
    }
    rows.forEach((layer, row) => {
      const look = { x: left - 6, y: this.top + (row + 0.5) * cell, dy: '0.32em', 'text-anchor': 'end' };
      group.append(element('text', look, layer));
    });
    return group;
  }

  private outlines(layout: Layout): SVGGElement {
    const { state } = this.store;
    const shown = placeOf(this.checkpoints.head(state.head));
    const chosen = brushed(state);
    const group = element('g', { fill: 'none', 'data-mark': 'heads' });
    for (const head of this.checkpoints.model.heads) {
      const [x, y] = this.corner(head, layout);
      const side = layout.cell - 2;
      const isShown = placeOf(head) === shown;
      const picked = chosen.has(placeOf(head));
      const stroke = isShown ? 'var(--ink)' : picked ? 'var(--accent)' : 'var(--rule)';
      const look = { stroke, 'stroke-width': isShown || picked ? 2 : 1 };
      group.append(element('rect', { x: x + 1, y: y + 1, width: side, height: side, ...look }));
      const mark = this.options.mark?.(head, layout.cell);
      mark?.setAttribute('transform', `translate(${x}, ${y})`);
      if (mark) group.append(mark);
    }
    return group;
  }

  private headAt(event: MouseEvent): PlacedHead | undefined {
    const box = this.frame.chart.getBoundingClientRect();
    const x = event.clientX - box.left + this.frame.chart.scrollLeft;
    return this.within({ left: x, right: x, top: event.clientY - box.top, bottom: event.clientY - box.top })[0];
  }

  private within({ left, right, top, bottom }: Box): PlacedHead[] {
    const layout = this.layout();
    return this.checkpoints.model.heads.filter((head) => {
      const [x, y] = this.corner(head, layout);
      const { cell } = layout;
      return x <= right && x + cell > left && y <= bottom && y + cell > top;
    });
  }

  private brush(box: Box): void {
    const shift = this.frame.chart.scrollLeft;
    const moved = { ...box, left: box.left + shift, right: box.right + shift };
    brushOnly(this.store, this.within(moved).map(placeOf));
  }

  private click(event: MouseEvent): void {
    const head = this.headAt(event);
    if (!head) return;
    const { state } = this.store;
    if (isBrushing(event)) toggle(this.store, placeOf(head));
    else this.store.set({ head: state.head === head.id ? '' : head.id });
  }

  private showTip(): void {
    const head = this.checkpoints.model.heads.find(({ id }) => id === this.registry.hovered);
    this.tip.hidden = !head;
    if (!head) return;
    const layout = this.layout();
    const [x, y] = this.corner(head, layout);
    const right = x > this.frame.width / 2;
    const low = y > this.top + (layout.rows.length * layout.cell) / 2;
    const level = low ? y - 4 : y + layout.cell + 4;
    this.tip.replaceChildren(...this.options.tip(head));
    const shift = `${right ? '-100%' : '0'}, ${low ? '-100%' : '0'}`;
    this.tip.style.transform = `translate(${x + layout.cell / 2}px, ${level}px) translate(${shift})`;
  }
}

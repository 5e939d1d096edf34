import { short } from '../../../charts/format';
import { textWidth } from '../../../charts/legend';
import { layerColour } from '../../../charts/palette';
import { element, type Bitmap } from '../../../charts/picture';
import { compose } from '../../../charts/plot';
import { RectangleBrush, type Box } from '../../../charts/rectangle';
import type { Table } from '../../../charts/table';
import { brushOnly, brushed, isBrushing, placeOf, toggle } from '../../../heads/brush';
import type { Checkpoints } from '../opening/checkpoints';
import { nameOf, type HeadRegistry, type Model, type PlacedHead } from '../../../heads/registry';
import { Frame } from '../../../ui/frame';
import type { Figure, Store } from '../state';

const TOP = 22;
const LEAST = 22;
const MOST = 62;
/** The share of heads whose eigenvalues all fit where one scale is for all. */
const FITTING = 0.9;

/** The cells of the heads: one row a layer, one column a head. */
interface Layout {
  cell: number;
  columns: number;
  /** Room for the names of the layers. */
  left: number;
  rows: string[];
}

/** The spectra of all heads, small, by layer and head. */
export class HeadSpectraFigure implements Figure {
  readonly id = 'head-spectra';
  readonly inputs = [] as const;
  readonly repaintOn = ['zoom', 'brush', 'head'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private canvas = document.createElement('canvas');
  private tip = document.createElement('div');
  private painted = '';
  private paintedOf: Model | null = null;

  constructor(
    private store: Store,
    private registry: HeadRegistry,
    private checkpoints: Checkpoints,
  ) {
    const area = this.frame.chart;
    this.canvas.className = 'bitmap smooth';
    this.tip.className = 'tip';
    this.tip.hidden = true;
    area.append(this.tip);
    area.addEventListener('pointermove', (event) => registry.hover(this.headAt(event)?.id ?? ''));
    area.addEventListener('pointerleave', () => registry.hover(''));
    area.addEventListener('click', (event) => this.click(event));
    new RectangleBrush(area, (box) => this.brush(box));
    registry.hovering.subscribe(() => this.showTip());
  }

  paint(): void {
    const layout = this.layout();
    const { cell, columns, left, rows } = layout;
    const size = { width: left + columns * cell + 2, height: TOP + rows.length * cell + 2 };
    const svg = compose([], size, this.caption());
    svg.style.maxWidth = 'none'; // a wide one scrolls, also by keys
    this.makeScrollable(size.width > this.frame.width);
    svg.append(this.titles(layout), this.outlines(layout));
    this.frame.retitle(this.title());
    this.frame.put(svg, [this.drawCells(layout)]);
    this.frame.say(this.caption());
  }

  table(): Table | null {
    const { heads, stacks: names } = this.checkpoints.model;
    const stacks = names.length > 1;
    function* rows(): Generator<(number | string)[]> {
      for (const { stack, layer, head, eigenvalues } of heads) {
        for (let i = 0; i < eigenvalues.length; i += 2) {
          yield [...(stacks ? [stack] : []), layer, head, eigenvalues[i], eigenvalues[i + 1]];
        }
      }
    }
    const columns = [...(stacks ? ['stack'] : []), 'layer', 'head', 're', 'im'];
    return { columns, rows: rows() };
  }

  private makeScrollable(wide: boolean): void {
    const { chart } = this.frame;
    const names = { tabindex: '0', role: 'group', 'aria-label': 'Every head’s eigenvalues' };
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
    return [left + head * cell, TOP + row * cell];
  }

  private titles({ cell, columns, left, rows }: Layout): SVGGElement {
    const group = element('g', { 'font-size': 11, fill: 'currentColor', 'aria-hidden': 'true' });
    const every = Math.ceil(18 / cell);
    for (let head = 0; head < columns; head += every) {
      const look = { x: left + (head + 0.5) * cell, y: TOP - 7, 'text-anchor': 'middle' };
      group.append(element('text', look, String(head)));
    }
    rows.forEach((layer, row) => {
      const look = { x: left - 6, y: TOP + (row + 0.5) * cell, dy: '0.32em', 'text-anchor': 'end' };
      group.append(element('text', look, layer));
    });
    return group;
  }

  private outlines(layout: Layout): SVGGElement {
    const { state } = this.store;
    const chosen = brushed(state);
    const group = element('g', { fill: 'none', 'data-mark': 'heads' });
    for (const head of this.checkpoints.model.heads) {
      const [x, y] = this.corner(head, layout);
      const side = layout.cell - 2;
      const isChosen = head.id === state.head;
      const picked = chosen.has(placeOf(head));
      const stroke = isChosen ? 'var(--ink)' : picked ? 'var(--accent)' : 'var(--rule)';
      const look = { stroke, 'stroke-width': isChosen || picked ? 2 : 1 };
      group.append(element('rect', { x: x + 1, y: y + 1, width: side, height: side, ...look }));
    }
    return group;
  }

  /** The eigenvalues, on a canvas: there can be a hundred thousand. */
  private drawCells(layout: Layout): Bitmap {
    const { cell, columns, rows } = layout;
    const { canvas } = this;
    const [width, height] = [columns * cell, rows.length * cell];
    const ratio = Math.max(1, devicePixelRatio);
    const key = this.keyOf(layout);
    const { model } = this.checkpoints;
    const place = { canvas, x: layout.left, y: TOP, width, height };
    if (key === this.painted && model === this.paintedOf) return place;
    this.painted = key;
    this.paintedOf = model;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext('2d');
    if (!context) return place;
    context.scale(ratio, ratio);
    const chosen = brushed(this.store.state);
    const common = this.commonReach();
    for (const head of model.heads) {
      const [left, top] = this.corner(head, layout);
      const reach = this.store.state.zoom === 'own' ? reachOf(head) || 1 : common;
      context.globalAlpha = chosen.size === 0 || chosen.has(placeOf(head)) ? 1 : 0.25;
      context.fillStyle = layerColour(head.layer, model.layers);
      drawSpectrum(context, head.eigenvalues, left - layout.left, top - TOP, cell, reach);
    }
    return place;
  }

  /** All that the cells' picture depends on beside the model. */
  private keyOf({ cell }: Layout): string {
    const { brush, zoom } = this.store.state;
    return [cell, brush, zoom, layerColour(0, 2)].join('|');
  }

  private commonReach(): number {
    const reaches = this.checkpoints.model.heads.map(reachOf).sort((a, b) => a - b);
    return reaches[Math.ceil(FITTING * reaches.length) - 1] || 1;
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
    const low = y > (layout.rows.length * layout.cell) / 2;
    const level = low ? y - 4 : y + layout.cell + 4;
    this.tip.textContent = `${nameOf(head)}: mean ${short(head.mean)}, largest modulus ${short(reachOf(head))}`;
    const shift = `${right ? '-100%' : '0'}, ${low ? '-100%' : '0'}`;
    this.tip.style.transform = `translate(${x + layout.cell / 2}px, ${level}px) translate(${shift})`;
  }

  private title(): string {
    const imaginary = this.checkpoints.model.heads.flatMap(({ eigenvalues }) =>
      Array.from(eigenvalues.filter((_, at) => at % 2 === 1)),
    );
    const complex = imaginary.filter((part) => part !== 0).length;
    return `${Math.round((100 * complex) / imaginary.length)}% of the heads’ non-zero eigenvalues are complex`;
  }

  private caption(): string {
    const { model } = this.checkpoints;
    const scale =
      this.store.state.zoom === 'own'
        ? 'The axes of each square end at its largest eigenvalue.'
        : `The axes of each square end at ±${short(this.commonReach())}; larger eigenvalues are drawn on the edge.`;
    return `${model.name}: ${model.rows.length} layers (rows), ${model.heads.length} heads. ${scale}`;
  }
}

/** The largest real or imaginary part. */
function reachOf({ eigenvalues }: PlacedHead): number {
  return eigenvalues.reduce((most, part) => Math.max(most, Math.abs(part)), 0);
}

function drawSpectrum(
  context: CanvasRenderingContext2D,
  eigenvalues: Float64Array,
  left: number,
  top: number,
  cell: number,
  reach: number,
): void {
  const half = cell / 2 - 3;
  const alpha = context.globalAlpha;
  context.globalAlpha = 0.18 * alpha; // the axes
  context.fillRect(left + 2, top + cell / 2, cell - 4, 1);
  context.fillRect(left + cell / 2, top + 2, 1, cell - 4);
  context.globalAlpha = alpha;
  const size = cell > 36 ? 2.4 : 1.6;
  const inside = (part: number) => half * Math.min(1, Math.max(-1, part / reach));
  for (let i = 0; i < eigenvalues.length; i += 2) {
    const x = left + cell / 2 + inside(eigenvalues[i]);
    const y = top + cell / 2 - inside(eigenvalues[i + 1]);
    context.fillRect(x - size / 2, y - size / 2, size, size);
  }
}

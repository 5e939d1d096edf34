import { handleUnder } from './handle';
import { paintGrid } from './heatmap';
import type { Ramp } from './palette';
import { element, type Bitmap } from './picture';
import { chart, type Chart } from './plot';
import { makeTip, placeTip } from './mark-tip';

/** A square matrix, row by row. */
export interface Matrix {
  length: number;
  values: Float32Array;
}

/** What the axes of a matrix count, and what the matrix is for those who do not see it. */
export interface MatrixLabels {
  label: string;
  x: string;
  y: string;
  /** What stands at the k-th row and column, where that is more than their number. */
  name?: (place: number) => string;
  /** Pixels that long names need on either axis. */
  room?: number;
  /** Pixels around the cells, where they differ from the usual ones. */
  margin?: Partial<typeof MARGIN>;
}

/** A cell of a matrix; row and column count from 0. */
interface Cell {
  row: number;
  column: number;
}

/** Rows and columns that a key moves by. */
export const MOVES: Record<string, [row: number, column: number]> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

/** What rows are: attention weights, whose largest are told, or values of pairs. */
type Rows = 'weights' | 'pairs';

const MARGIN = { marginLeft: 44, marginTop: 26, marginBottom: 42, marginRight: 8 };

/**
 * A square matrix: axes in the picture, cells on a canvas under it, a tip beside the pointer, and below the
 * picture a line about the cell that was chosen last, by a click, a tap or the arrow keys.
 */
export class MatrixPicture {
  private canvas = document.createElement('canvas');
  private tip: HTMLElement;
  private outline = document.createElement('div');
  /** Holds the focus of the keyboard, over the cells. */
  private cells = Object.assign(document.createElement('div'), { className: 'cells', tabIndex: 0 });
  private line = Object.assign(document.createElement('p'), { className: 'cell-line' });
  private painted: unknown = null;
  private matrix: Matrix | null = null;
  private picked: Cell | null = null;
  /** Of the cells, in the pixels of the area. */
  private place = { x: 0, y: 0, width: 0, height: 0 };

  /** `say` is what tip and line read of a cell; row and column count from 0. `chosen` hears of a choice. */
  constructor(
    private area: HTMLElement,
    private say: (row: number, column: number, value: number) => string,
    private rows: Rows = 'weights',
    private chosen?: (cell: Cell) => void,
  ) {
    this.canvas.className = 'bitmap';
    this.tip = makeTip(area);
    this.outline.className = 'cell-outline';
    this.outline.hidden = true;
    this.cells.setAttribute('role', 'application'); // arrow keys are its own
    area.append(this.cells, this.outline, this.line);
    this.cells.addEventListener('keydown', (event) => this.move(event));
    // Read aloud while the keyboard is here only: the line changes with the numbers too.
    this.cells.addEventListener('focus', () => (this.line.ariaLive = 'polite'));
    this.cells.addEventListener('blur', () => (this.line.ariaLive = 'off'));
    area.addEventListener('pointermove', (event) => this.point(event));
    area.addEventListener('pointerleave', () => (this.tip.hidden = true));
    area.addEventListener('click', (event) => this.pick(event));
  }

  /** The axes, in a square of `side` pixels. */
  chart(length: number, side: number, labels: MatrixLabels): Chart {
    const { label, x, y, name, room } = labels;
    this.cells.setAttribute('aria-label', `${label}: arrow keys choose a cell`);
    const forNames = room ? { marginLeft: room, marginBottom: room } : {};
    const margin = { ...MARGIN, ...forNames, ...labels.margin };
    const places = Array.from({ length }, (_, i) => i + 1);
    const ticks = length < 6 ? places : 6; // whole numbers alone
    const named = name && { ticks: places, tickFormat: name, tickSize: 0 };
    const turned = room ? { tickRotate: -45, label: null } : {};
    return chart({
      label,
      width: side,
      height: side,
      ...margin,
      x: { domain: [0.5, length + 0.5], label: x, labelAnchor: 'center', ticks, ...named, ...turned },
      y: { domain: [length + 0.5, 0.5], label: y, ticks, labelArrow: 'none', ...named },
      marks: [
        () =>
          element('rect', {
            x: margin.marginLeft,
            y: margin.marginTop,
            width: side - margin.marginLeft - margin.marginRight,
            height: side - margin.marginTop - margin.marginBottom,
            fill: 'none',
            stroke: 'var(--rule)',
          }),
      ],
    });
  }

  /**
   * Paints the cells, if they or the colours are new; returns their place below a chart's axes. `top` and
   * `left` are where the axes are in the picture. A `ground` is seen through the cells of large shades.
   */
  paint(
    matrix: Matrix,
    ramp: Ramp,
    shade: (value: number) => number,
    axes: Chart,
    { top, left = 0, ground }: { top: number; left?: number; ground?: HTMLCanvasElement },
  ): Bitmap {
    const { length, values } = matrix;
    const { canvas } = this;
    const isNew = this.painted !== values;
    if (this.matrix?.length !== length) this.picked = null;
    this.matrix = matrix;
    if (isNew || canvas.dataset.ramp !== String(ramp(1))) {
      this.painted = values;
      canvas.dataset.ramp = String(ramp(1));
      void paintGrid(canvas, { columns: length, rows: length, values }, ramp, shade);
      if (ground) cover(ground, canvas, Array.from(values, shade));
    }
    const [first, last] = [axes.x.apply(0.5), axes.x.apply(length + 0.5)];
    const [upper, lower] = [axes.y.apply(0.5), axes.y.apply(length + 0.5)];
    this.place = { x: left + first, y: top + upper, width: last - first, height: lower - upper };
    if (isNew) this.tell();
    this.mark();
    return { canvas, ...this.place };
  }

  /** The cell under a pointer, or null; what is on a handle is the handle's. */
  private cellAt(event: MouseEvent): Cell | null {
    if (!this.matrix || handleUnder(event)) return null;
    const { length } = this.matrix;
    const box = this.canvas.getBoundingClientRect();
    const cell = (place: number, size: number) => Math.floor((place / size) * length);
    const column = cell(event.clientX - box.left, box.width);
    const row = cell(event.clientY - box.top, box.height);
    const isInside = Math.min(column, row) >= 0 && Math.max(column, row) < length;
    return isInside ? { row, column } : null;
  }

  /** A finger has the line: a tip would be under it. */
  private point(event: PointerEvent): void {
    const cell = event.pointerType === 'touch' ? null : this.cellAt(event);
    if (!cell) {
      this.tip.hidden = true;
      return;
    }
    this.tip.textContent = this.textOf(cell);
    const box = this.area.getBoundingClientRect();
    placeTip(this.tip, this.area, event.clientX - box.left, event.clientY - box.top, 16);
  }

  private pick(event: MouseEvent): void {
    const cell = this.cellAt(event);
    if (!cell) return;
    if (this.chosen) this.tip.hidden = true; // what it says may have changed
    this.choose(cell);
  }

  /** The first key chooses the largest weight, or the first cell; Shift moves five cells. */
  private move(event: KeyboardEvent): void {
    const step = MOVES[event.key];
    if (!step || !this.matrix || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const { picked } = this;
    if (!picked) return this.choose(this.first() ?? { row: 0, column: 0 });
    const last = this.matrix.length - 1;
    const moved = (from: number, by: number) => Math.max(0, Math.min(last, from + (event.shiftKey ? 5 : 1) * by));
    this.choose({ row: moved(picked.row, step[0]), column: moved(picked.column, step[1]) });
  }

  /** No cell is chosen. */
  release(): void {
    this.picked = null;
    if (this.matrix) this.tell();
    this.mark();
  }

  /** Puts what lies over the cells on the page or takes it off: an area may have another matrix. */
  setPresent(present: boolean): void {
    const parts = [this.tip, this.cells, this.outline, this.line];
    if (!present) for (const part of parts) part.remove();
    else if (!this.cells.isConnected) this.area.append(...parts);
  }

  private choose(cell: Cell): void {
    this.picked = cell;
    this.chosen?.(cell);
    this.tell();
    this.mark();
  }

  private textOf({ row, column }: Cell): string {
    const { length, values } = this.matrix!;
    return this.say(row, column, values[row * length + column]);
  }

  /** The cell of a row's largest value, and how many of its values are above 0; null where none is. */
  private largestOf(row: number): (Cell & { value: number; positive: number }) | null {
    const { length, values } = this.matrix!;
    let [column, value, positive] = [-1, 0, 0];
    for (let at = 0; at < length; at++) {
      const here = values[row * length + at];
      if (here > 0) positive++;
      if (here > value) [column, value] = [at, here];
    }
    return column < 0 ? null : { row, column, value, positive };
  }

  /** The cell of the largest weight where a query has a choice: a single key always gets all of it. */
  private largest(): Cell | null {
    const rows = Array.from({ length: this.matrix!.length }, (_, row) => this.largestOf(row));
    const known = rows.filter((best) => best && best.positive > 1).map((best) => best!);
    return known.length === 0 ? null : known.reduce((a, b) => (b.value > a.value ? b : a));
  }

  private tell(): void {
    this.line.textContent = this.picked ? this.pickedText(this.picked) : this.hint();
  }

  /** The cell that is told before one is chosen. */
  private first(): Cell | null {
    return this.rows === 'weights' ? this.largest() : null;
  }

  private hint(): string {
    const best = this.first();
    const first = best ? `Largest of all: ${this.textOf(best)}. ` : '';
    return `${first}Choose a cell with a click, a tap or the arrow keys.`;
  }

  private pickedText(cell: Cell): string {
    const text = this.textOf(cell);
    const own = text[0].toUpperCase() + text.slice(1);
    const best = this.rows === 'weights' ? this.largestOf(cell.row) : null;
    if (!best) return `${own}.`;
    return best.column === cell.column
      ? `${own}, the largest of this query.`
      : `${own}. Largest of this query: ${this.textOf(best)}.`;
  }

  /** Puts the outline around the cell that was picked, and the focus around all. */
  private mark(): void {
    const { picked, matrix, place, outline } = this;
    lay(this.cells, place);
    outline.hidden = !picked;
    if (!picked || !matrix) return;
    const size = { width: place.width / matrix.length, height: place.height / matrix.length };
    const at = { x: picked.column * size.width, y: picked.row * size.height };
    lay(outline, { x: place.x + at.x, y: place.y + at.y, ...size });
  }
}

/** Pixels of each side of a picture under cells. */
const GROUND = 720;
/** Opacity of a cell of shade 0; of shade 1 it has none. */
const OPACITY = 0.75;

/** Puts the ground under a canvas of one pixel a cell. */
function cover(ground: HTMLCanvasElement, cells: HTMLCanvasElement, shades: readonly number[]): void {
  const context = cells.getContext('2d');
  const layer = Object.assign(document.createElement('canvas'), { width: cells.width, height: cells.height });
  const colours = context?.getImageData(0, 0, cells.width, cells.height);
  if (!context || !colours) return;
  shades.forEach((shade, i) => (colours.data[4 * i + 3] = 255 * OPACITY * (1 - shade)));
  layer.getContext('2d')?.putImageData(colours, 0, 0);
  cells.width = cells.height = GROUND;
  context.drawImage(ground, 0, 0, GROUND, GROUND);
  context.imageSmoothingEnabled = false;
  context.drawImage(layer, 0, 0, GROUND, GROUND);
}

/** Puts an element at a place of its area, in pixels. */
function lay({ style }: HTMLElement, place: { x: number; y: number; width: number; height: number }): void {
  const { x, y, width, height } = place;
  const pixels = { left: x, top: y, width, height };
  for (const [name, value] of Object.entries(pixels)) style.setProperty(name, `${value}px`);
}

/** The rows of a matrix as those of a CSV file: each after what `head` says of it. */
export function* matrixRows({ length, values }: Matrix, head: (row: number) => number[]): Generator<(number | null)[]> {
  for (let row = 0; row < length; row++) {
    const whole = [...head(row), ...values.subarray(row * length, (row + 1) * length)];
    yield whole.map((value) => (Number.isNaN(value) ? null : value));
  }
}

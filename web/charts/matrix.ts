import { paintGrid } from './heatmap';
import type { Ramp } from './palette';
import { element, type Bitmap } from './picture';
import { chart, type Chart } from './plot';

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
}

const MARGIN = { marginLeft: 44, marginTop: 26, marginBottom: 42, marginRight: 8 };

/** A square matrix: axes in the picture, cells on a canvas under it, a tip beside the pointer. */
export class MatrixPicture {
  private canvas = document.createElement('canvas');
  private tip = document.createElement('div');
  private painted: unknown = null;
  private matrix: Matrix | null = null;

  /** `say` is what the tip reads of a cell; row and column count from 0. */
  constructor(
    private area: HTMLElement,
    private say: (row: number, column: number, value: number) => string,
  ) {
    this.canvas.className = 'bitmap';
    this.tip.className = 'tip';
    this.tip.hidden = true;
    area.append(this.tip);
    area.addEventListener('pointermove', (event) => this.point(event));
    area.addEventListener('pointerleave', () => (this.tip.hidden = true));
  }

  /** The axes, in a square of `side` pixels. */
  chart(length: number, side: number, { label, x, y, name, room }: MatrixLabels): Chart {
    const margin = room ? { ...MARGIN, marginLeft: room, marginBottom: room } : MARGIN;
    const places = Array.from({ length }, (_, i) => i + 1);
    const named = name && { ticks: places, tickFormat: name, tickSize: 0 };
    const turned = room ? { tickRotate: -45, label: null } : {};
    return chart({
      label,
      width: side,
      height: side,
      ...margin,
      x: {
        domain: [0.5, length + 0.5],
        label: x,
        labelAnchor: 'center',
        ticks: 6,
        ...named,
        ...turned,
      },
      y: { domain: [length + 0.5, 0.5], label: y, ticks: 6, labelArrow: 'none', ...named },
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

  /** Paints the cells, if they or the colours are new; returns their place below a chart's axes. */
  paint(matrix: Matrix, ramp: Ramp, shade: (value: number) => number, axes: Chart): Bitmap {
    const { length, values } = matrix;
    const { canvas } = this;
    this.matrix = matrix;
    if (this.painted !== values || canvas.dataset.ramp !== String(ramp(1))) {
      this.painted = values;
      canvas.dataset.ramp = String(ramp(1));
      void paintGrid(canvas, { columns: length, rows: length, values }, ramp, shade);
    }
    const [left, right] = [axes.x.apply(0.5), axes.x.apply(length + 0.5)];
    const [upper, lower] = [axes.y.apply(0.5), axes.y.apply(length + 0.5)];
    return { canvas, x: left, y: upper, width: right - left, height: lower - upper };
  }

  private point(event: PointerEvent): void {
    const { canvas, matrix, tip } = this;
    if (!matrix) return;
    const { length, values } = matrix;
    const box = canvas.getBoundingClientRect();
    const cell = (place: number, size: number) => Math.floor((place / size) * length);
    const column = cell(event.clientX - box.left, box.width);
    const row = cell(event.clientY - box.top, box.height);
    tip.hidden = Math.min(column, row) < 0 || Math.max(column, row) >= length;
    if (tip.hidden) return;
    tip.textContent = this.say(row, column, values[row * length + column]);
    const area = this.area.getBoundingClientRect();
    const [x, y] = [event.clientX - area.left, event.clientY - area.top];
    tip.style.transform = `translate(${x}px, ${y}px) translate(${x > area.width / 2 ? '-100%' : '0'}, 16px)`;
  }
}

/** The rows of a matrix as those of a CSV file: each after what `head` says of it. */
export function* matrixRows(
  { length, values }: Matrix,
  head: (row: number) => number[],
): Generator<(number | null)[]> {
  for (let row = 0; row < length; row++) {
    const whole = [...head(row), ...values.subarray(row * length, (row + 1) * length)];
    yield whole.map((value) => (Number.isNaN(value) ? null : value));
  }
}

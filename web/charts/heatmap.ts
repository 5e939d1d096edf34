import type { Ramp } from './palette';

/** A grid of numbers, row by row from the top; NaN is no value. */
export interface Grid {
  columns: number;
  rows: number;
  values: Float32Array;
}

/** Cells that are painted before the main thread is given back. */
const CHUNK = 250_000;

/** Paints a grid on a canvas, one pixel a cell; style sheets scale it. `shade` maps to [0, 1]. */
export async function paintGrid(
  canvas: HTMLCanvasElement,
  grid: Grid,
  ramp: Ramp,
  shade: (value: number) => number,
): Promise<void> {
  const { columns, rows, values } = grid;
  const context = canvas.getContext('2d');
  if (!context) return;
  const colours = Array.from({ length: 256 }, (_, i) => ramp(i / 255));
  const band = Math.max(1, Math.floor(CHUNK / columns));
  canvas.width = columns;
  canvas.height = rows;
  for (let top = 0; top < rows; top += band) {
    if (top > 0) await new Promise((resolve) => setTimeout(resolve));
    const height = Math.min(band, rows - top);
    const image = context.createImageData(columns, height);
    for (let i = 0; i < columns * height; i++) {
      const value = values[top * columns + i];
      if (Number.isNaN(value)) continue;
      const level = Math.round(255 * Math.min(1, Math.max(0, shade(value))));
      image.data.set(colours[level], 4 * i);
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, top);
  }
}

import type { Ramp } from './palette';

/** A grid of numbers, row by row from the top; NaN is no value. */
export interface Grid {
  columns: number;
  rows: number;
  values: ArrayLike<number>;
}

/** Cells that are painted before the main thread is given back. */
const CHUNK = 250_000;

/** The 256 opaque colours of a ramp, each with its four bytes in one number, as in an image. */
function packed(ramp: Ramp): Uint32Array {
  const bytes = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) bytes.set([...ramp(i / 255), 255], 4 * i);
  return new Uint32Array(bytes.buffer);
}

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
  const colours = packed(ramp);
  const band = Math.max(1, Math.floor(CHUNK / columns));
  canvas.width = columns;
  canvas.height = rows;
  for (let top = 0; top < rows; top += band) {
    if (top > 0) await new Promise((resolve) => setTimeout(resolve));
    const height = Math.min(band, rows - top);
    const image = context.createImageData(columns, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) {
      const value = values[top * columns + i];
      if (Number.isNaN(value)) continue;
      pixels[i] = colours[Math.round(255 * Math.min(1, Math.max(0, shade(value))))];
    }
    context.putImageData(image, 0, top);
  }
}

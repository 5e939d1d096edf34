// Which collapse the stacks of the map have, in colours between the cells.
import { fateColour, type Fate } from '../../charts/palette';
import type { Cell } from './collapse-cells';
import { CELLS } from './plane';

/** The fates, by the numbers that a map of regions has. */
export const FATES: readonly Fate[] = ['both', 'rank', 'entropy', 'alive'];

/** What they are called on the map. */
export const FATE_NAMES: Record<Fate, string> = {
  both: 'both collapses',
  rank: 'rank collapse',
  entropy: 'entropy collapse',
  alive: 'alive',
};

/** Pixels of a cell of the canvas: borders between cells are smooth. */
const FINE = 24;

/** What residual and entropy say of a stack; `threshold` is what both must keep. */
export function fateOf(residual: number, entropy: number, threshold: number): Fate {
  if (residual >= threshold) return entropy >= threshold ? 'alive' : 'entropy';
  return entropy >= threshold ? 'rank' : 'both';
}

/** The number of each cell's fate among `FATES`; a cell without values has that of none, 4. */
export function fatesOf(cells: readonly (Cell | null)[], threshold: number): Uint8Array {
  return Uint8Array.from(cells, (cell) =>
    cell && Number.isFinite(cell.residual) && Number.isFinite(cell.entropy)
      ? FATES.indexOf(fateOf(cell.residual, cell.entropy, threshold))
      : FATES.length,
  );
}

/** A value of a grid of cells at a place between their centres, in cells; NaN beside a cell without one. */
function between(values: Float64Array, column: number, row: number): number {
  const inside = (place: number) => Math.min(CELLS - 1, Math.max(0, place));
  const [x, y] = [inside(column), inside(row)];
  const [left, low] = [Math.floor(x), Math.floor(y)];
  const [right, high] = [inside(left + 1), inside(low + 1)];
  const [across, up] = [x - left, y - low];
  const at = (c: number, r: number) => values[r * CELLS + c];
  const lower = at(left, low) + across * (at(right, low) - at(left, low));
  const upper = at(left, high) + across * (at(right, high) - at(left, high));
  return lower + up * (upper - lower);
}

/** Paints the fates on a canvas, residual and entropy interpolated between the centres of the cells. */
export function paintFates(canvas: HTMLCanvasElement, cells: readonly (Cell | null)[], threshold: number): void {
  const size = CELLS * FINE;
  canvas.width = canvas.height = size;
  const context = canvas.getContext('2d');
  if (!context) return;
  const residual = Float64Array.from(cells, (cell) => cell?.residual ?? NaN);
  const entropy = Float64Array.from(cells, (cell) => cell?.entropy ?? NaN);
  const colours = new Map(FATES.map((fate) => [fate, packed(fateColour(fate))]));
  const image = context.createImageData(size, size);
  const pixels = new Uint32Array(image.data.buffer);
  for (let line = 0; line < size; line++) {
    const row = (size - 0.5 - line) / FINE - 0.5; // the canvas counts from the top
    for (let place = 0; place < size; place++) {
      const column = (place + 0.5) / FINE - 0.5;
      const [r, h] = [between(residual, column, row), between(entropy, column, row)];
      if (Number.isNaN(r) || Number.isNaN(h)) continue;
      pixels[line * size + place] = colours.get(fateOf(r, h, threshold))!;
    }
  }
  context.putImageData(image, 0, 0);
}

/** An opaque colour in one number, as in an image. */
function packed(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0];
}

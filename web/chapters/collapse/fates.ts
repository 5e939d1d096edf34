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

/** Where a pixel lies along one side of the canvas: between the centres of two cells, so far from the first one. */
interface Between {
  first: number;
  second: number;
  share: number;
}

/** The pixels along one side of the canvas. */
const PLACES: readonly Between[] = Array.from({ length: CELLS * FINE }, (_, at) => {
  const place = Math.min(CELLS - 1, Math.max(0, (at + 0.5) / FINE - 0.5));
  const first = Math.floor(place);
  return { first, second: Math.min(CELLS - 1, first + 1), share: place - first };
});

/** Between two values; NaN where one is missing. */
const mixed = (one: number, other: number, share: number) => one + share * (other - one);

/** The values of a grid of cells along a line of pixels, at the cells' centres. */
function across(values: Float64Array, { first, second, share }: Between): Float64Array {
  const line = values.slice(first * CELLS, (first + 1) * CELLS);
  return line.map((value, column) => mixed(value, values[second * CELLS + column], share));
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
    const row = PLACES[size - 1 - line]; // the canvas counts from the top
    const [residuals, entropies] = [across(residual, row), across(entropy, row)];
    for (let at = 0; at < size; at++) {
      const { first, second, share } = PLACES[at];
      const r = mixed(residuals[first], residuals[second], share);
      const h = mixed(entropies[first], entropies[second], share);
      if (Number.isNaN(r) || Number.isNaN(h)) continue;
      pixels[line * size + at] = colours.get(fateOf(r, h, threshold))!;
    }
  }
  context.putImageData(image, 0, 0);
}

/** An opaque colour in one number, as in an image. */
function packed(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0];
}

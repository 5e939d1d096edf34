import { roundUp } from '../../../charts/format';
import type { Input, Collapsed } from '../../../engine/protocol';
import { allowed, limitsOf } from '../../../state/control';
import { lastVariance, widthOf, gridSettingOf } from '../../../state/setting';
import { partsOf, runParts, throttle } from '../../../ui/parts';
import { type State, stackOf, type FigureContext } from '../state';
import type { Fate } from '../../../charts/palette';

/** Cells of a map along either axis. */
export const CELLS = 24;
/** The same with one more cell at both ends: contours should not end where the map does. */
export const WIDE = CELLS + 2;

type Range = [number, number];

/** Means by variances, cut into cells: equal steps of the mean and of the variance's logarithm. */
export interface Plane {
  x: Range;
  y: Range;
}

/**
 * Logits from even to sharp, and the present point; negative means only where the present one is negative. A token met with itself has a logit of m d / lambda, and the others spread by
 * sqrt(d v) / lambda, where tokens have the variance 1 (as normalization makes them).
 */
export function planeOf(state: Readonly<State>): Plane {
  const { mean, variance, temperature, layer_norm } = state;
  const width = widthOf(state) || 1;
  const scale = layer_norm === 'none' ? lastVariance(state) : 1;
  const unit = temperature ** 2 / (width * scale ** 2);
  const half = Math.min(
    limitsOf('mean').maximum,
    roundUp(Math.max((16 * temperature) / (width * scale), Math.abs(mean))),
  );
  const decade = (value: number, round: (x: number) => number) =>
    10 ** Math.min(12, Math.max(-12, round(Math.log10(value))));
  const low = decade(Math.min(1e-3 * unit, variance || Infinity), Math.floor);
  const high = decade(Math.max(1e3 * unit, variance), Math.ceil);
  return { x: [mean < 0 ? -half : 0, half], y: [Math.min(low, high / 1e6), high] };
}

/** The plane with one more cell on every side. */
export function widened({ x, y }: Plane): Plane {
  const column = (x[1] - x[0]) / CELLS;
  const row = (y[1] / y[0]) ** (1 / CELLS);
  return { x: [x[0] - column, x[1] + column], y: [y[0] / row, y[1] * row] };
}

/** Means of the columns and variances of the rows, at the middle of each cell; row 0 is lowest. */
export function centres({ x, y }: Plane, cells = CELLS): { means: number[]; variances: number[] } {
  const places = Array.from({ length: cells }, (_, i) => (i + 0.5) / cells);
  const round = (value: number) => Number(value.toPrecision(12));
  return {
    means: places.map((place) => allowed('mean', round(x[0] + place * (x[1] - x[0])))),
    variances: places.map((place) => allowed('variance', round(y[0] * (y[1] / y[0]) ** place))),
  };
}

/** The cell of a point of the plane; points outside belong to the nearest one. */
export function cellAt({ x, y }: Plane, mean: number, variance: number): number {
  const inside = (place: number) => Math.min(CELLS - 1, Math.max(0, Math.floor(place * CELLS)));
  const column = inside((mean - x[0]) / (x[1] - x[0]));
  const row = variance > 0 ? inside(Math.log(variance / y[0]) / Math.log(y[1] / y[0])) : 0;
  return row * CELLS + column;
}

const STRIDES = [4, 2, 1];

/** Whether a row or column is one of those that stand for `stride` of them. */
const stands = (place: number, stride: number) => (place - 1) % stride === 0 || stride === 1;

/** The cells in the order in which they are asked for: every fourth both ways, every second, all. */
export function stages(): number[][] {
  const seen = new Set<number>();
  return STRIDES.map((stride) => {
    const cells = Array.from({ length: CELLS * CELLS }, (_, at) => at).filter(
      (at) => stands(at % CELLS, stride) && stands(Math.floor(at / CELLS), stride) && !seen.has(at),
    );
    cells.forEach((at) => seen.add(at));
    return cells;
  });
}

/** The cell whose value is shown in a cell: its own, or that of the block it lies in; -1 for none. */
export function standIn(at: number, known: (at: number) => boolean): number {
  const [row, column] = [Math.floor(at / CELLS), at % CELLS];
  for (const stride of [...STRIDES].reverse()) {
    const anchor = (place: number) => (stride === 1 ? place : place - (place % stride) + 1);
    const other = anchor(row) * CELLS + anchor(column);
    if (known(other)) return other;
  }
  return -1;
}

// What the map over mean and variance asks of the engine; the build asks the same for the first picture.

/** More stacks than this change little, since all cells share their draws. */
const MOST_STACKS = 4;

/** How many stacks each cell has at rest. */
export function stacksIn({ stacks }: Readonly<State>): number {
  return Math.min(MOST_STACKS, stacks);
}

/** What the engine is asked for the localization index over a plane, one row a mean. */
export function linesInput(state: Readonly<State>, plane: Plane): Input<'lines'> {
  const setting = { ...gridSettingOf(state), measure: 'localization' as const };
  return { ...setting, ...centres(widened(plane), WIDE) };
}

/** What the engine is asked of some cells of a plane. */
export function cellsInput(
  state: Readonly<State>,
  plane: Plane,
  cells: readonly number[],
  stacks: number,
): Input<'collapse'> {
  const { means, variances } = centres(plane);
  return {
    ...stackOf(state),
    stacks,
    first_stack: 0,
    layers: 'last',
    means: cells.map((at) => means[at % CELLS]),
    variances: cells.map((at) => variances[Math.floor(at / CELLS)]),
  };
}

/** What one cell of the map knows: the last layer of its stacks, means and standard errors. */
export interface Cell {
  residual: number;
  residual_error: number;
  entropy: number;
  entropy_error: number;
  samples: number;
  refused: string;
  overflow: number;
}

/** Milliseconds between two drawings of an answer under way. */
const STEADY = 150;

/** Both collapses over the plane of eigenspectra. What is known stays when a question is cut short. */
export class CollapseCells {
  readonly plane: Plane;
  readonly cells: (Cell | null)[] = new Array(CELLS * CELLS).fill(null);
  /** Localization index in the cells of the widened plane, or null while it is not known. */
  localization: Float64Array | null = null;
  /** Changes with the numbers. */
  revision = 0;
  /** Stacks that are asked for in each cell. */
  wanted: number;
  readonly key: string;

  /** `first` are cells that are known from the start. */
  constructor(state: Readonly<State>, plane: Plane, first: readonly Cell[] = []) {
    this.plane = plane;
    first.forEach((cell, at) => (this.cells[at] = cell));
    this.key = keyOf(state, plane);
    this.wanted = stacksIn(state);
  }

  /** Asks for what is missing, coarse cells first. A quick look takes the coarse ones alone. */
  async ask(context: FigureContext): Promise<void> {
    this.wanted = stacksIn(context.state);
    const show = throttle(STEADY, () => context.show(0.98 * this.progress()));
    if (!this.localization) await this.askLocalization(context);
    const quick = context.quality === 'quick';
    const stacks = quick ? 1 : this.wanted;
    for (const stage of quick ? stages().slice(0, 1) : stages()) {
      const missing = stage.filter((at) => this.isOpen(at, stacks));
      const parts = partsOf(missing, context.workers);
      const inputs = parts.map((cells) => cellsInput(context.state, this.plane, cells, stacks));
      await runParts(context, 'collapse', inputs, (outputs, part) => {
        parts[part].forEach((at, place) => this.take(at, cellOf(outputs[part]!, place)));
        show();
      });
    }
  }

  /** Whether there is anything to show. */
  isBegun(): boolean {
    return this.cells.some((cell) => cell !== null);
  }

  /** Share of the work that is done, in [0, 1]. */
  progress(): number {
    const done = this.cells.map((cell) => (cell?.refused ? this.wanted : (cell?.samples ?? 0)));
    return done.reduce((a, b) => a + Math.min(b, this.wanted), 0) / (done.length * this.wanted);
  }

  private isOpen(at: number, stacks: number): boolean {
    const cell = this.cells[at];
    return cell === null || (cell.refused === '' && cell.samples < stacks);
  }

  /** Samples come in their order, so that fewer of them never know more. */
  private take(at: number, cell: Cell): void {
    const known = this.cells[at]?.samples ?? 0;
    if (!cell.refused && cell.samples <= known) return;
    this.cells[at] = cell;
    this.revision++;
  }

  private async askLocalization(context: FigureContext): Promise<void> {
    const { value } = await context.run('lines', linesInput(context.state, this.plane));
    // One row a mean: turned, so that rows are variances.
    this.localization = value.map((_, at) => value[(at % WIDE) * WIDE + Math.floor(at / WIDE)]);
    this.revision++;
  }

  /** Localization index in the middle of a cell; NaN while it is not known. */
  localizationAt(at: number): number {
    const place = (Math.floor(at / CELLS) + 1) * WIDE + (at % CELLS) + 1;
    return this.localization?.[place] ?? NaN;
  }
}

/** The question but for the present point, which only moves on the map. */
export function keyOf(state: Readonly<State>, plane: Plane): string {
  return JSON.stringify([{ ...stackOf(state), mean: 0, variance: 0, stacks: 0 }, plane]);
}

function cellOf(output: Collapsed, place: number): Cell {
  return {
    residual: output.residual[place],
    residual_error: output.residual_error[place],
    entropy: output.entropy[place],
    entropy_error: output.entropy_error[place],
    samples: output.samples[place],
    refused: output.refused[place],
    overflow: output.overflow[place],
  };
}

// What becomes of the tokens of a stack.

/** What the fates of a stack are called. */
export const FATE_NAMES: Record<Fate, string> = {
  both: 'both collapses',
  rank: 'rank collapse',
  entropy: 'entropy collapse',
  alive: 'alive',
};

/** The fate of a stack with such a residual and entropy; `threshold` is what both must keep. */
export function fateOf(residual: number, entropy: number, threshold: number): Fate {
  if (residual >= threshold) return entropy >= threshold ? 'alive' : 'entropy';
  return entropy >= threshold ? 'rank' : 'both';
}

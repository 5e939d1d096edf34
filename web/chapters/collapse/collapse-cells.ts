import type { Collapsed } from '../../engine/protocol';
import { cellsInput, linesInput, stacksIn } from './cell-questions';
import { CELLS, stages, WIDE, type Plane } from './plane';
import { partsOf, runParts } from '../../ui/parts';
import { throttle } from '../../ui/throttle';
import { type FigureContext, type State, stackOf } from './state';

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
    if (cell.refused || cell.samples > known) this.cells[at] = cell;
  }

  private async askLocalization(context: FigureContext): Promise<void> {
    const { value } = await context.run('lines', linesInput(context.state, this.plane));
    // One row a mean: turned, so that rows are variances.
    this.localization = value.map((_, at) => value[(at % WIDE) * WIDE + Math.floor(at / WIDE)]);
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

import { decade, short } from '../../../charts/format';
import { legend } from '../../../charts/legend';
import { MatrixPicture, matrixRows } from '../../../charts/matrix';
import { fieldRamp, stripOf } from '../../../charts/palette';
import { compose } from '../../../charts/plot';
import type { Table } from '../../../charts/table';
import { inputOf } from '../../../engine/operations';
import type { Output } from '../../../engine/protocol';
import { Frame } from '../../../ui/frame';
import { entryOf } from '../../../ui/registry';
import { type Figure, type FigureContext, STACK, stackOf } from '../state';

type Answer = Output<'cosines'> & { layer: number; depth: number };

/** The cosine of every pair of tokens after one layer. */
export class CosinesFigure implements Figure {
  readonly id = 'cosines';
  readonly inputs = [...STACK.filter((name) => name !== 'stacks'), 'layer'] as const;
  readonly repaintOn = [];
  readonly frame = new Frame(this.id, () => this.table());
  private picture = new MatrixPicture(
    this.frame.chart,
    (row, column, cosine) => `tokens ${column + 1} and ${row + 1}, cosine ${short(cosine)}`,
    'pairs',
  );
  private result: Answer | null = null;

  async compute(context: FigureContext): Promise<void> {
    const { state } = context;
    const layer = Math.min(state.layer, state.depth);
    const output = await context.run('cosines', inputOf('cosines', { ...stackOf(state), layer }));
    this.result = { ...output, layer, depth: state.depth };
  }

  paint(): void {
    const { result, frame } = this;
    if (!result) return;
    const { length, cosines } = result;
    const side = Math.min(frame.width, 560);
    const ramp = fieldRamp();
    const [near, far] = rangeOf(result);
    const ends = `${decade(near)} and less to ${short(far)}`;
    const strip = {
      text: `1 − cosine: ${ends}, logarithmic`,
      kind: 'strip',
      colours: stripOf(ramp).reverse(),
    } as const;
    const key = legend([strip], 0, frame.width);
    const labels = { label: 'cosines', x: 'token →', y: '↓ token' };
    const axes = this.picture.chart(length, side, labels);
    const parts = [{ svg: axes.svg, x: 0, y: key.height }];
    const text = this.describe(result);
    const svg = compose(parts, { width: side, height: key.height + side }, text);
    svg.append(key.render());
    const shade = (cosine: number) => Math.log(far / Math.max(near, 1 - cosine)) / Math.log(far / near);
    const cells = { length, values: cosines };
    frame.put(svg, [this.picture.paint(cells, ramp, shade, axes, { top: key.height })]);
    frame.retitle(titleOf(result));
    frame.say(text);
  }

  table(): Table | null {
    const { result } = this;
    if (!result) return null;
    const { length, cosines, layer } = result;
    const names = Array.from({ length }, (_, i) => `token_${i + 1}`);
    const rows = matrixRows({ length, values: cosines }, (row) => [layer, row + 1]);
    return { columns: ['layer', 'token', ...names], rows };
  }

  private describe(result: Answer): string {
    const { mean, least, pairs } = pairsOf(result);
    const where = placeOf(result);
    if (pairs === 0) return `No cosines ${where}: the numbers overflowed, or are zero.`;
    return (
      `${result.length} tokens of one stack ${where} of ${result.depth}: mean cosine ${short(mean)} ` +
      `of two different tokens, smallest ${short(least)}.`
    );
  }
}

/** Cosines nearer to 1 than this are rounding errors. */
const ROUNDING = 1e-7;

/** The ends of the scale: powers of ten around 1 − cosine of two different tokens, and 2 where one is above 1. */
function rangeOf(result: Answer): [near: number, far: number] {
  const { least, most, pairs } = pairsOf(result);
  if (pairs === 0) return [0.01, 2];
  const power = (value: number, round: (exponent: number) => number) => 10 ** round(Math.log10(value));
  const near = power(Math.max(ROUNDING, 1 - most), Math.floor);
  return [near, Math.min(2, power(Math.max(2 * near, 1 - least), Math.ceil))];
}

/** The cosines of two different tokens. */
function pairsOf({ length, cosines }: Answer): { mean: number; least: number; most: number; pairs: number } {
  const known = cosines.filter((cosine, at) => !Number.isNaN(cosine) && Math.floor(at / length) !== at % length);
  const [least, most] = known.reduce(([low, high], it) => [Math.min(low, it), Math.max(high, it)], [1, -1]);
  return { mean: known.reduce((sum, it) => sum + it, 0) / known.length, least, most, pairs: known.length };
}

function placeOf({ layer }: Answer): string {
  return layer === 0 ? 'before the first layer' : `after layer ${layer}`;
}

/** What the pairs have in common, in the name of the figure. */
function titleOf(result: Answer): string {
  const { mean, pairs } = pairsOf(result);
  return pairs === 0 ? entryOf('cosines').title : `Two tokens have a mean cosine of ${short(mean)} ${placeOf(result)}`;
}

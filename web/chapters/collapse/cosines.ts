import { short } from '../../charts/format';
import { legend } from '../../charts/legend';
import { MatrixPicture, matrixRows } from '../../charts/matrix';
import { signRamp, stripOf } from '../../charts/palette';
import { compose } from '../../charts/plot';
import type { Table } from '../../charts/table';
import { inputOf } from '../../engine/operations';
import type { Output } from '../../engine/protocol';
import { Frame } from '../../ui/frame';
import { type Figure, type FigureContext, STACK, stackOf } from './state';

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
    const ramp = signRamp();
    const strip = { text: 'cosine −1 to 1', kind: 'strip', colours: stripOf(ramp) } as const;
    const key = legend([strip], 0, frame.width);
    const labels = { label: 'cosines', x: 'token →', y: '↓ token' };
    const axes = this.picture.chart(length, side, labels);
    const parts = [{ svg: axes.svg, x: 0, y: key.height }];
    const text = this.describe(result);
    const svg = compose(parts, { width: side, height: key.height + side }, text);
    svg.append(key.render());
    const shade = (cosine: number) => (cosine + 1) / 2;
    const cells = { length, values: cosines };
    frame.put(svg, [this.picture.paint(cells, ramp, shade, axes, key.height)]);
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

  private describe({ length, cosines, layer, depth }: Answer): string {
    let [sum, least, pairs] = [0, 1, 0];
    cosines.forEach((cosine, at) => {
      if (Number.isNaN(cosine) || Math.floor(at / length) === at % length) return;
      sum += cosine;
      pairs++;
      least = Math.min(least, cosine);
    });
    const where = layer === 0 ? 'before the first layer' : `after layer ${layer} of ${depth}`;
    if (pairs === 0) return `No cosines ${where}: the numbers overflowed, or are zero.`;
    return (
      `${length} tokens of one stack ${where}: mean cosine ${short(sum / pairs)} ` +
      `of two different tokens, smallest ${short(least)}.`
    );
  }
}

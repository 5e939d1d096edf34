// Attention of a head on the tokens of a text: its picture, its numbers, and what a cell says.
import { short } from '../../charts/format';
import { legend } from '../../charts/legend';
import { matrixRows, type MatrixLabels, type MatrixPicture } from '../../charts/matrix';
import { fieldRamp, stripOf } from '../../charts/palette';
import { compose } from '../../charts/plot';
import type { Table } from '../../charts/table';
import type { Frame } from '../../ui/frame';

/** Draws the weights of so many tokens below their legend. */
export function drawWeights(
  frame: Frame,
  picture: MatrixPicture,
  { length, values }: { length: number; values: Float32Array },
  look: {
    /** Pixels of the square below so many of the legend. */
    side(above: number): number;
    /** Names of the tokens, where a square of so many pixels has room for them. */
    names(side: number): false | Pick<MatrixLabels, 'name' | 'room'>;
  },
  caption: string,
): void {
  const colours = stripOf((t) => fieldRamp()(Math.sqrt(t)));
  const key = legend([{ text: 'weight 0 to 1 (square root scale)', kind: 'strip', colours }], 0, frame.width);
  const side = look.side(key.height);
  const names = look.names(side);
  const y = names && names.room ? '↓ query, key →' : '↓ query'; // turned names leave no room below them
  const labels = { label: 'attention weights', x: 'key →', y, ...names };
  const axes = picture.chart(length, side, labels);
  const size = { width: frame.width, height: key.height + side };
  const svg = compose([{ svg: axes.svg, x: 0, y: key.height }], size, caption);
  svg.append(key.render());
  frame.put(svg, [picture.paint({ length, values }, fieldRamp(), Math.sqrt, axes, { top: key.height })]);
}

/** A row a query, with its token and its weights. */
export function weightsTable(tokens: readonly string[], values: Float32Array): Table {
  const weights = matrixRows({ length: tokens.length, values }, (row) => [row + 1]);
  function* rows(): Generator<(string | number | null)[]> {
    let at = 0;
    for (const [query, ...rest] of weights) yield [query, tokens[at++], ...rest];
  }
  return { columns: ['query', 'token', ...tokens.map((_, key) => `key_${key + 1}`)], rows: rows() };
}

/** What a cell says. */
export function weightText(tokens: readonly string[], row: number, column: number, weight: number): string {
  return `query ${row + 1} “${tokens[row]}” → key ${column + 1} “${tokens[column]}”, weight ${short(weight)}`;
}

import type { Regions } from './regions';

/** A run of edges in one direction, between two corners in cells. */
type Corner = [column: number, row: number];

/** Runs from this many cells on meet in a corner; shorter ones are steps of a slanted or curved line. */
const STRAIGHT = 4;

/** The edges between cells of different regions: the neighbours of each corner of the grid, by its number. */
function neighboursOf({ columns, rows, region }: Regions): Map<number, number[]> {
  const wide = columns + 1;
  const found = new Map<number, number[]>();
  const join = (a: number, b: number) => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ]) {
      const known = found.get(from);
      if (known) known.push(to);
      else found.set(from, [to]);
    }
  };
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const at = row * columns + column;
      const corner = row * wide + column;
      if (column + 1 < columns && region[at] !== region[at + 1]) join(corner + 1, corner + 1 + wide);
      if (row + 1 < rows && region[at] !== region[at + columns]) join(corner + wide, corner + wide + 1);
    }
  }
  return found;
}

/** The lines of a network: each from one corner where two lines do not simply go on to the next, or closed. */
function linesOf(neighbours: Map<number, number[]>): number[][] {
  const seen = new Set<string>();
  const edge = (a: number, b: number) => `${Math.min(a, b)} ${Math.max(a, b)}`;
  const isEnd = (corner: number) => neighbours.get(corner)!.length !== 2;
  const follow = (from: number, to: number): number[] => {
    const line = [from];
    for (let [last, next] = [from, to]; ;) {
      seen.add(edge(last, next));
      line.push(next);
      if (isEnd(next)) return line;
      const on = neighbours.get(next)!.find((it) => it !== last && !seen.has(edge(next, it)));
      if (on === undefined) return line;
      [last, next] = [next, on];
    }
  };
  const lines: number[][] = [];
  // Closed lines come last: what is left has no ends.
  for (const wanted of [true, false]) {
    for (const [corner, all] of neighbours) {
      if (isEnd(corner) !== wanted) continue;
      for (const next of all) if (!seen.has(edge(corner, next))) lines.push(follow(corner, next));
    }
  }
  return lines;
}

/** The corners at which a line turns, with its ends. */
function turnsOf(line: readonly Corner[]): Corner[] {
  return line.filter((_, i) => {
    const [before, after] = [line[i - 1], line[i + 1]];
    return !before || !after || (before[0] !== after[0] && before[1] !== after[1]);
  });
}

/** A line through the middles of its runs: without the steps of the cells, but with its corners. */
function smoothed(line: readonly Corner[]): Corner[] {
  const turns = turnsOf(line);
  const length = (i: number) => Math.abs(turns[i][0] - turns[i + 1][0]) + Math.abs(turns[i][1] - turns[i + 1][1]);
  const points: Corner[] = [turns[0]];
  for (let i = 0; i + 1 < turns.length; i++) {
    const [from, to] = [turns[i], turns[i + 1]];
    if (i > 0 && Math.min(length(i - 1), length(i)) >= STRAIGHT) points.push(from);
    points.push([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]);
  }
  points.push(turns[turns.length - 1]);
  return points;
}

type ToPixels = (edge: number) => number;

/** Finds the borders of regions; returns what makes an SVG path of them, where x and y map edges of cells to pixels. */
export function borders(regions: Regions): (x: ToPixels, y: ToPixels) => string {
  const wide = regions.columns + 1;
  const round = (value: number) => Math.round(10 * value) / 10;
  const lines = linesOf(neighboursOf(regions)).map((line) =>
    smoothed(line.map((corner): Corner => [corner % wide, Math.floor(corner / wide)])),
  );
  return (x, y) =>
    lines
      .map((points) => `M${points.map(([column, row]) => `${round(x(column))},${round(y(row))}`).join('L')}`)
      .join('');
}

/** A grid of region numbers; row 0 is at the bottom. */
export interface Regions {
  columns: number;
  rows: number;
  region: Uint8Array;
}

/** Distance of every cell to the nearest border of its region, in cells (two sweeps of a chamfer). */
function depths({ columns, rows, region }: Regions): Float32Array {
  const depth = new Float32Array(columns * rows);
  const last = depth.length - 1;
  for (let at = 0; at <= last; at++) {
    const own = region[at];
    const left = at % columns > 0 && region[at - 1] === own ? depth[at - 1] + 1 : 0.5;
    const below = region[at - columns] === own ? depth[at - columns] + 1 : 0.5;
    depth[at] = left < below ? left : below;
  }
  for (let at = last; at >= 0; at--) {
    const own = region[at];
    const right = (at + 1) % columns > 0 && region[at + 1] === own ? depth[at + 1] + 1 : 0.5;
    const above = region[at + columns] === own ? depth[at + columns] + 1 : 0.5;
    const next = right < above ? right : above;
    if (next < depth[at]) depth[at] = next;
  }
  return depth;
}

/** Where a region's name goes, in cells. */
export interface Place {
  region: number;
  column: number;
  row: number;
  /** Share of the name's cells that lie in the region and on nothing else. */
  fit: number;
}

/** Cells where a name would cover one of the points: `room` columns and rows around each of them. */
export function cellsAround(
  { columns, rows }: Regions,
  points: readonly { column: number; row: number }[],
  room: [number, number],
): Uint8Array {
  const around = new Uint8Array(columns * rows);
  const from = (value: number) => Math.max(0, Math.ceil(value));
  for (const { column, row } of points) {
    const [left, low] = [from(column - room[0]), from(row - room[1])];
    const right = Math.min(columns, Math.floor(column + room[0]) + 1);
    const high = Math.min(rows, Math.floor(row + room[1]) + 1);
    for (let r = low; r < high && left < right; r++) {
      around.fill(1, r * columns + left, r * columns + right);
    }
  }
  return around;
}

/** Marked cells in every rectangle from the first column and row on, with a column and a row of zeros before them. */
function summed({ columns, rows }: Regions, marked: (at: number) => boolean): Int32Array {
  const wide = columns + 1;
  const sums = new Int32Array(wide * (rows + 1));
  for (let row = 0; row < rows; row++) {
    let line = 0;
    for (let column = 0; column < columns; column++) {
      line += Number(marked(row * columns + column));
      sums[(row + 1) * wide + column + 1] = sums[row * wide + column + 1] + line;
    }
  }
  return sums;
}

/**
 * Where to write the regions' names, half of whose columns and rows `half` returns: each where most of it lies in its
 * region, clear of the cells `taken` and of the names already placed, there at the middle one of the innermost cells.
 * The region with the most room is named first. Regions too thin for a name get none.
 */
export function labelPlaces(
  regions: Regions,
  thinnest: number,
  half: (region: number) => [number, number],
  taken: Uint8Array,
): Place[] {
  const { columns, rows, region } = regions;
  const depth = depths(regions);
  const deepest = new Map<number, number>();
  for (let at = 0; at < depth.length; at++) {
    if (depth[at] > Math.max(thinnest, deepest.get(region[at]) ?? 0)) deepest.set(region[at], depth[at]);
  }
  const covered = taken.slice();
  return [...deepest]
    .sort(([, a], [, b]) => b - a)
    .map(([own]) => {
      const sums = summed(regions, (at) => region[at] === own && covered[at] === 0);
      const [across, up] = half(own).map(Math.ceil);
      const cells = (2 * across + 1) * (2 * up + 1);
      /** Free cells of the region below a name at a cell. */
      const free = (column: number, row: number) => {
        const [left, right] = [Math.max(0, column - across), Math.min(columns, column + across + 1)];
        const [low, high] = [Math.max(0, row - up), Math.min(rows, row + up + 1)];
        const at = (c: number, r: number) => sums[r * (columns + 1) + c];
        return at(right, high) - at(left, high) - at(right, low) + at(left, low);
      };
      let [rank, fit, equal] = [-1, 0, [0]];
      for (let at = 0; at < depth.length; at++) {
        if (region[at] !== own) continue;
        const inside = free(at % columns, Math.floor(at / columns));
        const value = inside + depth[at] / (columns + rows); // below 1
        if (value > rank) [rank, fit, equal] = [value, inside / cells, []];
        if (value === rank) equal.push(at);
      }
      const best = equal[equal.length >> 1];
      const place = { region: own, column: best % columns, row: Math.floor(best / columns), fit };
      cellsAround(regions, [place], [2 * across, 2 * up]).forEach((is, at) => (covered[at] |= is));
      return place;
    });
}

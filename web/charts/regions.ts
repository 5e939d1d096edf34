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

/** Marks in `around` the cells where a name would cover one of the points: `room` columns and rows around each of them. */
export function cellsAround(
  { columns, rows }: Regions,
  points: readonly { column: number; row: number }[],
  room: [number, number],
  around = new Uint8Array(columns * rows),
): Uint8Array {
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

/** Cells of a region that are not `covered` in every rectangle from the first column and row on, behind a column and a row of zeros. */
function summed({ columns, rows, region }: Regions, own: number, covered: Uint8Array): Int32Array {
  const wide = columns + 1;
  const sums = new Int32Array(wide * (rows + 1));
  for (let row = 0, at = 0; row < rows; row++) {
    let line = 0;
    for (let column = 0, sum = (row + 1) * wide + 1; column < columns; column++, at++, sum++) {
      if (region[at] === own && covered[at] === 0) line++;
      sums[sum] = sums[sum - wide] + line;
    }
  }
  return sums;
}

/**
 * Where to write the regions' names, half of whose columns and rows `half` returns: each where most of it lies in its
 * region, clear of the cells `taken` and of the names already placed, there at the middle one of the innermost cells.
 * The region with the most room is named first. Regions too thin for a name get none. Yields after each name.
 */
export function* labelPlaces(
  regions: Regions,
  thinnest: number,
  half: (region: number) => [number, number],
  taken: Uint8Array,
): Generator<void, Place[]> {
  const { columns, rows, region } = regions;
  const depth = depths(regions);
  const deepest = new Float32Array(1 + region.reduce((a, b) => (b > a ? b : a), 0));
  for (let at = 0; at < depth.length; at++) {
    if (depth[at] > deepest[region[at]]) deepest[region[at]] = depth[at];
  }
  const covered = taken.slice();
  const named = [...deepest.keys()].filter((own) => deepest[own] > thinnest);
  const places: Place[] = [];
  for (const own of named.sort((a, b) => deepest[b] - deepest[a])) {
    const sums = summed(regions, own, covered);
    const wide = columns + 1;
    const [across, up] = half(own).map(Math.ceil);
    const cells = (2 * across + 1) * (2 * up + 1);
    let [rank, fit, equal] = [-1, 0, [0]];
    for (let row = 0, at = 0; row < rows; row++) {
      const [low, high] = [wide * Math.max(0, row - up), wide * Math.min(rows, row + up + 1)];
      for (let column = 0; column < columns; column++, at++) {
        if (region[at] !== own) continue;
        const [left, right] = [Math.max(0, column - across), Math.min(columns, column + across + 1)];
        // Free cells of the region below a name at this cell.
        const inside = sums[high + right] - sums[high + left] - sums[low + right] + sums[low + left];
        const value = inside + depth[at] / (columns + rows); // below 1
        if (value > rank) [rank, fit, equal] = [value, inside / cells, []];
        if (value === rank) equal.push(at);
      }
    }
    const best = equal[equal.length >> 1];
    const place = { region: own, column: best % columns, row: Math.floor(best / columns), fit };
    cellsAround(regions, [place], [2 * across, 2 * up], covered);
    places.push(place);
    yield;
  }
  return places;
}

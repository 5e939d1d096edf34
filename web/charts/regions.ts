/** A grid of region numbers; row 0 is at the bottom. */
export interface Regions {
  columns: number;
  rows: number;
  region: Uint8Array;
}

/** The edges between cells of different regions, as an SVG path; x and y map cell edges to pixels. */
export function borders(
  { columns, rows, region }: Regions,
  x: (edge: number) => number,
  y: (edge: number) => number,
): string {
  const parts: string[] = [];
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const at = r * columns + c;
      if (c + 1 < columns && region[at] !== region[at + 1]) parts.push(`M${x(c + 1)},${y(r)}V${y(r + 1)}`);
      if (r + 1 < rows && region[at] !== region[at + columns]) parts.push(`M${x(c)},${y(r + 1)}H${x(c + 1)}`);
    }
  }
  return parts.join('');
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

/**
 * Where to write the regions' names: each at its innermost cell that is clear of the names already
 * placed, `room` columns and rows around them, and of the cells `taken` where it can. Regions too thin
 * for a name get none.
 */
export function labelPlaces(regions: Regions, thinnest: number, room: [number, number], taken: Uint8Array): Place[] {
  const depth = depths(regions);
  const { columns, region } = regions;
  const places: Place[] = [];
  const named = new Uint8Array(256);
  const isClear = (at: number) =>
    places.every(
      (it) => Math.abs(it.column - (at % columns)) > room[0] || Math.abs(it.row - Math.floor(at / columns)) > room[1],
    );
  // A round for each name instead of sorting all cells, of which there are many more than names.
  for (;;) {
    let [best, rank] = [-1, -Infinity];
    for (let at = 0; at < depth.length; at++) {
      if (named[region[at]] || !(depth[at] > thinnest)) continue;
      const own = taken[at] ? depth[at] - depth.length : depth[at];
      if (own > rank && isClear(at)) [best, rank] = [at, own];
    }
    if (best < 0) return places;
    named[region[best]] = 1;
    places.push({ region: region[best], column: best % columns, row: Math.floor(best / columns) });
  }
}

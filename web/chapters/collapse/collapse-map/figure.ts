import type { Markish } from '@observablehq/plot';
import { count, decade, short, tick } from '../../../charts/format';
import { Handle } from '../../../charts/handle';
import { paintGrid } from '../../../charts/heatmap';
import { textWidth, type Entry } from '../../../charts/legend';
import { contour } from '../../../charts/contour';
import { contourMarks, levelNames, levelPlaces } from '../../../charts/level-labels';
import { fateColour, fieldRamp, stripOf, type Fate } from '../../../charts/palette';
import { setAll, type Bitmap } from '../../../charts/picture';
import { chartWithLegend, dot, text, type Chart } from '../../../charts/plot';
import { labelPlaces } from '../../../charts/regions';
import { tableOfRows, type Table } from '../../../charts/table';
import { makeTip, placeTip } from '../../../charts/mark-tip';
import { child } from '../../../ui/dom';
import { Frame, type Shape } from '../../../ui/frame';
import { entryOf } from '../../../ui/registry';
import {
  type Cell,
  type CollapseCells,
  cellAt,
  CELLS,
  centres,
  standIn,
  WIDE,
  widened,
  type Plane,
  FATE_NAMES,
  fateOf,
} from '../cells/cells';
import { cellsFor, firstMaps, type FirstMaps } from '../cells/first';
import { type Figure, type FigureContext, STACK, type Store } from '../state';

const LEVELS = [0.1, 0.2, 0.4, 0.6, 0.8];
/** Columns and rows that the name of a contour keeps clear of others. */
const ROOM: [number, number] = [3, 1.5];

/** Of the picture. */
const SHAPE: Shape = { share: 0.56, least: 320, most: 470 };
/** Cells that a region needs for a name. */
const THINNEST = 0.9;
/** Size of the names, in pixels. */
const NAME = 14;
/** The mark of the present point. */
const POINT = 'present point';
/** What a screen reader calls the picture; the caption follows. */
const LABEL = 'Map over mean and variance: rank collapse, entropy collapse or neither, after the last layer.';
/** Below this width a name on the map has only its first word. */
const NARROW = 440;

/** Rank collapse and entropy collapse over the plane of eigenspectra. */
export class CollapseMapFigure implements Figure {
  readonly id = 'collapse-map';
  readonly inputs = STACK;
  readonly repaintOn = ['collapse_threshold', 'shade'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private canvas = document.createElement('canvas');
  private tip = makeTip(this.frame.chart);
  private handle: Handle;
  private chart: Chart | null = null;
  private bitmap: Bitmap | null = null;
  /** What chart and bitmap were drawn of. */
  private drawn: { known: CollapseCells; revision: number; look: string } | null = null;
  /** The newest question, and what is shown: the one before it until it has its first cells. */
  private asked: CollapseCells | null = null;
  private known: CollapseCells | null = null;

  constructor(private store: Store) {
    const { chart } = this.frame;
    this.canvas.className = 'bitmap';
    this.handle = new Handle(chart, 'Mean and variance of the eigenspectrum', {
      drag: (x, y) => this.drag(x, y),
      step: (dx, dy) => this.step(dx, dy),
      end: (mean) => this.moveTo(mean, store.state.variance),
      rest: () => {
        this.tip.hidden = true;
        store.settle();
      },
      keep: () => store.keep('mean', 'variance'),
    });
    chart.addEventListener('pointermove', (event) => {
      if (!this.handle.held) this.point(event);
    });
    chart.addEventListener('pointerleave', () => {
      if (!this.handle.held) this.tip.hidden = true;
    });
  }

  async compute(context: FigureContext): Promise<void> {
    const maps = await firstMaps().catch((): FirstMaps => new Map()); // the engine computes them too
    if (context.signal.aborted) return;
    this.asked = cellsFor(context.state, this.asked, this.handle.held, maps);
    await this.asked.ask(context);
  }

  *paint() {
    if (this.asked?.isBegun()) this.known = this.asked;
    const { known, frame, drawn } = this;
    if (!known) return;
    const { revision } = known;
    const look = this.look();
    // While the point is dragged over a map that is known, it alone moves.
    if (drawn?.known !== known || drawn.revision !== revision || drawn.look !== look) {
      yield* this.draw(known);
      this.drawn = { known, revision, look };
    }
    const { chart, bitmap } = this;
    if (!chart || !bitmap) return;
    this.canvas.style.opacity = known === this.asked ? '1' : '0.4';
    const caption = this.caption(known);
    chart.svg.setAttribute('aria-label', `${LABEL} ${caption}`);
    this.placePoint(known, chart);
    frame.put(chart.svg, [bitmap]);
    frame.say(caption);
  }

  /** What the picture depends on beside its numbers and the present point. */
  private look(): string {
    const { frame, store } = this;
    const { collapse_threshold: threshold, shade } = store.state;
    const colours = [fateColour('alive'), stripOf(fieldRamp(), 2)];
    return JSON.stringify([threshold, shade, frame.width, frame.room, colours]);
  }

  table(): Table | null {
    const { known } = this;
    if (!known) return null;
    const { means, variances } = centres(known.plane);
    const rows = known.cells.map((cell, at) => ({
      mean: means[at % CELLS],
      variance: variances[Math.floor(at / CELLS)],
      localization: known.localizationAt(at),
      samples: 0,
      refused: '',
      ...cell,
    }));
    const names = 'mean,variance,residual,residual_error,entropy,entropy_error';
    return tableOfRows(rows, `${names},localization,samples,refused`.split(','));
  }

  /** The cell shown at every place: while the map is coarse, the one that stands for its block. */
  private shown({ cells }: CollapseCells): (Cell | null)[] {
    return cells.map((_, at) => {
      const other = standIn(at, (it) => cells[it] !== null);
      return other < 0 ? null : cells[other];
    });
  }

  private *draw(known: CollapseCells) {
    const { plane } = known;
    const shown = this.shown(known);
    const marks = this.contourMarks(known);
    const fates = seenFates(shown, this.store.state.collapse_threshold);
    const isBand = (['rank', 'alive', 'entropy'] as const).every((fate) => fates.includes(fate));
    this.frame.retitle(isBand ? entryOf(this.id).title : 'Which collapse, by mean and variance');
    yield;
    const isRegions = this.store.state.shade === 'regions';
    marks.push(
      ...(isRegions ? [yield* this.nameMarks(plane, shown)] : this.bandMarks(known, shown)),
      dot([this.position(known)], {
        r: 7,
        fill: 'var(--ink)',
        stroke: 'var(--paper)',
        strokeWidth: 2.5,
        ariaDescription: POINT,
      }),
    );
    const chart = chartWithLegend({
      label: LABEL,
      entries: this.entries(known, shown),
      width: this.frame.width,
      height: (legend) => this.frame.heightInSight(SHAPE, legend),
      marginLeft: 48,
      marginRight: 12,
      marginBottom: 42,
      x: { domain: plane.x, label: 'mean m →', labelAnchor: 'center', tickFormat: tick, ticks: 9 },
      y: { type: 'log', domain: plane.y, label: 'variance v', tickFormat: decade },
      marks,
    });
    yield;
    this.bitmap = this.cells(plane, shown, chart);
    this.chart = chart;
  }

  /** The regions' names, each where its region is widest. */
  private *nameMarks({ x, y }: Plane, shown: (Cell | null)[]): Generator<void, Markish> {
    const regions = { columns: CELLS, rows: CELLS, region: fatesOf(shown, this.store.state.collapse_threshold) };
    const nameOf = (region: number) => {
      const name = FATE_NAMES[FATES[region]];
      return this.frame.width < NARROW ? name.split(' ')[0] : name;
    };
    const half = (region: number): [number, number] =>
      region < FATES.length
        ? [(1.1 * textWidth(nameOf(region)) * NAME * CELLS) / (2 * 12 * this.frame.width), 1]
        : [0, 0];
    const taken = new Uint8Array(CELLS * CELLS);
    const found = yield* labelPlaces(regions, THINNEST, half, taken);
    const places = found.filter(({ region }) => region < FATES.length);
    const along = (place: number) => (place + 0.5) / CELLS;
    return text(places, {
      x: ({ column, region }) => {
        const half = (1.5 * textWidth(nameOf(region))) / (2 * this.frame.width); // kept on the map
        const place = Math.min(1 - half, Math.max(half, along(column)));
        return x[0] + place * (x[1] - x[0]);
      },
      y: ({ row }) => y[0] * (y[1] / y[0]) ** along(row),
      text: ({ region }) => nameOf(region),
      fontSize: NAME,
      fontWeight: 600,
      fill: 'var(--ink)',
      stroke: 'var(--paper)',
      strokeWidth: 4,
      ariaDescription: 'regions',
    });
  }

  private contourMarks({ plane, localization }: CollapseCells): Markish[] {
    if (!localization) return [];
    const { x, y } = widened(plane);
    const places = levelPlaces({ columns: WIDE, rows: WIDE, value: localization }, LEVELS, ROOM);
    const along = (place: number) => (place + 0.5) / WIDE;
    const points = places.map(({ level, column, row }) => ({
      level,
      x: x[0] + along(column) * (x[1] - x[0]),
      y: y[0] * (y[1] / y[0]) ** along(row),
    }));
    return [
      ...contourMarks(localization, {
        ...contourGrid(plane),
        thresholds: LEVELS,
        ariaDescription: 'localization index',
      }),
      levelNames(points, 'levels of the localization index'),
    ];
  }

  /** The border of the stacks that keep both, interpolated between the cells' centres. */
  private bandMarks({ plane }: CollapseCells, shown: (Cell | null)[]): Markish[] {
    const { collapse_threshold: threshold } = this.store.state;
    const inside = (place: number) => Math.min(CELLS - 1, Math.max(0, place - 1));
    const least = Array.from({ length: WIDE * WIDE }, (_, at) => {
      const cell = shown[inside(Math.floor(at / WIDE)) * CELLS + inside(at % WIDE)];
      return cell ? Math.min(cell.residual, cell.entropy) : NaN;
    });
    return [
      { stroke: 'var(--paper)', 'stroke-width': 5 },
      { stroke: 'var(--series-3)', 'stroke-width': 2.5 },
    ].map((look) =>
      contour(least, { ...contourGrid(plane), thresholds: [threshold], ariaDescription: 'safe band' }, look),
    );
  }

  private cells(plane: Plane, shown: (Cell | null)[], { x, y }: Chart): Bitmap {
    const { canvas } = this;
    const { collapse_threshold: threshold, shade } = this.store.state;
    canvas.classList.toggle('smooth', shade === 'regions');
    if (shade === 'regions') paintFates(canvas, shown, threshold);
    else {
      const values = new Float32Array(CELLS * CELLS);
      shown.forEach((cell, at) => {
        const line = CELLS - 1 - Math.floor(at / CELLS); // the canvas counts from the top
        values[line * CELLS + (at % CELLS)] = cell?.[shade] ?? NaN;
      });
      const grid = { columns: CELLS, rows: CELLS, values };
      void paintGrid(canvas, grid, fieldRamp(), (value) => value);
    }
    const [left, right] = plane.x.map(x.apply);
    const [low, high] = plane.y.map(y.apply);
    return { canvas, x: left, y: high, width: right - left, height: low - high };
  }

  private entries({ localization }: CollapseCells, shown: (Cell | null)[]): Entry[] {
    const { collapse_threshold: threshold, shade } = this.store.state;
    const [least, most] = rangeOf(localization ?? []);
    const entries: Entry[] = [];
    if (shade === 'regions') {
      entries.push(
        ...seenFates(shown, threshold).map((fate): Entry => ({
          text: `${FATE_NAMES[fate]}${fate === 'alive' ? `: residual and entropy at least ${short(threshold)}` : ''}`,
          kind: 'strip',
          colours: [fateColour(fate)],
        })),
      );
    } else {
      const band = `residual and entropy at least ${short(threshold)}`;
      entries.push(
        { text: `${shade}: 0 to 1`, kind: 'strip', colours: stripOf(fieldRamp()) },
        { text: band, kind: 'line', colours: ['var(--series-3)'] },
      );
    }
    if (LEVELS.some((level) => level > least && level < most)) {
      entries.push({ text: 'localization index L', kind: 'line', colours: ['var(--muted)'] });
    }
    return entries;
  }

  /** The present point, or the nearest one on the map. */
  private position({ plane }: CollapseCells): [number, number] {
    const { mean, variance } = this.store.state;
    return [inside(mean, plane.x), inside(variance, plane.y)];
  }

  private placePoint(known: CollapseCells, { svg, x, y }: Chart): void {
    const [mean, variance] = this.position(known);
    const { state } = this.store;
    const now = `mean ${short(state.mean)}, variance ${short(state.variance)}`;
    const [px, py] = [x.apply(mean), y.apply(variance)];
    setAll(child(svg, `[data-mark="${POINT}"] circle`), { cx: px, cy: py });
    const verdict = textOf(this.present(known), state.collapse_threshold);
    this.handle.place(px, py, {
      now: state.mean,
      from: known.plane.x[0],
      to: known.plane.x[1],
      text: [now, verdict].filter(Boolean).join('; '),
    });
    if (this.handle.held && verdict) this.tell(verdict, px, py);
  }

  private drag(px: number, py: number): void {
    if (!this.chart || !this.known) return;
    const { plane } = this.known;
    const mean = inside(this.chart.x.invert(px), plane.x);
    this.moveTo(mean, inside(this.chart.y.invert(py), plane.y));
  }

  /** Says the numbers of the cell under the pointer. */
  private point(event: PointerEvent): void {
    const { chart: drawn, known, tip, frame } = this;
    tip.hidden = true;
    if (!drawn || !known || event.pointerType === 'touch') return;
    const box = frame.chart.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const [mean, variance] = [drawn.x.invert(px), drawn.y.invert(py)];
    const { plane } = known;
    const isOn = (value: number, [low, high]: [number, number]) => value >= low && value <= high;
    if (!isOn(mean, plane.x) || !isOn(variance, plane.y)) return;
    const said = textOf(this.shown(known)[cellAt(plane, mean, variance)], this.store.state.collapse_threshold);
    if (!said) return;
    this.tell(`m = ${short(mean)}, v = ${short(variance)}: ${said}`, px, py);
  }

  /** Shows a text beside a place of the picture. */
  private tell(text: string, px: number, py: number): void {
    this.tip.textContent = text;
    placeTip(this.tip, this.frame.chart, px, py, 16);
  }

  private step(dx: number, dy: number): void {
    if (!this.known) return;
    const { plane } = this.known;
    const { mean, variance } = this.store.state;
    const column = (plane.x[1] - plane.x[0]) / CELLS;
    const row = (plane.y[1] / plane.y[0]) ** (1 / CELLS);
    const next = Math.max(variance, plane.y[0]) * row ** (dy / 2);
    this.moveTo(inside(mean + (dx / 2) * column, plane.x), inside(next, plane.y));
  }

  private moveTo(mean: number, variance: number): void {
    if (!this.known) return;
    const half = this.known.plane.x[1];
    const place = Math.round((1000 * mean) / half) / 1000; // so that zero is met
    const rounded = { mean: Number((place * half).toPrecision(6)) };
    this.store.set({ ...rounded, variance: Number(variance.toPrecision(3)) }, false);
  }

  private present(known: CollapseCells): Cell | null {
    const { mean, variance } = this.store.state;
    return this.shown(known)[cellAt(known.plane, mean, variance)];
  }

  private caption(known: CollapseCells): string {
    const cells = known.cells.filter((cell) => cell !== null);
    const answered = cells.filter(({ refused }) => refused === '');
    const fewest = Math.min(...answered.map(({ samples }) => samples));
    const blank = cells.filter(({ overflow }) => overflow > 0).length;
    const refused = cells.find((cell) => cell.refused !== '');
    const { collapse_threshold: threshold } = this.store.state;
    const safe = answered.filter(({ residual, entropy }) => residual >= threshold && entropy >= threshold).length;
    const sentences = [
      answered.length > 0 &&
        `${count(cells.length)} of ${count(known.cells.length)} cells, ${fewest} of ${known.wanted} ` +
          `stacks in each; ${safe} keep both at ${short(threshold)} or more.`,
      refused && `Cells left out: ${refused.refused}.`,
      blank > 0 && `In ${blank} cells the numbers overflow.`,
      known.localization && localizationText(known.localization),
      this.presentText(known),
    ];
    return sentences.filter(Boolean).join(' ');
  }

  private presentText(known: CollapseCells): string {
    const cell = this.present(known);
    if (!cell || cell.refused !== '') return '';
    const { residual, entropy } = cell;
    return `In the cell of the current point: residual ${short(residual)}, entropy ${short(entropy)}.`;
  }
}

/** What becomes of the stacks of a cell, with their numbers; '' where nothing is known. */
function textOf(cell: Cell | null, threshold: number): string {
  if (!cell || cell.refused !== '') return '';
  const { residual, entropy } = cell;
  return `${FATE_NAMES[fateOf(residual, entropy, threshold)]}, residual ${short(residual)}, entropy ${short(entropy)}`;
}

/** Where contours of the cells lie, which are equal on the screen, not in the variance. */
function contourGrid(plane: Plane) {
  const { x, y } = widened(plane);
  return { width: WIDE, height: WIDE, x1: x[0], x2: x[1], y1: y[0], y2: y[1] };
}

function inside(value: number, [low, high]: [number, number]): number {
  return Math.min(high, Math.max(low, value));
}

/** Between which values L lies, and why no line of it is there where it is small. */
function localizationText(values: ArrayLike<number>): string {
  const [least, most] = rangeOf(values);
  const none = most < LEVELS[0]! ? `, so that none of its lines, from ${LEVELS[0]} on, is here` : '';
  return `L goes from ${short(least)} to ${short(most)}${none}.`;
}

/** The smallest and the largest number there are. */
function rangeOf(values: ArrayLike<number>): [number, number] {
  const known = Array.from(values).filter((value) => !Number.isNaN(value));
  return [Math.min(...known), Math.max(...known)];
}

// Which collapse the stacks of the map have, in colours between the cells.

/** The fates, by the numbers that a map of regions has. */
const FATES: readonly Fate[] = ['both', 'rank', 'entropy', 'alive'];

/** The number of each cell's fate among `FATES`; a cell without values has that of none, 4. */
function fatesOf(cells: readonly (Cell | null)[], threshold: number): Uint8Array {
  return Uint8Array.from(cells, (cell) =>
    cell && Number.isFinite(cell.residual) && Number.isFinite(cell.entropy)
      ? FATES.indexOf(fateOf(cell.residual, cell.entropy, threshold))
      : FATES.length,
  );
}

/** Those on the map, from alive on. */
function seenFates(cells: readonly (Cell | null)[], threshold: number): Fate[] {
  const seen = new Set(fatesOf(cells, threshold));
  return FATES.filter((_, at) => seen.has(at)).reverse();
}

/** Pixels of a cell of the canvas: borders between cells are smooth. */
const FINE = 24;
const SIZE = CELLS * FINE;

/** The pixels along one side of the canvas that lie between the centres of a cell and the next one; before the first and behind the last centre too. */
interface Run {
  cell: number;
  next: number;
  from: number;
  to: number;
}

const RUNS: readonly Run[] = Array.from({ length: CELLS }, (_, cell) => ({
  cell,
  next: Math.min(CELLS - 1, cell + 1),
  from: cell === 0 ? 0 : Math.floor((cell + 0.5) * FINE),
  to: Math.min(SIZE, Math.floor((cell + 1.5) * FINE)),
}));

/** How far a pixel is from the centre of a cell to that of the next one, as a share. */
const shareOf = (at: number, { cell }: Run) => Math.min(CELLS - 1, Math.max(0, (at + 0.5) / FINE - 0.5)) - cell;

/** Between two values; NaN where one is missing. */
const mixed = (one: number, other: number, share: number) => one + share * (other - one);

/** Made once: so many pixels for every drawing would have the garbage collector stop the page. */
let image: ImageData | undefined;

/** Paints the fates on a canvas, residual and entropy interpolated between the centres of the cells. */
function paintFates(canvas: HTMLCanvasElement, cells: readonly (Cell | null)[], threshold: number): void {
  if (canvas.width !== SIZE || canvas.height !== SIZE) canvas.width = canvas.height = SIZE;
  const context = canvas.getContext('2d');
  if (!context) return;
  const fates = fatesOf(cells, threshold);
  const residual = Float64Array.from(cells, (cell) => cell?.residual ?? NaN);
  const entropy = Float64Array.from(cells, (cell) => cell?.entropy ?? NaN);
  const colours = new Map(FATES.map((fate) => [fate, packed(fateColour(fate))]));
  image ??= new ImageData(SIZE, SIZE);
  const pixels = new Uint32Array(image.data.buffer).fill(0);
  for (const rows of RUNS) {
    for (const columns of RUNS) {
      const corners = [rows.cell, rows.next].flatMap((row) =>
        [columns.cell, columns.next].map((at) => row * CELLS + at),
      );
      const [a, b, c, d] = corners;
      const fate = FATES[fates[a]];
      const isOne = fate && corners.every((corner) => fates[corner] === fates[a]);
      for (let up = rows.from; up < rows.to; up++) {
        const line = SIZE * (SIZE - 1 - up); // the canvas counts from the top
        if (isOne) {
          pixels.fill(colours.get(fate)!, line + columns.from, line + columns.to);
          continue;
        }
        const share = shareOf(up, rows);
        const [r1, r2] = [mixed(residual[a], residual[c], share), mixed(residual[b], residual[d], share)];
        const [h1, h2] = [mixed(entropy[a], entropy[c], share), mixed(entropy[b], entropy[d], share)];
        for (let at = columns.from; at < columns.to; at++) {
          const along = shareOf(at, columns);
          const [r, h] = [mixed(r1, r2, along), mixed(h1, h2, along)];
          if (!Number.isNaN(r) && !Number.isNaN(h)) pixels[line + at] = colours.get(fateOf(r, h, threshold))!;
        }
      }
    }
  }
  context.putImageData(image, 0, 0);
}

/** An opaque colour in one number, as in an image. */
function packed(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0];
}

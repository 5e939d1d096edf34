import { decade, decades, roundUp, short, tick } from '../../../charts/format';
import { type Entry, legend } from '../../../charts/legend';
import { element, setAll } from '../../../charts/picture';
import { chart, gridY, line, text, compose, partOf } from '../../../charts/plot';
import { finiteCell, type Table } from '../../../charts/table';
import { spreadNames } from '../../../heads/registry';
import type { Spread } from '../../../state/heads';
import type { Frame } from '../../../ui/frame';
import { MARGINS, NARROW, referenceMarks, titleMark } from '../experiments/panels';
import { referencesOf, type Row, type Shown } from './log';
import type { RunStyle } from './shown';

/** One of the charts that share the axis of steps. */
export interface Panel {
  title: string;
  /** Drawn as a strong line for each run. */
  main: Shown;
  /** Drawn thin beside it. */
  thin?: { of: Shown; name: string };
  /** The range that the axis has at least. */
  least: [number, number];
  /** No number beyond it is drawn. */
  most: [number, number];
  /** With the losses of tables of n-grams on the same text, those of the last row of the first run. */
  references?: boolean;
  /** The axis holds the lines after the first tenth of the steps: before it every loss falls alike. */
  zoom?: boolean;
  /** A logarithmic axis; what is not positive leaves a gap. */
  log?: boolean;
}

const EVERYTHING: [number, number] = [-Infinity, Infinity];
const NOTHING: [number, number] = [Infinity, -Infinity];
/** A loss beyond this (8 bits a byte know nothing) would flatten all others. */
const MOST_BITS = 12;

/** The charts, for the chosen variance of the heads. */
export function panelsOf(spread: Spread): Panel[] {
  return [
    {
      title: 'loss, bits per byte',
      main: 'bits_per_byte',
      least: NOTHING,
      thin: { of: 'train_bits', name: 'training loss' },
      most: [-Infinity, MOST_BITS],
      zoom: true,
      references: true,
    },
    {
      title: 'entropy',
      main: 'entropy',
      least: [0, 1],
      most: EVERYTHING,
      thin: { of: 'entropy_bound', name: 'entropy bound' },
    },
    {
      title: spreadNames[spread],
      main: spread,
      most: EVERYTHING,
      // The trace's may be negative; the others span decades.
      ...(spread === 'variance' ? { least: [0, 0] } : { least: NOTHING, log: true }),
    },
    { title: 'predicted localization', main: 'localization', least: [0, 0.1], most: EVERYTHING },
    { title: 'relative residual', main: 'residual', least: [0, 1], most: EVERYTHING },
  ];
}

/** Of thin lines. */
const DOTTED = '1 2';

/** The legend's entry of the thin lines. */
export function thinEntry(panels: readonly Panel[]): Entry {
  const names = panels.flatMap(({ thin }) => thin?.name ?? []);
  return { text: names.join(', '), kind: 'line', colours: ['currentColor'], dash: DOTTED };
}

/** Every measure that the charts show. */
export function measuresOf(panels: Panel[]): Shown[] {
  return panels.flatMap(({ main, thin }) => (thin ? [main, thin.of] : [main]));
}

/** Those measures of every row of the runs; null while there are none. */
export function tableOf(styles: RunStyle[], measures: readonly Shown[]): Table | null {
  if (styles.every(({ run }) => run.rows.length === 0)) return null;
  function* rows(): Generator<(string | number | null)[]> {
    for (const { run } of styles) {
      for (const { step, value } of run.rows) {
        yield [run.kind, step, ...measures.map((name) => finiteCell(value[name]))];
      }
    }
  }
  return { columns: ['run', 'step', ...measures], rows: rows() };
}

/** More points than this on a line say no more. */
const MOST_POINTS = 400;

/** Rows evenly thinned to what a line shows; the last is always among them. */
export function thinned(rows: Row[]): Row[] {
  const every = Math.ceil(rows.length / MOST_POINTS);
  return rows.filter((_, i) => (rows.length - 1 - i) % every === 0);
}

/** A measure of a run along its steps. What is no number leaves a gap. */
function pointsOf({ run }: RunStyle, measure: Shown, log = false): [number, number][] {
  return thinned(run.rows).map(({ step, value }) => [step, log && value[measure] <= 0 ? NaN : value[measure]]);
}

/** The common axis: it ends at a round number of steps, or at the end of the comparison, which has to begin. */
export function stepsOf(styles: RunStyle[]): [number, number] {
  const steps = styles.flatMap(({ run }) => run.rows.at(-1)?.step ?? []);
  const end = Math.max(1, ...styles.map(({ run }) => run.training.steps));
  return [0, steps.length === 0 ? end : Math.min(end, roundUp(Math.max(1, ...steps)))];
}

/** The points after the first tenth of a line's steps, where there are some. */
export function settled(points: [number, number][]): [number, number][] {
  const last = points.at(-1)?.[0] ?? 0;
  const later = points.filter(([step]) => step > last / 10);
  return later.length > 0 ? later : points;
}

function decadeOf(value: number, round: (exponent: number) => number): number {
  return Number(`1e${round(Math.log10(value))}`);
}

/** The range of a panel's axis that holds the points. */
export function rangeOf({ least, most, log }: Panel, points: [number, number][]): [number, number] {
  const values = points.map(([, value]) => value).filter(Number.isFinite);
  const low = Math.max(most[0], Math.min(least[0], ...values));
  const high = Math.min(most[1], Math.max(least[1], ...values));
  if (!Number.isFinite(low) || !Number.isFinite(high)) return log ? [0.01, 1] : [0, 8]; // none yet
  if (log) return [decadeOf(low, Math.floor), decadeOf(high * 1.0001, Math.ceil)];
  const room = 0.05 * (high - low || Math.abs(high) || 1);
  return [low === 0 ? 0 : low - room, high === least[1] ? high : high + room];
}

/** What a zoomed axis leaves out above it, in words; '' for nothing. */
export function aboveText(top: number, points: [number, number][]): string {
  const highest = Math.max(top, ...points.map(([, value]) => value).filter(Number.isFinite));
  return highest > top ? `above this axis: up to ${short(highest)}` : '';
}

/** One chart; `steps` is the axis that it shares with the others. */
export function drawPanel(
  panel: Panel,
  styles: RunStyle[],
  steps: [number, number],
  size: { width: number; height: number },
): SVGSVGElement {
  const thick = styles.map((style) => pointsOf(style, panel.main, panel.log));
  const { thin } = panel;
  const fine = thin ? styles.map((style) => pointsOf(style, thin.of)) : [];
  const all = [...thick, ...fine];
  const domain = rangeOf(
    panel,
    all.flatMap((points) => (panel.zoom ? settled(points) : points)),
  );
  const last = panel.references && styles.find(({ run }) => run.rows.length > 0)?.run.rows.at(-1);
  const lines = (lists: [number, number][][], strong: boolean) =>
    lists.map((points, i) =>
      line(points, {
        stroke: styles[i].colour,
        strokeDasharray: strong ? styles[i].dash : DOTTED,
        strokeWidth: strong ? 2.25 : 1,
        opacity: strong ? 1 : 0.8,
        clip: true,
        ariaDescription: `${strong ? panel.main : thin?.name}, ${styles[i].name}`,
      }),
    );
  return chart({
    label: panel.title,
    ...size,
    ...MARGINS,
    x: { domain: steps, label: 'step →', labelAnchor: 'center', ticks: size.width < NARROW ? 2 : 5, tickFormat: tick },
    y: {
      domain,
      label: null,
      ...(panel.log
        ? { type: 'log' as const, ticks: decades(domain), tickFormat: decade }
        : { ticks: 4, tickFormat: tick }),
    },
    marks: [
      gridY({ ticks: panel.log ? decades(domain) : 4, strokeOpacity: 0.08 }),
      titleMark(panel.title),
      text([aboveText(domain[1], all.flat())], {
        frameAnchor: 'top',
        lineAnchor: 'top',
        dy: 2,
        fill: 'var(--muted)',
        ariaDescription: 'above the axis',
      }),
      ...(last ? referenceMarks(referencesOf(last), domain) : []),
      ...lines(fine, false),
      ...lines(thick, true).reverse(),
    ],
  }).svg;
}

/** Panels under a legend of their own, all of one height; one that is `wide` has two columns where there are. */
interface PanelBlock {
  entries: Entry[];
  panels: { height: number; wide?: boolean }[];
}

/** Pixels that a panel needs beside others. */
const LEAST = 165;

/** Pixels between two blocks. */
const GAP = 12;

/** Where a panel lies in the picture. */
interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A picture of panels that are drawn anew one by one: all in one task would hold up the hand at the page. */
export class PanelPicture {
  private svg: SVGSVGElement | null = null;
  private key = '';
  private places: Place[] = [];
  private panels: SVGSVGElement[] = [];

  /** `most` panels stand in a row. */
  constructor(
    private frame: Frame,
    private most: number,
  ) {}

  /** Panels for which a row has room. */
  get columns(): number {
    return Math.max(1, Math.min(this.most, Math.floor(this.frame.width / LEAST)));
  }

  /** Lays the panels out, empty, unless they lie so already; `label` is what a screen reader says. */
  layOut(blocks: PanelBlock[], label: string): void {
    const key = JSON.stringify([this.frame.width, blocks]);
    if (this.key !== key) {
      this.key = key;
      this.svg = this.empty(blocks, label);
      this.frame.put(this.svg);
    }
    this.svg?.setAttribute('aria-label', label);
  }

  /** Puts a panel at its place; `draw` is told its size, `name` goes into `data-panel`. */
  put(at: number, name: string, draw: (size: Pick<Place, 'width' | 'height'>) => SVGSVGElement) {
    const { x, y, width, height } = this.places[at];
    const svg = partOf(draw({ width, height }));
    setAll(svg, { x, y });
    svg.dataset.panel = name;
    this.panels[at].replaceWith(svg);
    this.panels[at] = svg;
  }

  private empty(blocks: PanelBlock[], label: string): SVGSVGElement {
    const { columns } = this;
    const { width } = this.frame;
    const legends: SVGGElement[] = [];
    this.places = [];
    let top = 0;
    for (const { entries, panels } of blocks) {
      const names = legend(entries, 0, width, top > 0 ? top + GAP : 0);
      legends.push(names.render());
      top = names.height + 6;
      let column = 0;
      for (const { height, wide } of panels) {
        const span = Math.min(wide ? 2 : 1, columns);
        if (column + span > columns) [column, top] = [0, top + height];
        this.places.push({ x: (column * width) / columns, y: top, width: (span * width) / columns, height });
        column += span;
      }
      top += panels[panels.length - 1].height;
    }
    this.panels = this.places.map((place) => element('svg', { ...place }));
    const parts = this.panels.map((svg, i) => ({ svg, x: this.places[i].x, y: this.places[i].y }));
    const svg = compose(parts, { width, height: top }, label);
    svg.append(...legends);
    return svg;
  }
}

import { short } from '../../charts/format';
import { MarkTip, type Mark } from '../../charts/mark-tip';
import { MatrixPicture } from '../../charts/matrix';
import { fieldRamp } from '../../charts/palette';
import { element, type Bitmap } from '../../charts/picture';
import { partOf, type Chart, type Position } from '../../charts/plot';
import { BARS, withError } from '../../charts/with-error';
import type { Simulated } from '../../engine/protocol';
import { pathOf, type Box } from './panel';
import type { Point } from './point';

/** Widths below this have no room for the entropies of the rows, nor for long labels. */
const NARROW = 260;
/** Pixels of the strip of propagation probabilities under the matrix, with its title. */
const STRIP = { wide: 84, narrow: 58 };
/** Of the bars of row entropies, beside the matrix. */
const BAR = 46;
const TITLE = 18;
/** More simulated keys than this would merge into a band: every k-th is drawn. */
const MOST = 48;
const RHO = 'var(--series-1)';
const SENSITIVITY = 'var(--series-3)';

interface Marks {
  rho: SVGPathElement;
  simulated: SVGPathElement;
  sensitivity: SVGPathElement;
  entropy: SVGPathElement;
}

/** Places of the strip under the matrix, and of the bars beside it, in pixels of the panel. */
interface Places {
  /** Left edge of a key's column, from 0. */
  key: (key: number) => number;
  /** Upper edge of a query's row, from 0. */
  query: (query: number) => number;
  /** Height of a probability in the strip. */
  strip: (value: number) => number;
  /** Horizontal place of an entropy; null where there is no room. */
  bar: ((value: number) => number) | null;
}

/** One sampled attention matrix, the entropies of its rows, and which keys pass the signal. */
export class AttentionPanel {
  private picture: MatrixPicture;
  private tip: MarkTip;
  private axes: Chart | null = null;
  private places: Places | null = null;
  private marks: Marks | null = null;
  private box: Box = { x: 0, y: 0, width: 0, height: 0 };
  private simulation: Simulated | null = null;

  constructor(area: HTMLElement) {
    this.picture = new MatrixPicture(
      area,
      (query, key, weight) => `query ${query + 1} → key ${key + 1}, weight ${short(weight)}`,
    );
    this.tip = new MarkTip(area);
  }

  draw({ attention: { length } }: Point, box: Box): SVGSVGElement {
    this.box = box;
    const narrow = box.width < NARROW;
    const strip = narrow ? STRIP.narrow : STRIP.wide;
    const bar = narrow ? 0 : BAR;
    const side = Math.min(box.width - bar, box.height - strip);
    this.axes = this.picture.chart(length, side, {
      label: 'attention weights',
      x: 'key →',
      y: narrow ? '' : '↓ query',
      margin: narrow
        ? { marginLeft: 24, marginTop: 26, marginBottom: 32, marginRight: 2 }
        : { marginLeft: 34, marginTop: 26, marginBottom: 32, marginRight: 4 },
    });
    const { x, y, svg } = this.axes;
    const top = side + TITLE;
    const bottom = box.height - 8;
    const [left, right] = [x.apply(0.5), x.apply(length + 0.5)];
    this.places = {
      key: (key) => x.apply(key + 0.5),
      query: (query) => y.apply(query + 0.5),
      strip: (value) => bottom - value * (bottom - top),
      bar: bar > 0 ? (value) => side + 2 + value * (bar - 12) : null,
    };
    const whole = element('svg', { width: box.width, height: box.height, 'font-size': 12 });
    this.marks = {
      rho: element('path', { fill: RHO, 'fill-opacity': 0.3, stroke: RHO, 'stroke-width': 1.5 }),
      simulated: element('path', { fill: 'none', stroke: RHO, 'stroke-width': 1.25 }),
      sensitivity: element('path', { fill: 'none', stroke: SENSITIVITY, 'stroke-width': 1.5 }),
      entropy: element('path', { fill: 'none', stroke: SENSITIVITY, 'stroke-width': 1.5 }),
    };
    for (const [name, mark] of Object.entries(this.marks)) {
      mark.setAttribute('data-mark', MARKS[name as keyof Marks]);
    }
    const rule = { stroke: 'currentColor', 'stroke-opacity': 0.3 };
    const text = { fill: 'currentColor', y: top - 5, x: left };
    const title = narrow ? 'ρ of each position' : 'ρ: probability that a position passes the gradient';
    whole.append(
      partOf(svg),
      element('text', text, title),
      element('line', { x1: left, x2: right, y1: bottom, y2: bottom, ...rule }),
      ...[0, 1].map((value) =>
        element(
          'text',
          { fill: 'currentColor', x: left - 6, 'text-anchor': 'end', dy: '0.32em', y: value ? top + 3 : bottom },
          String(value),
        ),
      ),
      ...Object.values(this.marks),
    );
    if (this.places.bar) {
      const { bar: at, query } = this.places;
      const middle = { x: at(0.5), y: query(length) + 17, 'text-anchor': 'middle' };
      whole.append(
        ...[0, 1].map((value) =>
          element('line', { x1: at(value), x2: at(value), y1: query(0), y2: query(length), ...rule }),
        ),
        element('text', { fill: 'currentColor', ...middle }, 'entropy'),
      );
    }
    return whole;
  }

  /** Paints matrix, strip and bars of a point whose length is that of the drawn axes. */
  follow(point: Point): Bitmap {
    const { attention, theory } = point;
    const { marks, places, axes, box } = this;
    if (!marks || !places || !axes) throw new Error('the matrix is painted before its axes');
    const { key, query, strip, bar } = places;
    marks.rho.setAttribute('d', stepsOf(theory.rho, key, strip));
    if (bar) {
      const steps = [...attention.entropy].flatMap((value, row) =>
        Number.isNaN(value)
          ? []
          : ([
              [bar(value), query(row)],
              [bar(value), query(row + 1)],
            ] as [number, number][]),
      );
      marks.entropy.setAttribute('d', pathOf(steps));
    }
    this.tip.place(() => [[this.tipsOf(point), { x: shift(box.x), y: shift(box.y) }]]);
    const cells = { length: attention.length, values: attention.weights };
    return this.picture.paint(cells, fieldRamp(), Math.sqrt, axes, { top: box.y, left: box.x });
  }

  /** Shows simulated probabilities and the sensitivity of the exact softmax, or takes them away. */
  simulated(simulated: Simulated | null): void {
    const { marks, places } = this;
    this.simulation = simulated;
    if (!marks || !places) return;
    const { key, strip } = places;
    if (!simulated) {
      marks.simulated.setAttribute('d', '');
      marks.sensitivity.setAttribute('d', '');
      return;
    }
    const { rho, rho_error, sensitivity } = simulated;
    const every = Math.ceil(rho.length / MOST);
    const rings = Array.from(rho, (value, i) => {
      if (i % every !== 0 && i !== rho.length - 1) return '';
      const x = (key(i) + key(i + 1)) / 2;
      const error = BARS * rho_error[i];
      const ends = [value - error, value + error].map((it) => strip(it).toFixed(1));
      return (
        `M${(x - 2).toFixed(1)},${strip(value).toFixed(1)}a2,2 0 1,0 4,0a2,2 0 1,0 ` +
        `-4,0M${x.toFixed(1)},${ends[0]}V${ends[1]}`
      );
    });
    marks.simulated.setAttribute('d', rings.join(''));
    const most = Math.max(1e-12, ...sensitivity);
    const curve = Array.from(sensitivity, (value, i) => {
      return [(key(i) + key(i + 1)) / 2, strip(value / most)] as const;
    });
    marks.sensitivity.setAttribute('d', pathOf(curve));
  }

  /** What the marks of the strip and the bars of entropy say, in pixels of the panel. */
  private tipsOf({ theory, attention }: Point): Mark[] {
    const { simulation } = this;
    const { key, query, strip, bar } = this.places!;
    const most = Math.max(1e-12, ...(simulation?.sensitivity ?? []));
    const strips = Array.from(theory.rho, (rho, i) => {
      const x = (key(i) + key(i + 1)) / 2;
      const name = `key ${i + 1}: `;
      const own = { x, y: strip(rho), text: `${name}ρ ${short(rho)} in theory` };
      if (!simulation || i >= simulation.rho.length) return [own];
      const { rho: found, rho_error, sensitivity } = simulation;
      const part = sensitivity[i] / most;
      return [
        own,
        { x, y: strip(found[i]), text: `${name}ρ ${withError(found[i], rho_error[i])} simulated` },
        { x, y: strip(part), text: `${name}sensitivity ${short(sensitivity[i])}, ${short(part)} of the largest` },
      ];
    });
    const rows = Array.from(bar ? attention.entropy : [], (value, row) => ({
      x: bar!(value),
      y: (query(row) + query(row + 1)) / 2,
      text: `query ${row + 1}: attention entropy ${short(value)}`,
    }));
    return [...strips.flat(), ...rows];
  }
}

/** Pixels of the panel in those of the picture. */
const shift = (by: number): Position => ({ apply: (it) => it + by, invert: (it) => it - by });

const MARKS: Record<keyof Marks, string> = {
  rho: 'propagation probability, theory',
  simulated: 'propagation probability, simulation',
  sensitivity: 'sensitivity of the exact softmax',
  entropy: 'row entropies',
};

/** The area under steps, one for each key. */
function stepsOf(values: ArrayLike<number>, key: (key: number) => number, strip: (value: number) => number): string {
  const points = Array.from(values).flatMap((value, i) => [
    [key(i), strip(value)] as const,
    [key(i + 1), strip(value)] as const,
  ]);
  const ends = [[key(values.length), strip(0)] as const];
  return `${pathOf([[key(0), strip(0)], ...points, ...ends])}Z`;
}

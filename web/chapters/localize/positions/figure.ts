import { short } from '../../../charts/format';
import { MarkTip, type Mark } from '../../../charts/mark-tip';
import { colourOf } from '../../../charts/palette';
import { element, setAll } from '../../../charts/picture';
import { BARS, withError } from '../../../charts/with-error';
import { meanEntropy } from '../answers';
import { Panel, pathOf, type Scene } from '../panel';
import { showsAll } from '../state';

/** Pixels above the cells for title and index, and below them for the numbers of the positions. */
const [ABOVE, BELOW] = [28, 18];
/** Below this width there is no room for the long title, nor for mean and variance beside the index. */
const NARROW = 640;
/** More simulated positions than this would merge into a band: every k-th is drawn. */
const MOST = 48;
/** Heights of a cell, as probabilities, at which a pointer finds it. */
const HEIGHTS = [0, 0.25, 0.5, 0.75, 1];
/** Opacity of a cell's filling at rho = 0 and at 1: a position that passes more is lit more. */
const [DIM, LIT] = [0.35, 1];
const RHO = colourOf('softmax', 'clipped');

interface Marks {
  fillings: SVGRectElement[];
  simulated: SVGPathElement;
  sensitivity: SVGPathElement;
  /** The index at the present point, and the rest of its numbers. */
  index: SVGTSpanElement;
  rest: SVGTSpanElement;
}

/** A row of all positions, each filled by the probability rho that it passes the gradient, with the index L of all. */
export class PositionsPanel extends Panel {
  private tip: MarkTip;
  private marks: Marks | null = null;

  constructor(area: HTMLElement) {
    super();
    this.tip = new MarkTip(area);
  }

  protected sources({ point }: Scene) {
    return [point.head.length];
  }

  protected draw({ point: { head } }: Scene): SVGSVGElement {
    const { width, height } = this.box;
    const { length } = head;
    const step = width / length;
    const gap = step > 8 ? 2 : step > 3 ? 1 : 0;
    const size = { width: step - gap, rx: gap };
    const cells = Array.from({ length }, (_, key) => key * step + gap / 2);
    const isNarrow = width < NARROW;
    const text = { fill: 'currentColor', 'font-size': isNarrow ? 12 : 13 };
    const fillings = cells.map((x) => element('rect', { x, ...size, fill: RHO }));
    const group = element('g', { 'data-mark': 'propagation probability, theory' });
    group.append(...fillings);
    const line = { fill: 'none', 'stroke-width': 1.5, 'pointer-events': 'none' };
    this.marks = {
      fillings,
      simulated: element('path', { ...line, stroke: 'var(--ink)', 'data-mark': 'propagation probability, simulation' }),
      sensitivity: element('path', {
        ...line,
        stroke: colourOf('softmax', 'exact'),
        'data-mark': 'sensitivity of the exact softmax',
      }),
      index: element('tspan', { 'font-size': isNarrow ? 18 : 22, 'font-weight': 700, fill: RHO }),
      rest: element('tspan', { 'font-size': 12, dx: isNarrow ? 6 : 10 }),
    };
    const reading = element('text', { ...text, x: width, y: 20, 'text-anchor': 'end', 'data-mark': 'reading' });
    reading.append(this.marks.index, this.marks.rest);
    const title = isNarrow ? 'ρ of each position' : 'ρ: probability that a position passes the gradient';
    const svg = element('svg', { width, height, 'font-size': 12 });
    const foot = { ...text, y: height - 4, 'font-size': 12 };
    svg.append(
      element('text', { ...text, x: 0, y: 20, 'font-weight': 600 }, title),
      ...cells.map((x) =>
        element('rect', { x, y: ABOVE, ...size, height: this.room, fill: 'currentColor', 'fill-opacity': 0.07 }),
      ),
      group,
      this.marks.simulated,
      this.marks.sensitivity,
      element('text', { ...foot, x: 0 }, '1'),
      element('text', { ...foot, x: width / 2, 'text-anchor': 'middle' }, 'position (key)'),
      element('text', { ...foot, x: width, 'text-anchor': 'end' }, `T = ${length}`),
      reading,
    );
    return svg;
  }

  protected move(scene: Scene): void {
    const { marks, box } = this;
    if (!marks) return;
    const { head, mean, variance } = scene.point;
    marks.fillings.forEach((cell, key) => {
      const rho = head.rho[key] || 0; // keys behind the query have none
      const height = rho * this.room;
      setAll(cell, {
        y: (ABOVE + this.room - height).toFixed(1),
        height: height.toFixed(1),
        'fill-opacity': (DIM + (LIT - DIM) * rho).toFixed(2),
      });
    });
    marks.index.textContent = `L = ${short(head.localization)}`;
    const rest = [
      // The matrix beside is then that of a trained head, this row is not.
      !scene.isMoving && `${scene.ofHead ? 'random head, ' : ''}m = ${short(mean)}, v = ${short(variance)}`,
      showsAll(scene.state) && `attention entropy ${short(meanEntropy(head))}`,
    ];
    marks.rest.textContent = box.width < NARROW ? '' : rest.filter(Boolean).join(', ');
    this.moveSimulated(scene);
    const shift = (by: number) => ({ apply: (it: number) => it + by });
    this.tip.place(() => [[this.tipsOf(scene), { x: shift(box.x), y: shift(box.y) }]]);
  }

  /** Simulated probabilities, and the sensitivity of the exact softmax relative to its largest value. */
  private moveSimulated({ keys, state }: Scene): void {
    const { simulated, sensitivity } = this.marks!;
    if (!keys || !showsAll(state)) {
      for (const mark of [simulated, sensitivity]) mark.setAttribute('d', '');
      return;
    }
    const every = Math.ceil(keys.rho.length / MOST);
    const rings = Array.from(keys.rho, (value, key) => {
      if (key % every !== 0 && key !== keys.rho.length - 1) return '';
      const x = this.across(key);
      const [low, high] = [-1, 1].map((side) => this.up(value + side * BARS * keys.rho_error[key]).toFixed(1));
      const ring = `M${(x - 2).toFixed(1)},${this.up(value).toFixed(1)}a2,2 0 1,0 4,0a2,2 0 1,0 -4,0`;
      return `${ring}M${x.toFixed(1)},${low}V${high}`;
    });
    simulated.setAttribute('d', rings.join(''));
    const most = Math.max(1e-12, ...keys.sensitivity);
    const curve = Array.from(keys.sensitivity, (value, key) => [this.across(key), this.up(value / most)] as const);
    sensitivity.setAttribute('d', pathOf(curve));
  }

  private get room(): number {
    return this.box.height - ABOVE - BELOW;
  }

  /** The middle of a position's cell, from 0. */
  private across(key: number): number {
    return ((key + 0.5) * this.box.width) / this.marks!.fillings.length;
  }

  /** Height of a probability. */
  private up(value: number): number {
    return ABOVE + (1 - value) * this.room;
  }

  private tipsOf({ point: { head }, keys, state }: Scene): Mark[] {
    const shown = showsAll(state) ? keys : null;
    const most = Math.max(1e-12, ...(shown?.sensitivity ?? []));
    return Array.from(head.rho, (rho, key) => {
      const x = this.across(key);
      const name = `position ${key + 1}: `;
      // All of the cell says it.
      const theory = [rho, ...HEIGHTS].map((at) => ({ x, y: this.up(at), text: `${name}ρ ${short(rho)} in theory` }));
      if (!shown || key >= shown.rho.length) return theory;
      const { rho: drawn, rho_error, sensitivity } = shown;
      const part = sensitivity[key] / most;
      return [
        ...theory,
        { x, y: this.up(drawn[key]), text: `${name}ρ ${withError(drawn[key], rho_error[key])} simulated` },
        { x, y: this.up(part), text: `${name}sensitivity ${short(sensitivity[key])}, ${short(part)} of the largest` },
      ];
    }).flat();
  }
}

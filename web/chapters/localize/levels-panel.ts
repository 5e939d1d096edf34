import levels from '../../generated/predictor-levels.json';
import sample from '../../generated/sample-levels.json';
import { short, tick } from '../../charts/format';
import { legend } from '../../charts/legend';
import { layerColour } from '../../charts/palette';
import { element } from '../../charts/picture';
import { chart, gridX, gridY, line, shifted, type Chart } from '../../charts/plot';
import { HeadPointer, modelEntries, type Spot } from '../../heads/head-dots';
import { placeOf } from '../../heads/brush';
import type { HeadRegistry } from '../../heads/registry';
import { orderText } from '../shared/ordering';
import type { Box } from './panel';
import type { Store } from './state';

/** Levels that add to the one before: those that the panel goes through. */
export const LAST_LEVEL = sample.summary.length - 1;
/** Milliseconds in which the dots move from one level to the next. */
const MOVING = 550;
const REDUCED = matchMedia('(prefers-reduced-motion: reduce)');

/** Predicted against measured attention entropy of the sample's heads, at one level of the predictors. */
export class LevelsPanel {
  private pointer: HeadPointer;
  private own: Chart | null = null;
  private dots: SVGCircleElement[] = [];
  private heading: SVGTextElement | null = null;
  private reading: SVGTextElement | null = null;
  /** Predicted entropies at which the dots are drawn at present. */
  private shown: number[] = [];
  private movement = 0;
  private box: Box = { x: 0, y: 0, width: 0, height: 0 };

  constructor(
    area: HTMLElement,
    private store: Store,
    private registry: HeadRegistry,
  ) {
    this.pointer = new HeadPointer(
      area,
      registry,
      store,
      ({ x, y }) => `attention entropy: measured ${short(x)}, predicted ${short(y)}`,
    );
  }

  draw(box: Box): SVGSVGElement {
    this.box = box;
    const model = this.registry.shown('shown').filter(({ key }) => key === 'sample');
    const key = legend(modelEntries(model, []), 8, box.width - 4, 62);
    const side = Math.min(box.width, box.height - key.height + 30);
    const axis = { domain: [0, 1], tickFormat: tick, ticks: 5 };
    this.own = chart({
      label: 'predicted against measured attention entropy',
      width: side,
      height: box.height,
      marginTop: key.height + 16,
      marginLeft: 44,
      marginRight: 12,
      marginBottom: 40,
      x: { ...axis, label: 'measured attention entropy →', labelAnchor: 'center' },
      y: { ...axis, label: null },
      marks: [
        gridX({ strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        () => key.render(),
        line(
          [
            [0, 0],
            [1, 1],
          ],
          { stroke: 'var(--muted)', strokeDasharray: '4 4', ariaDescription: 'equal' },
        ),
      ],
    });
    const text = { fill: 'currentColor', 'text-anchor': 'start', x: 0 };
    this.heading = element('text', { ...text, y: 16, 'font-size': 15, 'font-weight': 600 });
    this.reading = element('text', { ...text, y: 36, 'font-size': 12 });
    const group = element('g', { 'data-mark': 'heads at the level' });
    const count = model[0]?.layers ?? 1;
    this.dots = sample.heads.map(({ layer }) =>
      element('circle', { r: 4, fill: layerColour(layer, count), stroke: 'var(--paper)', 'stroke-width': 0.75 }),
    );
    group.append(...this.dots);
    const axisName = element('text', { ...text, y: 58 }, '↑ predicted attention entropy');
    this.own.svg.append(this.heading, this.reading, axisName, group);
    if (this.shown.length === 0) this.shown = this.target();
    this.put();
    this.follow();
    return this.own.svg;
  }

  /** Moves the dots to the present level. */
  follow(): void {
    if (!this.own || !this.heading || !this.reading) return;
    const { level } = this;
    this.heading.textContent = `Level ${level} of ${LAST_LEVEL}: ${levels[level].name}`;
    this.reading.textContent = this.text();
    cancelAnimationFrame(this.movement);
    const [from, to] = [this.shown, this.target()];
    const start = performance.now();
    const move = (now: number) => {
      const part = REDUCED.matches ? 1 : Math.min(1, Math.max(0, (now - start) / MOVING));
      const eased = part * part * (3 - 2 * part);
      this.shown = to.map((value, i) => from[i] + eased * (value - from[i]));
      this.put();
      if (part < 1) this.movement = requestAnimationFrame(move);
      else if (this.own) this.pointer.place([this.spots(), shifted(this.own, this.box.x, this.box.y)]);
    };
    if (to.some((value, i) => value !== from[i])) this.movement = requestAnimationFrame(move);
    else move(start + MOVING);
  }

  hide(): void {
    cancelAnimationFrame(this.movement);
    this.own = null;
    this.pointer.place();
  }

  /** The claim that the picture shows at this level. */
  title(): string {
    const { rank_correlation } = sample.summary[this.level];
    return `Level ${this.level}, ${levels[this.level].name}, ${orderText(rank_correlation)} of MiniLM`;
  }

  /** How well the level predicts, with the bootstrap interval over heads. */
  text(): string {
    const { rank_correlation, low, high, error } = sample.summary[this.level];
    const interval = `[95%: ${short(low)}, ${short(high)}]`;
    return `rank correlation ${short(rank_correlation)} ${interval}, mean error ${short(error)}`;
  }

  /** What the level adds to the one before it. */
  caption(): string {
    const { name, adds } = levels[this.level];
    const said = adds.replaceAll('eta_', 'η_');
    return (
      `Level ${this.level}, ${name}: ${said}. ${sample.heads.length} heads, ${this.text()} (bootstrap ` +
      'over the heads); statistics from random tokens by Zipf’s law, measured on passages of Moby Dick.'
    );
  }

  /** Rows of the figure's table: head, measured and predicted entropy. */
  rows(): [string, number, number][] {
    return sample.heads.map(({ layer, head, measured, predicted }) => [
      `sample:${placeOf({ stack: '', layer, head })}`,
      measured,
      predicted[this.level],
    ]);
  }

  private get level(): number {
    return Math.min(LAST_LEVEL, this.store.state.level);
  }

  private target(): number[] {
    return sample.heads.map(({ predicted }) => predicted[this.level]);
  }

  private put(): void {
    const { own } = this;
    if (!own) return;
    this.dots.forEach((dot, i) => {
      dot.setAttribute('cx', own.x.apply(sample.heads[i].measured).toFixed(1));
      dot.setAttribute('cy', own.y.apply(this.shown[i]).toFixed(1));
    });
  }

  private spots(): Spot[] {
    return this.rows().flatMap(([id, x, y]) => {
      const head = this.registry.find(id);
      return head ? [{ head, x, y }] : [];
    });
  }
}

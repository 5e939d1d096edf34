import { element } from '../charts/picture';
import { short, tick } from '../charts/format';
import { paintGrid } from '../charts/heatmap';
import { legend } from '../charts/legend';
import { fieldRamp } from '../charts/palette';
import { chart, compose, line, ruleX, type Chart } from '../charts/plot';
import type { Table } from '../charts/table';
import type { Output } from '../engine/protocol';
import { SETTING, settingOf } from '../state/setting';
import type { Store } from '../state/store';
import { Frame } from './frame';
import type { Ask, Part } from './part';

/** While a control is dragged longer sequences are not sampled: their matrix waits for the rest. */
const QUICK_LENGTH = 128;

/** Figure 5: one sampled attention matrix, and the entropy of each of its rows. */
export class AttentionFigure implements Part {
  readonly id = 'attention';
  readonly inputs = [...SETTING.filter((name) => name !== 'samples'), 'softmax', 'mask'] as const;
  readonly looks = [];
  readonly frame = new Frame(this.id, () => this.table());
  private canvas = document.createElement('canvas');
  private result: Output<'attention'> | null = null;
  private chart: Chart | null = null;
  private painted: unknown = null;

  constructor(private store: Store) {
    this.canvas.className = 'bitmap';
    const { chart: area } = this.frame;
    const tip = document.createElement('div');
    tip.className = 'tip';
    tip.hidden = true;
    area.append(tip);
    area.addEventListener('pointermove', (event) => this.point(event, tip));
    area.addEventListener('pointerleave', () => (tip.hidden = true));
  }

  async compute(ask: Ask): Promise<void> {
    const { state, quality } = ask;
    if (quality === 'quick' && state.length > QUICK_LENGTH) return;
    const { softmax, mask } = state;
    this.result = await ask.run('attention', { ...settingOf(state), softmax, mask });
  }

  paint(): void {
    const { result, frame } = this;
    if (!result) return;
    const bar = Math.round(Math.min(150, frame.width * 0.24));
    const side = Math.min(frame.width - bar, 560);
    const key = legend(
      [{ text: `weight 0 to 1 (square root scale)`, kind: 'strip', colours: strip() }],
      0,
      frame.width,
    );
    const top = key.height;
    this.chart = this.matrixChart(result.length, side);
    const entropy = this.entropyChart(result, bar, side);
    const parts = [
      { svg: this.chart.svg, x: 0, y: top },
      { svg: entropy, x: side, y: top },
    ];
    const svg = compose(parts, { width: side + bar, height: top + side }, this.describe(result));
    svg.append(key.render());
    const { x, y } = this.chart;
    const [left, right] = [x.apply(0.5), x.apply(result.length + 0.5)];
    const [upper, lower] = [y.apply(0.5), y.apply(result.length + 0.5)];
    const place = { x: left, y: top + upper, width: right - left, height: lower - upper };
    frame.put(svg, { canvas: this.canvas, ...place });
    this.paintWeights(result);
    frame.say(this.describe(result));
  }

  table(): Table | null {
    const { result } = this;
    if (!result) return null;
    const { length, weights, entropy } = result;
    const keys = Array.from({ length }, (_, key) => `key_${key + 1}`);
    function* rows(): Generator<(string | number | null)[]> {
      for (let row = 0; row < length; row++) {
        yield [row + 1, entropy[row], ...weights.subarray(row * length, (row + 1) * length)];
      }
    }
    return { columns: ['query', 'entropy', ...keys], rows: rows() };
  }

  private matrixChart(length: number, side: number): Chart {
    return chart({
      label: 'attention weights',
      width: side,
      height: side,
      marginLeft: 44,
      marginTop: 26,
      marginBottom: 42,
      marginRight: 8,
      x: { domain: [0.5, length + 0.5], label: 'key →', labelAnchor: 'center', ticks: 6 },
      y: { domain: [length + 0.5, 0.5], label: '↓ query', ticks: 6, labelArrow: 'none' },
      marks: [
        (_, __, ___, { width, height, marginLeft, marginTop, marginRight, marginBottom }) =>
          element('rect', {
            x: marginLeft,
            y: marginTop,
            width: width - marginLeft - marginRight,
            height: height - marginTop - marginBottom,
            fill: 'none',
            stroke: 'var(--rule)',
          }),
      ],
    });
  }

  private entropyChart({ length, entropy }: Output<'attention'>, width: number, height: number) {
    const steps = [...entropy].flatMap((value, row) => [
      [value, row + 0.5],
      [value, row + 1.5],
    ]) as [number, number][];
    return chart({
      label: 'row entropies',
      width,
      height,
      marginLeft: 4,
      marginTop: 26,
      marginBottom: 42,
      marginRight: 12,
      x: {
        domain: [0, 1],
        label: 'entropy',
        labelAnchor: 'center',
        labelArrow: 'none',
        ticks: [0, 0.5, 1],
        tickFormat: tick,
      },
      y: { domain: [length + 0.5, 0.5], axis: null },
      marks: [
        ruleX([0, 1], { strokeOpacity: 0.15 }),
        line(steps, {
          stroke: 'var(--series-3)',
          strokeWidth: 1.5,
          ariaDescription: 'row entropies',
        }),
      ],
    }).svg;
  }

  private paintWeights(result: Output<'attention'>): void {
    const ramp = fieldRamp();
    if (this.painted === result && this.canvas.dataset.ramp === String(ramp(1))) return;
    this.painted = result;
    this.canvas.dataset.ramp = String(ramp(1));
    const { length, weights } = result;
    void paintGrid(
      this.canvas,
      { columns: length, rows: length, values: weights },
      ramp,
      Math.sqrt,
    );
  }

  private point(event: PointerEvent, tip: HTMLElement): void {
    const { result, chart } = this;
    if (!result || !chart) return;
    const box = this.canvas.getBoundingClientRect();
    const cell = (place: number, size: number) => Math.floor((place / size) * result.length);
    const key = cell(event.clientX - box.left, box.width);
    const query = cell(event.clientY - box.top, box.height);
    tip.hidden = Math.min(key, query) < 0 || Math.max(key, query) >= result.length;
    if (tip.hidden) return;
    tip.textContent = `query ${query + 1}, key ${key + 1}: ${short(result.weights[query * result.length + key])}`;
    const area = this.frame.chart.getBoundingClientRect();
    const [x, y] = [event.clientX - area.left, event.clientY - area.top];
    tip.style.transform = `translate(${x}px, ${y}px) translate(${x > area.width / 2 ? '-100%' : '0'}, 16px)`;
  }

  private describe({ length, entropy, weights }: Output<'attention'>): string {
    const { softmax, mask } = this.store.state;
    const known = entropy.filter((value) => !Number.isNaN(value)); // a single key has none
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    let most = 0;
    for (const weight of weights) if (weight > most) most = weight;
    const note =
      softmax === 'exact'
        ? ''
        : ' Clipped rows need not add up to 1: the entropy is that of a row divided by its sum.';
    return (
      `${length} by ${length} weights, ${softmax === 'exact' ? 'exact' : 'piecewise linear'} softmax, ` +
      `${mask} mask: mean row entropy ${short(mean)}, largest weight ${short(most)}.${note}`
    );
  }
}

function strip(): string[] {
  const ramp = fieldRamp();
  return Array.from({ length: 10 }, (_, i) => `rgb(${ramp(Math.sqrt(i / 9)).join(' ')})`);
}

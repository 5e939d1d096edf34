import type { Markish } from '@observablehq/plot';
import { count, decade, short, tick } from '../../../charts/format';
import { dashedEntry, type Entry } from '../../../charts/legend';
import { MarkTip, type Mark } from '../../../charts/mark-tip';
import { series } from '../../../charts/palette';
import { chartWithLegend, dot, gridX, gridY, line, ruleX } from '../../../charts/plot';
import { tableOfRows, type Table } from '../../../charts/table';
import { BARS, withError } from '../../../charts/with-error';
import type { Output } from '../../../engine/protocol';
import { brushed } from '../../../heads/brush';
import { HeadPointer, distinct, headMarks, modelEntries, type Spot } from '../../../heads/head-dots';
import type { HeadRegistry } from '../../../heads/registry';
import { covarianceNames, logitSpread, traced, untraced } from '../../../heads/traces';
import { Frame } from '../../../ui/frame';
import { runParts } from '../../../ui/parts';
import type { Figure, FigureContext, Store } from '../state';

type Row = Output<'row-entropy'>['rows'][number];

/** Numbers of keys that are compared; the sample's heads were measured with the third. */
const LENGTHS = [8, 32, 128, 512];
/** Standard deviations of the logits: equal ratios over the axis. */
const DOMAIN: [number, number] = [0.1, 10];
const STDS = Array.from({ length: 21 }, (_, i) =>
  Number((DOMAIN[0] * (DOMAIN[1] / DOMAIN[0]) ** (i / 20)).toPrecision(4)),
);
const TICKS = [0.1, 0.3, 1, 3, 10];
/** Pixels of a circle. */
const RADIUS = 3;
/** Rows behind each point: errors are below the size of a circle. */
const MOST = 1000;
const QUICK = 50;

/** Entropy of a row of attention over the spread of its logits. */
export class RowEntropyFigure implements Figure {
  readonly id = 'row-entropy';
  readonly inputs = ['samples', 'seed'] as const;
  readonly repaintOn = ['sigma', 'sample', 'head', 'brush'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private pointer: HeadPointer;
  private tip: MarkTip;
  private rows: Row[] = [];
  private drawn = MOST;

  constructor(
    private store: Store,
    private registry: HeadRegistry,
  ) {
    const say = ({ x, y }: Spot) => `s ${short(x)}, measured attention entropy ${short(y)}`;
    this.pointer = new HeadPointer(this.frame.chart, registry, store, say);
    this.tip = new MarkTip(this.frame.chart, () => registry.hovered !== '');
  }

  /** Fewer rows than the control asks for are enough. */
  origin() {
    return { samples: this.drawn };
  }

  async compute(context: FigureContext): Promise<void> {
    const { samples: wanted, seed } = context.state;
    const samples = Math.min(context.quality === 'quick' ? QUICK : MOST, wanted);
    this.drawn = samples;
    // The lengths are jobs of their own: they run beside each other, and the short ones are soon there.
    const inputs = LENGTHS.map((length) => ({ lengths: [length], logit_stds: STDS, samples, seed }));
    await runParts(context, 'row-entropy', inputs, (outputs) => {
      const parts = outputs.map((output) => output?.rows ?? []);
      if (parts.some((part) => part.length === 0)) return;
      this.rows = parts.flat();
      context.show(fewest(this.rows) / samples);
    });
  }

  paint(): void {
    if (this.rows.length === 0) return;
    const { width } = this.frame;
    const { state } = this.store;
    const spots = this.spots();
    const drawn = chartWithLegend({
      label: `Entropy of a row of attention over the standard deviation of its logits. ${this.caption(spots)}`,
      entries: this.entries(spots),
      width,
      height: this.frame.height({ share: 0.5, least: 280, most: 440 }),
      marginLeft: 52,
      marginRight: 16,
      marginBottom: 44,
      x: {
        type: 'log',
        domain: DOMAIN,
        ticks: TICKS,
        labelAnchor: 'center',
        label: 'standard deviation s of the logits, over λ →',
        tickFormat: (value: number) => decade(value) || short(value),
      },
      y: { domain: [0, 1], label: 'attention entropy, 0 to 1', tickFormat: tick, ticks: 6 },
      marks: [
        gridX(TICKS, { strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        ...LENGTHS.flatMap((length, i) => this.lengthMarks(length, series[i])),
        ...headMarks(spots, state.head, brushed(state)),
      ],
    });
    this.frame.put(drawn.svg);
    this.pointer.place([spots, drawn]);
    this.tip.place(() => [[this.rows.flatMap(marksOf), drawn]]);
    this.frame.say(this.caption(spots));
  }

  table(): Table | null {
    if (this.rows.length === 0) return null;
    const rows = this.rows.map((row) => ({ kind: 'row', ...row, head: '' }));
    const heads = this.spots().map(({ head, x, y }) => ({ kind: 'head', logit_std: x, entropy: y, head: head.id }));
    const entropies = ['limit_entropy', 'theory_entropy', 'entropy', 'entropy_error'];
    return tableOfRows([...rows, ...heads], ['kind', 'length', 'logit_std', ...entropies, 'samples', 'head']);
  }

  private entries(spots: Spot[]): Entry[] {
    const lengths: Entry[] = LENGTHS.map((length, i) => ({
      text: `T = ${length}`,
      kind: 'line',
      colours: [series[i]],
    }));
    const models = spots.length > 0 ? this.registry.shown(this.store.state.sample) : [];
    return [
      ...lengths,
      dashedEntry('random energy model'),
      { text: 'simulation', kind: 'ring', colours: ['var(--ink)'] },
      ...modelEntries(models, spots),
    ];
  }

  private lengthMarks(length: number, stroke: string): Markish[] {
    const own = this.rows.filter((row) => row.length === length);
    const x = 'logit_std';
    const end = (side: number) => (row: Row) => (row.entropy ?? NaN) + side * BARS * (row.entropy_error ?? NaN);
    const name = (what: string) => ({ ariaDescription: `${what}, ${length} keys` });
    return [
      line(limitOf(own), { stroke, strokeDasharray: '3 3', strokeOpacity: 0.7, ...name('random energy model') }),
      line(own, { x, y: 'theory_entropy', stroke, strokeWidth: 2, ...name('theory') }),
      ruleX(own, { x, y1: end(-1), y2: end(1), stroke, ...name('error bars') }),
      dot(own, { x, y: 'entropy', r: RADIUS, stroke, fill: 'var(--paper)', ...name('simulation') }),
    ];
  }

  /** Heads whose attention was measured, at the spread that the theory gives their logits. */
  private spots(): Spot[] {
    const { sample, sigma } = this.store.state;
    const spots = traced(this.registry.heads(sample), sigma)
      .map(({ head, traces }) => ({ head, x: logitSpread(traces, head), y: head.measured?.entropy ?? NaN }))
      .filter(({ x, y }) => x >= DOMAIN[0] && x <= DOMAIN[1] && Number.isFinite(y));
    return distinct(spots);
  }

  private caption(spots: Spot[]): string {
    const { sigma, sample } = this.store.state;
    const heads = this.registry.heads(sample);
    const measured = traced(heads, sigma).filter(({ head }) => head.measured).length;
    const outside = measured - spots.length;
    return [
      `Circles: ${count(fewest(this.rows))} rows each.`,
      spots.length > 0 && `Dots: ${spots.length} heads, s with ${covarianceNames[sigma]}, entropy measured on text.`,
      outside > 0 && `Heads outside this axis: ${outside}.`,
      untraced(heads, sigma),
    ]
      .filter(Boolean)
      .join(' ');
  }
}

/** What a row's places on the two curves and its simulated circle say. */
function marksOf(row: Row): Mark[] {
  const { length, logit_std: x, theory_entropy, limit_entropy, entropy, entropy_error } = row;
  const at = (name: string, y: number | null, text = short(y), radius = 0) =>
    y === null ? [] : [{ x, y, text: `T = ${length}, s ${short(x)}: attention entropy ${text}, ${name}`, radius }];
  return [
    ...at('theory', theory_entropy),
    ...at('random energy model', limit_entropy),
    ...at('simulation', entropy, withError(entropy, entropy_error), RADIUS),
  ];
}

/** The limit of long rows, with the point at which it reaches 0. */
function limitOf(rows: Row[]): [number, number][] {
  const points = rows.map((row) => [row.logit_std, row.limit_entropy] as [number, number]);
  const freezing = rows.map((row) => [row.freezing_point, 0] as [number, number]);
  return [...points, ...freezing.slice(0, 1)].sort((a, b) => a[0] - b[0]);
}

function fewest(rows: Row[]): number {
  return Math.min(...rows.map((row) => row.samples));
}

import type { Markish } from '@observablehq/plot';
import { short, tick } from '../../../charts/format';
import { Handle } from '../../../charts/handle';
import { dashedEntry, legend, type Entry } from '../../../charts/legend';
import { MarkTip, type Mark } from '../../../charts/mark-tip';
import { colourOf } from '../../../charts/palette';
import { chart, compose, dot, gridY, ruleX, ruleY, shifted, type Chart } from '../../../charts/plot';
import type { Table } from '../../../charts/table';
import type { Output } from '../../../engine/protocol';
import { Frame } from '../../../ui/frame';
import { type Figure, type FigureContext, type Store, localizeView } from '../state';

type Row = Output<'softmax-row'>;

/** Keys of the row, and which of them is moved, from 0. */
const KEYS = 12;
const MOVED = 8;
/** The other logits lie evenly between minus and plus this, over the temperature. */
const OTHERS = 1.5;
const EXACT = colourOf('softmax', 'exact');
const CLIPPED = colourOf('softmax', 'clipped');
const LIMITS = [-1, KEYS - 1];
const HEIGHT = 240;
/** Of the vertical axis of the logits, which holds the moved one wherever the slider puts it. */
const SPAN = [-8, 18];
const TRAVEL = localizeView.controls.logit.slider ?? { from: SPAN[0], to: SPAN[1] };

/** One row of attention: logits, weights and gradients, exact and clipped, while one logit moves. */
export class SoftmaxRowFigure implements Figure {
  readonly id = 'softmax-row';
  readonly inputs = ['logit'] as const;
  readonly repaintOn = [];
  readonly frame = new Frame(this.id, () => this.table());
  private row: Row | null = null;
  private handle: Handle;
  private tip = new MarkTip(this.frame.chart);
  private logits: { chart: Chart; top: number } | null = null;

  constructor(private store: Store) {
    this.handle = new Handle(this.frame.chart, 'Logit of one key over the temperature', {
      drag: (_, y) => this.drag(y),
      step: (dx, dy) => this.move(store.state.logit + 0.1 * (dx + dy)),
      end: (logit) => this.move(logit),
      rest: () => store.settle(),
      keep: () => store.keep('logit'),
    });
  }

  async compute(context: FigureContext): Promise<void> {
    this.row = await context.run('softmax-row', { logits: logitsWith(context.state.logit), temperature: 1 });
    context.show(1);
  }

  paint(): void {
    const { row, frame } = this;
    if (!row) return;
    const key = legend(ENTRIES, 0, frame.width);
    const wide = frame.width >= 640;
    const width = wide ? frame.width / 3 : frame.width;
    const top = key.height + 4;
    const left = panel('logit minus the row’s mean, over λ', [[row.centred, EXACT]], width, {
      domain: SPAN,
      limits: LIMITS,
    });
    const weights = panel(
      'attention weight',
      [
        [row.weight, EXACT],
        [row.clipped, CLIPPED],
      ],
      width,
      { domain: [0, 1], limits: [] as number[] },
    );
    const gradients = panel(
      'gradient: by the key’s own logit, times λ',
      [
        [row.gradient, EXACT],
        [row.clipped_gradient, CLIPPED],
      ],
      width,
      { domain: [0, 0.26], limits: [] as number[] },
    );
    const place = (i: number) => ({ x: wide ? i * width : 0, y: top + (wide ? 0 : i * HEIGHT) });
    const panels = [left, weights, gradients];
    const parts = panels.map(({ svg }, i) => ({ svg, ...place(i) }));
    const marks = tipsOf(row);
    this.tip.place(() => panels.map((it, i) => [marks[i], shifted(it, place(i).x, place(i).y)]));
    const size = { width: frame.width, height: top + (wide ? HEIGHT : 3 * HEIGHT) };
    const svg = compose(parts, size, `One row of attention. ${caption(row)}`);
    svg.append(key.render());
    frame.put(svg);
    this.logits = { chart: left, top };
    this.placeHandle(row);
    frame.say(caption(row));
  }

  table(): Table | null {
    const { row } = this;
    if (!row) return null;
    const names = ['centred', 'weight', 'gradient', 'clipped', 'clipped_gradient'] as const;
    const rows = Array.from(row.centred, (_, i) => [i + 1, ...names.map((name) => row[name][i])]);
    return { columns: ['key', ...names], rows };
  }

  private placeHandle(row: Row): void {
    if (!this.logits) return;
    const { chart, top } = this.logits;
    const y = row.centred[MOVED];
    this.handle.place(chart.x.apply(MOVED + 1), top + chart.y.apply(y), {
      now: this.store.state.logit,
      from: TRAVEL.from,
      to: TRAVEL.to,
      text: caption(row),
    });
  }

  /** The row's mean moves with the logit: the others' sum tells which logit lies there. */
  private drag(y: number): void {
    if (!this.logits) return;
    const centred = this.logits.chart.y.invert(y - this.logits.top);
    const others = logitsWith(0).reduce((sum, it) => sum + it, 0);
    this.move((centred * KEYS + others) / (KEYS - 1));
  }

  private move(logit: number): void {
    if (!Number.isFinite(logit)) return;
    const inside = Math.min(TRAVEL.to, Math.max(TRAVEL.from, logit));
    this.store.set({ logit: Number(inside.toPrecision(3)) }, false);
  }
}

const ENTRIES: Entry[] = [
  { text: 'exact softmax', kind: 'dot', colours: [EXACT] },
  { text: 'clipped to first order', kind: 'ring', colours: [CLIPPED] },
  dashedEntry('limits of the clip'),
];

/** The row's logits over the temperature, with the moved one at its place. */
function logitsWith(logit: number): number[] {
  return Array.from({ length: KEYS }, (_, i) =>
    i === MOVED ? logit : OTHERS * ((2 * ((i * 5) % KEYS)) / (KEYS - 1) - 1),
  );
}

/** Values of every key; the second set, where there is one, as rings around the first. */
function panel(
  label: string,
  sets: [Float64Array, string][],
  width: number,
  { domain, limits }: { domain: number[]; limits: number[] },
): Chart {
  const marks: Markish[] = [
    gridY({ strokeOpacity: 0.08 }),
    ruleX([MOVED + 1], { strokeOpacity: 0.12, strokeWidth: 14 }),
    ruleY(limits, { strokeDasharray: '3 3', ariaDescription: 'limits of the clip' }),
  ];
  sets.forEach(([values, stroke], i) => {
    // A logit outside the limits is hollow: it has no gradient.
    const inside = (value: number) => limits.every((limit, side) => (side ? value < limit : value > limit));
    marks.push(
      dot(values, {
        x: (_: number, at: number) => at + 1,
        y: (value: number) => value,
        r: (_: number, at: number) => (i === 0 ? (at === MOVED ? 5 : 3.5) : 6),
        fill: { value: (value: number) => (i === 0 && inside(value) ? stroke : 'none'), scale: null },
        stroke,
        strokeWidth: 1.5,
        ariaDescription: `${label}, ${i === 0 ? 'exact' : 'clipped'}`,
      }),
    );
  });
  return chart({
    label,
    width,
    height: HEIGHT,
    marginLeft: 44,
    marginTop: 34,
    marginBottom: 36,
    marginRight: 10,
    x: { domain: [0.5, KEYS + 0.5], label: 'key', ticks: [1, KEYS / 2, KEYS], tickFormat: tick },
    r: { type: 'identity' },
    y: { domain, label: width < 300 ? label.split(':')[0] : label, tickFormat: tick, ticks: 5 },
    marks,
  });
}

/** What the marks of the three panels say. */
function tipsOf({ centred, weight, clipped, gradient, clipped_gradient }: Row): Mark[][] {
  const panels: [name: string, values: Float64Array][][] = [
    [['logit over λ, above the row’s mean', centred]],
    [
      ['weight, exact', weight],
      ['weight, clipped', clipped],
    ],
    [
      ['gradient, exact', gradient],
      ['gradient, clipped', clipped_gradient],
    ],
  ];
  return panels.map((sets) =>
    sets.flatMap(([name, values]) =>
      Array.from(values, (y, at) => ({ x: at + 1, y, text: `key ${at + 1}: ${name}: ${short(y)}` })),
    ),
  );
}

function caption(row: Row): string {
  const centred = row.centred[MOVED];
  const where =
    centred <= LIMITS[0]
      ? 'below the range, clipped at 0, without a gradient'
      : centred >= LIMITS[1]
        ? 'above the range, clipped at 1, without a gradient'
        : 'inside the range, with a gradient';
  return (
    `The moved key is ${short(centred)} λ from the row’s mean: ${where}. Its weight is ` +
    `${short(row.weight[MOVED])} (clipped ${short(row.clipped[MOVED])}), its gradient ` +
    `${short(row.gradient[MOVED])} (clipped ${short(row.clipped_gradient[MOVED])}).`
  );
}

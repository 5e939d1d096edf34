import { short, tick } from '../../charts/format';
import { legend } from '../../charts/legend';
import { MatrixPicture, matrixRows } from '../../charts/matrix';
import { fieldRamp, stripOf } from '../../charts/palette';
import { chart, compose, line, ruleX } from '../../charts/plot';
import type { Table } from '../../charts/table';
import type { Output } from '../../engine/protocol';
import { MASKING, maskingOf, SETTING, settingOf } from '../../state/setting';
import type { Store } from '../../state/store';
import { Frame } from '../../ui/frame';
import type { FigureContext, Figure } from '../../ui/figure';

/** While a control is dragged longer sequences are not sampled: their matrix waits for the rest. */
const QUICK_LENGTH = 128;

const NOTES = {
  exact: '',
  'piecewise-linear':
    ' Clipped rows need not add up to 1: the entropy is that of a row divided by its sum.',
  hard: ' Each query reads the key of its largest logit alone.',
};

/** One sampled attention matrix, and the entropy of each of its rows. */
export class AttentionFigure implements Figure {
  readonly id = 'attention';
  readonly inputs = [...SETTING, ...MASKING] as const;
  readonly repaintOn = [];
  readonly frame = new Frame(this.id, () => this.table());
  private picture = new MatrixPicture(
    this.frame.chart,
    (query, key, weight) => `query ${query + 1} → key ${key + 1}, weight ${short(weight)}`,
  );
  private result: Output<'attention'> | null = null;

  constructor(private store: Store) {}

  async compute(context: FigureContext): Promise<void> {
    const { state, quality } = context;
    if (quality === 'quick' && state.length > QUICK_LENGTH) return;
    this.result = await context.run('attention', { ...settingOf(state), ...maskingOf(state) });
  }

  paint(): void {
    const { result, frame } = this;
    if (!result) return;
    const bar = Math.round(Math.min(150, frame.width * 0.24));
    const side = Math.min(frame.width - bar, 560);
    const key = legend(
      [
        {
          text: `weight 0 to 1 (square root scale)`,
          kind: 'strip',
          colours: stripOf((t) => fieldRamp()(Math.sqrt(t))),
        },
      ],
      0,
      frame.width,
    );
    const top = key.height;
    const { length, weights } = result;
    const labels = { label: 'attention weights', x: 'key →', y: '↓ query' };
    const matrix = this.picture.chart(length, side, labels);
    const entropy = this.entropyChart(result, bar, side);
    const parts = [
      { svg: matrix.svg, x: 0, y: top },
      { svg: entropy, x: side, y: top },
    ];
    const svg = compose(parts, { width: side + bar, height: top + side }, this.describe(result));
    svg.append(key.render());
    const cells = { length, values: weights };
    frame.put(svg, [this.picture.paint(cells, fieldRamp(), Math.sqrt, matrix, top)]);
    frame.say(this.describe(result));
  }

  table(): Table | null {
    const { result } = this;
    if (!result) return null;
    const { length, weights, entropy } = result;
    const keys = Array.from({ length }, (_, key) => `key_${key + 1}`);
    const rows = matrixRows({ length, values: weights }, (row) => [row + 1, entropy[row]]);
    return { columns: ['query', 'entropy', ...keys], rows };
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

  private describe({ length, entropy, weights }: Output<'attention'>): string {
    const { softmax, mask } = this.store.state;
    const known = entropy.filter((value) => !Number.isNaN(value)); // a single key has none
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    let most = 0;
    for (const weight of weights) if (weight > most) most = weight;
    return (
      `${length} by ${length} weights, ${softmax.replace('-', ' ')} softmax, ` +
      `${mask} mask: mean row entropy ${short(mean)}, largest weight ${short(most)}.${NOTES[softmax]}`
    );
  }
}

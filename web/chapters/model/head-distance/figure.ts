import { decade, short } from '../../../charts/format';
import type { Entry } from '../../../charts/legend';
import { MarkTip } from '../../../charts/mark-tip';
import { series } from '../../../charts/palette';
import { chartWithLegend, dot, line } from '../../../charts/plot';
import { finiteCell, type Table } from '../../../charts/table';
import { Frame } from '../../../ui/frame';
import type { Checkpoints } from '../opening/checkpoints';
import { indexOf, rowOf, type HeadMeasurements } from '../reading/measurements';
import { LAWS, LEVELS, levelCalled } from '../predictors/words';
import type { Figure, Store } from '../state';

/** The level of the Gaussian model that knows most; those after it take real keys. */
const GAUSSIAN = levelCalled('neighbours');

/** A distance in tokens with a mean weight. */
type Point = [number, number];

/** The chosen head's attention over distance, beside that of the Gaussian model and of rotary positions. */
export class HeadDistanceFigure implements Figure {
  readonly id = 'head-distance';
  readonly inputs = [] as const;
  readonly repaintOn = ['head'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private tip = new MarkTip(this.frame.chart);

  constructor(
    private store: Store,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
  ) {}

  paint(): void {
    const found = this.found();
    if (!found) return this.frame.clear();
    const { width } = this.frame;
    const { measured, gaussian, rotary } = found;
    const entries: Entry[] = [
      { text: 'measured', kind: 'dot', colours: ['var(--ink)'] },
      { text: 'Gaussian model', kind: 'line', colours: [series[0]] },
      { text: 'rotary base alone', kind: 'line', colours: [series[1]], dash: '7 4' },
    ];
    const drawn = [measured, gaussian, rotary];
    const longest = Math.max(...gaussian.map(([distance]) => distance));
    const weights = drawn.flat().map(([, weight]) => weight);
    const picture = chartWithLegend({
      label: this.caption(),
      entries: entries.filter((_, i) => drawn[i].length > 0),
      width,
      height: Math.round(Math.min(400, width * 0.7)),
      marginLeft: 56,
      marginRight: 12,
      marginBottom: 42,
      x: {
        type: 'log',
        domain: [1, longest],
        label: 'distance in tokens →',
        ticks: ticksOf([1, longest]),
        tickFormat: short,
      },
      y: { type: 'log', label: '↑ mean weight of a key', ticks: ticksOf(weights), tickFormat: power },
      marks: [
        line(rotary, {
          stroke: series[1],
          strokeWidth: 2,
          strokeDasharray: '7 4',
          ariaDescription: 'rotary base alone',
        }),
        line(gaussian, { stroke: series[0], strokeWidth: 2, ariaDescription: 'Gaussian model' }),
        dot(measured, { r: 3, fill: 'var(--ink)', ariaDescription: 'measured' }),
      ],
    });
    const tips = drawn.flatMap((points, i) =>
      points.map(([x, y]) => ({ x, y, text: `${entries[i].text}, distance ${x}: mean weight ${short(y)}` })),
    );
    this.tip.place(() => [[tips, picture]]);
    this.frame.put(picture.svg);
    this.frame.say(this.caption());
  }

  table(): Table | null {
    const profile = this.profile();
    if (!profile) return null;
    const rows = Array.from(profile.gaussian, (_, i) => [
      profile.layer,
      profile.head,
      i + 1,
      finiteCell(profile.measured[i]),
      finiteCell(profile.gaussian[i]),
    ]);
    return { columns: ['layer', 'head', 'distance', 'measured', 'gaussian'], rows };
  }

  private profile() {
    const { predictions } = this.measurements;
    return rowOf(this.checkpoints.head(this.store.state.head), predictions?.profiles ?? []);
  }

  /** What is drawn: the power law of the rotary base goes through the middle of the measured points. */
  private found(): { measured: Point[]; gaussian: Point[]; rotary: Point[] } | null {
    const profile = this.profile();
    const { predictions } = this.measurements;
    if (!profile || !predictions) return null;
    const [measured, gaussian] = [pointsOf(profile.measured), pointsOf(profile.gaussian)];
    if (gaussian.length === 0) return null;
    return { measured, gaussian, rotary: powerLaw(predictions.rotary_decay, measured) };
  }

  private caption(): string {
    const { predictions } = this.measurements;
    const chosen = this.checkpoints.head(this.store.state.head);
    const where = `${this.checkpoints.model.name}, layer ${chosen.layer}, head ${chosen.head}`;
    if (!predictions) return `${where}.`;
    const at = indexOf(chosen, predictions);
    const predicted = (values: ArrayLike<number>) => short(values[LEVELS.length * at + GAUSSIAN]);
    const law = LAWS[this.store.state.tokens_source];
    const gaussian =
      `level ${GAUSSIAN}, ${LEVELS[GAUSSIAN].name}, with statistics from ${law}, predicts ` +
      `${predicted(predictions.decay)} and ${predicted(predictions.sink)}`;
    const measured = Number.isNaN(predictions.measured_entropy[at])
      ? 'not measured yet'
      : `${short(predictions.measured_decay[at])} and ${short(predictions.measured_sink[at])} measured`;
    const rotary =
      predictions.rotary_decay === null
        ? 'The model has no rotary positions to predict a decay from.'
        : `The base of its rotary positions alone predicts ${short(predictions.rotary_decay)} for ` + 'every head.';
    return `${where}: exponent of the decay and weight on the sinks: ${measured}; ${gaussian}. ${rotary}`;
  }
}

/** A tick of a weight: powers of ten as a logarithmic axis writes them, multiples between them as numbers. */
const power = (value: number) => decade(value) || short(value);

/** Most ticks that have a place on an axis. */
const MOST_TICKS = 12;

/** Multiples that stand at ticks of each power of ten, from many to few. */
const MULTIPLES = [
  [1, 2, 3, 4, 5, 6, 7, 8, 9],
  [1, 2, 5],
];

/** Ticks between the least and the largest value: as many multiples of powers of ten as have a place, or the
 *  powers alone. */
function ticksOf(values: readonly number[]): number[] {
  const [least, largest] = [Math.min(...values), Math.max(...values)];
  const first = Math.floor(Math.log10(least));
  const powers = Array.from({ length: Math.ceil(Math.log10(largest)) - first + 1 }, (_, i) => Number(`1e${first + i}`));
  const within = (multiples: number[]) =>
    powers.flatMap((power) => multiples.map((it) => it * power)).filter((it) => it >= least && it <= largest);
  const fitting = MULTIPLES.map(within).find((it) => it.length <= MOST_TICKS);
  return fitting ?? within([1]);
}

/** Weights by distance from 1 on; those that are not above 0 have no place on a logarithmic axis. */
function pointsOf(weights: ArrayLike<number>): Point[] {
  return Array.from(weights, (weight, i): Point => [i + 1, weight]).filter(([, it]) => it > 0);
}

/** distance^-gamma at the places of the points, with their geometric mean; none without gamma or points. */
function powerLaw(gamma: number | null, points: readonly Point[]): Point[] {
  if (gamma === null) return [];
  const logarithms = points.map(([x, y]) => Math.log(y) + gamma * Math.log(x));
  const height = logarithms.reduce((sum, it) => sum + it, 0) / logarithms.length;
  return points.map(([x]) => [x, Math.exp(height) * x ** -gamma]);
}

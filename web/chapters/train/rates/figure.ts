import { tick } from '../../../charts/format';
import { textWidth } from '../../../charts/legend';
import { finiteCell } from '../../../charts/table';
import {
  RUN_COLUMNS,
  tableOf,
  testedColumns,
  type ChosenExperiment,
  type PanelsDescription,
  type Shown,
} from '../experiments/figure';
import {
  HOLLOW,
  lineLegend,
  linesPanel,
  MARGINS,
  referenceMarks,
  valueOf,
  type Panel,
  type Size,
} from '../experiments/panels';
import { FINAL_LOSS } from '../experiments/picker';
import { claimText, differenceText, meansText, methodsOf, runsText, type MethodRow } from '../experiments/rows';
import { looksOf, methodName } from '../method-lines';
import { ratesOf, reachedLevels, sensitivitiesOf } from './words';

/** Methods that have a colour; the chosen one has one too, or else the last of these. */
const SHOWN = ['none', 'frobenius-m1', 'initial-m1', 'initial-m1-half', 'warmup-clip', 'capped-growth'];
const CLAIMED = 'frobenius-m1';
/** A learning rate at which the attention entropy of the baseline collapses. */
const HIGH = '0.02';
/** Pixels of a panel, beside the other and above it. */
const HEIGHT = { beside: 330, above: 200 };
/** Pixels between the numbers of an axis, at least. */
const GAP = 4;
/** What the axis has beyond its outermost learning rates, as a factor. */
const BEYOND = 1.2;

/** Of rising values on an axis of `scale` pixels to a factor e those whose numbers do not touch. */
function apart(values: readonly number[], scale: number): number[] {
  const kept = values.slice(0, 1);
  for (const value of values.slice(1)) {
    const last = kept.at(-1)!;
    const room = (textWidth(tick(value)) + textWidth(tick(last))) / 2 + GAP;
    if (scale * Math.log(value / last) >= room) kept.push(value);
  }
  return kept;
}

/** The experiment on learning rates. */
export const RATES: ChosenExperiment = {
  name: 'learning-rate',
  subject: 'learning rates',
  choosing: {
    names: { method: { name: 'Method', label: methodName }, learning_rate: { name: 'Learning rate' } },
    first: { method: CLAIMED, learning_rate: HIGH },
    outcome: FINAL_LOSS,
  },
};

/** The points of each method. */
type Methods = Map<string, MethodRow[]>;

/** Loss and attention entropy of every method against the learning rate. */
export const ratesFigure: PanelsDescription<Methods> = {
  id: 'rates',
  experiments: [RATES],
  title: 'Loss and entropy against the learning rate',
  rows: ratesOf,
  *panels(shown, width) {
    const { method } = shown.choice.axes;
    const named = SHOWN.includes(method) ? SHOWN : [...SHOWN.slice(0, -1), method];
    const columns = width >= 560 ? 2 : 1;
    const height = columns > 1 ? HEIGHT.beside : HEIGHT.above;
    const size = { width: width / columns, height };
    return {
      columns,
      height,
      names: lineLegend(named.map(methodName), width, [HOLLOW], looksOf(named)),
      panels: [
        panel('final loss, bits per byte', size, 'loss', named, shown),
        panel('attention entropy', size, 'entropy', named, shown),
      ],
    };
  },
  caption: ({ rows, results: [results] }) => [
    `At ${HIGH}: ${claimText(methodsOf(results, HIGH), CLAIMED)}`,
    meansText([...rows.values()].flat()),
  ],
  unit: 'bits per byte',
  table({ rows, results: [results] }) {
    const sensitivities = sensitivitiesOf(results);
    const sensitivity = ({ method }: MethodRow) => sensitivities.find((it) => it.method === method);
    const reached = (point: MethodRow) =>
      sensitivity(point)?.points.find(({ learning_rate }) => learning_rate === point.rate)?.reached;
    return tableOf(
      [...rows.values()].flat(),
      [
        ['method', ({ method }) => method],
        ['learning_rate', ({ rate }) => rate],
        ...RUN_COLUMNS,
        ...testedColumns('bits_per_byte', ({ loss }: MethodRow) => loss, '_error_over_seeds'),
        ['entropy', ({ entropy }) => finiteCell(entropy.mean)],
        ['entropy_error_over_seeds', ({ entropy }) => finiteCell(entropy.error)],
        ['excess', (point) => (sensitivity(point) ? point.loss.mean - sensitivity(point)!.best! : null)],
        ['largest_stable_rate', (point) => sensitivity(point)?.largest_stable ?? null],
        ...reachedLevels(results).map(
          (level, i) => [`steps_to_${level}`, (point: MethodRow) => reached(point)?.[i]!.mean_step ?? null] as const,
        ),
      ],
      results,
    );
  },
};

function panel(
  title: string,
  size: Size,
  value: 'loss' | 'entropy',
  named: readonly string[],
  { rows: methods, results: [results], choice: { axes }, trained: [trials] }: Shown<Methods>,
): Panel {
  const rates = [...new Set([...methods.values()].flat().map(({ rate }) => rate))].sort((a, b) => a - b);
  const domain = [rates[0] / BEYOND, rates.at(-1)! * BEYOND];
  const scale = (size.width - MARGINS.marginLeft - MARGINS.marginRight) / Math.log(domain[1] / domain[0]);
  const measure = value === 'loss' ? 'bits_per_byte' : value;
  const pointsOf = (method: string) => methods.get(method) ?? [];
  return linesPanel({
    title,
    size,
    x: { type: 'log', domain, label: 'learning rate →', ticks: apart(rates, scale) },
    y: { nice: true },
    below: value === 'loss' ? referenceMarks(results.references) : [],
    lines: looksOf(named).map((look, i) => ({ name: methodName(named[i]), look, points: pointsOf(named[i]) })),
    others: [...methods.keys()].filter((method) => !named.includes(method)).map(pointsOf),
    place: ({ rate }) => rate,
    value: (point) => valueOf(point[value]),
    r: value === 'loss' ? 3.5 : 2, // entropies are not tested
    isChosen: ({ method, rate }) => method === axes.method && String(rate) === axes.learning_rate,
    trained: trials.map(({ training, final }) => ({ x: training.learning_rate, y: final[measure] })),
    tell: (point) => ({
      text:
        `${methodName(point.method)} at ${tick(point.rate)}, ${runsText(point.runs)}: ` +
        point[value].mean.toFixed(3) +
        (point.method === 'none' ? '' : `, against the baseline ${differenceText(point[value])}`),
      choice: { method: point.method, learning_rate: String(point.rate) },
    }),
  });
}

import { tick } from '../../charts/format';
import { textWidth } from '../../charts/legend';
import { dashes, series } from '../../charts/palette';
import { chart, gridY, line } from '../../charts/plot';
import { finiteCell } from '../../charts/table';
import { FINAL_LOSS } from './cell-picker';
import {
  chosenMark,
  errorBars,
  HOLLOW,
  lineLegend,
  MARGINS,
  meanMark,
  referenceMarks,
  referencesText,
  titleMark,
  trainedMark,
  type Panel,
} from './panel-parts';
import { placesOf } from './method-styles';
import type { ChosenExperiment, PanelsDescription, Shown } from './panels-figure';
import { partText, referenceCells, REFERENCES } from './published-results';
import { claimText, differenceText, meansText, METHOD_NAMES, methodsOf, runsText } from './published-rows';
import {
  differencesText,
  ratesOf,
  reachedLevels,
  sensitivitiesOf,
  sensitivityText,
  withoutRuns,
  type RatePoint,
} from './rates-rows';

/** Methods that have a colour; the chosen one has one too, or else the last of these. */
const SHOWN = ['none', 'frobenius-m1', 'initial-m1', 'initial-m1-half', 'warmup-clip', 'capped-growth'];
const CLAIMED = 'frobenius-m1';
/** A learning rate at which the attention entropy of the baseline collapses. */
const HIGH = '0.02';
/** A mean in all heads and in some, at learning rates where it costs and where it gains. */
const MEANS = ['initial-m1', 'initial-m1-half'];
const COMPARED_AT = ['0.0015', '0.003', HIGH];
/** Pixels of a panel, beside the other and above it. */
const HEIGHT = { beside: 330, above: 200 };
/** Pixels between the numbers of an axis, at least. */
const GAP = 4;
/** What the axis has beyond its outermost learning rates, as a factor. */
const BEYOND = 1.2;

const nameOf = (method: string) => METHOD_NAMES[method] ?? method;

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
    names: { method: { name: 'Method', label: nameOf }, learning_rate: { name: 'Learning rate' } },
    first: { method: CLAIMED, learning_rate: HIGH },
    outcome: FINAL_LOSS,
  },
};

/** The points of each method. */
type Methods = Map<string, RatePoint[]>;

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
      names: lineLegend(named.map(nameOf), width, [HOLLOW], placesOf(named)),
      panels: [
        panel('final loss, bits per byte', size, 'loss', named, shown),
        panel('attention entropy', size, 'entropy', named, shown),
      ],
    };
  },
  caption({ rows, results: [found] }) {
    const high = `At ${HIGH}: ${claimText(methodsOf(found, HIGH), nameOf(CLAIMED))}`;
    const sentence = sensitivityText(found, ['none', CLAIMED], nameOf);
    const lacking = [...withoutRuns(found)].map(([rates, methods]) => `${methods.map(nameOf).join('; ')} at ${rates}`);
    const missing = lacking.length > 0 ? ` No run yet of ${lacking.join('; of ')}.` : '';
    const means = meansText([...rows.values()].flat());
    const differences = differencesText(found, MEANS.map(nameOf), COMPARED_AT);
    const references = referencesText(found.references, 'bits per byte');
    return `${high} ${sentence} ${differences} ${means} ${references}${partText(found)}${missing}`;
  },
  table({ rows, results: [found] }) {
    const levels = reachedLevels(found);
    const sensitivities = sensitivitiesOf(found);
    return {
      columns: [
        'method',
        'learning_rate',
        'runs',
        'failures',
        'bits_per_byte',
        'bits_per_byte_error_over_seeds',
        'bits_per_byte_difference',
        'bits_per_byte_p_holm',
        'entropy',
        'entropy_error_over_seeds',
        'excess',
        'largest_stable_rate',
        ...levels.map((level) => `steps_to_${level}`),
        ...REFERENCES,
      ],
      rows: [...rows.values()].flat().map((it) => {
        const own = sensitivities.find(({ method }) => method === it.method);
        const steps = own?.points.find((point) => point.learning_rate === it.rate)?.reached;
        return [
          it.method,
          it.rate,
          it.runs,
          it.failures,
          it.loss.mean,
          finiteCell(it.loss.error),
          finiteCell(it.loss.difference),
          it.loss.p,
          finiteCell(it.entropy.mean),
          finiteCell(it.entropy.error),
          own ? it.loss.mean - own.best! : null,
          own?.largest_stable ?? null,
          ...levels.map((_, i) => steps?.[i]!.mean_step ?? null),
          ...referenceCells(found),
        ];
      }),
    };
  },
};

function panel(
  title: string,
  size: { width: number; height: number },
  value: 'loss' | 'entropy',
  named: readonly string[],
  { rows: methods, results: [found], choice: { axes }, trained: [trials] }: Shown<Methods>,
): Panel {
  const points = [...methods.values()].flat();
  const rates = [...new Set(points.map(({ rate }) => rate))].sort((a, b) => a - b);
  const spread = (point: RatePoint) => point[value];
  const mean = (point: RatePoint) => point[value].mean;
  const own = (method: string) => methods.get(method) ?? [];
  const chosen = own(axes.method).filter(({ rate }) => String(rate) === axes.learning_rate);
  const measure = value === 'loss' ? 'bits_per_byte' : value;
  const rateOf = ({ rate }: RatePoint) => rate;
  const trained = trials.map(({ training, final }) => ({ rate: training.learning_rate, value: final[measure] }));
  const domain = [rates[0] / BEYOND, rates.at(-1)! * BEYOND];
  const scale = (size.width - MARGINS.marginLeft - MARGINS.marginRight) / Math.log(domain[1] / domain[0]);
  const r = value === 'loss' ? 3.5 : 2; // entropies are not tested
  const others = [...methods.keys()].filter((method) => !named.includes(method));
  const drawn = chart({
    label: title,
    ...size,
    ...MARGINS,
    x: {
      type: 'log',
      domain,
      label: 'learning rate →',
      labelAnchor: 'center',
      ticks: apart(rates, scale),
      tickFormat: tick,
    },
    y: { label: null, ticks: 5, tickFormat: tick, nice: true },
    marks: [
      gridY({ ticks: 5, strokeOpacity: 0.08 }),
      titleMark(title),
      ...(value === 'loss' ? referenceMarks(found.references) : []),
      line(others.flatMap(own), {
        x: 'rate',
        y: mean,
        z: 'method',
        stroke: 'currentColor',
        strokeOpacity: 0.2,
        strokeWidth: 1,
        ariaDescription: 'other methods',
      }),
      ...placesOf(named).flatMap((at, i) => {
        const method = named[i];
        return [
          line(own(method), {
            x: 'rate',
            y: mean,
            stroke: series[at],
            strokeWidth: 2,
            strokeDasharray: dashes[at],
            ariaDescription: nameOf(method),
          }),
          errorBars(own(method), rateOf, spread, { stroke: series[at] }),
          meanMark(own(method), { x: 'rate', y: mean, r }, spread, series[at], `${nameOf(method)}, mean`),
        ];
      }),
      chosenMark(chosen, { x: 'rate', y: mean, r: 7 }),
      trainedMark(trained, { x: 'rate', y: 'value' }),
    ],
  });
  const places = points.map((point) => ({
    x: drawn.x.apply(point.rate),
    y: drawn.y.apply(mean(point)),
    text:
      `${nameOf(point.method)} at ${tick(point.rate)}, ${runsText(point.runs)}: ${mean(point).toFixed(3)}` +
      (point.method === 'none' ? '' : `, against the baseline ${differenceText(spread(point))}`),
    choice: { method: point.method, learning_rate: String(point.rate) },
  }));
  return { drawn, places };
}

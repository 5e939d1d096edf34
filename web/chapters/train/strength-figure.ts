import { short, tick } from '../../charts/format';
import { dashes, series } from '../../charts/palette';
import { chart, gridY, line, ruleY, text } from '../../charts/plot';
import { finiteCell } from '../../charts/table';
import { BARS } from '../../charts/with-error';
import {
  chosenMark,
  errorBars,
  HOLLOW,
  lineLegend,
  MARGINS,
  meanMark,
  NARROW,
  referenceMarks,
  referencesText,
  titleMark,
  trainedMark,
  type Panel,
} from './panel-parts';
import { placesOf } from './method-styles';
import type { PanelsDescription, Shown } from './panels-figure';
import { partText, referenceCells, REFERENCES, type PublishedResults } from './published-results';
import { differenceText, meansText, runsText } from './published-rows';
import {
  cutOf,
  formName,
  strengthName,
  strengthPlaces,
  strengthPoints,
  strengthsOf,
  strengthsTrained,
  strengthText,
  type Form,
  type Strength,
  type StrengthPoint,
} from './strength-rows';

/** Pixels of a panel on a wide page and on a phone. */
const HEIGHT = { wide: 230, narrow: 170 };
/** Share of the axis above the lines for the numbers of points beyond it. */
const BEYOND = 0.25;
type Value = 'perplexity' | 'entropy';

const nameOf = (method: string, results: PublishedResults) =>
  strengthName(strengthsOf(results).find((it) => it.method === method)!);

/** The methods of the grid, and those of their points that have a run. */
interface Strengths {
  methods: Strength[];
  points: StrengthPoint[];
}

/** Perplexity and attention entropy in the paper's setting against the strength of the regularizer. */
export const strengthFigure: PanelsDescription<Strengths> = {
  id: 'strength',
  experiments: [
    {
      name: 'paper-setting',
      subject: 'the paper’s setting',
      choosing: {
        names: { method: { name: 'Method', label: nameOf }, query_key_bias: { name: 'Biases of Q, K' } },
        first: { method: 'frobenius-1' },
        outcome: { measure: 'perplexity', unit: 'perplexity', digits: 1 },
      },
    },
  ],
  title: 'Perplexity and entropy against the strength',
  rows: (results) => ({ methods: strengthsOf(results), points: strengthPoints(results) }),
  *panels(shown, width) {
    const forms = formsOf(shown.rows.methods);
    const columns = width >= 1000 ? 4 : 2;
    const height = width >= 560 ? HEIGHT.wide : HEIGHT.narrow;
    const size = { width: width / columns, height };
    const panels = ['with', 'without'].flatMap((biases) => [
      panel('perplexity', biases, size, shown),
      panel('entropy', biases, size, shown),
    ]);
    return { columns, height, names: lineLegend(forms.map(formName), width, [HOLLOW], placesOf(forms)), panels };
  },
  caption: ({ rows: { points }, results: [found] }) =>
    [strengthText(points), meansText(points), referencesText(found.references, '(perplexity)')].join(' ') +
    partText(found),
  table: ({ rows: { points }, results: [found] }) => ({
    columns: [
      'method',
      'query_key_bias',
      'scale_weight',
      'runs',
      'failures',
      'perplexity',
      'perplexity_error',
      'perplexity_difference',
      'perplexity_p_holm',
      'entropy',
      'entropy_error',
      'entropy_difference',
      'entropy_p_holm',
      ...REFERENCES,
    ],
    rows: points.map(({ perplexity, entropy, ...it }) => [
      it.method,
      it.biases,
      it.strength,
      it.runs,
      it.failures,
      ...[perplexity, entropy].flatMap(({ mean, error, difference, p }) => [
        ...[mean, error, difference].map(finiteCell),
        p,
      ]),
      ...referenceCells(found),
    ]),
  }),
};

/** The forms in the grid's order, and last the model without attention. */
function formsOf(methods: readonly Strength[]): Form[] {
  const forms = [...new Set(methods.map(({ form }) => form))];
  return [...forms.filter((form) => form !== 'no-attention'), ...forms.filter((form) => form === 'no-attention')];
}

function panel(
  value: Value,
  biases: string,
  size: { width: number; height: number },
  { rows: { methods, points: all }, results: [found], choice: { axes }, trained: [trials] }: Shown<Strengths>,
): Panel {
  const places = strengthPlaces(methods);
  const forms = formsOf(methods);
  const place = ({ strength }: { strength: number | null }) => places.of(strength);
  const spread = (point: StrengthPoint) => point[value];
  const own = all.filter((point) => point.biases === biases);
  const mean = (point: StrengthPoint) => point[value].mean;
  const { method, query_key_bias } = axes;
  const chosen = own.filter((it) => it.method === method && it.biases === query_key_bias);
  const trained = strengthsTrained(found, trials, value);
  // Both rows have one scale, so that they compare.
  const cut = cutOf(all, value);
  const ends = endsOf(
    all,
    value,
    trained.map((it) => it.value),
  );
  const range = ends[1] - ends[0] || 1;
  const room = 0.08 * range;
  const isCut = all.some((point) => mean(point) > cut);
  const top = ends[1] + (isCut ? BEYOND * range : room); // numbers stand clear of the highest line
  const height = (it: number) => (it > cut ? top : it);
  const y = (point: StrengthPoint) => height(mean(point));
  const drawn = chart({
    label: value,
    ...size,
    ...MARGINS,
    x: {
      type: 'log',
      domain: [places.none / 1.5, 1.5 * Math.max(...places.strengths)],
      label: 'strength →',
      labelAnchor: 'center',
      ticks: [places.none, ...places.strengths],
      tickFormat: (strength: number) => (strength === places.none ? '0' : tick(strength)),
    },
    y: { domain: [ends[0] - room, top], label: null, ticks: 4, tickFormat: tick },
    marks: [
      gridY({ ticks: 4, strokeOpacity: 0.08 }),
      titleMark(`${value}, ${biases === 'with' ? '' : 'no '}biases`),
      ...(value === 'perplexity' ? referenceMarks(found.references, [ends[0] - room, top]) : []),
      ...placesOf(forms).flatMap((i, at) => {
        const form = forms[at];
        const points = own.filter((it) => it.form === form && mean(it) <= cut);
        const beyond = own.filter((it) => it.form === form && mean(it) > cut);
        // Without a strength, a method is a line to compare the others with.
        const compared = points.filter(({ strength }) => strength === null);
        return [
          ruleY(compared, {
            y: mean,
            stroke: series[i],
            strokeWidth: 2,
            strokeDasharray: dashes[i],
            ariaDescription: formName(form),
          }),
          line(points, {
            x: place,
            y: mean,
            stroke: series[i],
            strokeWidth: 2,
            strokeDasharray: dashes[i],
            ariaDescription: formName(form),
          }),
          errorBars(points, place, spread, { stroke: series[i] }),
          meanMark(points, { x: place, y: mean }, spread, series[i], `${formName(form)}, mean`),
          text(beyond, {
            x: place,
            y,
            text: (it: StrengthPoint) => short(mean(it)),
            fill: series[i],
            fontWeight: 600,
            fontSize: size.width < NARROW ? 10 : 12,
            lineAnchor: 'top' as const,
            ariaDescription: `${formName(form)}, mean, above the axis`,
          }),
        ];
      }),
      chosenMark(chosen, { x: place, y, r: 7 }),
      trainedMark(
        trained.filter((it) => it.biases === biases),
        { x: place, y: (it: (typeof trained)[0]) => height(it.value) },
      ),
    ],
  });
  const marks = own.map((point) => ({
    x: drawn.x.apply(place(point)),
    y: drawn.y.apply(y(point)),
    text:
      `${strengthName(point)}, ${runsText(point.runs)}: ${short(mean(point))}` +
      (point.form === 'none' ? '' : `, against the baseline ${differenceText(spread(point))}`),
    choice: { method: point.method, query_key_bias: biases },
  }));
  return { drawn, places: marks };
}

/** The least and the largest value with its error bar, of all that stand below the cut. */
function endsOf(points: readonly StrengthPoint[], value: Value, trained: readonly number[]): [number, number] {
  const cut = cutOf(points, value);
  const values = points
    .filter((point) => point[value].mean <= cut)
    .flatMap((point) => {
      const { mean, error } = point[value];
      return Number.isFinite(error) ? [mean - BARS * error, mean + BARS * error] : [mean];
    });
  const all = [...values, ...trained.filter((it) => it <= cut)];
  return all.length > 0 ? [Math.min(...all), Math.max(...all)] : [0, 1];
}

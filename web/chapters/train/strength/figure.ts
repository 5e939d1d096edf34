import { short, tick } from '../../../charts/format';
import { ruleY, text } from '../../../charts/plot';
import { RUN_COLUMNS, tableOf, testedColumns, type PanelsDescription, type Shown } from '../experiments/figure';
import {
  ends,
  HOLLOW,
  lineLegend,
  linesPanel,
  NARROW,
  referenceMarks,
  valueOf,
  type Panel,
  type Size,
} from '../experiments/panels';
import type { PublishedResults } from '../experiments/results';
import { differenceText, meansText, runsText } from '../experiments/rows';
import { looksOf } from '../method-lines';
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
} from './words';

/** Pixels of a panel on a wide page and on a phone. */
const HEIGHT = { wide: 230, narrow: 170 };
/** Share of the axis above the lines for the numbers of points beyond it. */
const BEYOND = 0.25;

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
    return { columns, height, names: lineLegend(forms.map(formName), width, [HOLLOW], looksOf(forms)), panels };
  },
  caption: ({ rows: { points } }) => [strengthText(points), meansText(points)],
  unit: '(perplexity)',
  table: ({ rows: { points }, results: [results] }) =>
    tableOf(
      points,
      [
        ['method', ({ method }) => method],
        ['query_key_bias', ({ biases }) => biases],
        ['scale_weight', ({ strength }) => strength],
        ...RUN_COLUMNS,
        ...testedColumns('perplexity', ({ perplexity }: StrengthPoint) => perplexity),
        ...testedColumns('entropy', ({ entropy }: StrengthPoint) => entropy),
      ],
      results,
    ),
};

/** The forms in the grid's order, and last the model without attention. */
function formsOf(methods: readonly Strength[]): Form[] {
  const forms = [...new Set(methods.map(({ form }) => form))];
  return [...forms.filter((form) => form !== 'no-attention'), ...forms.filter((form) => form === 'no-attention')];
}

function panel(
  value: 'perplexity' | 'entropy',
  biases: string,
  size: Size,
  { rows: { methods, points: all }, results: [results], choice: { axes }, trained: [trials] }: Shown<Strengths>,
): Panel {
  const places = strengthPlaces(methods);
  const forms = formsOf(methods);
  const mean = (point: StrengthPoint) => point[value].mean;
  const points = all.filter((point) => point.biases === biases);
  const trained = strengthsTrained(results, trials, value);
  // Panels of one measure have one scale, so that they compare.
  const cut = cutOf(all, value);
  const within = all.filter((point) => mean(point) <= cut);
  const bars = within.flatMap((point) => valueOf(point[value]).ends ?? [mean(point)]);
  const [low, high] = ends([...bars, ...trained.map((it) => it.value).filter((it) => it <= cut)]);
  const range = high - low || 1;
  const room = 0.08 * range;
  const top = high + (within.length < all.length ? BEYOND * range : room); // numbers stand clear of the highest line
  const height = (it: number) => (it > cut ? top : it);
  return linesPanel({
    title: `${value}, ${biases === 'with' ? '' : 'no '}biases`,
    size,
    x: {
      type: 'log',
      domain: [places.none / 1.5, 1.5 * Math.max(...places.strengths)],
      label: 'strength →',
      ticks: [places.none, ...places.strengths],
      tickFormat: (strength: number) => (strength === places.none ? '0' : tick(strength)),
    },
    y: { domain: [low - room, top], ticks: 4 },
    below: value === 'perplexity' ? referenceMarks(results.references, [low - room, top]) : [],
    lines: looksOf(forms).map((look, i) => ({
      name: formName(forms[i]),
      look,
      points: points.filter((it) => it.form === forms[i] && mean(it) <= cut),
    })),
    above: looksOf(forms).flatMap(({ colour, dash }, i) => {
      const formPoints = points.filter(({ form }) => form === forms[i]);
      // Without a strength, a method is a line to compare the others with.
      const compared = formPoints.filter((it) => it.strength === null && mean(it) <= cut);
      const look = { stroke: colour, strokeWidth: 2, strokeDasharray: dash };
      return [
        ruleY(compared, { y: mean, ...look, ariaDescription: formName(forms[i]) }),
        text(
          formPoints.filter((it) => mean(it) > cut),
          {
            x: ({ strength }: StrengthPoint) => places.of(strength),
            y: top,
            text: (it: StrengthPoint) => short(mean(it)),
            fill: colour,
            fontWeight: 600,
            fontSize: size.width < NARROW ? 10 : 12,
            lineAnchor: 'top' as const,
            ariaDescription: `${formName(forms[i])}, mean, above the axis`,
          },
        ),
      ];
    }),
    points,
    place: ({ strength }) => places.of(strength),
    value: (point) => valueOf(point[value]),
    height: (point) => height(mean(point)),
    isChosen: ({ method }) => method === axes.method && biases === axes.query_key_bias,
    trained: trained
      .filter((it) => it.biases === biases)
      .map(({ strength, value: own }) => ({ x: places.of(strength), y: height(own) })),
    tell: (point) => ({
      text:
        `${strengthName(point)}, ${runsText(point.runs)}: ${short(mean(point))}` +
        (point.form === 'none' ? '' : `, against the baseline ${differenceText(point[value])}`),
      choice: { method: point.method, query_key_bias: biases },
    }),
  });
}

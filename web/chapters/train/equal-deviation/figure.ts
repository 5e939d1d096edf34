// The figure of the experiment at equal deviation of the logits.
import { short } from '../../../charts/format';
import { fieldRamp, series, stripOf } from '../../../charts/palette';
import { dot } from '../../../charts/plot';
import { RUN_COLUMNS, tableOf, type PanelsDescription, type Shown } from '../experiments/figure';
import { ends, lineLegend, linesPanel, type Panel, type Size, type Value } from '../experiments/panels';
import { analysed, type PublishedResults } from '../experiments/results';
import { meansText, runsText, signed } from '../experiments/rows';
import { placesOf, regularizers } from '../methods';

/** Pixels of the panel on a wide page and on a phone. */
const HEIGHT = { wide: 380, narrow: 280 };
/** The paths with a colour: the others are in the export alone. */
const SHOWN = ['metric-k2', 'metric-k0', 'metric-k4', 'frobenius-k2', 'effective-k2', 'temperature'];

/** What the figure calls the forms of the penalty. */
const FORMS: Readonly<Record<string, string>> = {
  metric: regularizers['locater-covariance'],
  frobenius: regularizers['locater-frobenius'],
  effective: regularizers['locater-effective'],
  plain: regularizers.locater,
  random: regularizers['locater-random'],
};

/** A method of the grid, over its runs with a result. */
export interface DeviationPoint {
  path: string;
  method: string;
  runs: number;
  failures: number;
  /** Of the logits over the baseline's. */
  deviation: number;
  /** Loss minus the baseline's in nats per byte, and its 95% interval; NaN for one run. */
  cost: number;
  low: number;
  high: number;
  /** Of the logits' variance, that of the biases. */
  share: number;
}

/** "LocAteR, Frobenius, target 0": a path without its strengths. */
export function pathName(path: string): string {
  const [form, target] = path.split('-k');
  if (target === undefined) return 'softmax temperature';
  return `${FORMS[form]}, ${target === '0' ? 'target 0' : `${target} times the threshold`}`;
}

/** The measured methods of each path, in the order of their strengths; a path begins with the baseline. */
export function deviationPaths(results: PublishedResults): Map<string, DeviationPoint[]> {
  const rows = analysed<Record<keyof Omit<DeviationPoint, 'path'>, number | null>>(results, 'bias_shares');
  const measured = rows as unknown as (DeviationPoint & { method: string })[];
  const { paths } = results.analysis.find(({ kind }) => kind === 'equal_deviation') as unknown as {
    paths: Record<string, string[]>;
  };
  const pointOf = (path: string, method: string) =>
    measured
      .filter((row) => row.method === method && row.runs > 0)
      .map((row) => ({ ...row, path, low: row.low ?? NaN, high: row.high ?? NaN }));
  const known = Object.entries(paths).map(([path, methods]) => {
    const points = methods.flatMap((method) => pointOf(path, method));
    return [path, points.length > 0 ? [...pointOf(path, 'none'), ...points] : []] as const;
  });
  return new Map(known.filter(([, points]) => points.length > 0));
}

/** The verdicts of the plan in a sentence. */
export function verdictsText(results: PublishedResults): string {
  const verdicts = analysed<{ hypothesis: number; verdict: string }>(results, 'deviation_verdicts');
  const names = ['bounded', 'biases below 10%', 'cheaper than the other forms', 'a loss below the baseline’s'];
  return `Hypotheses of the plan: ${verdicts.map(({ hypothesis, verdict }) => `${names[hypothesis - 1]}: ${verdict}`).join('; ')}.`;
}

/** Loss against the achieved deviation of the logits, a line for each form of the penalty. */
export const equalDeviationFigure: PanelsDescription<Map<string, DeviationPoint[]>> = {
  id: 'equal-deviation',
  experiments: [
    {
      name: 'equal-deviation',
      subject: 'equal deviation',
      choosing: {
        names: { method: { name: 'Method' } },
        first: { method: 'metric-k2-1e-3' },
        outcome: { measure: 'loss', unit: 'nats per byte', digits: 3 },
      },
    },
  ],
  title: 'Loss over the baseline’s against the deviation of the logits',
  rows: deviationPaths,
  *panels(shown, width) {
    const height = width >= 560 ? HEIGHT.wide : HEIGHT.narrow;
    const paths = SHOWN.filter((path) => shown.rows.has(path));
    const share = {
      text: 'biases’ share of the variance, 0 to 1',
      kind: 'strip' as const,
      colours: stripOf(fieldRamp()),
    };
    return {
      columns: 1,
      height,
      names: lineLegend(paths.map(pathName), width, [share], placesOf(paths)),
      panels: [panel({ width, height }, paths, shown)],
    };
  },
  caption: ({ rows, results: [results] }) => [
    verdictsText(results),
    meansText([...rows.values()].flat().filter(({ method }) => method !== 'none')),
  ],
  table: ({ rows }) =>
    tableOf([...rows.values()].flat(), [
      ['path', ({ path }) => path],
      ['method', ({ method }) => method],
      ...RUN_COLUMNS,
      ['deviation', ({ deviation }) => deviation],
      ['cost', ({ cost }) => cost],
      ['cost_low', ({ low }) => (Number.isFinite(low) ? low : null)],
      ['cost_high', ({ high }) => (Number.isFinite(high) ? high : null)],
      ['bias_share', ({ share }) => share],
    ]),
};

const valueOf = ({ cost, low, high }: DeviationPoint): Value => ({
  mean: cost,
  ends: Number.isFinite(low) ? [low, high] : null,
  p: null,
});

function panel(
  size: Size,
  paths: readonly string[],
  { rows, choice: { axes } }: Shown<Map<string, DeviationPoint[]>>,
): Panel {
  const ramp = fieldRamp();
  const points = paths.flatMap((path) => rows.get(path)!);
  const [low, high] = ends(points.flatMap((point) => [point.cost, ...(valueOf(point).ends ?? [])]));
  const room = 0.05 * (high - low);
  return linesPanel({
    title: 'loss minus the baseline’s, nats per byte',
    size,
    x: { domain: [0, 1.05], label: 'deviation of the logits over the baseline’s →', ticks: [0, 0.25, 0.5, 0.75, 1] },
    y: { domain: [low - room, high + room] },
    lines: placesOf(paths).map((place, i) => ({ name: pathName(paths[i]), place, points: rows.get(paths[i])! })),
    above: placesOf(paths).map((place, i) =>
      dot(rows.get(paths[i])!, {
        x: 'deviation',
        y: 'cost',
        r: 4.5,
        fill: ({ share }: DeviationPoint) => `rgb(${ramp(Math.max(0, share)).join(' ')})`,
        stroke: series[place],
        strokeWidth: 1.5,
        ariaDescription: 'biases’ share',
      }),
    ),
    place: ({ deviation }) => deviation,
    value: valueOf,
    isChosen: ({ method }) => method === axes.method,
    trained: [],
    tell: (point) => ({
      text:
        `${point.method === 'none' ? 'baseline' : point.method}, ${runsText(point.runs)}: deviation ` +
        `${short(point.deviation)} of the baseline’s, loss ${signed(point.cost)}, biases ${short(100 * point.share)}%`,
      choice: { method: point.method },
    }),
  });
}

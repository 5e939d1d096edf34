// The figure of the experiment at equal deviation of the logits.
import { short } from '../../../charts/format';
import { fieldRamp, stripOf } from '../../../charts/palette';
import { dot } from '../../../charts/plot';
import { finiteCell } from '../../../charts/table';
import { fieldsOf, tableOf, type PanelsDescription, type Shown } from '../experiments/figure';
import { ends, lineLegend, linesPanel, type Panel, type Size, type Value } from '../experiments/panels';
import { meansText, runsText, signed } from '../experiments/rows';
import { looksOf } from '../method-lines';
import { deviationPaths, pathName, verdictsText, type DeviationPoint } from './words';

/** Pixels of the panel on a wide page and on a phone. */
const HEIGHT = { wide: 380, narrow: 280 };
/** The paths with a colour: the others are in the export alone. */
const SHOWN = ['metric-k2', 'metric-k0', 'metric-k4', 'frobenius-k2', 'effective-k2', 'temperature'];

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
      names: lineLegend(paths.map(pathName), width, [share], looksOf(paths)),
      panels: [panel({ width, height }, paths, shown)],
    };
  },
  caption: ({ rows, results: [results] }) => [
    verdictsText(results),
    meansText([...rows.values()].flat().filter(({ method }) => method !== 'none')),
  ],
  table: ({ rows }) =>
    tableOf([...rows.values()].flat(), [
      ...fieldsOf('path', 'method', 'runs', 'failures', 'deviation', 'cost'),
      ['cost_low', ({ low }) => finiteCell(low)],
      ['cost_high', ({ high }) => finiteCell(high)],
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
    lines: looksOf(paths).map((look, i) => ({ name: pathName(paths[i]), look, points: rows.get(paths[i])! })),
    above: looksOf(paths).map(({ colour }, i) =>
      dot(rows.get(paths[i])!, {
        x: 'deviation',
        y: 'cost',
        r: 4.5,
        fill: ({ share }: DeviationPoint) => `rgb(${ramp(Math.max(0, share)).join(' ')})`,
        stroke: colour,
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

// The numbers of the first screen for its exports.
import type { Cell, Table } from '../../charts/table';
import type { Simulated } from '../../engine/protocol';
import type { Origin } from '../../state/heads';
import type { HeadSpot } from './head-spots';
import type { Curves } from './localization-answers';
import { errorOf } from './localization-marks';
import type { Point } from './point';

/** What the panels show. */
export interface Shown {
  curves: Curves;
  point: Point;
  /** Simulated keys, where they are known. */
  keys: Simulated | null;
  /** Heads of the variance panel, and what their places are made of. */
  spots: readonly HeadSpot[];
  dots: Origin;
  /** Heads of the panel of levels: id, measured and predicted attention entropy; none where it is not shown. */
  levels: readonly [head: string, measured: number, predicted: number][];
  /** Eigenvalues of the ensemble and of the head that is shown: kind, real and imaginary part. */
  eigenvalues: readonly [kind: string, re: number, im: number][];
}

/** Cells by the names of their columns. */
type Named = Record<string, Cell>;

/** The table of the first screen; the cells of the attention matrix come first, as a grid. */
export function localizationTable(shown: Shown): Table {
  const { measure } = shown.curves.lines;
  const columns = [
    'kind',
    'mean',
    'variance',
    measure,
    'standard_error',
    'samples',
    'head',
    'measured',
    'predicted',
    're',
    'im',
    'query',
    'key',
    'weight',
    'row_entropy',
    'rho_theory',
    'rho',
    'rho_error',
    'sensitivity',
    'sensitivity_error',
    'logit_mean_theory',
    'logit_std_theory',
    'logit_mean',
    'logit_std',
  ];
  const rows = [...curveRows(shown), ...headRows(shown), ...pointRows(shown)];
  const { length, weights } = shown.point.attention;
  const places = Array.from({ length }, (_, i) => i + 1);
  return {
    columns,
    rows: rows.map((row) => columns.map((name) => row[name] ?? null)),
    grid: {
      kind: 'weight',
      axes: [
        { name: 'query', at: places },
        { name: 'key', at: places },
      ],
      values: { weight: weights },
      choices: {},
    },
  };
}

function curveRows({ curves: { lines, points } }: Shown): Named[] {
  const { measure, means, variances, value, error, others } = lines;
  const theory = means.flatMap((mean, line) =>
    variances.map((variance, i) => {
      const at = line * variances.length + i;
      return { kind: 'theory', mean, variance, [measure]: value[at], standard_error: error[at] };
    }),
  );
  const beside = others.flatMap(({ tokens, value }) =>
    variances.map((variance, i) => ({ kind: `theory ${tokens}`, mean: means[0], variance, [measure]: value[i] })),
  );
  const simulated = points
    .filter((it) => it[measure] !== null)
    .map((it) => {
      const numbers = { [measure]: it[measure], standard_error: errorOf(it, measure) };
      const { mean, variance, samples } = it;
      return { kind: 'simulation', mean, variance, ...numbers, samples };
    });
  return [...theory, ...beside, ...simulated];
}

function headRows({ curves: { lines }, spots, dots, levels }: Shown): Named[] {
  return [
    ...spots.map(({ head, x, y }) => ({
      kind: `head ${dots}`,
      mean: head.mean,
      variance: x,
      [lines.measure]: y,
      head: head.id,
    })),
    ...levels.map(([head, measured, predicted]) => ({ kind: 'level', head, measured, predicted })),
  ];
}

function pointRows({ point, keys, eigenvalues }: Shown): Named[] {
  const { theory, attention } = point;
  const own = { mean: point.mean, variance: point.variance };
  return [
    ...eigenvalues.map(([kind, re, im]) => ({ kind, ...own, re, im })),
    ...Array.from(attention.entropy, (row_entropy, i) => ({
      kind: 'query',
      ...own,
      query: i + 1,
      row_entropy: Number.isNaN(row_entropy) ? null : row_entropy,
    })),
    ...Array.from(theory.rho, (rho, i) => ({
      kind: 'key',
      ...own,
      key: i + 1,
      rho_theory: rho,
      logit_mean_theory: theory.mean[i],
      logit_std_theory: theory.std[i],
      ...(keys && {
        rho: keys.rho[i],
        rho_error: keys.rho_error[i],
        samples: keys.samples,
        sensitivity: keys.sensitivity[i],
        sensitivity_error: keys.sensitivity_error[i],
        logit_mean: keys.mean[i],
        logit_std: keys.std[i],
      }),
    })),
  ];
}

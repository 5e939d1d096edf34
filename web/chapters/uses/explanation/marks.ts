import type { Markish } from '@observablehq/plot';
import { ringEntry, type Entry } from '../../../charts/legend';
import { series } from '../../../charts/palette';
import { dot, ruleY } from '../../../charts/plot';
import type { Output } from '../../../engine/protocol';
import type { Row } from '../row-marks';
import type { State } from '../state';

export type ExplanationOutput = Output<'attention-explanation'>;
type Head = ExplanationOutput['heads'][number];
type Named = ExplanationOutput['rows'][number];
export type Removal = State['removal'];
type Scale = State['agreement_scale'];

const NAMES: Record<Named['explanation'], string> = {
  best: 'best head (chosen on other passages)',
  'best-norm': 'best head, attention times norm',
  'last-layer': 'last layer',
  'last-layer-norm': 'last layer, attention times norm',
  all: 'all heads',
  'all-norm': 'all heads, attention times norm',
  frequency: 'baseline: token frequency',
  position: 'baseline: position',
};

export const explanationRow = ({ rows }: ExplanationOutput, explanation: Named['explanation']) =>
  rows.find((row) => row.explanation === explanation);

/** Information of a Gaussian copula with a rank correlation, in bits: that of `dropped_bits` and `masked_bits`. */
function bitsOf(correlation: number): number {
  const r = 2 * Math.sin((Math.PI * correlation) / 6);
  return -Math.log2(1 - r * r) / 2;
}

/** The rows on a scale; errors of bits by linear propagation. */
export function explanationRows({ rows }: ExplanationOutput, removal: Removal, scale: Scale): Row[] {
  return rows.map((row) => {
    const { explanation } = row;
    const [value, error] = [row[removal], row[`${removal}_error`]];
    const colour =
      explanation === 'frequency' || explanation === 'position'
        ? 'var(--muted)'
        : series[explanation.endsWith('norm') ? 1 : 0];
    const name = NAMES[explanation];
    if (scale === 'correlation' || value === null) return { name, value, error, colour };
    const slope = (bitsOf(Math.abs(value) + 1e-3) - bitsOf(Math.abs(value))) / 1e-3;
    return { name, value: row[`${removal}_bits`], error: (error ?? NaN) * slope, colour };
  });
}

/** One ring for each of both explanations. */
export const HEAD_ENTRIES: Entry[] = [
  ringEntry('attention', 0),
  ringEntry('attention times norm of the value', 1),
  { text: 'token frequency', kind: 'line', colours: ['var(--ink)'], dash: '6 3' },
  { text: '95th percentile of the largest by chance', kind: 'line', colours: ['var(--muted)'], dash: '2 3' },
];

/** The correlation of every head, side by side in its layer. */
export function headMarks(output: ExplanationOutput, removal: Removal, scale: Scale = 'correlation'): Markish[] {
  const { heads, nulls } = output;
  const most = Math.max(1, ...heads.map(({ head }) => head + 1));
  const value = (correlation: number | null) =>
    scale === 'correlation' || correlation === null ? correlation : bitsOf(correlation);
  const limits = nulls
    .filter((it) => it.removal === removal && it.explained_by === 'attention')
    .flatMap(({ limit }) => (scale === 'correlation' ? [limit, -limit] : [bitsOf(limit)]));
  const baseline = value(explanationRow(output, 'frequency')?.[removal] ?? null);
  return [
    ruleY(limits, { stroke: 'var(--muted)', strokeDasharray: '2 3', ariaDescription: 'chance' }),
    ruleY(baseline === null ? [] : [baseline], {
      stroke: 'var(--ink)',
      strokeDasharray: '6 3',
      ariaDescription: 'token frequency',
    }),
    ...(['attention', 'norm'] as const).map((kind, i) =>
      dot(heads, {
        x: ({ layer, head }: Head) => layer + ((head + 0.5) / most - 0.5) * 0.8,
        y: (row: Head) => value(row[`${kind}_${removal}`]),
        ...{ r: 3, stroke: series[i], fill: 'var(--paper)', ariaDescription: `heads, ${kind}` },
      }),
    ),
  ];
}

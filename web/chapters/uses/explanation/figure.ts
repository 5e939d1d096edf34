import type { Markish } from '@observablehq/plot';
import { tick } from '../../../charts/format';
import { ringEntry } from '../../../charts/legend';
import { series } from '../../../charts/palette';
import { dot, ruleY } from '../../../charts/plot';
import { tableOfRows } from '../../../charts/table';
import type { Drawing } from '../lab-figure';
import { rowAxis, rowMarks, type Row } from '../marks';
import { explanationRow, type Explanation, type ExplanationOutput, type Removal, type Scale } from './lab';
import { claim, details } from './words';

type Head = ExplanationOutput['heads'][number];

const SCALES = { correlation: 'rank correlation with the change', information: 'information on the change (bits)' };

const NAMES: Record<Explanation, string> = {
  best: 'best head (chosen on other passages)',
  'best-norm': 'best head, attention times norm',
  'last-layer': 'last layer',
  'last-layer-norm': 'last layer, attention times norm',
  all: 'all heads',
  'all-norm': 'all heads, attention times norm',
  frequency: 'baseline: token frequency',
  position: 'baseline: position',
};

/** Information of a Gaussian copula with a rank correlation, in bits: that of `dropped_bits` and `masked_bits`. */
function bitsOf(correlation: number): number {
  const r = 2 * Math.sin((Math.PI * correlation) / 6);
  return -Math.log2(1 - r * r) / 2;
}

/** The rows on a scale; errors of bits by linear propagation. */
function explanationRows({ rows }: ExplanationOutput, removal: Removal, scale: Scale): Row[] {
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

/** The correlation of every head, side by side in its layer. */
function headMarks(output: ExplanationOutput, removal: Removal, scale: Scale): Markish[] {
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

/** How well attention explains what the output loses without a token. */
const drawing: Drawing<ExplanationOutput> = {
  topic: 'Attention and the tokens that matter',
  repaintOn: ['removal', 'agreement_scale'],
  onModel: true,
  panels: (output, { removal, agreement_scale }) => {
    const rows = explanationRows(output, removal, agreement_scale);
    const label = SCALES[agreement_scale];
    const layers = [...new Set(output.heads.map(({ layer }) => layer))];
    return [
      {
        label: 'agreement of each head’s attention with the change',
        entries: [
          ringEntry('attention', 0),
          ringEntry('attention times norm of the value', 1),
          { text: 'token frequency', kind: 'line', colours: ['var(--ink)'], dash: '6 3' },
          { text: '95th percentile of the largest by chance', kind: 'line', colours: ['var(--muted)'], dash: '2 3' },
        ],
        x: { label: 'layer →', ticks: layers, tickFormat: tick, inset: 6 },
        y: { label, tickFormat: tick, nice: true },
        marks: headMarks(output, removal, agreement_scale),
      },
      {
        label: 'agreement of explanations with the change',
        entries: [],
        x: { label: `${label} →`, ticks: 5, tickFormat: tick, nice: true, inset: 8 },
        y: rowAxis(rows),
        marks: rowMarks(rows),
      },
    ];
  },
  claim: (output, { removal }) => claim(output, removal),
  caption: (output, { removal }) => `Bars and ± are two standard errors over passages. ${details(output, removal)}`,
  table: ({ rows, heads }) =>
    tableOfRows([
      ...rows.map((row) => ({ kind: 'explanation', ...row })),
      ...heads.map((row) => ({ kind: 'head', ...row })),
    ]),
};
export default drawing;

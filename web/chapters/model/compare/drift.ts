// How far the heads of a checkpoint are from those of another, as `eigenscope head-drift` prints it of weights.
import { tick } from '../../../charts/format';
import type { Mark } from '../../../charts/mark-tip';
import { chartWithLegend, dot, ruleY, type Chart } from '../../../charts/plot';

/** Changes in units of the spread, the standard deviation of the numbers before over the heads. */
interface Drift {
  /** Of each head; NaN where a number is, or all heads have the same. */
  heads: number[];
  /** Root mean square over the heads with a number. */
  rms: number;
}

/** The root mean square of a drift, over that of the numbers, up to which it is called small. */
export const SMALL = 0.1;
/** The correlation that a drift of this size leaves when it is independent of the numbers. */
export const SMALL_CORRELATION = 1 / Math.hypot(1, SMALL);

/** Entry h of both lists is the number of head h. */
export function driftOf(before: number[], after: number[]): Drift {
  const changes = before.map((it, i) => after[i] - it);
  const known = before.filter((_, i) => Number.isFinite(changes[i]));
  const mean = known.reduce((sum, it) => sum + it, 0) / known.length;
  const spread = Math.sqrt(known.reduce((sum, it) => sum + (it - mean) ** 2, 0) / (known.length - 1));
  const heads = changes.map((it) => (spread > 0 ? it / spread : NaN));
  const squares = heads.filter(Number.isFinite).map((it) => it ** 2);
  return { heads, rms: Math.sqrt(squares.reduce((sum, it) => sum + it, 0) / squares.length) };
}

/** The drift of one measure of the heads. */
export interface Drifted {
  label: string;
  drift: Drift;
}

const LOOKS = [
  { kind: 'ring', symbol: 'circle', fill: 'none' },
  { kind: 'dot', symbol: 'circle', fill: 'currentColor' },
  { kind: 'cross', symbol: 'times', fill: 'none' },
] as const;

/** Up to three measures, one mark for each head in the order of the list; `places` names the heads. */
export function driftChart(drifted: Drifted[], places: string[], width: number): { chart: Chart; marks: Mark[] } {
  const entries = drifted.map(({ label }, i) => ({ text: label, kind: LOOKS[i].kind, colours: ['currentColor'] }));
  const band = { text: `±${SMALL}`, kind: 'line' as const, colours: ['var(--muted)'], dash: '7 3' };
  const marks = drifted.map(({ label, drift }) =>
    drift.heads.map((y, i) => ({
      x: i + 1,
      y,
      text: `${places[i]}: drift of the ${label} ${tick(Number(y.toPrecision(3)))}`,
    })),
  );
  const drawn = chartWithLegend({
    label: 'Drift of each head',
    entries: [...entries, band],
    width,
    height: 220,
    marginLeft: 56,
    marginBottom: 42,
    x: { label: 'head, layer by layer →', tickFormat: tick, domain: [0, places.length + 1] },
    y: { label: '↑ change / spread over heads', tickFormat: tick, nice: true },
    marks: [
      ruleY([0], { stroke: 'var(--muted)' }),
      ruleY([-SMALL, SMALL], { stroke: 'var(--muted)', strokeDasharray: '7 3', ariaDescription: 'small drift' }),
      ...marks.map((list, i) =>
        dot(
          list.filter(({ y }) => Number.isFinite(y)),
          {
            x: 'x',
            y: 'y',
            r: 3,
            stroke: 'currentColor',
            fill: LOOKS[i].fill,
            symbol: LOOKS[i].symbol,
            ariaDescription: `drift of the ${drifted[i].label}`,
          },
        ),
      ),
    ],
  });
  return { chart: drawn, marks: marks.flat() };
}

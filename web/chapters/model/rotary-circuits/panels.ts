// The panels of figure rotary-circuits: W(D) of a head over the distance D, and its energy by frequency.
import type { Markish } from '@observablehq/plot';
import { short } from '../../../charts/format';
import { colourOf, series } from '../../../charts/palette';
import { ruleY } from '../../../charts/plot';
import type { Output } from '../../../engine/protocol';
import { placeName } from '../../../heads/registry';
import type { Curve, PanelOptions } from '../panel';

export type RotaryHead = Output<'rotary-circuits'>['heads'][number];

/** Standard deviation of a head's logits for independent tokens of covariance I, mean over the distances. */
function deviation({ mean, variance_frobenius, width, head_width }: RotaryHead): number {
  const all = Array.from(mean, (it, i) => Math.sqrt((width * (variance_frobenius[i] + it ** 2)) / head_width));
  return all.reduce((sum, it) => sum + it, 0) / all.length;
}

const overDistance = ({ mean }: RotaryHead) => ({
  label: 'distance D in tokens →',
  values: Array.from(mean.keys()),
  say: (distance: number) => `distance ${distance}`,
});

const entryOf = ({ name, colour, dash }: Curve) => ({ text: name, kind: 'line' as const, colours: [colour], dash });

/** Expected logit of a token and its copy over their distance, of the head and faintly of its layer's others. */
export function logitPanel(head: RotaryHead, heads: readonly RotaryHead[]): PanelOptions {
  const curveOf = (it: RotaryHead, look: Omit<Curve, 'name' | 'y'>): Curve => {
    const scale = deviation(it);
    return { name: placeName(it), y: Array.from(it.logit, (logit) => logit / scale), ...look };
  };
  const others = heads.filter((it) => it !== head && it.layer === head.layer && it.stack === head.stack);
  const faint = { colour: 'var(--muted)', opacity: 0.35, width: 1 };
  const own = curveOf(head, { colour: series[0] });
  return {
    title: 'Logit of a token and its copy, in deviations',
    entries: [entryOf(own), { text: 'other heads of the layer', kind: 'line', colours: ['var(--muted)'] }],
    x: overDistance(head),
    y: { name: 'logit in deviations' },
    curves: [...others.map((it) => curveOf(it, faint)), own],
  };
}

/** Variances of the eigenspectrum over the distance. */
export function spectrumPanel(head: RotaryHead): PanelOptions {
  const curves = [
    { name: 'trace variance', y: head.variance, colour: colourOf('variance', 'trace') },
    { name: 'Frobenius variance', y: head.variance_frobenius, colour: colourOf('variance', 'frobenius'), dash: '7 4' },
  ];
  return {
    title: 'Variances of the eigenspectrum of W(D)',
    entries: curves.map(entryOf),
    x: overDistance(head),
    y: { name: 'variance' },
    curves,
  };
}

/** Tokens after which each pair of coordinates has turned once. */
export function turnsOf({ angle }: RotaryHead): number[] {
  return Array.from(angle, (it) => (2 * Math.PI) / it);
}

/** Shares of the pairs of coordinates in the norms of the projections. */
export function energyPanel(head: RotaryHead): PanelOptions {
  const curves = [
    { name: 'queries', y: head.query_energy, colour: series[0] },
    { name: 'keys', y: head.key_energy, colour: series[1], dash: '7 4' },
  ];
  const equal = { stroke: 'var(--muted)', strokeDasharray: '2 4', ariaDescription: 'equal shares' };
  return {
    title: 'Share of the squared norm by frequency',
    entries: [
      ...curves.map(entryOf),
      { text: 'equal shares', kind: 'line', colours: ['var(--muted)'], dash: equal.strokeDasharray },
    ],
    x: {
      label: 'tokens of a full turn →',
      values: turnsOf(head),
      log: true,
      say: (tokens) => `full turn in ${short(tokens)} tokens`,
    },
    y: { name: 'share' },
    curves,
    marks: [ruleY([1 / head.angle.length], equal)],
  };
}

/** Most ticks of an axis of layers. */
const MOST_TICKS = 8;

/** Scores of all heads by their layer; `marks` are the heads. */
export function scorePanel(heads: readonly RotaryHead[], marks: readonly Markish[]): PanelOptions {
  const last = Math.max(...heads.map(({ layer }) => layer));
  const step = Math.ceil((last + 1) / MOST_TICKS);
  const layers = Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => i * step);
  return {
    title: 'Previous-token score of all heads by layer',
    entries: [],
    x: { label: 'layer →', values: [-0.5, last + 0.5], ticks: layers, say: String },
    y: { name: 'score' },
    curves: [],
    marks,
  };
}

import type { Markish } from '@observablehq/plot';
import type { Entry } from '../../charts/legend';
import { line } from '../../charts/plot';
import type { Domain, Range } from './map-field';

/** Limits of what a matrix can be, as a legend has them. */
export const LIMITS = {
  width: { text: 'zero variance at this width', kind: 'line', colours: ['var(--ink)'], dash: '2 4' },
  rank: { text: 'rank floor of the heads', kind: 'line', colours: ['var(--ink)'], dash: '7 3' },
} as const satisfies Record<string, Entry>;

/**
 * The line below which no matrix of a rank lies: its eta_F is at least xi^2 / rank, when its non-zero
 * eigenvalues are real and equal.
 */
export function limitMark(
  { x: [left, right], y: [low] }: Domain,
  rank: number,
  { text: ariaDescription, dash }: Entry,
): Markish {
  const steps = Array.from({ length: 101 }, (_, i) => left + (i / 100) * (right - left));
  const inside = steps.map((x) => [x, Math.max(low, Math.abs(x) / Math.sqrt(rank))] as Range);
  const look = { stroke: 'var(--ink)', strokeOpacity: 0.6, strokeDasharray: dash, clip: true };
  return line(inside, { ...look, ariaDescription });
}

import type { Markish } from '@observablehq/plot';
import type { Entry } from '../../charts/legend';
import { line } from '../../charts/plot';
import { floorMark, type Point } from '../../charts/rank-floor';
import type { Domain } from './map-field';

/** The limit of all matrices of a width, as a legend has it. */
export const WIDTH_LIMIT: Entry = {
  text: 'zero variance at this width',
  kind: 'line',
  colours: ['var(--ink)'],
  dash: '2 4',
};

/**
 * The line below which no matrix of a rank lies: its eta_F is at least xi^2 / rank, when its non-zero
 * eigenvalues are real and equal.
 */
function limitOf({ x: [left, right], y: [low] }: Domain, rank: number): Point[] {
  const steps = Array.from({ length: 101 }, (_, i) => left + (i / 100) * (right - left));
  return steps.map((x) => [x, Math.max(low, Math.abs(x) / Math.sqrt(rank))]);
}

/** The limit of all matrices of a width. */
export function widthMark(domain: Domain, width: number): Markish {
  const { text: ariaDescription, dash: strokeDasharray } = WIDTH_LIMIT;
  const look = { stroke: 'var(--ink)', strokeOpacity: 0.6, strokeDasharray, clip: true as const };
  return line(limitOf(domain, width), { ...look, ariaDescription });
}

/** Variance over d m^2 at which L of both walks is about half way from its value at zero variance to its limit. */
export const HALF_WAY = 0.2;

/** The line of that variance, as a legend has it. */
export const HALF_WAY_LINE: Entry = {
  text: `v = ${HALF_WAY} d m²: L half way to its limit`,
  kind: 'line',
  colours: ['var(--ink)'],
  dash: '8 4',
};

/** sqrt(eta_F)/lambda on that line at |xi|/lambda = 1, of matrices of a width: eta_F = d (v + m^2), xi = d m. */
export const halfWaySlope = (width: number): number => Math.sqrt(HALF_WAY + 1 / width);

/** The line of that variance. */
export function halfWayMark(domain: Domain, width: number): Markish {
  const { text: ariaDescription, dash: strokeDasharray } = HALF_WAY_LINE;
  const look = { stroke: 'var(--ink)', strokeOpacity: 0.6, strokeDasharray, clip: true as const };
  return line(limitOf(domain, halfWaySlope(width) ** -2), { ...look, ariaDescription });
}

/** The limit of the matrices of the heads' rank. */
export function rankMark(domain: Domain, rank: number): Markish {
  return floorMark(limitOf(domain, rank).filter(([, y]) => y <= domain.y[1]));
}

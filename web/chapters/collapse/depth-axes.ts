import type { LayerPoint } from './stack-curves';
import type { Rank } from './state';

/** Residuals below this are rounding: the axis need not go further down. */
const LOWEST = 1e-17;

/** The horizontal axis of layers. */
export function layerAxis(depth: number) {
  const steps = [1, 2, 5, 10, 20, 50, 100];
  const step = steps.find((it) => depth / it <= 13) ?? 100;
  const ticks = Array.from({ length: Math.floor(depth / step) + 1 }, (_, i) => i * step);
  return { domain: [0, Math.max(1, depth)], label: 'layer →', labelAnchor: 'center', ticks } as const;
}

/** The range of a vertical axis that holds the points: whole decades for the residual. */
export function rankDomain(rank: Rank, points: LayerPoint[]): [number, number] {
  const values = points.map(({ value }) => value);
  if (rank === 'residual') {
    const low = Math.max(LOWEST, Math.min(0.1, ...values));
    return [10 ** Math.floor(Math.log10(low)), 1];
  }
  if (rank === 'cosine') return [Math.min(0, ...values.map((value) => 1.1 * value)), 1];
  return [0, 1.08 * Math.max(1, ...values)];
}

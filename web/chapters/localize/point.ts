// What the first screen shows of one mean and variance.
import { inputOf } from '../../engine/operations';
import type { Output, Setting, Theory } from '../../engine/protocol';
import { maskingOf, queryOf, settingOf } from '../../state/setting';
import type { FigureContext, State } from './state';

/** The eigenspectrum, one sampled attention matrix and the theory of the keys, of one mean and variance. */
export interface Point {
  mean: number;
  variance: number;
  /** The eigenvalues, as pairs of real and imaginary parts. */
  spectrum: Output<'spectrum'>;
  attention: Output<'attention'>;
  theory: Theory;
}

/** Products of wider matrices or more tokens than this take longer than a frame of the screen. */
const QUICK_SIZE = 256;

/** Whether a point is computed between two frames, and so while a control is dragged. */
export function isQuick({ length, width }: Readonly<State>): boolean {
  return length <= QUICK_SIZE && width <= QUICK_SIZE;
}

/** Asks for the point of the present state: three small jobs side by side. */
export async function askPoint(context: FigureContext): Promise<Point> {
  const { state } = context;
  const setting: Setting = settingOf(state);
  const [spectrum, attention, theory] = await Promise.all([
    context.run('spectrum', inputOf('spectrum', { ...setting })),
    context.run('attention', { ...setting, ...maskingOf(state) }),
    context.run('propagation', { ...setting, ...queryOf(state) }),
  ]);
  const { mean, variance } = state;
  return { mean, variance, spectrum, attention, theory };
}

/** Mean entropy of the rows of a matrix, each over the logarithm of its keys; a single key has none. */
export function meanEntropy({ entropy }: Point['attention']): number {
  const known = entropy.filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

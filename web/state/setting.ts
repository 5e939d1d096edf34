import type { Setting } from '../engine/protocol';
import { allowed, limitsOf, type State } from './table';

/** The names of the state that make up the engine's setting. */
export const SETTING = [
  'mean',
  'variance',
  'width',
  'head_width',
  'length',
  'temperature',
  'tokens',
  'correlation',
  'ensemble',
  'eigenvalues',
  'seed',
  'samples',
] as const;

/** A text of numbers separated by commas, semicolons or spaces. */
export function parseList(text: string): number[] {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== '');
  return parts.map(Number);
}

/** What the engine is asked about. */
export function settingOf(state: Readonly<State>): Setting {
  const chosen = Object.fromEntries(SETTING.map((name) => [name, state[name]]));
  const eigenvalues = state.ensemble === 'list' ? parseList(state.eigenvalues) : [];
  return { ...(chosen as unknown as Setting), eigenvalues };
}

/** Number of eigenvalues: the list's own length, or the width. */
export function widthOf(state: Readonly<State>): number {
  return state.ensemble === 'list' ? parseList(state.eigenvalues).length : state.width;
}

/** The means that the lead figure compares: the chosen one, a quarter and twice of it. */
export function meansOf(state: Readonly<State>): number[] {
  const { mean } = state;
  const { fallback } = limitsOf('mean');
  const means = mean === 0 ? [0, fallback, -fallback] : [mean, mean / 4, allowed('mean', 2 * mean)];
  return [...new Set(means)];
}

/** K(T, T): the scale of the last token's covariance under the token process. */
export function lastVariance(state: Readonly<State>): number {
  return state.tokens === 'random-walk' ? state.length : 1;
}

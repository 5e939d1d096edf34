import type { Fact } from '../shared/preset';
import type { Localized } from './presets';
import type { State } from './state';

/** Settings of which the prose of this view tells numbers, beside those of the presets. */
export const localizeFacts: readonly Fact<State, Localized>[] = [
  {
    id: 'limit',
    state: { variance: 100 },
    claim: ({ limit, large }) => Math.abs(limit.localization - large.localization) < 0.01,
  },
  {
    id: 'short',
    state: { mean: 0.001, variance: 10, length: 24 },
    claim: ({ short, limit }) => short.localization > 0.05 && short.localization < 0.8 * limit.localization,
  },
  {
    id: 'shorter',
    state: { variance: 10, length: 24 },
    claim: ({ shorter, short, limit }) =>
      shorter.localization > short.localization && shorter.localization < limit.localization,
  },
  {
    id: 'steep',
    state: { mean: 1, variance: 10, length: 24 },
    claim: ({ steep, limit }) => steep.localization > 3 * limit.localization,
  },
];

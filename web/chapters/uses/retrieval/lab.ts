import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { RetrievalOutput } from './marks';
import { retrievalPresets, type RetrievalMeasured, retrievalMeasured } from './presets';

/** What the lab is asked about. */
export const RETRIEVAL_INPUTS = ['sequences', 'peak_weight', 'seed'] as const;

/** Without the models and their text. */
export function retrievalInput(state: Readonly<State>): Omit<Input<'hard-retrieval'>, 'runs' | 'text'> {
  return inputOf('hard-retrieval', pick(state, RETRIEVAL_INPUTS));
}

export const retrievalLab: Lab<RetrievalOutput, RetrievalMeasured> = {
  figure: 'hard-retrieval',
  presets: retrievalPresets,
  find: (state, ask) => ask('hard-retrieval', retrievalInput(state)),
  measured: retrievalMeasured,
};

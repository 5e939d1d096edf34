import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { RetrievalOutput } from './marks';
import { retrievalPresets, type RetrievalMeasured } from './presets';

/** What the lab is asked about. */
export const RETRIEVAL_INPUTS = ['sequences', 'peak_weight', 'seed'] as const;

/** Without the models and their text. */
export function retrievalInput(state: Readonly<State>): Omit<Input<'hard-retrieval'>, 'runs' | 'text'> {
  return inputOf('hard-retrieval', pick(state, RETRIEVAL_INPUTS));
}

/** Share of peaked rows above which a head is peaked. */
const PEAKED = 0.9;

/** The numbers of the sentences of `hard-retrieval`. */
function retrievalMeasured(output: RetrievalOutput): RetrievalMeasured {
  const { heads, worse, correlations, read_hard, trained_hard } = output;
  const peaked = heads.filter(({ measured }) => measured > PEAKED);
  const sum = (cost: 'hard' | 'uniform') => peaked.reduce((all, head) => all + (head[cost] ?? NaN), 0);
  const measured = correlations.find(({ localization }) => localization === 'measured');
  return {
    heads: heads.length,
    worse,
    peaked_share: sum('hard') / sum('uniform'),
    read_hard: read_hard ?? NaN,
    trained_hard: trained_hard ?? NaN,
    share: measured?.share ?? NaN,
    null: measured?.null ?? NaN,
    null_low: measured?.null_low ?? NaN,
  };
}

export const retrievalLab: Lab<RetrievalOutput, RetrievalMeasured> = {
  figure: 'hard-retrieval',
  presets: retrievalPresets,
  find: (state, ask) => ask('hard-retrieval', retrievalInput(state)),
  measured: retrievalMeasured,
};

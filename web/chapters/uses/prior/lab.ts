import { barred } from '../../../charts/with-error';
import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import { FEW, MANY, rowOf, SOME } from './claim';
import type { PriorOutput } from './marks';
import { priorPresets, type PriorMeasured } from './presets';

/** What the lab is asked about. */
export const PRIOR_INPUTS = ['prior_weight', 'head_width', 'start_scale', 'trainings', 'seed'] as const;

export function priorInput(state: Readonly<State>): Input<'attention-prior'> {
  return inputOf('attention-prior', pick(state, PRIOR_INPUTS));
}

/** The numbers of the sentences of `attention-prior`. */
function priorMeasured(output: PriorOutput): PriorMeasured {
  const at = (examples: number) => {
    const accuracy = (prior: PriorOutput['rows'][number]['prior']) => rowOf(output, prior, examples).accuracy ?? NaN;
    return {
      none: accuracy('none'),
      correct: accuracy('correct'),
      half: accuracy('half'),
      random: accuracy('random'),
      uniform: accuracy('uniform'),
      wrong: accuracy('wrong'),
    };
  };
  const gain = (prior: PriorOutput['rows'][number]['prior']) => {
    const { gain, gain_error } = rowOf(output, prior, SOME);
    return barred(gain, gain_error);
  };
  const weight = (prior: PriorOutput['rows'][number]['prior']) => rowOf(output, prior, MANY).target_weight ?? NaN;
  return {
    few: at(FEW),
    some: at(SOME),
    gain: { correct: gain('correct'), uniform: gain('uniform') },
    many: at(MANY),
    weight: { none: weight('none'), correct: weight('correct'), uniform: weight('uniform') },
  };
}

export const priorLab: Lab<PriorOutput, PriorMeasured> = {
  figure: 'attention-prior',
  presets: priorPresets,
  find: (state, ask) => ask('attention-prior', priorInput(state)),
  measured: priorMeasured,
};

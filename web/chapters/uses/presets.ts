import type { Output } from '../../engine/protocol';
import type { Preset } from '../shared/preset';
import { agentRow, LOUD, MOST_DISTRACTORS } from './agents/claim';
import type { AgentOutput } from './agents/marks';
import { agentPresets, type AgentMeasured } from './agents/presets';
import { contextRow, type ContextOutput, type ContextRow } from './contexts/marks';
import { contextPresets, type ContextMeasured } from './contexts/presets';
import type { LatentOutput } from './latent/marks';
import { latentPresets, type LatentMeasured } from './latent/presets';
import { positionPresets, type PositionMeasured } from './position/presets';
import { FEW, MANY, rowOf, SOME } from './prior/claim';
import type { PriorOutput } from './prior/marks';
import { priorPresets, type PriorMeasured } from './prior/presets';
import type { RetrievalOutput } from './retrieval/marks';
import { retrievalPresets, type RetrievalMeasured } from './retrieval/presets';
import type { State } from './state';

export type UsesMeasured = Record<
  string,
  PositionMeasured & LatentMeasured & PriorMeasured & AgentMeasured & RetrievalMeasured & ContextMeasured
>;

export const usesPresets: readonly Preset<State, UsesMeasured>[] = [
  ...(positionPresets as readonly Preset<State, UsesMeasured>[]),
  ...(latentPresets as readonly Preset<State, UsesMeasured>[]),
  ...(priorPresets as readonly Preset<State, UsesMeasured>[]),
  ...(agentPresets as readonly Preset<State, UsesMeasured>[]),
  ...(retrievalPresets as readonly Preset<State, UsesMeasured>[]),
  ...(contextPresets as readonly Preset<State, UsesMeasured>[]),
];

/** The numbers of the sentences of `position-meaning`. */
export function positionMeasured(output: Output<'position-meaning'>): PositionMeasured {
  const { crossing, crossing_error, theory_crossing, rows } = output;
  const last = rows[rows.length - 1];
  return {
    ...{ crossing, crossing_error, theory_crossing },
    difference: last.difference ?? NaN,
    random_difference: last.random_difference ?? NaN,
    random_share: last.random_semantic_share ?? NaN,
    meaning: last.meaning_meaning_overlap ?? NaN,
  };
}

/** The numbers of the sentences of `latent-posterior`. */
export function latentMeasured({ classes, values }: LatentOutput): LatentMeasured {
  const { rows } = classes;
  const best = rows.reduce((a, b) => ((b.tuned_loss ?? NaN) < (a.tuned_loss ?? NaN) ? b : a));
  const { lengths, temperature_slope, error_slope, posterior_slope } = values;
  const ratios = lengths.map(({ best_error, posterior_error }) => (best_error ?? NaN) / (posterior_error ?? NaN));
  const last = lengths[lengths.length - 1];
  return {
    flat: rows.find(({ exponent }) => exponent === 0)?.tuned_loss ?? NaN,
    best: best.tuned_loss ?? NaN,
    shuffled: best.shuffled_tuned_loss ?? NaN,
    posterior: classes.posterior_loss ?? NaN,
    best_variance: best.variance,
    ...{ temperature_slope, error_slope, posterior_slope: posterior_slope ?? NaN },
    ratio_first: ratios[0],
    ratio_last: ratios[ratios.length - 1],
    softmax: last.best_error ?? NaN,
    linear: last.linear_error ?? NaN,
  };
}

/** The numbers of the sentences of `attention-prior`. */
export function priorMeasured(output: PriorOutput): PriorMeasured {
  const at = (examples: number) => {
    const accuracy = (prior: PriorOutput['rows'][number]['prior']) => rowOf(output, prior, examples).accuracy ?? NaN;
    return {
      ...{ none: accuracy('none'), correct: accuracy('correct'), half: accuracy('half') },
      ...{ random: accuracy('random'), uniform: accuracy('uniform'), wrong: accuracy('wrong') },
    };
  };
  const weight = (prior: PriorOutput['rows'][number]['prior']) => rowOf(output, prior, MANY).target_weight ?? NaN;
  return {
    ...{ few: at(FEW), some: at(SOME), many: at(MANY) },
    weight: { none: weight('none'), correct: weight('correct'), uniform: weight('uniform') },
  };
}

/** The numbers of the sentences of `agent-attention`. */
export function agentMeasured(output: AgentOutput): AgentMeasured {
  const at = (scale: number) => {
    const accuracy = (policy: AgentOutput['rows'][number]['policy']) =>
      agentRow(output, policy, MOST_DISTRACTORS, scale).accuracy ?? NaN;
    return {
      ...{ attention: accuracy('attention'), uniform: accuracy('uniform') },
      ...{ sparse: accuracy('sparse'), plain: accuracy('plain') },
    };
  };
  return { most: at(1), loud: at(LOUD) };
}

/** Share of peaked rows above which a head is peaked. */
const PEAKED = 0.9;

/** The numbers of the sentences of `hard-retrieval`. */
export function retrievalMeasured(output: RetrievalOutput): RetrievalMeasured {
  const { heads, worse, correlations, read_hard, trained_hard } = output;
  const peaked = heads.filter(({ measured }) => measured > PEAKED);
  const sum = (cost: 'hard' | 'uniform') => peaked.reduce((all, head) => all + (head[cost] ?? NaN), 0);
  const measured = correlations.find(({ localization }) => localization === 'measured');
  return {
    ...{ heads: heads.length, worse, peaked_share: sum('hard') / sum('uniform') },
    ...{ read_hard: read_hard ?? NaN, trained_hard: trained_hard ?? NaN },
    share: measured?.share ?? NaN,
    null: measured?.null ?? NaN,
    null_low: measured?.null_low ?? NaN,
  };
}

/** The numbers of the sentences of `parallel-contexts`. */
export function contextMeasured(output: ContextOutput): ContextMeasured {
  const at = (reading: ContextRow['reading'], blocks?: number) => contextRow(output, reading, blocks);
  const added = (row?: ContextRow) => row?.added ?? NaN;
  const error = (row?: ContextRow) => row?.added_error ?? NaN;
  const entropy = (row?: ContextRow) => row?.entropy_added ?? NaN;
  const [reset, none, kept, sharpened, mass] = [at('reset'), at('none', 0), at('kept'), at('sharpened'), at('mass')];
  return {
    ...{ reset: added(reset), reset_entropy: entropy(reset), reset_four: added(at('reset', 4)) },
    ...{ none: added(none), none_error: error(none), kept: added(kept), kept_error: error(kept) },
    ...{ sharpened: added(sharpened), sharpened_entropy: entropy(sharpened) },
    ...{ mass: added(mass), mass_entropy: entropy(mass), random: added(at('random')), last: added(at('last')) },
  };
}

import type { Barred } from '../../../charts/with-error';
import type { Preset } from '../../shared/preset';
import type { State } from '../state';

type Accuracies = Record<'none' | 'correct' | 'half' | 'random' | 'uniform' | 'wrong', number>;

/** Of each preset's state, by `eigenscope attention-prior`. */
export interface PriorMeasured {
  /** Accuracies with 200, 400 and 1600 examples. */
  few: Accuracies;
  some: Accuracies;
  many: Accuracies;
  /** Accuracy added to no prior with 400 examples, and the length of its error bar. */
  gain: Record<'correct' | 'uniform', Barred>;
  /** Weight on the target with 1600 examples. */
  weight: Record<'none' | 'correct' | 'uniform', number>;
}

export const priorPresets: readonly Preset<State, Record<string, PriorMeasured>>[] = [
  {
    id: 'target',
    figure: 'attention-prior',
    name: 'Prior on the target',
    text:
      'With 200 examples the accuracy is {target.few.correct} with a prior on the target, {target.few.none} ' +
      'without a prior and {target.few.random} with a prior on random objects.',
    state: {},
    claim: ({ target: { few } }) => few.correct > few.none + 0.2 && Math.abs(few.random - few.none) < 0.1,
  },
  {
    id: 'uniform',
    figure: 'attention-prior',
    name: 'Uniform prior',
    text:
      '<b>Most of the gain needs no knowledge of the target</b> with 400 examples: a uniform prior raises the ' +
      'accuracy from {uniform.some.none} to {uniform.some.uniform}, the prior on the target to ' +
      '{uniform.some.correct}.',
    state: {},
    claim: ({ uniform: { some } }) => some.uniform - some.none > 0.5 * (some.correct - some.none) && some.uniform > 0.7,
  },
  {
    id: 'many',
    figure: 'attention-prior',
    name: 'Many examples',
    text:
      '<b>The claim of Le et al. fails.</b> With 1,600 examples the accuracy is {many.many.none} without and ' +
      '{many.many.correct} with the prior on the target. Accuracy does not show the weight on the target: with the ' +
      'uniform prior it is {many.many.uniform}, and {many.weight.uniform} of the attention is on the target.',
    state: {},
    claim: ({ many: { many, weight } }) =>
      Math.abs(many.correct - many.none) < 0.02 && many.uniform > 0.98 && weight.uniform < 0.5,
  },
  {
    id: 'strict',
    figure: 'attention-prior',
    name: 'Strict prior',
    text:
      '<b>The claim of Le et al. fails</b> for imprecise priors with a large weight: at $c$ = 10 and 1,600 ' +
      'examples a prior that is right in half of the examples has an accuracy of {strict.many.half}, one on random ' +
      'objects {strict.many.random}; without a prior it is {strict.many.none}.',
    state: { prior_weight: 10 },
    claim: ({ strict: { many } }) => many.half < many.none - 0.005 && many.random < many.none - 0.2,
  },
];

import { estimate } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { FEW, MANY, rowOf, SOME } from './claim';
import type { PriorOutput } from './marks';

type Prior = PriorOutput['rows'][number]['prior'];

/** Of each preset's state, by `eigenscope attention-prior`. */
export function priorMeasured(output: PriorOutput) {
  const at = (examples: number) => {
    const accuracy = <P extends Prior>(prior: P) => estimate(prior, rowOf(output, prior, examples), 'accuracy');
    return {
      ...accuracy('none'),
      ...accuracy('correct'),
      ...accuracy('half'),
      ...accuracy('random'),
      ...accuracy('uniform'),
      ...accuracy('wrong'),
    };
  };
  const gain = <P extends Prior>(prior: P) => estimate(prior, rowOf(output, prior, SOME), 'gain');
  const weight = <P extends Prior>(prior: P) => estimate(prior, rowOf(output, prior, MANY), 'target_weight');
  return {
    // Accuracies with 200, 400 and 1600 examples.
    few: at(FEW),
    some: at(SOME),
    // Accuracy added to no prior with 400 examples.
    gain: { ...gain('correct'), ...gain('uniform') },
    many: at(MANY),
    // Weight on the target with 1600 examples.
    weight: { ...weight('none'), ...weight('correct'), ...weight('uniform') },
  };
}
export type PriorMeasured = ReturnType<typeof priorMeasured>;

export const priorPresets: readonly LabPreset<PriorMeasured>[] = [
  {
    id: 'target',
    name: 'Prior on the target',
    text:
      'With 200 examples the accuracy is {target.few.correct} with a prior on the target, {target.few.none} ' +
      'without a prior and {target.few.random} with a prior on random objects.',
    claim: ({ target: { few } }) => few.correct > few.none + 0.2 && Math.abs(few.random - few.none) < 0.1,
  },
  {
    id: 'uniform',
    name: 'Uniform prior',
    text:
      '<b>Most of the gain needs no knowledge of the target</b> with 400 examples: a uniform prior raises the ' +
      'accuracy from {uniform.some.none} to {uniform.some.uniform}, the prior on the target to ' +
      '{uniform.some.correct}.',
    claim: ({ uniform: { some } }) => some.uniform - some.none > 0.5 * (some.correct - some.none) && some.uniform > 0.7,
  },
  {
    id: 'many',
    name: 'Many examples',
    text:
      '<b>The claim of Le et al. fails.</b> With 1,600 examples the accuracy is {many.many.none} without and ' +
      '{many.many.correct} with the prior on the target. Accuracy does not show the weight on the target: with the ' +
      'uniform prior it is {many.many.uniform}, and {many.weight.uniform} of the attention is on the target.',
    claim: ({ many: { many, weight } }) =>
      Math.abs(many.correct - many.none) < 0.02 && many.uniform > 0.98 && weight.uniform < 0.5,
  },
  {
    id: 'strict',
    name: 'Strict prior',
    text:
      '<b>The claim of Le et al. fails</b> for imprecise priors with a large weight: at $c$ = 10 and 1,600 ' +
      'examples a prior that is right in half of the examples has an accuracy of {strict.many.half}, one on random ' +
      'objects {strict.many.random}; without a prior it is {strict.many.none}.',
    state: { prior_weight: 10 },
    claim: ({ strict: { many } }) => many.half < many.none - 0.005 && many.random < many.none - 0.2,
  },
];

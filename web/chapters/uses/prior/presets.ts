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
  const gain = <P extends Prior>(prior: P, examples: number) => estimate(prior, rowOf(output, prior, examples), 'gain');
  const weight = <P extends Prior>(prior: P) => estimate(prior, rowOf(output, prior, MANY), 'target_weight');
  return {
    // Accuracies with 200, 400 and 1600 examples.
    few: at(FEW),
    some: at(SOME),
    // Accuracy added to no prior with 200 and with 400 examples.
    few_gain: { ...gain('correct', FEW), ...gain('uniform', FEW) },
    gain: { ...gain('correct', SOME), ...gain('uniform', SOME) },
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
      '<b>The claim of Le et al. holds with few examples.</b> With 200 the prior on the target adds ' +
      '{target.few_gain.correct} to the accuracy of {target.few.none}, a uniform prior {target.few_gain.uniform}; ' +
      'with a prior on random objects the accuracy is {target.few.random}.',
    source: 'holds',
    claim: ({ target: { few, few_gain: gain } }) =>
      gain.correct > 2 * gain.correct_error && gain.correct > 2 * gain.uniform && Math.abs(few.random - few.none) < 0.1,
  },
  {
    id: 'uniform',
    name: 'Uniform prior',
    text:
      '<b>With 400 examples most of the gain needs no knowledge of the target</b>: a uniform prior raises the ' +
      'accuracy from {uniform.some.none} to {uniform.some.uniform}, the prior on the target to ' +
      '{uniform.some.correct}.',
    claim: ({ uniform: { some } }) => some.uniform - some.none > 0.5 * (some.correct - some.none) && some.uniform > 0.7,
  },
  {
    id: 'many',
    name: 'Many examples',
    text:
      '<b>Many examples need no prior.</b> With 1,600 the accuracy is {many.many.none} without and ' +
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

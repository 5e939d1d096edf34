import { count } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { FEW, MANY, rowOf, SOME, type Measured, type Prior, type PriorOutput } from './lab';

export const presets: readonly LabPreset<Measured>[] = [
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
    source: 'fails',
    claim: ({ strict: { many } }) => many.half < many.none - 0.005 && many.random < many.none - 0.2,
  },
];

/** What priors do for the accuracy. */
export function claim(output: PriorOutput): string {
  const gain = (prior: Prior, examples: number) => fieldWithError(rowOf(output, prior, examples), 'gain');
  const none = rowOf(output, 'none', FEW);
  return (
    `With ${FEW} examples the prior on the target adds ${gain('correct', FEW)} to the accuracy of ` +
    `${fieldWithError(none, 'accuracy')}, a uniform prior, without information on the target, ` +
    `${gain('uniform', FEW)}. With ${SOME} examples it adds ${gain('correct', SOME)}, ` +
    `the uniform prior ${gain('uniform', SOME)}. ` +
    `With ${count(MANY)} examples the prior on the target adds ${gain('correct', MANY)}, one on a wrong object ` +
    `${gain('wrong', MANY)}.`
  );
}

/** What accuracy and spectrum have to do with the weight on the target. */
export function grounding(output: PriorOutput): string {
  if (output.mean_error === null) return '';
  const correlation = (what: 'mean' | 'variance' | 'accuracy') => fieldWithError(output, `${what}_correlation`);
  return (
    `Over all points the weight on the target has the rank correlation ${correlation('mean')} ` +
    `with the mean of the eigenspectrum, ${correlation('variance')} with its variance and ` +
    `${correlation('accuracy')} with the accuracy; it differs from that of W = m I by ` +
    `${fieldWithError(output, 'mean_error')} on average.`
  );
}

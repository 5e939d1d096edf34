import { short } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { agentRow, LOUD, MOST_DISTRACTORS, type AgentOutput, type Measured, type Policy } from './lab';

export const presets: readonly LabPreset<Measured>[] = [
  {
    id: 'quiet',
    name: 'Quiet distractors',
    text:
      'With 32 irrelevant features of half the scale of the relevant ones and tokens of width 32 the accuracy is ' +
      '{quiet.most.attention} with self-attention, {quiet.most.uniform} with uniform attention weights and ' +
      '{quiet.most.plain} with a perceptron of as many parameters.',
    state: { distractor_scale: 0.5, feature_width: 32 },
    claim: ({ quiet: { most } }) => most.attention > most.plain + 0.02 && most.attention > most.uniform + 0.005,
  },
  {
    id: 'penalty',
    name: 'A penalty instead',
    text:
      '<b>The claim of Bramlage and Cortese holds</b> with 32 irrelevant features: self-attention adds ' +
      '{penalty.gain.attention} to the accuracy of the perceptron, {penalty.most.plain}. An L1 penalty, whose weight ' +
      'alone was tuned, adds {penalty.gain.sparse}.',
    source: 'holds',
    claim: ({ penalty: { gain, most } }) =>
      gain.attention > 2 * gain.attention_error && most.sparse > most.attention + 0.02,
  },
  {
    id: 'loud',
    name: 'Louder distractors',
    text:
      '<b>The claim of Bramlage and Cortese fails.</b> At three times their scale in training, 32 distractors ' +
      'leave self-attention an accuracy of {loud.loud.attention}, the perceptron {loud.loud.plain}, and the ' +
      'perceptron with an L1 penalty {loud.loud.sparse}.',
    source: 'fails',
    claim: ({ loud: { loud } }) => loud.attention < loud.plain - 0.05 && loud.sparse > loud.plain + 0.1,
  },
  {
    id: 'rewards',
    name: 'Policy gradient',
    text:
      '<b>Attention does not help a policy gradient.</b> Learning from rewards, with 32 irrelevant features, the ' +
      'perceptron has an accuracy of {rewards.most.plain}, self-attention {rewards.most.attention} and a static gate ' +
      '{rewards.most.gate}.',
    state: { learning: 'policy-gradient' },
    claim: ({ rewards: { most } }) => most.attention < most.plain + 0.01 && most.gate > most.plain + 0.02,
  },
  {
    id: 'shuffled',
    name: 'Shuffled slots',
    text:
      '<b>Tokens, not attention weights, make a policy independent of the order of features.</b> With 36 features in ' +
      'random places the accuracy is {shuffled.most.attention} with self-attention, {shuffled.most.uniform} with ' +
      'uniform weights and {shuffled.most.plain} with a perceptron, which is not told the features’ places.',
    state: { slots: 'shuffled' },
    claim: ({ shuffled: { most } }) =>
      most.uniform > most.attention - 0.015 && Math.min(most.attention, most.uniform) > most.plain + 0.3,
  },
];

/** What attention does for the accuracy. */
export function claim(output: AgentOutput): string {
  const gain = (policy: Policy, scale = 1) => fieldWithError(agentRow(output, policy, MOST_DISTRACTORS, scale), 'gain');
  return (
    `With ${MOST_DISTRACTORS} distractors self-attention adds ${gain('attention')} ` +
    `to the accuracy of the perceptron, ${fieldWithError(agentRow(output, 'plain', MOST_DISTRACTORS), 'accuracy')}; ` +
    `uniform attention weights add ${gain('uniform')}, an L1 penalty ${gain('sparse')}. ` +
    `At ${LOUD} times the scale in training self-attention adds ${gain('attention', LOUD)}, the L1 penalty ` +
    `${gain('sparse', LOUD)}.`
  );
}

/** What attention and eigenvectors have to do with the relevant features. */
export function directions(output: AgentOutput): string {
  const eigenvectors = output.eigenvectors.find(({ distractors }) => distractors === MOST_DISTRACTORS);
  if (!eigenvectors || eigenvectors.share === null) return '';
  const share = (scale: number) =>
    fieldWithError(agentRow(output, 'attention', MOST_DISTRACTORS, scale), 'relevant_share');
  return (
    `With ${MOST_DISTRACTORS} distractors the four leading eigenvectors of W have ` +
    `${fieldWithError(eigenvectors, 'share')} of their squared entries on the four relevant features ` +
    `(random directions ${short(eigenvectors.random)}), the attention weights ${share(1)}, at ${LOUD} times the scale ` +
    `${share(LOUD)}.`
  );
}

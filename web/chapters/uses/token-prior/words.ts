import { count } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { endsOf, rowOf, type Measured, type Prior, type TokenPriorOutput } from './lab';

export const presets: readonly LabPreset<Measured>[] = [
  {
    id: 'bias',
    name: 'Position bias',
    text:
      '<b>The claim of Le et al. fails</b> where positions are a bias of the logits: the prior adds {bias.few} bits ' +
      'per byte with 2,000 training bytes and {bias.many} with 128,000. Without it one head has the weight ' +
      '{bias.head} on the previous token.',
    claim: ({ bias: it }) =>
      it.few > -0.05 && it.few > -2 * it.few_error && it.many > -0.05 && it.many > -2 * it.many_error && it.head > 0.6,
    source: 'fails',
  },
  {
    id: 'vectors',
    name: 'Learned positions',
    text:
      'With learned position vectors no head finds the previous token in 200 steps (largest weight {vectors.head}): a ' +
      'weak prior on it adds {vectors.few} bits with 2,000 training bytes and {vectors.many} ' +
      'with 128,000. The same prior on the token 16 before adds {vectors.far}: its place matters.',
    state: { positions: 'learned', prior_weight: 0.1 },
    source: 'holds',
    claim: ({ vectors: it }) =>
      it.few < -2 * it.few_error &&
      it.many < -2 * it.many_error &&
      it.head < 0.3 &&
      it.prior > 0.5 &&
      it.far > 2 * it.far_error,
  },
  {
    id: 'heavy',
    name: 'Weight 1',
    text:
      'A strict prior moves the attention without lowering the loss: at $c$ = 1 the mean weight on the previous token ' +
      'is {heavy.prior}, and the prior adds {heavy.many} bits with 128,000 bytes.',
    state: { positions: 'learned' },
    claim: ({ heavy: it }) => it.prior > 0.9 && it.many > -2 * it.many_error,
  },
  {
    id: 'far',
    name: 'A wrong prior',
    text: 'A prior on the token 16 before costs {far.far} bits per byte with 128,000 bytes.',
    claim: ({ far: it }) => it.far > 2 * it.far_error,
  },
];

/** What both priors add to the loss. */
export function claim(output: TokenPriorOutput): string {
  const [few, many] = endsOf(output);
  const added = (prior: Prior, bytes: number) => fieldWithError(rowOf(output, prior, bytes), 'added');
  return (
    `With ${count(few)} training bytes the prior on the previous token adds ${added('previous', few)} bits per byte ` +
    `to the loss, with ${count(many)} bytes ${added('previous', many)}. The prior on the token 16 before adds ` +
    `${added('far', few)} and ${added('far', many)}.`
  );
}

/** How much of its attention the model gives to the previous token by itself. */
export function weights(output: TokenPriorOutput): string {
  const [, many] = endsOf(output);
  const none = rowOf(output, 'none', many);
  const previous = rowOf(output, 'previous', many);
  if (none.largest_weight === null || previous.mean_weight === null) return '';
  return (
    `With ${count(many)} bytes and no prior, the head with most weight on the previous token has ` +
    `${fieldWithError(none, 'largest_weight')}; with the prior on this token the mean over heads is ` +
    `${fieldWithError(previous, 'mean_weight')}.`
  );
}

import { estimate } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { endsOf, rowOf, type TokenPriorOutput } from './marks';

/** Of each preset's state, by `eigenscope token-prior`: bits per byte that a prior adds to the loss, and weights. */
export function tokenPriorMeasured(output: TokenPriorOutput) {
  const [few, many] = endsOf(output);
  const [first, last, far] = [
    rowOf(output, 'previous', few),
    rowOf(output, 'previous', many),
    rowOf(output, 'far', many),
  ];
  return {
    // The prior on the previous token, with the fewest and the most training bytes.
    ...estimate('few', first, 'added'),
    ...estimate('many', last, 'added'),
    // The prior on the token 16 before, with the most.
    ...estimate('far', far, 'added'),
    // Weight on the previous token in the head that has most of it, with the most bytes and no prior.
    ...estimate('head', rowOf(output, 'none', many), 'largest_weight'),
    // The same over all heads, with the prior on this token.
    ...estimate('prior', last, 'mean_weight'),
  };
}
export type TokenPriorMeasured = ReturnType<typeof tokenPriorMeasured>;

export const tokenPriorPresets: readonly LabPreset<TokenPriorMeasured>[] = [
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

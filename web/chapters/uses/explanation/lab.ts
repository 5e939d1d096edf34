import { estimate } from '../../../charts/with-error';
import type { Output } from '../../../engine/protocol';
import { choice } from '../../../state/control';
import { labOf } from '../lab';

export type ExplanationOutput = Output<'attention-explanation'>;
export type Explanation = ExplanationOutput['rows'][number]['explanation'];

const controls = {
  removal: choice(
    'Token removed by',
    { dropped: 'dropping its key', masked: 'the mask token' },
    'How a token is taken away from the other tokens',
  ),
  agreement_scale: choice(
    'Agreement as',
    { correlation: 'rank correlation', information: 'information (bits)' },
    'Rank correlation, or the mutual information of a Gaussian copula with this rank correlation',
  ),
};
export type Removal = (typeof controls)['removal']['default'];
export type Scale = (typeof controls)['agreement_scale']['default'];

/** Number and length of passages are controls of `attention-sinks`; its own ones choose what is shown. */
export const lab = labOf('attention-explanation', ['passages', 'length', 'seed'], controls);

export const explanationRow = ({ rows }: ExplanationOutput, explanation: Explanation) =>
  rows.find((row) => row.explanation === explanation);

/** The numbers of the sentences: rank correlations with the change of the output. */
export function measured(output: ExplanationOutput) {
  const { heads, nulls } = output;
  const best = explanationRow(output, 'best');
  const layer = explanationRow(output, 'last-layer-norm');
  const chance = nulls.find(({ removal, explained_by }) => removal === 'dropped' && explained_by === 'attention');
  return {
    dropped: {
      ...estimate('best', best, 'dropped'),
      ...estimate('last_layer_norm', layer, 'dropped'),
      last_layer_bits: layer?.dropped_bits ?? NaN,
    },
    ...estimate('agreement', output, 'agreement'),
    // Over token frequency, with dropped keys and with the mask token.
    gain: {
      ...estimate('best', best, 'dropped_gain'),
      ...estimate('last_layer_norm', layer, 'dropped_gain'),
      ...estimate('all_masked', explanationRow(output, 'all'), 'masked_gain'),
    },
    // Heads above chance, of all.
    above: chance?.above ?? NaN,
    all: heads.length,
  };
}
export type Measured = ReturnType<typeof measured>;

import { choice } from '../../../state/control';

/** The controls of the lab `attention-explanation`: what its charts show. */
export const explanationControls = {
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

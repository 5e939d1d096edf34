import { selfLogit } from '../../../heads/traces';
import type { Scatter } from '../head-scatter';

/** How much more a token attends to itself, against what the trace of W Sigma says. */
export const selfAttention: Scatter = {
  id: 'self-attention',
  inputs: ['sigma', 'sample'],
  x: { axis: 'tr(WΣ)/λ, predicted excess of the self-logit', name: 'tr(WΣ)/λ' },
  y: { axis: 'measured self-attention excess', name: 'measured excess' },
  claim: ['The trace', 'self-attention excess'],
  placeOf: (head, traces) => [selfLogit(traces, head), head.measured?.self_weight],
  cells: ({ head, x, y }) => ({
    predicted_self_logit: x,
    self_logit: head.measured?.self_logit ?? null,
    self_weight: y,
  }),
};

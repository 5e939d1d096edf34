// Upper bound of the logits of a head over all texts.
#pragma once

#include "checkpoint/heads.h"

namespace eigenscope {

/// Upper bound of |logit| = |q . k| / sqrt(d_h) over all tokens, biases included, before a soft cap. Queries and keys
/// are q = A^T n + a and k = B^T n' + b for outputs n, n' of a norm without its gain, of which |n|^2 <= d holds for
/// LayerNorm and RMSNorm (A and B have its gain). Hence
///   |q . k| <= d sigma_max(A B^T) + sqrt(d) (|A b| + |B a|) + |a . b|.
/// A rotary head is bounded at its offset. `spectral_norm` is sigma_max(W), or NaN where it is not known. NaN where
/// `head` does not have both inputs, or their biases or gains are not finite. Costs O(d d_h), or O(d d_h^2 + d_h^3)
/// where the gain is not in W or `spectral_norm` is NaN.
///
/// In latent attention queries and keys read normalized compressions u and v of r_q and r_k coordinates, |u|^2 <= r_q
/// and |v|^2 <= r_k: their coordinates that do not turn are A^T u and B^T v, those that turn are C^T u and E^T n.
/// Hence |q . k| <= sqrt(r_q r_k) sigma_max(A B^T) + sqrt(r_q d) sigma_max(C E^T); without compressed queries r_q is d.
/// HeadScan computes this bound.
template <class Scalar>
double logit_bound(const FactorsOf<Scalar>& head, double spectral_norm);

}  // namespace eigenscope

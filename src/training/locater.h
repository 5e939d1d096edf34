// LocAteR (Bao, Hataya, Karakida, ICML 2024): shrink the scale of every head's eigenspectrum, keep its
// mean.
#pragma once

#include <vector>

#include "training/model.h"

namespace eigenscope {

/// Traces of one head's W = W_Q W_K^T (d x d, unfolded: without LayerNorm's gain), from its factors.
struct HeadTraces {
  double trace = 0;         ///< tr(W)
  double trace_square = 0;  ///< tr(W^2), negative where complex eigenvalues prevail
  double frobenius = 0;     ///< ||W||_F^2
};
/// At O(d d_h^2), never forming W.
template <class Scalar>
HeadTraces head_traces(const Model<Scalar>& model, Eigen::Index layer, Eigen::Index head);

/// tr(W)/d of every head, layer by layer.
template <class Scalar>
std::vector<double> head_means(const Model<Scalar>& model);

/// R = sum over the heads on which the settings let it act of
/// c_mean (tr(W)/d - m*)^2 + c_scale scale/d, scale = tr(W^2) or, for locater_frobenius, ||W||_F^2,
/// and adds its gradient to the model's:
/// d tr(W)/dW_Q = W_K, d tr(W^2)/dW_Q = 2 W_K M^T, d tr(W^2)/dW_K = 2 W_Q M with M = W_K^T W_Q,
/// d ||W||_F^2/dW_Q = 2 W_Q W_K^T W_K. `targets` m* of every head, layer by layer. Note that tr(W^2)
/// has no lower bound: a W far from symmetric lowers it by complex eigenvalues, with a growing norm.
/// 0 for other kinds.
template <class Scalar>
double add_locater(const RegularizerSettings& settings, const std::vector<double>& targets,
                   Model<Scalar>& model);

/// The logit factors gamma log(tr(W^2) + 1e-6)/sqrt(tr(W^2)) of TAME (Tang et al., ICLR 2025), layer
/// by layer a head; 1 where tr(W^2) is not positive, for which TAME says nothing.
template <class Scalar>
std::vector<Scalar> tame_factors(const Model<Scalar>& model, double gamma);

}  // namespace eigenscope

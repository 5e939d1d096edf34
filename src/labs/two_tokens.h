// Two tokens, tied rank-one attention: the output of a sample, its loss and the derivatives of this loss
// (Cui et al., 2024, arXiv:2402.03902, section 2, for two tokens and rank one).
#pragma once

#include <array>

#include "nn/activation.h"

namespace eigenscope {

/// Attention weight of each of the two tokens on itself, in (0, 1).
using SelfWeights = std::array<double, 2>;

/// The diagonal of softmax(u u^T): u_i = (x_i + p_i) . w / sqrt(d) for token x_i at the position p_i.
inline SelfWeights self_weights(double u1, double u2) {
  return {sigmoid(u1 * (u1 - u2)), sigmoid(u2 * (u2 - u1))};
}

/// Attention of the teacher: (1 - share) softmax(z z^T) + share A, with A the attention by position.
struct Teacher {
  double share = 0;                  ///< omega, weight of the attention by position
  SelfWeights positional{0.6, 0.6};  ///< diagonal of A, whose rows add up to 1

  /// z_i = x_i . q / sqrt(d).
  SelfWeights operator()(double z1, double z2) const {
    const SelfWeights by_meaning = self_weights(z1, z2);
    return {(1 - share) * by_meaning[0] + share * positional[0],
            (1 - share) * by_meaning[1] + share * positional[1]};
  }
};

/// scale/2 times the squared distance of the weights at u from those of the teacher, with derivatives by u.
/// Both rows of the two attentions add up to 1, so that the squared error of the outputs over the width is
/// this with scale = |x_1 - x_2|^2 / d.
struct SampleLoss {
  double value;
  double d1, d2;         ///< by u_1 and u_2
  double d11, d12, d22;  ///< second derivatives

  SampleLoss(double u1, double u2, const SelfWeights& target, double scale) {
    const SelfWeights weights = self_weights(u1, u2);
    const double miss1 = weights[0] - target[0], miss2 = weights[1] - target[1];
    value = scale / 2 * (miss1 * miss1 + miss2 * miss2);
    // Weight i is the logistic of the logit u_i (u_i - u_j).
    const double slope1 = weights[0] * (1 - weights[0]), slope2 = weights[1] * (1 - weights[1]);
    const double by1 = scale * miss1 * slope1, by2 = scale * miss2 * slope2;
    const double bend1 = scale * slope1 * (slope1 + miss1 * (1 - 2 * weights[0]));
    const double bend2 = scale * slope2 * (slope2 + miss2 * (1 - 2 * weights[1]));
    const double a1 = 2 * u1 - u2, a2 = -u1, b1 = -u2, b2 = 2 * u2 - u1;
    d1 = by1 * a1 + by2 * b1;
    d2 = by1 * a2 + by2 * b2;
    d11 = bend1 * a1 * a1 + bend2 * b1 * b1 + 2 * by1;
    d12 = bend1 * a1 * a2 + bend2 * b1 * b2 - by1 - by2;
    d22 = bend1 * a2 * a2 + bend2 * b2 * b2 + 2 * by2;
  }
};

}  // namespace eigenscope

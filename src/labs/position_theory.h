// The minimum of the loss of tied rank-one attention in the limit of many dimensions, from the saddle-point
// equations (Cui et al., 2024, arXiv:2402.03902, result 3.1, for two tokens and rank one).
#pragma once

#include <array>
#include <vector>

#include "nn/activation.h"

namespace eigenscope {

// Two tokens, tied rank-one attention (section 2): the output of a sample, its loss and the derivatives of this loss.

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

// The limit of many dimensions.

/// The problem: n = samples_over_width d samples of two tokens with independent normal entries.
struct TiedProblem {
  Teacher teacher;
  double token_std = 0.5;         ///< sigma, of the entries of a token
  double ridge = 0.01;            ///< lambda: the loss has lambda/2 |w|^2
  double samples_over_width = 1;  ///< alpha
};

/// Overlaps of a weight vector w on which the loss depends, with |q|^2 = d and p_1 = -p_2 = (1, ..., 1)/sqrt(d).
struct Overlaps {
  double square = 0;    ///< |w|^2 / d
  double meaning = 0;   ///< w . q / d
  double position = 0;  ///< w . p_1 / sqrt(d)
};

/// Expectation over the law of a sample, by Gauss-Hermite quadrature over the four fields of both tokens.
class SampleLaw {
 public:
  SampleLaw();

  /// Expected loss of a fresh sample, per dimension: half the squared error of both outputs over the width.
  double test_error(const TiedProblem& problem, const Overlaps& overlaps) const;
  /// The loss of the best weights that are equal for all samples and so depend on positions alone.
  double best_constant(const TiedProblem& problem) const;

  struct Node {
    std::array<double, 4> at;  ///< independent standard normal variates
    double weight;
  };
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;
};

/// Fixed-point iteration of the saddle-point equations, from a guess that decides which minimum it finds.
///
/// With the cavity field omega of each token, its proximal point h and the force g = (h - omega)/(sigma^2 V):
/// V = 1/(lambda + V^), m = V m^, theta = V theta^, Q = V^2 (q^ + (m^)^2 + (theta^)^2), where
/// V^ = alpha E tr(1 - dh/domega)/V, q^ = alpha sigma^2 E|g|^2, m^ = alpha E[g.z] + m V^ and
/// theta^ = alpha E[g_1 - g_2]; Q, m and theta are `square`, `meaning` and `position` of the overlaps.
class SaddlePoint {
 public:
  /// `law` must outlive this.
  SaddlePoint(const SampleLaw& law, const TiedProblem& problem, const Overlaps& guess);

  /// Does one iteration; true when it has converged or given up.
  bool advance();

  /// True if it has converged to a minimum that is stable against the breaking of replica symmetry: only there
  /// are the equations those of the minimum.
  bool holds() const { return converged_ && replicon_ < 1; }
  const Overlaps& overlaps() const { return overlaps_; }
  /// Training loss over the width at the minimum, with the ridge.
  double loss() const { return loss_; }

 private:
  /// The proximal point of each node, from which the next iteration starts.
  struct Field {
    double first, second;
  };

  const SampleLaw& law_;
  TiedProblem problem_;
  Overlaps overlaps_;
  double susceptibility_;  // V: mean response of w to a field, over the width
  double loss_ = 0;
  // alpha E |dh/domega - 1|^2 over the proximal points h of the cavity fields omega
  double replicon_ = 0;
  std::vector<Field> fields_;
  int iterations_ = 0;
  bool converged_ = false;
};

}  // namespace eigenscope

// The minimum of the loss of tied rank-one attention in the limit of many dimensions, from the saddle-point
// equations (Cui et al., 2024, arXiv:2402.03902, result 3.1, for two tokens and rank one).
#pragma once

#include <array>
#include <vector>

#include "labs/two_tokens.h"

namespace eigenscope {

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

  /// One iteration; true when it has converged or given up.
  bool advance();

  /// Whether it has converged to a minimum that is stable against the breaking of replica symmetry: only there
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
  double replicon_ =
      0;  // alpha E |dh/domega - 1|^2 over the proximal points h of the cavity fields omega
  std::vector<Field> fields_;
  int iterations_ = 0;
  bool converged_ = false;
};

}  // namespace eigenscope

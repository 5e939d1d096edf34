// Draws rows of logits from token sequences and a query-key matrix.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "spectrum/ensemble.h"
#include "tokens/kernel.h"

namespace eigenscope {

/// The d x T token matrix X = E L^T of one sample, E of independent N(0, 1) numbers. Throws
/// InvalidArgument ("width", "tokens").
Eigen::MatrixXd sample_tokens(const TokenProcess& process, Eigen::Index width, std::uint64_t seed,
                              std::uint64_t sample);

/// Draws the logits of one causal query, split into the two parts of an ensemble's line of matrices:
/// with W = c C + s Z, the row is c * centre + s * spread. One draw thus serves every mean and
/// variance.
class LogitSampler {
 public:
  /// A sampler for tokens of `width` coordinates and queries up to position `last`. Throws InvalidArgument
  /// ("width", "tokens").
  LogitSampler(Eigen::Index width, const TokenProcess& process, Eigen::Index last,
               std::uint64_t seed);

  /// Draws sample number `sample` (the same whatever was drawn before) of the query at position
  /// `query`, 1 to last: `centre` and `spread` get `query` numbers, one a key, with their means
  /// over the keys removed. `ensemble` has the sampler's width.
  void draw(const Ensemble& ensemble, std::uint64_t sample, Eigen::Index query,
            Eigen::VectorXd& centre, Eigen::VectorXd& spread);

 private:
  void row_of(const Eigen::VectorXf& direction, Eigen::Index keys, Eigen::VectorXd& row);

  std::uint64_t seed_;
  KernelFactor factor_;          // L
  Eigen::MatrixXf innovations_;  // E, d x last
  Eigen::VectorXf query_, centre_direction_, spread_direction_;
};

}  // namespace eigenscope

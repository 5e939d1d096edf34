// Entropy of a row of attention whose logits are independent normal numbers: limit, expectation, samples.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attention/random_energy.h"
#include "simulation/gaussian_rows.h"

namespace eigenscope {

/// Entropy at a length and a standard deviation of the logits.
struct RowEntropy {
  Eigen::Index length = 0;  ///< keys T
  double logit_std = 0;     ///< s, of the logits over the temperature
  double limit = 0;         ///< random_energy_entropy
  IndependentRow exact;     ///< the expectation at this T
  RowEstimate sampled;
};

/// Every length with every standard deviation. A job that advances in steps: a row's expectation, then rows that
/// are sampled, which all standard deviations of one length share.
class RowEntropies {
 public:
  /// Throws InvalidArgument for a length, standard deviation, number of samples or seed out of range.
  RowEntropies(const std::vector<double>& lengths, const std::vector<double>& logit_stds,
               Eigen::Index samples, std::uint64_t seed);

  /// Does about `work` multiply-adds more; true when all is done.
  bool advance(double work);
  /// Share of the work that is done, in [0, 1].
  double progress() const;
  /// The rows so far, length by length.
  std::vector<RowEntropy> rows() const;

 private:
  std::vector<RowEntropy> rows_;
  std::vector<GaussianRows> samplers_;
  std::size_t exact_ = 0;  // rows whose expectation is known
  std::size_t next_ = 0;   // sampler
};

}  // namespace eigenscope

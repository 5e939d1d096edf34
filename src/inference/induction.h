// Whether a head completes patterns: the score of induction heads (Olsson et al., 2022).
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

namespace eigenscope {

/// Collects the passages of one head.
class InductionMeter {
 public:
  /// Adds a passage: `weights` T x T (row = key, column = query), and the ids of its T tokens.
  void add(const Eigen::MatrixXf& weights, std::span<const int> ids);
  /// Adds the passages of another.
  InductionMeter& operator+=(const InductionMeter& other) {
    sum_ += other.sum_;
    queries_ += other.queries_;
    return *this;
  }
  /// Mean weight of the key that follows the latest earlier token with the query's id, over the queries
  /// that have one before them, in [0, 1]; NaN where there is no such query.
  double score() const { return sum_ / queries_; }

 private:
  double sum_ = 0, queries_ = 0;
};

}  // namespace eigenscope

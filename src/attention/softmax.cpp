#include "attention/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "support/lanes.h"
#include "support/shared_parameters.h"
#include "support/vector_math.h"

namespace eigenscope {

using Eigen::Index;

Eigen::VectorXd softmax(const Eigen::VectorXd& logits, double temperature) {
  checked(shared::kTemperature, temperature);
  const Eigen::Index keys = logits.size();
  const double largest = lane_largest(logits.data(), keys);
  Eigen::VectorXd weights(keys);
  const double* const in = logits.data();
  double* const out = weights.data();
  for (Eigen::Index i = 0; i < keys; ++i) {
    out[i] = exp_nonpositive((in[i] - largest) / temperature);
  }
  const double total = weights.sum();
  for (Eigen::Index i = 0; i < keys; ++i) out[i] /= total;
  return weights;
}

Eigen::VectorXd piecewise_linear_softmax(const Eigen::VectorXd& logits, double temperature) {
  checked(shared::kTemperature, temperature);
  const auto keys = static_cast<double>(logits.size());
  return ((1 + (logits.array() - logits.mean()) / temperature) / keys).max(0.0).min(1.0);
}

Eigen::VectorXd hard_softmax(const Eigen::VectorXd& logits) {
  Eigen::VectorXd weights = logits;
  hard_softmax_in_place(weights.data(), weights.size(), 1.0);
  return weights;
}

double row_entropy(const Eigen::VectorXd& weights) {
  const double* const p = weights.data();
  return lane_sum<double>(weights.size(), [&](Eigen::Index i) { return entropy_term(p[i]); });
}

double normalized_entropy(const Eigen::VectorXd& weights) {
  if (weights.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  return row_entropy(weights) / std::log(static_cast<double>(weights.size()));
}

double participation(const Eigen::VectorXd& weights) {
  const double* const p = weights.data();
  const double squares =
      lane_sum<double>(weights.size(), [&](Eigen::Index i) { return p[i] * p[i]; });
  return 1 / (static_cast<double>(weights.size()) * squares);
}

Eigen::VectorXd sensitivity(const Eigen::VectorXd& weights) {
  return weights.array() * (1 - weights.array());
}

Eigen::VectorXd piecewise_linear_sensitivity(const Eigen::VectorXd& weights) {
  const auto keys = static_cast<double>(weights.size());
  // The row's mean moves with each of its logits: hence the factor 1 - 1/T.
  return weights.unaryExpr(
      [&](double weight) { return weight > 0 && weight < 1 ? (1 - 1 / keys) / keys : 0.0; });
}

template <class Scalar>
RowSums sums_of(const AttentionRow<Scalar>& row) {
  RowSums sums;
  in_widest_vectors([&]() EIGENSCOPE_INLINE_LAMBDA {
    // A chunk of terms is computed in a plain loop, which compilers vectorize, before it is summed.
    constexpr Index kChunk = 256;
    Scalar entropies[kChunk];
    double distances[kChunk];
    RowSums all;
    for (Index begin = 0; begin < row.keys; begin += kChunk) {
      const Index count = std::min(kChunk, row.keys - begin);
      const Scalar *const logits = row.logits + begin, *const weights = row.weights + begin;
      const auto p = [&](Index i) { return static_cast<double>(weights[i]); };
      for (Index i = 0; i < count; ++i) entropies[i] = entropy_term(weights[i]);
      // 32-bit integers: vectors of every width convert them to double.
      const auto query = static_cast<std::int32_t>(row.query - begin);
      for (Index i = 0; i < count; ++i) {
        distances[i] = p(i) * std::abs(static_cast<std::int32_t>(i) - query);
      }
      const auto real = [&](const auto* of) {
        return lane_sum<double>(count, [&](Index i) { return static_cast<double>(of[i]); });
      };
      all.logits += real(logits);
      all.weights += real(weights);
      all.entropy += real(entropies);
      all.squares += lane_sum<double>(count, [&](Index i) { return p(i) * p(i); });
      all.distance += real(distances);
    }
    sums = all;
  });
  return sums;
}

template RowSums sums_of(const AttentionRow<float>&);
template RowSums sums_of(const AttentionRow<double>&);

}  // namespace eigenscope

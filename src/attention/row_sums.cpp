#include "attention/row_sums.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "attention/softmax.h"
#include "support/lanes.h"

namespace eigenscope {

using Eigen::Index;

template <class Scalar>
RowSums sums_of(const AttentionRow<Scalar>& row) {
  RowSums sums;
  in_widest_vectors([&]() EIGENSCOPE_INLINE_LAMBDA {
    // Terms of many instructions are computed before they are added up: compilers take vectors for a plain loop.
    constexpr Index kChunk = 256;
    Scalar entropies[kChunk];
    double distances[kChunk];
    RowSums all;
    for (Index begin = 0; begin < row.keys; begin += kChunk) {
      const Index count = std::min(kChunk, row.keys - begin);
      const Scalar *const logits = row.logits + begin, *const weights = row.weights + begin;
      const auto p = [&](Index i) { return static_cast<double>(weights[i]); };
      for (Index i = 0; i < count; ++i) entropies[i] = entropy_term(weights[i]);
      // Of 32-bit numbers, which vectors of every width convert.
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

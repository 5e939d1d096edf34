#include "nn/attention_offsets.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "support/lanes.h"
#include "support/vector_math.h"

namespace eigenscope {

template <class Scalar>
OffsetLogits<Scalar>::OffsetLogits(const AttentionShape& shape, const OffsetTerms<Scalar>& offsets,
                                   Index sequence, Index head)
    : shape_(shape),
      longest_(offsets.longest),
      head_(head),
      bias_(static_cast<std::size_t>(offsets.rows(shape.visible))) {
  const std::span<const char> all = offsets.kept;
  const bool of_each = std::ssize(all) > longest_;
  kept_ = all.empty() ? nullptr : all.data() + (of_each ? sequence * longest_ : 0);
  if (offsets.bias == nullptr) return;
  std::copy_n(offsets.bias + head * std::ssize(bias_), bias_.size(), bias_.begin());
}

template <class Scalar>
void OffsetLogits<Scalar>::add(Scalar scale, Scalar factor,
                               Eigen::Map<Matrix<Scalar>> logits) const {
  for (Index query = 0; query < shape_.length; ++query) {
    Scalar* const column = logits.data() + query * shape_.length;
    const Scalar* const bias = bias_.data() + row(query);
    const Index keys = shape_.keys(query);
    for (Index key = 0; key < keys; ++key) {
      column[key] =
          sees(query, key) ? factor * (scale * column[key] + bias[key]) : kHiddenLogit<Scalar>;
    }
  }
}

template <class Scalar>
void OffsetLogits<Scalar>::clear_unseeing(Eigen::Map<Matrix<Scalar>> weights) const {
  if (kept_ == nullptr) return;
  for (Index query = 0; query < shape_.length; ++query) {
    bool any = false;
    for (Index key = 0; key < shape_.keys(query); ++key) any |= sees(query, key);
    if (!any) weights.col(query).setZero();
  }
}

template <class Scalar>
void OffsetLogits<Scalar>::add_slopes(const HeadInput<Scalar>& in, const Scalar* weights,
                                      const Scalar* by_weight,
                                      const OffsetSlopes<Scalar>& slopes) const {
  if (slopes.bias != nullptr) {
    add_bias_slopes(weights, by_weight, slopes.bias + head_ * std::ssize(bias_));
  }
  if (slopes.kept != nullptr) add_kept_slopes(in, weights, by_weight, slopes.kept);
}

template <class Scalar>
void OffsetLogits<Scalar>::add_bias_slopes(const Scalar* weights, const Scalar* by_weight,
                                           Scalar* bias) const {
  for (Index query = 0; query < shape_.length; ++query) {
    const Scalar* const p = weights + query * shape_.length;
    const Scalar* const d = by_weight + query * shape_.length;
    const Index keys = shape_.keys(query);
    const Scalar mean = lane_sum<Scalar>(keys, [&](Index i) { return p[i] * d[i]; });
    for (Index key = 0; key < keys; ++key) bias[row(query) + key] += p[key] * (d[key] - mean);
  }
}

// With a key of weight p the output is o, without it o - p (v - o)/(1 - p). A key that is not seen would have the
// weight w = r/(1 + r) for its exponential r over the sum of those that are seen, and add w (v - o).
template <class Scalar>
void OffsetLogits<Scalar>::add_kept_slopes(const HeadInput<Scalar>& in, const Scalar* weights,
                                           const Scalar* by_weight, Scalar* kept) const {
  constexpr Scalar kLeast =
      1e-4f;  // weight of the other keys below which a key counts as the only one
  const Index length = shape_.length;
  const Scalar scale = 1 / std::sqrt(static_cast<Scalar>(shape_.head_width));
  Matrix<Scalar> logits(length, length);
  head_logits(in, shape_.visible, logits.data());
  for (Index query = 0; query < length; ++query) {
    const Scalar* const p = weights + query * length;
    const Scalar* const d = by_weight + query * length;
    const Scalar* const bias = bias_.data() + row(query);
    const Index keys = shape_.keys(query);
    const auto logit = [&](Index key) { return scale * logits(key, query) + bias[key]; };
    const Scalar mean = lane_sum<Scalar>(keys, [&](Index i) { return p[i] * d[i]; });
    const Index first = std::max_element(p, p + keys) - p;
    for (Index key = 0; key < keys; ++key) {
      Scalar& slope = kept[std::abs(query - key)];
      if (sees(query, key)) {
        slope += 1 - p[key] < kLeast ? d[key] : p[key] * (d[key] - mean) / (1 - p[key]);
      } else if (p[first] == 0) {
        slope += d[key];
      } else {
        const Scalar above = logit(key) - logit(first);
        const Scalar ratio = exp_nonpositive(-std::abs(above));
        const Scalar weight = above < 0 ? p[first] * ratio : p[first];
        slope += weight / (weight + (above < 0 ? 1 : ratio)) * (d[key] - mean);
      }
    }
  }
}

template class OffsetLogits<float>;
template class OffsetLogits<double>;

}  // namespace eigenscope

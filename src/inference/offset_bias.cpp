#include "inference/offset_bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace eigenscope {

using Eigen::Index;

OffsetBias OffsetBias::slopes(int heads, double exponent) {
  const int lower = static_cast<int>(std::bit_floor(static_cast<unsigned>(heads)));
  OffsetBias bias;
  bias.slopes_.resize(heads);
  for (int head = 0; head < heads; ++head) {
    const double share = head < lower ? static_cast<double>(head + 1) / lower
                                      : (2.0 * (head - lower) + 1) / (2.0 * lower);
    bias.slopes_[head] = static_cast<float>(std::exp2(-exponent * share));
  }
  return bias;
}

OffsetBias OffsetBias::in_buckets(Eigen::MatrixXf buckets, int farthest) {
  OffsetBias bias;
  bias.buckets_ = std::move(buckets);
  bias.farthest_ = farthest;
  return bias;
}

float OffsetBias::at(int head, Index offset) const {
  const Index distance = std::abs(offset);
  if (slopes_.size() > 0) return -slopes_[head] * static_cast<float>(distance);
  const Index side = buckets_.cols() / 2, narrow = side / 2;
  Index bucket = distance;
  if (distance >= narrow) {
    // In single precision, as the originals: at the edge of a bucket its rounding decides.
    const float wide = std::log(static_cast<float>(distance) / static_cast<float>(narrow)) /
                       std::log(static_cast<float>(farthest_) / static_cast<float>(narrow)) *
                       static_cast<float>(side - narrow);
    bucket = std::min(side - 1, narrow + static_cast<Index>(wide));
  }
  return buckets_(head, bucket + (offset > 0 ? side : 0));
}

Eigen::VectorXf OffsetBias::of_head(int head, Index length) const {
  if (is_none()) return {};
  Eigen::VectorXf by_offset(2 * length - 1);
  for (Index i = 0; i < by_offset.size(); ++i) by_offset[i] = at(head, i - (length - 1));
  return by_offset;
}

}  // namespace eigenscope

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

std::vector<int> relative_places(Index length, int span, int farthest) {
  std::vector<int> places;
  places.reserve(static_cast<std::size_t>(2 * length - 1));
  const int half = span / 2;
  for (Index offset = -(length - 1); offset < length; ++offset) {
    Index place = std::abs(offset);
    if (farthest > 0 && place > half) {
      // In single precision, as the original: at the edge of a place its rounding decides.
      const float log = std::log(static_cast<float>(place) / static_cast<float>(half)) /
                        std::log(static_cast<float>(farthest - 1) / static_cast<float>(half));
      place = static_cast<Index>(std::ceil(log * static_cast<float>(half - 1))) + half;
    }
    const Index signed_place = offset > 0 ? -place : place;  // of the query from the key
    places.push_back(static_cast<int>(std::clamp<Index>(signed_place + span, 0, 2 * span - 1)));
  }
  return places;
}

}  // namespace eigenscope

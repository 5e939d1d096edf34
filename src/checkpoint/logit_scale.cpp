#include "checkpoint/logit_scale.h"

#include <cmath>

namespace eigenscope {

double logit_scale(const ConfigKeys& keys, const Family& family, Eigen::Index head_width) {
  constexpr double kLeast = 1e-6, kMost = 1e6;
  const auto width = static_cast<double>(head_width);
  if (const auto scale = keys.number("attention_multiplier", kLeast, kMost)) {
    return *scale * std::sqrt(width);
  }
  if (const auto instead = keys.number("query_pre_attn_scalar", kLeast, kMost)) {
    return std::sqrt(width / *instead);
  }
  if (family.default_query_scalar > 0) return std::sqrt(width / family.default_query_scalar);
  return family.unscaled ? std::sqrt(width) : 1;
}

}  // namespace eigenscope

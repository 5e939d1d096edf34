#include "checkpoint/logit_scale.h"

#include <cmath>
#include <string>

#include "checkpoint/rotary_config.h"

namespace eigenscope {

namespace {

/// Which of the terms "c2p" (content to position) and "p2c" a list or a text like "c2p|p2c" has.
int relative_terms(const ConfigKeys& keys, std::string_view key) {
  std::string listed = keys.value(key);
  for (int i = 0; keys.has(std::string(key) + "." + std::to_string(i)); ++i) {
    listed += "|" + keys.value(std::string(key) + "." + std::to_string(i));
  }
  const auto has = [&](const char* term) { return listed.find(term) == listed.npos ? 0 : 1; };
  return has("c2p") + has("p2c");
}

}  // namespace

double logit_scale(const ConfigKeys& keys, const Family& family, Eigen::Index head_width) {
  constexpr double kLeast = 1e-6, kMost = 1e6;
  const auto width = static_cast<double>(head_width);
  if (const auto scale = keys.number("attention_multiplier", kLeast, kMost)) {
    return *scale * std::sqrt(width);
  }
  if (const auto instead = keys.number("query_pre_attn_scalar", kLeast, kMost)) {
    return std::sqrt(width / *instead);
  }
  if (!family.terms_key.empty()) return 1 / std::sqrt(1.0 + relative_terms(keys, family.terms_key));
  if (!family.input_factor_key.empty()) {
    const double input = keys.number(family.input_factor_key, kLeast, kMost).value_or(1);
    return input * input * keys.number(family.key_factor_key, kLeast, kMost).value_or(1);
  }
  if (family.default_query_scalar > 0) return std::sqrt(width / family.default_query_scalar);
  return family.unscaled ? std::sqrt(width) : yarn_logit_scale(keys, family.rotary);
}

}  // namespace eigenscope

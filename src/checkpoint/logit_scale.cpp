#include "checkpoint/logit_scale.h"

#include <cctype>
#include <cmath>
#include <set>
#include <string>

#include "checkpoint/rotary_config.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {

namespace {

/// How many of the terms "c2p" (content to position) and "p2c" a list or a text like "c2p|p2c" has, of which only the
/// text may have capitals. Throws FormatError naming the key for another term.
int relative_terms(const ConfigKeys& keys, std::string_view key) {
  if (!keys.has(key)) return 0;
  std::set<std::string> terms;
  const auto add = [&](const std::string& at, const std::string& term) {
    if (term != "c2p" && term != "p2c") {
      refuse_item(keys.path(at), {"it must have the terms c2p and p2c alone in ", keys.name(),
                                  ": found '", shown_name(term), "'"});
    }
    terms.insert(term);
  };
  if (keys.value(key) == "an array") {
    for (int i = 0; keys.has(element_key(key, i)); ++i) {
      add(element_key(key, i), keys.value(element_key(key, i)));
    }
    return static_cast<int>(terms.size());
  }
  std::string listed = *keys.text(key) + "|", term;
  for (const char c : listed) {
    if (c == '|') {
      if (!term.empty()) add(std::string(key), term);
      term.clear();
    } else if (c != ' ') {
      term += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return static_cast<int>(terms.size());
}

}  // namespace

double logit_scale(const ConfigKeys& keys, const Family& family, Eigen::Index head_width) {
  constexpr double kLeast = 1e-6, kMost = 1e6;
  const auto width = static_cast<double>(head_width);
  if (const auto scale = keys.number(family.scale_key, kLeast, kMost)) {
    return *scale * std::sqrt(width);
  }
  if (const auto instead = keys.number(family.query_scalar_key, kLeast, kMost)) {
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

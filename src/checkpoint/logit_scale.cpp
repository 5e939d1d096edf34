#include "checkpoint/logit_scale.h"

#include <cctype>
#include <cmath>
#include <string>

#include "checkpoint/rotary_config.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {

std::vector<std::string> piped_words(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == '|') {
      words.emplace_back();
    } else if (c != ' ') {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  std::erase(words, "");
  return words;
}

RelativeTerms relative_terms(const ConfigKeys& keys, std::string_view key) {
  RelativeTerms terms;
  if (!keys.has(key)) return terms;
  const auto add = [&](const std::string& at, const std::string& term) {
    if (term != "c2p" && term != "p2c") {
      refuse_item(keys.path(at), {"it must have the terms c2p and p2c alone in ", keys.name(),
                                  ": found '", shown_name(term), "'"});
    }
    (term == "c2p" ? terms.of_queries : terms.of_keys) = true;
  };
  if (keys.value(key) == "an array") {
    for (int i = 0; keys.has(element_key(key, i)); ++i) {
      add(element_key(key, i), keys.value(element_key(key, i)));
    }
    return terms;
  }
  for (const std::string& term : piped_words(*keys.text(key))) add(std::string(key), term);
  return terms;
}

double logit_scale(const ConfigKeys& keys, const Family& family, Eigen::Index head_width) {
  constexpr double kLeast = 1e-6, kMost = 1e6;
  const auto width = static_cast<double>(head_width);
  if (const auto scale = keys.number(family.scale_key, kLeast, kMost)) {
    return *scale * std::sqrt(width);
  }
  if (const auto instead = keys.number(family.query_scalar_key, kLeast, kMost)) {
    return std::sqrt(width / *instead);
  }
  if (!family.terms_key.empty())
    return 1 / std::sqrt(1.0 + relative_terms(keys, family.terms_key).count());
  if (!family.input_factor_key.empty()) {
    const double input = keys.number(family.input_factor_key, kLeast, kMost).value_or(1);
    return input * input * keys.number(family.key_factor_key, kLeast, kMost).value_or(1);
  }
  if (family.default_query_scalar > 0) return std::sqrt(width / family.default_query_scalar);
  return family.unscaled ? std::sqrt(width) : yarn_logit_scale(keys, family.rotary);
}

}  // namespace eigenscope

// The scale of a model's logits relative to 1/sqrt(d_h).
#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/config_keys.h"

namespace eigenscope {

/// Factor of the logits x_q^T W x_k beyond 1/sqrt(d_h), above 0; the family's where the config names none. In families
/// that read such a key, the config names the scale itself ("attention_multiplier", as Granite does) or the number that
/// takes the place of d_h in it ("query_pre_attn_scalar", as Gemma 2 and 3 do). Throws FormatError naming the key for a
/// value that is not a number from 1e-6 to 1e6, or a term of the logits that is not known.
double logit_scale(const ConfigKeys& keys, const Family& family, Eigen::Index head_width);

/// The words of a text such as "c2p | P2C", in lower case and without spaces.
std::vector<std::string> piped_words(const std::string& text);

/// Terms of the logits with relative-position embeddings, from a list or a text like "c2p|p2c" in config.json: of
/// queries ("c2p", content to position) and of keys ("p2c").
struct RelativeTerms {
  bool of_queries = false, of_keys = false;

  int count() const { return (of_queries ? 1 : 0) + (of_keys ? 1 : 0); }
};
/// Throws FormatError naming the key for another term.
RelativeTerms relative_terms(const ConfigKeys& keys, std::string_view key);

}  // namespace eigenscope

// Unigram language model: of all ways to cut a piece into tokens, the one with the largest sum of
// logarithms of probability.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace eigenscope {

class Unigram {
 public:
  struct Rules {
    std::optional<int> unknown;  ///< id for characters in a row that no tokens make up
    bool byte_fallback = false;  ///< such characters are the tokens <0x00> to <0xFF> of their bytes
  };
  /// `scores` are the logarithms of probability by id; -infinity for a token that pieces are not cut into. At least one
  /// must be finite. `vocabulary` must not be null and must have these tokens.
  Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores, Rules rules);

  /// Appends the ids of a piece, in time proportional to its length and the length of the longest
  /// token. Throws InvalidArgument ("text") where a character that is not in the vocabulary has
  /// neither an unknown token nor all tokens of its bytes.
  void append(std::u32string_view piece, std::vector<int>& ids) const;

 private:
  void append_unknown(std::string_view characters, std::vector<int>& ids) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<double> scores_;
  std::size_t longest_;   // bytes of the longest token with a score
  double unknown_score_;  // of one unknown character
  Rules rules_;
};

}  // namespace eigenscope

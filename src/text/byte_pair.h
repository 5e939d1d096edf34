// Byte pair encoding: the characters of a piece are symbols, and neighbours merge in the order of a list of merges, or
// of the scores of what they make.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/vocabulary.h"

namespace eigenscope {

class BytePair {
 public:
  struct Rules {
    std::optional<int> unknown;  ///< id for a character that is not in the vocabulary
    bool fuse_unknown = false;   ///< unknown characters in a row are one token
    bool byte_fallback = false;  ///< such a character is the tokens <0x00> to <0xFF> of its bytes
    bool whole_first = false;    ///< a piece that is a token is that token, whatever the merges
    std::string end = {};        ///< behind the last character of a piece
  };
  /// `vocabulary` must not be null.
  BytePair(std::shared_ptr<const Vocabulary> vocabulary, Rules rules)
      : vocabulary_(std::move(vocabulary)), rules_(std::move(rules)) {}

  /// The next merge in the order of their ranks, by the ids of both tokens and of what they make. A pair that comes
  /// again has its last rank, as in Hugging Face's `tokenizers`.
  void add_merge(int left, int right, int merged);

  /// Lets two neighbours merge wherever their joined text is a token, the token with the largest score first, as
  /// SentencePiece does, instead of by a list. `scores`, by id, must be finite and cover the vocabulary.
  void merge_by_scores(const std::vector<double>& scores);

  /// Appends the ids of a piece. Throws InvalidArgument ("text") for a character that is not in the
  /// vocabulary where there is neither an unknown token nor all tokens of its bytes.
  void append(std::u32string_view piece, std::vector<int>& ids) const;

 private:
  struct Merge {
    std::uint32_t rank;
    int result;
  };
  std::optional<Merge> find_merge(int left, int right) const;
  std::string text_of(int symbol) const;
  void append_unknown(const std::string& text, std::vector<int>& symbols) const;
  void merge(std::vector<int>& symbols) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  Rules rules_;
  std::uint32_t next_rank_ = 0;
  std::unordered_map<std::uint64_t, Merge> merges_;  // by both ids
  std::vector<std::uint32_t> ranks_;  // by id, where neighbours merge by scores; else empty
};

}  // namespace eigenscope

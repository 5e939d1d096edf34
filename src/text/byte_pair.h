// Byte-level byte pair encoding, as in GPT-2: the bytes of a piece are symbols, and neighbours merge
// in the order of the list of merges.
#pragma once

#include <array>
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
    std::optional<int> unknown;  ///< id for a byte whose symbol is not in the vocabulary
    bool prefix_space = false;   ///< a space is put before a text that begins without one
    bool cut = true;             ///< into gpt2_pieces; else a text is one piece
    bool whole_first = false;    ///< a piece that is a token is that token, whatever the merges
  };
  /// `vocabulary` must not be null.
  BytePair(std::shared_ptr<const Vocabulary> vocabulary, Rules rules);

  /// The next merge in the order of their ranks. Throws FormatError naming it ("merge 3") when one of
  /// the two or what they make is not in the vocabulary, or the pair was there already.
  void add_merge(const std::string& left, const std::string& right);

  /// Appends the ids of a text. Throws InvalidArgument ("text") for a byte that has no symbol where
  /// there is no unknown token.
  void append(std::u32string_view text, std::vector<int>& ids) const;

  /// The character that stands for a byte in the vocabulary, in UTF-8: itself when it can be printed,
  /// else one from U+0100 on.
  static std::string symbol(unsigned char byte);

 private:
  struct Merge {
    std::uint32_t rank;
    int result;
  };
  const Merge* find_merge(int left, int right) const;
  void append_piece(const std::string& bytes, std::vector<int>& ids) const;
  std::vector<int> symbols_of(const std::string& bytes) const;
  void merge(std::vector<int>& symbols) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  Rules rules_;
  std::array<std::optional<int>, 256> byte_ids_;
  std::unordered_map<std::uint64_t, Merge> merges_;  // by both ids
};

}  // namespace eigenscope

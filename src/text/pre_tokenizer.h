// What happens to a text before its words are looked up: normalization, and cutting into words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eigenscope {

/// BERT's normalization, in this order.
struct BertNormalizer {
  bool clean_text = true;     ///< control characters go, every white space becomes a space
  bool chinese = true;        ///< spaces around CJK ideographs
  bool strip_accents = true;  ///< see unicode::append_without_accents for its limits
  bool lowercase = true;

  std::u32string operator()(std::u32string_view text) const;
};

/// Maximal runs without white space, with every punctuation mark (categories P*, and ASCII symbols) a
/// word of its own. The views are into `text`.
std::vector<std::u32string_view> bert_words(std::u32string_view text);

/// GPT-2's pieces, which together are the whole text: those of the regular expression
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// The views are into `text`.
std::vector<std::u32string_view> gpt2_pieces(std::u32string_view text);

}  // namespace eigenscope

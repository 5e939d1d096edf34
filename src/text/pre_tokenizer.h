// The pre-tokenizers of a tokenizer.json, which cut a normalized text into pieces.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/aligned_text.h"
#include "text/pattern.h"

namespace eigenscope {

/// Maximal runs without white space, with every punctuation mark (categories P*, and ASCII symbols) as
/// a separate piece.
struct BertWords {};

/// Maximal runs without white space.
struct WhitespaceSplit {};

/// Numbers (categories N*) apart from other characters, in runs or one by one.
struct Digits {
  bool individual = false;
};

/// Replaces bytes by the characters of byte_symbol().
struct ByteLevel {
  bool prefix_space = true;  ///< a space is put before a piece that begins without one
  bool cut = true;           ///< into pieces of kGpt2Pattern
};

/// Spaces become another character, which is put before the text and begins each piece.
struct Metaspace {
  /// first: only before a piece that is aligned with the beginning of the text
  enum class Prefix { always, first, never };
  char32_t replacement = U'▁';
  Prefix prefix = Prefix::always;
  bool cut = true;
};

/// Cut at the matches of a pattern.
struct Split {
  enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
  Pattern pattern;
  Behavior behavior = Behavior::isolated;
  bool invert = false;  ///< what lies between the matches is the match
};

using PreTokenizer = std::variant<BertWords, WhitespaceSplit, Digits, ByteLevel, Metaspace, Split>;

/// The pieces of a text after the pre-tokenizers in their order; without any, the text. Throws FormatError naming the
/// pre-tokenizer ("pre-tokenizer 2 of 3") after which the pieces have more characters than largest_growth allows.
std::vector<std::u32string> pre_tokenize(const std::vector<PreTokenizer>& stages, AlignedText text);

/// The character that stands for a byte in a byte-level vocabulary: itself when it can be printed,
/// else one from U+0100 on. Source: GPT-2, encoder.py.
char32_t byte_symbol(unsigned char byte);

}  // namespace eigenscope

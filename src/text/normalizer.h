// The normalizers of a tokenizer.json, which change a text before it is cut into pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/aligned_text.h"
#include "text/pattern.h"
#include "text/unicode.h"

namespace eigenscope {

/// BERT's normalization, in this order.
struct BertNormalizer {
  bool clean_text = true;     ///< control characters go, other white space becomes a space
  bool chinese = true;        ///< spaces around CJK ideographs
  bool strip_accents = true;  ///< canonical decomposition without nonspacing marks
  bool lowercase = true;
};

/// Replaces characters by their lower-case forms (append_lower).
struct Lowercase {};

/// Removes all marks (categories M*); decomposing the text first is left to another normalizer.
struct StripAccents {};

/// Removes white space, or only U+0020, at the ends.
struct Strip {
  bool left = true, right = true;
  bool only_spaces = false;
};

/// Stands before every text that is not empty.
struct Prepend {
  std::u32string text;
};

/// Every match of `pattern` becomes `content`, from the left.
struct Replace {
  Pattern pattern;
  std::u32string content;
};

/// The table of replacements of SentencePiece's "Precompiled" normalizer.
/// At each place the longest sequence that the table has is replaced; other characters stay. Source:
/// SentencePiece, normalizer.cc (Hugging Face's `tokenizers` replaces the shortest sequence of a
/// grapheme cluster instead, which differs only where a table maps a sequence and its beginning).
class CharacterMap {
 public:
  /// `bytes` are the size of a double-array trie in bytes, the trie (32-bit little-endian units
  /// of darts-clone, values are places in the following text) and texts that end with a zero byte.
  /// Throws InvalidArgument ("it") for what is not such a table.
  explicit CharacterMap(std::string_view bytes);

  /// Calls `check_size` with the bytes so far, which may throw. Throws InvalidArgument ("text") where the table
  /// replaces by what is not UTF-8, FormatError where a sequence of the table has more than 1000 bytes.
  AlignedText operator()(const AlignedText& text,
                         const std::function<void(std::size_t)>& check_size) const;

 private:
  struct Match {
    std::size_t length = 0;  // bytes; 0 for none
    std::uint32_t place = 0;
  };
  Match longest(std::string_view bytes) const;

  struct Table {
    std::vector<std::uint32_t> units;
    std::string texts;
  };
  std::shared_ptr<const Table> table_;
};

using Normalizer = std::variant<BertNormalizer, Lowercase, StripAccents, Strip, Prepend, Replace,
                                unicode::NormalForm, CharacterMap>;

/// The text after the normalizers in their order. Throws FormatError naming the normalizer ("normalizer 2 of 3") that
/// makes more of the text than largest_growth allows.
AlignedText normalize(const std::vector<Normalizer>& normalizers, std::u32string text);

}  // namespace eigenscope

// The normalizers of a tokenizer.json, which change a text before it is cut into pieces.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/character_map.h"
#include "text/normal_form.h"
#include "text/pattern.h"

namespace eigenscope {

/// BERT's normalization, in this order.
struct BertNormalizer {
  bool clean_text = true;     ///< control characters go, other white space becomes a space
  bool chinese = true;        ///< spaces around CJK ideographs
  bool strip_accents = true;  ///< canonical decomposition without nonspacing marks
  bool lowercase = true;
};

/// Characters by their simple lower-case forms.
struct Lowercase {};

/// All marks go; a text is decomposed before by a normalizer of its own.
struct StripAccents {};

/// White space, or only U+0020, at the ends goes.
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

using Normalizer = std::variant<BertNormalizer, Lowercase, StripAccents, Strip, Prepend, Replace,
                                unicode::NormalForm, CharacterMap>;

/// The text after the normalizers in their order. Throws FormatError naming the normalizer ("normalizer 2 of 3") that
/// makes more of the text than largest_growth allows.
std::u32string normalize(const std::vector<Normalizer>& normalizers, std::u32string text);

}  // namespace eigenscope

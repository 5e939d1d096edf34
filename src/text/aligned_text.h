// A text as stages changed it, and which of its characters still stand for the beginning of the original text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace eigenscope {

/// Hugging Face's `tokenizers` aligns each character of a normalized text with characters of the original one
/// (NormalizedString). A Metaspace that marks the first word alone asks whether its piece is aligned with the original
/// text from its beginning on.
struct AlignedText {
  std::u32string text;
  /// The number of first characters that are aligned with the beginning of the original text.
  std::size_t leading = 0;
};

/// The number of the first `leading` characters that are among the `size` characters from `start` on.
constexpr std::size_t leading_in(std::size_t leading, std::size_t start, std::size_t size) {
  return leading <= start ? 0 : std::min(leading - start, size);
}

}  // namespace eigenscope

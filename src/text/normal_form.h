// Unicode normalization forms.
#pragma once

#include <string>
#include <string_view>

namespace eigenscope::unicode {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The normalization form of a text (Unicode Standard Annex 15).
std::u32string normalized(std::u32string_view text, NormalForm form);

}  // namespace eigenscope::unicode

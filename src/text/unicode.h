// Characters as the tokenizers see them: UTF-8, kinds of characters, lower case, normalization forms.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace eigenscope::unicode {

/// The code points of a text. Throws InvalidArgument ("text"), with the byte counted from 1, for
/// what is not UTF-8 (overlong forms, surrogates and values above U+10FFFF included).
std::u32string decode(std::string_view text);

/// Appends the UTF-8 bytes of `c`, a code point that is no surrogate.
void append(std::string& bytes, char32_t c);
std::string encode(std::u32string_view text);

/// A set of general categories, a bit each.
using Categories = std::uint32_t;

/// The category of a character; one that is not assigned has category Cn. C, L, M, N, P, S and Z are told apart only as
/// categories_named() says.
Categories category_of(char32_t c);

/// The categories with a name as in \p{name}: C, Cc, Cf, Cn, Co, L, Ll, Lm, Lo, Lt, Lu, M, Mn, N, Nd, P, S or Z; none
/// for another name.
Categories categories_named(std::string_view name);

/// Categories of the characters with the property White_Space. Its controls have a separate category here.
Categories white_space();

bool is_number(char32_t c);           ///< categories N*
bool is_punctuation(char32_t c);      ///< categories P*
bool is_mark(char32_t c);             ///< categories M*
bool is_nonspacing_mark(char32_t c);  ///< category Mn
bool is_control(char32_t c);          ///< categories Cc, Cf, Co (so tab and line feed too)
bool is_space(char32_t c);            ///< property White_Space
bool is_chinese(char32_t c);          ///< the blocks of CJK ideographs that BERT sets apart

/// Appends the lower-case form of `c`: the simple one, and "i" with a dot above for U+0130.
void append_lower(std::u32string& text, char32_t c);

/// Code points first, first + step, ... last, of one kind or with one value.
struct Run {
  char32_t first, last;
  std::uint32_t step = 1;
  std::int32_t value = 0;
};

std::span<const Run> han();  ///< the characters of the script Han

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The normalization form of a text (Unicode Standard Annex 15).
std::u32string normalized(std::u32string_view text, NormalForm form);

}  // namespace eigenscope::unicode

// The limit of the growth of a text in a tokenizer: stages of a hostile file multiply it without end.
#pragma once

#include <cstddef>
#include <string>

#include "support/error.h"

namespace eigenscope {

/// The most characters, or tokens, that stages may make of `size` characters. One character becomes at most 33 bytes of
/// a byte-level vocabulary (the compatibility form of U+FDFA); a prefix may be longer than the text.
constexpr std::size_t largest_growth(std::size_t size) { return 40 * size + 1000; }

/// A stage of a file, such as the second of three normalizers.
struct Stage {
  const char* kind;
  std::size_t number, of;
};

/// Throws FormatError naming the stage where it makes `size` characters, or tokens, of a text and at most `most` are
/// allowed.
inline void check_growth(const Stage& stage, std::size_t size, std::size_t most) {
  if (size <= most) return;
  throw FormatError(std::string(stage.kind) + " " + std::to_string(stage.number) + " of " +
                        std::to_string(stage.of),
                    "the text must not grow beyond 40 times its characters and 1000 more: " +
                        std::to_string(most) + " are allowed, found more");
}

}  // namespace eigenscope

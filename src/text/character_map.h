// The table of replacements of SentencePiece's "Precompiled" normalizer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace eigenscope {

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
  std::u32string operator()(std::u32string_view text,
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

}  // namespace eigenscope

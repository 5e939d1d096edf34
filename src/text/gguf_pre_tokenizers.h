// The pre-tokenizers of llama.cpp for byte pair encoding, by the names in `tokenizer.ggml.pre`.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace eigenscope {

struct GgufPreTokenizer {
  std::string_view names;  ///< with a space behind each
  /// Regular expressions (Pattern), each of which cuts the pieces of those before it; empty ones stand at the end.
  std::array<std::string_view, 6> patterns;
  bool whole_first = false;  ///< a piece that is a token is that token, whatever the merges
  bool adds_bos = false;     ///< unless `add_bos_token` says otherwise
};

/// The pre-tokenizer with this name. Throws FormatError naming the key of the metadata and all known names for another
/// name.
const GgufPreTokenizer& gguf_pre_tokenizer(const std::string& name);

}  // namespace eigenscope

// How llama.cpp cuts texts for byte pairs, by the names of `tokenizer.ggml.pre`.
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

/// Throws FormatError with the key of the metadata and all names for another name.
const GgufPreTokenizer& gguf_pre_tokenizer(const std::string& name);

}  // namespace eigenscope

// The tokenizer inside a GGUF file.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "io/byte_source.h"
#include "text/tokenizer.h"

namespace eigenscope {

/// The tokenizer in the metadata (`tokenizer.ggml.*`) of a GGUF model in one file or several parts, which gives the ids
/// of llama.cpp: its models "llama" (byte pairs merged by scores), "gpt2" and "gemma4" (byte pairs merged by a list),
/// "bert" (WordPiece) and "t5" (unigram). Tokens of WordPiece have the names of Hugging Face, "##" before a
/// continuation. Nothing if the metadata have no tokenizer. Throws FormatError naming the key for another model, an
/// unknown name of the pre-tokenizer (`tokenizer.ggml.pre`), lists of different lengths, scores that are not finite,
/// merges of unknown tokens, and a special token that is needed and missing; and as read_gguf_parts does.
/// Source: src/llama-vocab.cpp of github.com/ggml-org/llama.cpp.
std::optional<TextTokenizer> tokenizer_of_gguf(
    const std::vector<std::shared_ptr<ByteSource>>& files);

}  // namespace eigenscope

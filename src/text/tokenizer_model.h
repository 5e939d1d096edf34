// The model of a tokenizer.json: what makes tokens of a piece.
#pragma once

#include <memory>
#include <variant>

#include "text/byte_pair.h"
#include "text/json_node.h"
#include "text/unigram.h"
#include "text/vocabulary.h"
#include "text/word_piece.h"

namespace eigenscope {

using TokenizerModel = std::variant<WordPiece, BytePair, Unigram>;

/// The tokens of the model and the added ones, from the whole file. Throws FormatError naming the
/// token or key for what is malformed.
std::shared_ptr<const Vocabulary> read_vocabulary(const JsonNode& root);

/// Throws FormatError naming the key for what is malformed or not supported.
TokenizerModel read_tokenizer_model(const JsonNode& model,
                                    std::shared_ptr<const Vocabulary> vocabulary);

}  // namespace eigenscope

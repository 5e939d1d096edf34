// Reads the stages of a tokenizer.json.
#pragma once

#include <memory>
#include <vector>

#include "text/json_node.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer_model.h"

namespace eigenscope {

/// Tokens that stand before and after one text.
struct SpecialTokens {
  std::vector<int> before, after;
};

// Each takes the value of its key: null, one stage, or a Sequence of stages, at any depth. Throws
// FormatError with the path of a stage whose type, pattern or choice is not supported.
std::vector<Normalizer> read_normalizers(const JsonNode& node);
std::vector<PreTokenizer> read_pre_tokenizers(const JsonNode& node);
SpecialTokens read_post_processors(const JsonNode& node, const Vocabulary& vocabulary);

/// The id of the token that a string names. Throws FormatError for one that is not in the vocabulary.
int known_token(const Vocabulary& vocabulary, const JsonNode& node);

}  // namespace eigenscope

// Word ids of a vocabulary, the most frequent first, as Zipf's law of random tokens needs them: from the file of the
// tokenizer, the order of the ids alone, or the embeddings of the model.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "checkpoint/config.h"
#include "inference/transformer.h"
#include "support/choice.h"
#include "text/tokenizer.h"

namespace eigenscope {

/// Tokens of a vocabulary that stand around and within random sequences.
struct VocabularyLayout {
  std::vector<int> before, after;  ///< special tokens around a sequence
  /// The first id whose token is a whole word; vocabularies list words by frequency from there on. 0
  /// where no tokenizer tells.
  int first_word = 0;
  /// Ids that may stand in a sequence beside words: single characters, parts of words. Ascending.
  std::vector<int> ordinary;
  /// The tokens above that independent draws can put side by side, ascending.
  std::vector<int> separate;
};

/// From a tokenizer, for a model whose ids are below `vocabulary`. A whole word is a token of two or more
/// bytes, all letters of ASCII, after GPT-2's mark of a space where there is one; not a special token
/// and no continuation. Without such a token the first word is the first ordinary id. Special tokens,
/// and others in brackets such as [unused0] or <pad>, are not ordinary. Separate are, in a vocabulary of
/// WordPiece, tokens of ASCII that do not continue a word: no random draw puts a part behind the word
/// that it continues, and characters of other scripts stand in no text in the language of the words. In
/// one of BPE, and where there is no such token, all ordinary ids are separate.
VocabularyLayout vocabulary_layout(const TextTokenizer& tokenizer, Eigen::Index vocabulary);

/// Without a tokenizer: "cls_token_id" or "bos_token_id" of the config before, and for a model that is
/// not causal "sep_token_id" or "eos_token_id" after, where they are named; every other id but
/// "pad_token_id" is ordinary and separate, the first of them the first word. Throws FormatError for ids that the
/// model does not have.
VocabularyLayout vocabulary_layout(const Config& config, const Transformer& model);

/// Orders of the ids.
enum class TokenOrder {
  vocabulary,  ///< ordinary ids from the first word on, as the vocabulary lists them
  embedding    ///< all separate ids, by the frequency that their embeddings tell
};
inline constexpr std::array kTokenOrderNames{Choice{"vocabulary", "of the vocabulary"},
                                             Choice{"embedding", "by their embeddings"}};

/// Ids, the most frequent first. For `embedding`, log(rank + offset) of the words from first_word on is regressed on
/// their token embedding and its norm, each row with weight 1 / (rank + offset), and all separate ids are sorted by the
/// fitted value: so punctuation, whose ids do not follow its frequency, is placed among the words. Reads the token
/// embeddings; throws FormatError as Transformer::token_embeddings does.
std::vector<int> ids_by_frequency(TokenOrder order, double offset, const VocabularyLayout& layout,
                                  const Transformer& model);

}  // namespace eigenscope

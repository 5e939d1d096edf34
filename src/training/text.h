// Texts as tokens for training: bytes, or words with a minimum count; and the examples of a step, whose tokens may be
// masked and predicted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/tokens.h"
#include "support/choice.h"
#include "training/ngram.h"
#include "training/settings.h"

namespace eigenscope {

/// Converts between text and tokens.
class Tokenizer {
 public:
  /// Token k is the byte k.
  Tokenizer() = default;
  /// The words (runs without white space) that `text` has at least `min_count` times, most frequent
  /// first, after <unk>, which stands for all others, and <eos>, which stands at every line's end:
  /// the form in which WikiText-2 is scored.
  static Tokenizer of_words(std::string_view text, Eigen::Index min_count);

  bool words() const { return !words_.empty(); }
  /// V: number of tokens.
  Eigen::Index vocabulary() const {
    return words() ? static_cast<Eigen::Index>(words_.size()) : 256;
  }
  std::vector<TokenId> encode(std::string_view text) const;
  /// The bytes; or the words with spaces between them, a line end for <eos>.
  std::string decode(std::span<const TokenId> tokens) const;

  /// ASCII text for a checkpoint: "bytes", or "words" and the words after line ends, other bytes and %
  /// as %XX.
  std::string serialized() const;
  /// Throws FormatError ("tokenizer").
  static Tokenizer parse(std::string_view serialized);

  friend bool operator==(const Tokenizer&, const Tokenizer&) = default;

 private:
  void add(std::string word);

  std::vector<std::string> words_;  // empty for bytes
  std::map<std::string, TokenId, std::less<>> ids_;
};

/// The byte at which the last tenth of a text begins, which is for validation; with `words` the end of a word.
std::size_t validation_start(std::string_view text, bool words);

/// A training and a validation text: the first nine tenths of the bytes of one text (up to the end of a word) and its
/// last tenth, or two separate texts.
struct Text {
  Tokenizer tokenizer;
  std::vector<TokenId> training, validation;
  NgramLosses references;            ///< on the validation text, from training counts
  double bytes_per_token = 1;        ///< mean over the validation text
  bool separate_validation = false;  ///< whether the validation text is a separate text
};
/// FNV-1a hash (64 bits in hexadecimal) of the tokens of both parts, by which a resumed run recognizes its text.
std::string fingerprint(const Text& text);

/// The tokens of a text as bytes or as words. The vocabulary is that of the training part. Throw InvalidArgument
/// ("text") for an empty text, and when a part has no token.
Text byte_text(std::string_view text);
Text word_text(std::string_view text, Eigen::Index min_count);
/// byte_text or word_text, by the name of the tokenizer; only `words` uses `min_count`. Throws
/// InvalidArgument ("tokenizer") for another name.
inline constexpr std::array kTokenizerNames{Choice{"bytes", "bytes"}, Choice{"words", "words"}};
Text tokenized_text(std::string_view tokenizer, std::string_view text, Eigen::Index min_count);
/// Tokens of separate training and validation texts, with the vocabulary of `text`. Throws InvalidArgument
/// ("tokenizer") too, and ("text", "validation") for a text without a token; ("validation") when none of its words is
/// in the vocabulary.
Text tokenized_texts(std::string_view tokenizer, std::string_view text, std::string_view validation,
                     Eigen::Index min_count);

/// The vocabulary of a model of text with `tokens` tokens: the objective `masked` has one more, the last, which
/// stands for a masked token.
Eigen::Index model_vocabulary(const ModelSettings& settings, Eigen::Index tokens);

/// Replaces max(1, round(share T)) of the T `inputs`, at random places, by `mask`; the `targets` at all other places
/// become kNoTarget. Draw number `draw` of the seed gives the places. `share` is in (0, 1].
void mask_tokens(double share, TokenId mask, std::uint64_t seed, std::uint64_t draw,
                 std::span<TokenId> inputs, std::span<TokenId> targets);

/// Appends T of T + 1 tokens to inputs and targets: all but the last with their successors, or, with the objective
/// `masked`, all but the first, with those that mask_tokens hides as targets.
void add_example(const TrainSettings& settings, std::span<const TokenId> tokens, std::uint64_t seed,
                 std::uint64_t draw, std::vector<TokenId>& inputs, std::vector<TokenId>& targets);

}  // namespace eigenscope

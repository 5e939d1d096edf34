// Texts as tokens for training: bytes, or words with a minimum count.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nn/embedding.h"
#include "support/choice.h"
#include "training/ngram.h"

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

  /// In ASCII, for a checkpoint: "bytes", or "words" and the words after line ends, other bytes and %
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
  NgramLosses references;            ///< of the validation text, from counts in the training text
  double bytes_per_token = 1;        ///< of the validation text
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

}  // namespace eigenscope

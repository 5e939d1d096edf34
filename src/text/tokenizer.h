// A tokenizer of a checkpoint, as its tokenizer.json composes it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer_model.h"
#include "text/tokenizer_stages.h"
#include "text/vocabulary.h"

namespace eigenscope {

/// Added tokens, normalizers, pre-tokenizers, a model, and what post-processors put around one text.
/// Truncation and padding that the file asks for are left to the caller.
class TextTokenizer {
 public:
  /// The largest file that is read, in bytes; vocabularies of many languages take 35 MB.
  static constexpr std::uint64_t kLargestFile = 100'000'000;

  /// Parses `text`; `name` is what messages call it. Throws FormatError naming the key, token or
  /// merge for what is malformed, and naming the stage for a normalizer, pre-tokenizer, pattern,
  /// model or post-processor that is not supported.
  static TextTokenizer parse(std::string_view text, const std::string& name = "tokenizer.json");

  /// The same for a file. Throws FormatError also when it is larger than `kLargestFile`.
  static TextTokenizer read(ByteSource& source);

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  /// WordPiece, or null for another model.
  const WordPiece* word_piece() const { return std::get_if<WordPiece>(&model_); }

  /// The ids of a text, without the post-processor's; none for a text without words. Throws
  /// InvalidArgument ("text") for what is not UTF-8, or has a character that no token stands for.
  std::vector<int> encode(std::string_view text) const;

  /// Tokens that the post-processors put before and after one text, such as [CLS] and [SEP].
  const std::vector<int>& before() const { return special_.before; }
  const std::vector<int>& after() const { return special_.after; }
  /// before(), ids, after().
  std::vector<int> wrapped(std::span<const int> ids) const;

 private:
  friend class TokenizerFile;
  struct AddedToken {
    std::u32string text;  // not empty
    int id;
    bool strips_left, strips_right;  // white space beside it belongs to it
  };
  struct ByFirst {
    bool operator()(const AddedToken& a, char32_t b) const { return a.text.front() < b; }
    bool operator()(char32_t a, const AddedToken& b) const { return a < b.text.front(); }
  };
  using AddedTokens = std::vector<AddedToken>;  // by the first character, then the longest first
  template <class Plain>
  static void encode_between(const AddedTokens& added, std::u32string_view text, Plain plain,
                             std::vector<int>& ids);

  TextTokenizer(std::shared_ptr<const Vocabulary> vocabulary, TokenizerModel model)
      : vocabulary_(std::move(vocabulary)), model_(std::move(model)) {}

  std::shared_ptr<const Vocabulary> vocabulary_;
  TokenizerModel model_;
  std::vector<Normalizer> normalizers_;
  std::vector<PreTokenizer> pre_tokenizers_;
  AddedTokens added_, normalized_added_;  // found in the text, and in the normalized text
  SpecialTokens special_;
};

}  // namespace eigenscope

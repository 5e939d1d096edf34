// A tokenizer of a checkpoint, as its tokenizer.json describes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/byte_source.h"
#include "text/byte_pair.h"
#include "text/pre_tokenizer.h"
#include "text/vocabulary.h"
#include "text/word_piece.h"

namespace eigenscope {

/// WordPiece after BERT's normalization and words, or byte-level BPE after GPT-2's pieces; with the
/// file's added tokens and what its post-processor puts around one text. Truncation and padding that
/// the file asks for are left to the caller. Two differences to the original: an added token is found
/// wherever its text stands, also where the file wants it normalized first or as a whole word; and
/// accents are stripped as far as unicode::append_without_accents knows them.
class TextTokenizer {
 public:
  /// The largest file that is read, in bytes; vocabularies of many languages take 35 MB.
  static constexpr std::uint64_t kLargestFile = 100'000'000;

  /// Parses `text`; `name` is what messages call it. Throws FormatError naming the key, token or
  /// merge for what is malformed, and naming the part for a normalizer, pre-tokenizer, model or
  /// post-processor that is not known.
  static TextTokenizer parse(std::string_view text, const std::string& name = "tokenizer.json");

  /// The same for a file. Throws FormatError also when it is larger than `kLargestFile`.
  static TextTokenizer read(ByteSource& source);

  /// "WordPiece" or "BPE".
  std::string_view model() const;
  const Vocabulary& vocabulary() const { return *vocabulary_; }
  /// WordPiece, or null for BPE.
  const WordPiece* word_piece() const { return std::get_if<WordPiece>(&model_); }

  /// The ids of a text, without the post-processor's; none for a text without words. Throws
  /// InvalidArgument ("text") for what is not UTF-8, or has a byte that no token stands for.
  std::vector<int> encode(std::string_view text) const;

  /// Tokens that the post-processor puts before and after one text, such as [CLS] and [SEP].
  const std::vector<int>& before() const { return before_; }
  const std::vector<int>& after() const { return after_; }
  /// before(), ids, after().
  std::vector<int> wrapped(std::span<const int> ids) const;

 private:
  friend class TokenizerFile;
  struct AddedToken {
    std::string text;
    int id;
  };
  const AddedToken* added_at(std::string_view text) const;
  void append_plain(std::string_view text, std::vector<int>& ids) const;

  TextTokenizer(std::shared_ptr<const Vocabulary> vocabulary,
                std::variant<WordPiece, BytePair> model)
      : vocabulary_(std::move(vocabulary)), model_(std::move(model)) {}

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::variant<WordPiece, BytePair> model_;
  std::optional<BertNormalizer> normalizer_;
  std::vector<AddedToken> added_;  // the longest first
  std::vector<int> before_, after_;
};

}  // namespace eigenscope

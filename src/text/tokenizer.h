// The tokenizer of a checkpoint, composed of the stages that its tokenizer.json or its GGUF file names.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "text/added_tokens.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer_model.h"
#include "text/tokenizer_stages.h"

namespace eigenscope {

/// The stages of a tokenizer, in the order in which a text passes through them.
struct TokenizerStages {
  std::shared_ptr<const Vocabulary> vocabulary;  ///< not null; that of `model` too
  TokenizerModel model;
  std::vector<Normalizer> normalizers = {};
  std::vector<PreTokenizer> pre_tokenizers = {};
  AddedTokens added = {};             ///< looked for in the text
  AddedTokens normalized_added = {};  ///< looked for in the normalized text
  SpecialTokens special = {};
};

/// Encodes texts as token ids. Truncation and padding that a file asks for are left to the caller.
class TextTokenizer {
 public:
  /// The largest file that is read, in bytes; vocabularies of many languages take 35 MB.
  static constexpr std::uint64_t kLargestFile = 100'000'000;

  /// `name` is what messages call the file that the stages are from.
  TextTokenizer(std::string name, TokenizerStages stages)
      : name_(std::move(name)), stages_(std::move(stages)) {}

  /// Parses `text`, a tokenizer.json; `name` is what messages call it. Throws FormatError naming the key or
  /// token for what is malformed, and naming the stage for a normalizer, pre-tokenizer, pattern,
  /// model or post-processor that is not supported.
  static TextTokenizer parse(std::string_view text, const std::string& name = "tokenizer.json");

  /// Reads the tokenizer of a file, whose name begins every message. Throws FormatError also when it is larger than
  /// `kLargestFile`.
  static TextTokenizer read(ByteSource& source);

  /// Name of its file in messages.
  const std::string& name() const { return name_; }
  const Vocabulary& vocabulary() const { return *stages_.vocabulary; }
  /// WordPiece, or null for another model.
  const WordPiece* word_piece() const { return std::get_if<WordPiece>(&stages_.model); }

  /// The ids of a text, without the post-processor's; none for a text without words. Throws
  /// InvalidArgument ("text") for what is not UTF-8, or has a character that no token stands for, FormatError naming
  /// the file and the stage that makes more of the text than largest_growth allows.
  std::vector<int> encode(std::string_view text) const;

  /// Tokens that the post-processors put before and after one text, such as [CLS] and [SEP].
  const std::vector<int>& before() const { return stages_.special.before; }
  const std::vector<int>& after() const { return stages_.special.after; }
  /// before(), ids, after().
  std::vector<int> wrapped(std::span<const int> ids) const;

 private:
  std::vector<int> encode_text(std::u32string_view text) const;

  std::string name_;
  TokenizerStages stages_;
};

/// The tokenizer.json of a model that reads bytes, token k the byte k: byte-level BPE without merges,
/// which TextTokenizer reads.
std::string byte_tokenizer_json();

}  // namespace eigenscope

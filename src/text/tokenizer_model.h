// The last stage of a tokenizer: a vocabulary, and the models that choose its tokens for a piece of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace eigenscope {

/// Tokens (byte strings) and their ids, 0 to kMostTokens - 1, possibly with gaps.
class Vocabulary {
 public:
  static constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 20;  // the largest known: 901629

  /// A token that comes again has its last id, as in Hugging Face's `tokenizers`. Throws FormatError naming the token
  /// when the id is out of range or that of another token.
  void add(const std::string& token, std::uint64_t id);
  /// Adds a token that is not in the model's vocabulary, so that texts are not cut into it. Throws as add() does.
  void add_beside_model(const std::string& token, std::uint64_t id);

  std::optional<int> find(const std::string& token) const;
  /// The id of a token; nothing for one of add_beside_model().
  std::optional<int> find_in_model(const std::string& token) const;
  /// Appends the tokens <0x00> to <0xFF> of bytes. False, and nothing appended, when one of them is missing.
  bool append_bytes(std::string_view bytes, std::vector<int>& ids) const;
  bool contains(int id) const { return tokens_.contains(id); }
  /// The token's text. Throws InvalidArgument ("token") for an id that has none.
  const std::string& token(int id) const;
  /// Tokens in all.
  std::size_t size() const { return ids_.size() + ids_beside_model_.size(); }
  /// Length of the model's longest token in bytes.
  std::size_t longest() const { return longest_; }

 private:
  int checked_id(const std::string& token, std::uint64_t id);

  std::unordered_map<std::string, int> ids_, ids_beside_model_;
  std::unordered_map<int, std::string> tokens_;
  std::size_t longest_ = 0;
};

/// WordPiece: the longest token of the vocabulary that begins the rest of a word, again and again.
class WordPiece {
 public:
  struct Rules {
    int unknown = 0;                  ///< id of a word that no tokens make up
    std::string continuation = "##";  ///< stands before a token that does not begin its word
    std::size_t longest_word = 100;   ///< characters; a longer word is unknown
  };
  /// `vocabulary` must not be null.
  WordPiece(std::shared_ptr<const Vocabulary> vocabulary, Rules rules);

  /// Appends the ids of a word without spaces; at least one.
  void append(std::u32string_view word, std::vector<int>& ids) const;
  /// Whether a token stands only where another token began its word.
  bool continues(std::string_view token) const {
    return !rules_.continuation.empty() && token.starts_with(rules_.continuation);
  }

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  Rules rules_;
};

/// Byte pair encoding: the characters of a piece are symbols, and neighbours merge in the order of a list of merges, or
/// of the scores of what they make.
class BytePair {
 public:
  struct Rules {
    std::optional<int> unknown;  ///< id for a character that is not in the vocabulary
    bool fuse_unknown = false;   ///< unknown characters in a row are one token
    bool byte_fallback = false;  ///< such a character is the tokens <0x00> to <0xFF> of its bytes
    bool whole_first = false;    ///< a piece that is a token is that token, whatever the merges
    std::string end = {};        ///< behind the last character of a piece
  };
  /// `vocabulary` must not be null.
  BytePair(std::shared_ptr<const Vocabulary> vocabulary, Rules rules)
      : vocabulary_(std::move(vocabulary)), rules_(std::move(rules)) {}

  /// The next merge in the order of their ranks, by the ids of both tokens and of what they make. A pair that comes
  /// again has its last rank, as in Hugging Face's `tokenizers`.
  void add_merge(int left, int right, int merged);

  /// Lets two neighbours merge wherever their joined text is a token, the token with the largest score first, as
  /// SentencePiece does, instead of by a list. `scores`, by id, must be finite and cover the vocabulary.
  void merge_by_scores(const std::vector<double>& scores);

  /// Appends the ids of a piece. Throws InvalidArgument ("text") for a character that is not in the
  /// vocabulary where there is neither an unknown token nor all tokens of its bytes.
  void append(std::u32string_view piece, std::vector<int>& ids) const;

 private:
  struct Merge {
    std::uint32_t rank;
    int result;
  };
  std::optional<Merge> find_merge(int left, int right) const;
  std::string text_of(int symbol) const;
  bool append_bytes(const std::string& text, std::vector<int>& symbols) const;
  void append_symbols(std::u32string_view piece, std::vector<int>& symbols) const;
  void merge(std::vector<int>& symbols) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  Rules rules_;
  std::uint32_t next_rank_ = 0;
  std::unordered_map<std::uint64_t, Merge> merges_;  // by both ids
  std::vector<std::uint32_t> ranks_;  // by id, where neighbours merge by scores; else empty
};

/// Unigram language model: of all ways to cut a piece into tokens, the one with the largest sum of logarithms of
/// probability.
class Unigram {
 public:
  struct Rules {
    std::optional<int> unknown;  ///< id for characters in a row that no tokens make up
    bool byte_fallback = false;  ///< such characters are the tokens <0x00> to <0xFF> of their bytes
  };
  /// `scores` are the logarithms of probability by id; -infinity for a token that pieces are not cut into. At least one
  /// must be finite. `vocabulary` must not be null and must have these tokens.
  Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores, Rules rules);

  /// Appends the ids of a piece, in time proportional to its length and the length of the longest
  /// token. Throws InvalidArgument ("text") where a character that is not in the vocabulary has
  /// neither an unknown token nor all tokens of its bytes.
  void append(std::u32string_view piece, std::vector<int>& ids) const;

 private:
  std::optional<int> find(const std::string& token) const;
  void append_unknown(const std::string& characters, std::vector<int>& ids) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<double> scores_;
  std::size_t longest_;   // bytes of the longest token with a score
  double unknown_score_;  // of one unknown character
  Rules rules_;
};

using TokenizerModel = std::variant<WordPiece, BytePair, Unigram>;

}  // namespace eigenscope

// WordPiece: the longest token of the vocabulary that begins the rest of a word, again and again.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace eigenscope {

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

}  // namespace eigenscope

#include "text/word_piece.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "text/unicode.h"

namespace eigenscope {

WordPiece::WordPiece(std::shared_ptr<const Vocabulary> vocabulary, Rules rules)
    : vocabulary_(std::move(vocabulary)), rules_(std::move(rules)) {}

void WordPiece::append(std::u32string_view word, std::vector<int>& ids) const {
  const std::size_t before = ids.size();
  if (word.size() > rules_.longest_word) {
    ids.push_back(rules_.unknown);
    return;
  }
  for (std::size_t start = 0; start < word.size();) {
    std::optional<int> id;
    // No token is longer than the longest in bytes, of which a character has at least one.
    std::size_t length = std::min(word.size() - start, vocabulary_->longest());
    for (; length > 0; --length) {
      const std::string piece = unicode::encode(word.substr(start, length));
      id = vocabulary_->find(start == 0 ? piece : rules_.continuation + piece);
      if (id) break;
    }
    if (!id) {
      ids.resize(before);
      ids.push_back(rules_.unknown);
      return;
    }
    ids.push_back(*id);
    start += length;
  }
}

}  // namespace eigenscope

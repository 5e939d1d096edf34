#include "text/tokenizer.h"

#include <array>

#include "text/unicode.h"

namespace eigenscope {
namespace {

unsigned char byte_of(char c) { return static_cast<unsigned char>(c); }

}  // namespace

std::string_view TextTokenizer::model() const {
  return std::holds_alternative<WordPiece>(model_) ? "WordPiece" : "BPE";
}

const TextTokenizer::AddedToken* TextTokenizer::added_at(std::string_view text) const {
  for (const AddedToken& token : added_) {
    if (text.starts_with(token.text)) return &token;
  }
  return nullptr;
}

void TextTokenizer::append_plain(std::string_view text, std::vector<int>& ids) const {
  std::u32string decoded = unicode::decode(text);
  if (normalizer_) decoded = (*normalizer_)(decoded);
  if (const auto* pairs = std::get_if<BytePair>(&model_)) {
    pairs->append(decoded, ids);
    return;
  }
  for (const std::u32string_view word : bert_words(decoded)) {
    std::get<WordPiece>(model_).append(word, ids);
  }
}

std::vector<int> TextTokenizer::encode(std::string_view text) const {
  unicode::decode(text);           // all of it, so that a refusal names the byte of the whole
  std::array<bool, 256> begins{};  // an added token, by the byte
  for (const AddedToken& token : added_) begins[byte_of(token.text[0])] = true;
  std::vector<int> ids;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* const added = begins[byte_of(text[at])] ? added_at(text.substr(at)) : nullptr;
    if (added == nullptr) {
      ++at;
      continue;
    }
    append_plain(text.substr(start, at - start), ids);
    ids.push_back(added->id);
    start = at += added->text.size();
  }
  append_plain(text.substr(start), ids);
  return ids;
}

std::vector<int> TextTokenizer::wrapped(std::span<const int> ids) const {
  std::vector<int> all = before_;
  all.insert(all.end(), ids.begin(), ids.end());
  all.insert(all.end(), after_.begin(), after_.end());
  return all;
}

}  // namespace eigenscope

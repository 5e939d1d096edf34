#include "text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "io/json_events.h"
#include "support/error.h"
#include "support/named_after.h"
#include "text/aligned_text.h"
#include "text/growth.h"
#include "text/unicode.h"

namespace eigenscope {

namespace {

/// Appends the ids of added tokens in a text to `ids`, and calls `plain(start, end)` for the text between them. As in
/// `find_matches` of AddedVocabulary in Hugging Face's `tokenizers`, the search goes on behind a token's text, before
/// the white space that it strips, where the next token may begin.
template <class Plain>
void encode_between(const AddedTokens& added, std::u32string_view text, Plain plain,
                    std::vector<int>& ids) {
  const std::vector<const AddedToken*> tokens_at = added.longest_at(text);
  const auto is_space_at = [&](std::size_t at) { return unicode::is_space(text[at]); };
  std::size_t start = 0;       // behind what the last token took
  std::size_t spaces_end = 0;  // of the last white space that a token took
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* const token = tokens_at[at];
    if (token == nullptr) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + token->text.size();
    at = end;
    if (token->strips_left) {
      while (begin > start && is_space_at(begin - 1)) --begin;
      begin = std::max(begin, start);
    }
    if (token->strips_right) {
      end = std::max(end, spaces_end);
      while (end < text.size() && is_space_at(end)) ++end;
      spaces_end = end;
    }
    if (begin > end) {
      throw FormatError("added_tokens",
                        "'" + shown_name(unicode::encode(token->text)) +
                            "' must not have lstrip where another token with rstrip takes it");
    }
    if (begin > start) plain(start, begin);
    if (end > begin) ids.push_back(token->id);
    start = end;
  }
  if (start < text.size()) plain(start, text.size());
}

}  // namespace

std::vector<int> TextTokenizer::encode(std::string_view text) const {
  const std::u32string characters = unicode::decode(text);
  return named_after(name_, [&] { return encode_text(characters); });
}

std::vector<int> TextTokenizer::encode_text(std::u32string_view text) const {
  const std::size_t most = largest_growth(text.size());
  std::vector<int> ids;
  const auto encode_normalized = [&](AlignedText plain) {
    for (const std::u32string& piece : pre_tokenize(stages_.pre_tokenizers, std::move(plain))) {
      std::visit([&](const auto& model) { model.append(piece, ids); }, stages_.model);
      check_growth({"model", 1, 1}, ids.size(), most);
    }
  };
  const auto part_of = [](std::u32string_view from, std::size_t start, std::size_t end) {
    return std::u32string(from.substr(start, end - start));
  };
  const auto encode_plain = [&](std::size_t start, std::size_t end) {
    const AlignedText plain = normalize(stages_.normalizers, part_of(text, start, end));
    const std::size_t leading = start == 0 ? plain.leading : 0;
    encode_between(
        stages_.normalized_added, plain.text,
        [&](std::size_t first, std::size_t last) {
          encode_normalized(
              {part_of(plain.text, first, last), leading_in(leading, first, last - first)});
        },
        ids);
  };
  encode_between(stages_.added, text, encode_plain, ids);
  return ids;
}

std::vector<int> TextTokenizer::wrapped(std::span<const int> ids) const {
  std::vector<int> all = before();
  all.insert(all.end(), ids.begin(), ids.end());
  all.insert(all.end(), after().begin(), after().end());
  return all;
}

}  // namespace eigenscope

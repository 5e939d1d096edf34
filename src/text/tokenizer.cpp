#include "text/tokenizer.h"

#include "support/named_after.h"
#include "text/growth.h"
#include "text/unicode.h"

namespace eigenscope {

namespace {

/// `plain(text, first)` for what stands between added tokens; `first` is whether the text begins there.
template <class Plain>
void encode_between(const AddedTokens& added, std::u32string_view text, Plain plain,
                    std::vector<int>& ids) {
  const std::vector<const AddedToken*> tokens_at = added.longest_at(text);
  const auto is_space_at = [&](std::size_t at) { return unicode::is_space(text[at]); };
  std::size_t start = 0;
  const auto close = [&](std::size_t end) {
    if (end > start) plain(text.substr(start, end - start), start == 0);
  };
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* const token = tokens_at[at];
    if (token == nullptr) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (token->strips_left && end > start && is_space_at(end - 1)) --end;
    close(end);
    ids.push_back(token->id);
    at += token->text.size();
    while (token->strips_right && at < text.size() && is_space_at(at)) ++at;
    start = at;
  }
  close(text.size());
}

}  // namespace

std::vector<int> TextTokenizer::encode(std::string_view text) const {
  const std::u32string characters = unicode::decode(text);
  return named_after(name_, [&] { return encode_text(characters); });
}

std::vector<int> TextTokenizer::encode_text(std::u32string_view text) const {
  const std::size_t most = largest_growth(text.size());
  std::vector<int> ids;
  const auto encode_normalized = [&](std::u32string_view plain, bool first) {
    for (const std::u32string& piece :
         pre_tokenize(stages_.pre_tokenizers, std::u32string(plain), first)) {
      std::visit([&](const auto& model) { model.append(piece, ids); }, stages_.model);
      check_growth({"model", 1, 1}, ids.size(), most);
    }
  };
  const auto encode_plain = [&](std::u32string_view plain, bool first) {
    encode_between(
        stages_.normalized_added, normalize(stages_.normalizers, std::u32string(plain)),
        [&](std::u32string_view part, bool begins) { encode_normalized(part, first && begins); },
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

#include "text/tokenizer_model.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "io/json_events.h"
#include "support/argsort.h"
#include "support/error.h"
#include "text/unicode.h"

namespace eigenscope {
namespace {

std::uint64_t pair_key(int left, int right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

constexpr int kGone = std::numeric_limits<int>::min();

// A character that is no token is a negative symbol while neighbours merge by their text.
int symbol_of(char32_t unknown) { return ~static_cast<int>(unknown); }

constexpr double kUnknownPenalty = 10;  // below the least likely token; SentencePiece's kUnkPenalty

constexpr double kNever = -std::numeric_limits<double>::infinity();

constexpr int kUnknown = -1;

[[noreturn]] void refuse_character(const std::string& text) {
  throw InvalidArgument("text", "have characters of the vocabulary",
                        "it has no token for '" + text + "'");
}

/// The best way to cut the characters up to a place: its score, and its last token.
struct Path {
  double score = kNever;
  std::size_t start = 0;
  int token = kUnknown;
};

}  // namespace

int Vocabulary::checked_id(const std::string& token, std::uint64_t id) {
  if (id >= kMostTokens) {
    refuse_item(token, {"its id ", std::to_string(id), " is out of range; it must be below ",
                        std::to_string(kMostTokens)});
  }
  const int number = static_cast<int>(id);
  const auto [place, is_new] = tokens_.emplace(number, token);
  if (!is_new && place->second != token) {
    refuse_item(token, {"its id ", std::to_string(id), " is also that of '",
                        shown_name(place->second), "'"});
  }
  return number;
}

void Vocabulary::add(const std::string& token, std::uint64_t id) {
  ids_[token] = checked_id(token, id);
  longest_ = std::max(longest_, token.size());
}

void Vocabulary::add_beside_model(const std::string& token, std::uint64_t id) {
  ids_beside_model_[token] = checked_id(token, id);
}

std::optional<int> Vocabulary::find(const std::string& token) const {
  if (const auto id = find_in_model(token)) return id;
  const auto entry = ids_beside_model_.find(token);
  if (entry == ids_beside_model_.end()) return std::nullopt;
  return entry->second;
}

std::optional<int> Vocabulary::find_in_model(const std::string& token) const {
  const auto entry = ids_.find(token);
  if (entry == ids_.end()) return std::nullopt;
  return entry->second;
}

bool Vocabulary::append_bytes(std::string_view bytes, std::vector<int>& ids) const {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const std::size_t before = ids.size();
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const auto id = find_in_model({'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15u], '>'});
    if (!id) {
      ids.resize(before);
      return false;
    }
    ids.push_back(*id);
  }
  return true;
}

const std::string& Vocabulary::token(int id) const {
  const auto entry = tokens_.find(id);
  if (entry == tokens_.end()) {
    throw InvalidArgument("token", "be the id of a token", "found " + std::to_string(id));
  }
  return entry->second;
}

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
      id = vocabulary_->find_in_model(start == 0 ? piece : rules_.continuation + piece);
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

void BytePair::add_merge(int left, int right, int merged) {
  merges_[pair_key(left, right)] = {next_rank_++, merged};
}

void BytePair::merge_by_scores(const std::vector<double>& scores) {
  std::vector<double> order;
  for (const double score : scores) order.push_back(-score);
  sort_up(order);
  ranks_.clear();
  for (const double score : scores) {
    const auto place = std::lower_bound(order.begin(), order.end(), -score);
    ranks_.push_back(static_cast<std::uint32_t>(place - order.begin()));
  }
}

std::string BytePair::text_of(int symbol) const {
  if (symbol >= 0) return vocabulary_->token(symbol);
  const auto unknown = static_cast<char32_t>(~symbol);
  return unicode::encode({&unknown, 1});
}

std::optional<BytePair::Merge> BytePair::find_merge(int left, int right) const {
  if (!ranks_.empty()) {
    const auto id = vocabulary_->find_in_model(text_of(left) + text_of(right));
    if (!id) return std::nullopt;
    return Merge{ranks_[static_cast<std::size_t>(*id)], *id};
  }
  const auto merge = merges_.find(pair_key(left, right));
  if (merge == merges_.end()) return std::nullopt;
  return merge->second;
}

bool BytePair::append_bytes(const std::string& text, std::vector<int>& symbols) const {
  return rules_.byte_fallback && vocabulary_->append_bytes(text, symbols);
}

// Neighbours are linked, and a queue holds the pairs that can merge by rank, then place: n log n for
// a piece of any length. An entry is stale when one of its two has merged elsewhere since.
void BytePair::merge(std::vector<int>& symbols) const {
  const int size = static_cast<int>(symbols.size());
  std::vector<int> next(symbols.size()), previous(symbols.size());
  for (int i = 0; i < size; ++i) {
    const auto place = static_cast<std::size_t>(i);
    next[place] = i + 1;
    previous[place] = i - 1;
  }
  const auto at = [](auto& list, int i) -> int& { return list[static_cast<std::size_t>(i)]; };
  using Entry = std::tuple<std::uint32_t, int, int, int, int>;  // rank, place, left, right, result
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto offer = [&](int i) {
    if (i < 0 || at(next, i) >= size) return;
    const int left = at(symbols, i), right = at(symbols, at(next, i));
    if (const auto merge = find_merge(left, right)) {
      queue.emplace(merge->rank, i, left, right, merge->result);
    }
  };
  for (int i = 0; i + 1 < size; ++i) offer(i);
  while (!queue.empty()) {
    const auto [rank, i, left, right, result] = queue.top();
    queue.pop();
    const int j = at(next, i);
    if (at(symbols, i) != left || j >= size || at(symbols, j) != right) continue;
    at(symbols, i) = result;
    at(symbols, j) = kGone;
    at(next, i) = at(next, j);
    if (at(next, j) < size) at(previous, at(next, j)) = i;
    offer(at(previous, i));
    offer(i);
  }
  std::erase(symbols, kGone);
}

// An unknown token waits for the next character that is a token, and bytes are put before it, as in `merge_word` of BPE
// in Hugging Face's `tokenizers`.
void BytePair::append_symbols(std::u32string_view piece, std::vector<int>& symbols) const {
  bool is_waiting = false;
  const auto end_unknown = [&] {
    if (std::exchange(is_waiting, false)) symbols.push_back(*rules_.unknown);
  };
  for (std::size_t k = 0; k < piece.size(); ++k) {
    const bool last = k + 1 == piece.size();
    const std::string text = unicode::encode(piece.substr(k, 1)) + (last ? rules_.end : "");
    if (const auto id = vocabulary_->find_in_model(text)) {
      end_unknown();
      symbols.push_back(*id);
    } else if (!ranks_.empty()) {
      symbols.push_back(symbol_of(piece[k]));
    } else if (!append_bytes(text, symbols)) {
      if (!rules_.unknown) refuse_character(text);
      if (!rules_.fuse_unknown) end_unknown();
      is_waiting = true;
    }
  }
  end_unknown();
}

void BytePair::append(std::u32string_view piece, std::vector<int>& ids) const {
  if (rules_.whole_first) {
    if (const auto id = vocabulary_->find_in_model(unicode::encode(piece))) {
      ids.push_back(*id);
      return;
    }
  }
  std::vector<int> symbols;
  append_symbols(piece, symbols);
  merge(symbols);
  for (const int symbol : symbols) {
    if (symbol >= 0) {
      ids.push_back(symbol);
    } else if (!append_bytes(text_of(symbol), ids)) {
      refuse_character(text_of(symbol));
    }
  }
}

Unigram::Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
                 Rules rules)
    : vocabulary_(std::move(vocabulary)), scores_(std::move(scores)), longest_(0), rules_(rules) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t id = 0; id < scores_.size(); ++id) {
    if (scores_[id] == kNever) continue;
    least = std::min(least, scores_[id]);
    longest_ = std::max(longest_, vocabulary_->token(static_cast<int>(id)).size());
  }
  unknown_score_ = least - kUnknownPenalty;
}

std::optional<int> Unigram::find(const std::string& token) const {
  const auto id = vocabulary_->find_in_model(token);
  const bool is_cut = id && scores_[static_cast<std::size_t>(*id)] != kNever;
  return is_cut ? id : std::nullopt;
}

void Unigram::append_unknown(const std::string& characters, std::vector<int>& ids) const {
  // The unknown token is itself where a text has it.
  if (const auto id = find(characters)) {
    ids.push_back(*id);
  } else if (!rules_.byte_fallback || !vocabulary_->append_bytes(characters, ids)) {
    ids.push_back(*rules_.unknown);
  }
}

void Unigram::append(std::u32string_view piece, std::vector<int>& ids) const {
  std::vector<Path> paths(piece.size() + 1);
  paths[0].score = 0;
  const auto offer = [&](std::size_t start, std::size_t end, double score, int token) {
    const double sum = paths[start].score + score;
    // The first of equal sums stays, which has the longest last token.
    if (sum > paths[end].score) paths[end] = {sum, start, token};
  };
  for (std::size_t start = 0; start < piece.size(); ++start) {
    std::string token;
    bool has_single = false;
    for (std::size_t end = start + 1; end <= piece.size(); ++end) {
      unicode::append(token, piece[end - 1]);
      if (token.size() > longest_) break;
      const auto id = find(token);
      if (!id) continue;
      offer(start, end, scores_[static_cast<std::size_t>(*id)],
            id == rules_.unknown ? kUnknown : *id);
      has_single = has_single || end == start + 1;
    }
    if (has_single) continue;
    if (!rules_.unknown) refuse_character(unicode::encode(piece.substr(start, 1)));
    offer(start, start + 1, unknown_score_, kUnknown);
  }
  std::vector<std::pair<Path, std::size_t>> tokens;  // with their ends, the last first
  for (std::size_t end = piece.size(); end > 0; end = paths[end].start) {
    const Path& path = paths[end];
    if (path.token == kUnknown && !tokens.empty() && tokens.back().first.token == kUnknown) {
      tokens.back().first.start = path.start;
    } else {
      tokens.emplace_back(path, end);
    }
  }
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
    const auto& [path, end] = *token;
    if (path.token == kUnknown) {
      append_unknown(unicode::encode(piece.substr(path.start, end - path.start)), ids);
    } else {
      ids.push_back(path.token);
    }
  }
}

}  // namespace eigenscope

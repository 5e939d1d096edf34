#include "text/byte_pair.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

#include "support/error.h"
#include "text/unicode.h"

namespace eigenscope {
namespace {

std::uint64_t pair_key(int left, int right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

constexpr int kGone = std::numeric_limits<int>::min();

// Where neighbours merge by their text, a character that is no token is a negative symbol until all have merged.
int symbol_of(char32_t unknown) { return ~static_cast<int>(unknown); }

}  // namespace

void BytePair::add_merge(int left, int right, int merged) {
  merges_[pair_key(left, right)] = {next_rank_++, merged};
}

void BytePair::merge_by_scores(const std::vector<double>& scores) {
  std::vector<double> order = scores;
  std::sort(order.begin(), order.end(), std::greater<>());
  ranks_.clear();
  for (const double score : scores) {
    const auto place = std::lower_bound(order.begin(), order.end(), score, std::greater<>());
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
    const auto id = vocabulary_->find(text_of(left) + text_of(right));
    if (!id) return std::nullopt;
    return Merge{ranks_[static_cast<std::size_t>(*id)], *id};
  }
  const auto merge = merges_.find(pair_key(left, right));
  if (merge == merges_.end()) return std::nullopt;
  return merge->second;
}

void BytePair::append_unknown(const std::string& text, std::vector<int>& symbols) const {
  if (rules_.byte_fallback) {
    if (const auto ids = vocabulary_->bytes_of(text)) {
      symbols.insert(symbols.end(), ids->begin(), ids->end());
      return;
    }
  }
  if (!rules_.unknown) {
    throw InvalidArgument("text", "have characters of the vocabulary",
                          "it has no token for '" + text + "'");
  }
  if (!rules_.fuse_unknown || symbols.empty() || symbols.back() != *rules_.unknown) {
    symbols.push_back(*rules_.unknown);
  }
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

void BytePair::append(std::u32string_view piece, std::vector<int>& ids) const {
  if (rules_.whole_first) {
    if (const auto id = vocabulary_->find(unicode::encode(piece))) {
      ids.push_back(*id);
      return;
    }
  }
  std::vector<int> symbols;
  for (std::size_t k = 0; k < piece.size(); ++k) {
    const bool last = k + 1 == piece.size();
    const std::string text = unicode::encode(piece.substr(k, 1)) + (last ? rules_.end : "");
    if (const auto id = vocabulary_->find(text)) {
      symbols.push_back(*id);
    } else if (!ranks_.empty()) {
      symbols.push_back(symbol_of(piece[k]));
    } else {
      append_unknown(text, symbols);
    }
  }
  merge(symbols);
  for (const int symbol : symbols) {
    if (symbol >= 0) {
      ids.push_back(symbol);
    } else {
      append_unknown(text_of(symbol), ids);
    }
  }
}

}  // namespace eigenscope

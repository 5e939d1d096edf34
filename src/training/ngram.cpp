#include "training/ngram.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace eigenscope {
namespace {

// Counts of each token after each context, in a table with open addressing: a text is counted in a few milliseconds,
// while sorting its positions takes a hundred.
class Counts {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  explicit Counts(std::size_t contexts)
      : slots_(1 << 12, kNone), totals_(contexts), followers_(contexts) {}

  // Counts a pair and returns its index among the distinct pairs, in the order of first occurrence.
  std::size_t add(std::size_t context, TokenId token) {
    if (2 * keys_.size() >= slots_.size()) grow();
    std::size_t& slot = slots_[slot_of(key_of(context, token))];
    if (slot == kNone) {
      slot = keys_.size();
      keys_.push_back(key_of(context, token));
      counts_.push_back(0);
      ++followers_[context];
    }
    ++counts_[slot];
    ++totals_[context];
    return slot;
  }
  // The index of a pair; kNone for a pair that was not counted.
  std::size_t find(std::size_t context, TokenId token) const {
    return slots_[slot_of(key_of(context, token))];
  }
  std::size_t different() const { return keys_.size(); }
  // P(token | context), interpolated with `shorter`, the probability given a shorter context.
  double probability(std::size_t context, TokenId token, double shorter) const {
    if (totals_[context] == 0) return shorter;
    const std::size_t pair = find(context, token);
    const double count = pair == kNone ? 0 : static_cast<double>(counts_[pair]);
    const auto followers = static_cast<double>(followers_[context]);
    return (count + followers * shorter) / (static_cast<double>(totals_[context]) + followers);
  }

 private:
  using Key = std::uint64_t;
  static Key key_of(std::size_t context, TokenId token) {
    return static_cast<Key>(context) << 32 | static_cast<std::uint32_t>(token);
  }
  std::size_t slot_of(Key key) const {
    const Key mixed = key * 0x9e3779b97f4a7c15U;  // 2^64 over the golden ratio
    auto slot = static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
    while (slots_[slot] != kNone && keys_[slots_[slot]] != key) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }
  void grow() {
    slots_.assign(4 * slots_.size(), kNone);
    for (std::size_t i = 0; i < keys_.size(); ++i) slots_[slot_of(keys_[i])] = i;
  }

  std::vector<std::size_t> slots_;  // a power of two of them
  std::vector<Key> keys_;
  std::vector<std::size_t> counts_;              // by pair, as keys_
  std::vector<std::size_t> totals_, followers_;  // by context: occurrences, and distinct tokens
};

}  // namespace

NgramLosses ngram_losses(std::span<const TokenId> training, std::span<const TokenId> text,
                         Eigen::Index vocabulary) {
  const auto size = static_cast<std::size_t>(vocabulary);
  const auto context = [](TokenId token) { return static_cast<std::size_t>(token); };
  Counts tokens(1), pairs(size);
  std::vector<std::size_t> pair_at{Counts::kNone};  // index of (previous token, token) in `pairs`
  for (std::size_t i = 0; i < training.size(); ++i) {
    tokens.add(0, training[i]);
    if (i > 0) pair_at.push_back(pairs.add(context(training[i - 1]), training[i]));
  }
  Counts triples(pairs.different());  // the context of two tokens is their pair
  for (std::size_t i = 2; i < training.size(); ++i) triples.add(pair_at[i - 1], training[i]);
  NgramLosses losses;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const double one = tokens.probability(0, text[i], 1 / static_cast<double>(vocabulary));
    const double two = pairs.probability(context(text[i - 1]), text[i], one);
    double three = two;
    if (i >= 2) {
      const std::size_t before = pairs.find(context(text[i - 2]), text[i - 1]);
      if (before != Counts::kNone) three = triples.probability(before, text[i], two);
    }
    losses.unigram.push_back(-std::log(one));
    losses.bigram.push_back(-std::log(two));
    losses.trigram.push_back(-std::log(three));
  }
  return losses;
}

}  // namespace eigenscope

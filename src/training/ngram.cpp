#include "training/ngram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace eigenscope {
namespace {

using Key = std::uint64_t;  // a context by its number, and the token after it

Key key_of(Key context, TokenId token) { return context << 32 | static_cast<std::uint32_t>(token); }

// How often each token follows each context, from the keys of all places of a text.
class Counts {
 public:
  explicit Counts(std::vector<Key> keys) {
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i > 0 && keys[i] == keys[i - 1]) continue;
      keys_.push_back(keys[i]);
      firsts_.push_back(i);
    }
    firsts_.push_back(keys.size());
  }
  // The place of a key, or of the next larger one, among the different keys; their number beyond the last.
  std::size_t place(Key key) const {
    return static_cast<std::size_t>(std::lower_bound(keys_.begin(), keys_.end(), key) -
                                    keys_.begin());
  }
  bool has(std::size_t place, Key key) const { return place < keys_.size() && keys_[place] == key; }
  // Interpolated with the probability given a shorter context.
  double probability(Key context, TokenId token, double shorter) const {
    const std::size_t first = place(key_of(context, 0)), last = place(key_of(context + 1, 0));
    if (first == last) return shorter;
    const std::size_t own = place(key_of(context, token));
    const bool known = has(own, key_of(context, token));
    const auto count = static_cast<double>(known ? firsts_[own + 1] - firsts_[own] : 0);
    const auto different = static_cast<double>(last - first);
    return (count + different * shorter) /
           (static_cast<double>(firsts_[last] - firsts_[first]) + different);
  }

 private:
  std::vector<Key> keys_;
  std::vector<std::size_t> firsts_;  // of each key among the sorted ones, and their number
};

}  // namespace

NgramLosses ngram_losses(std::span<const TokenId> training, std::span<const TokenId> text,
                         Eigen::Index vocabulary) {
  // A context of no token is 0, of one token the token, of two the place of both among the different pairs.
  std::vector<Key> keys;
  for (const TokenId token : training) keys.push_back(key_of(0, token));
  const Counts tokens(keys);
  const auto pair_at = [](std::span<const TokenId> of, std::size_t i) {
    return key_of(static_cast<Key>(of[i - 1]), of[i]);
  };
  keys.clear();
  for (std::size_t i = 1; i < training.size(); ++i) keys.push_back(pair_at(training, i));
  const Counts pairs(keys);
  keys.clear();
  for (std::size_t i = 2; i < training.size(); ++i) {
    keys.push_back(key_of(pairs.place(pair_at(training, i - 1)), training[i]));
  }
  const Counts triples(keys);
  NgramLosses losses;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const double one = tokens.probability(0, text[i], 1 / static_cast<double>(vocabulary));
    const double two = pairs.probability(static_cast<Key>(text[i - 1]), text[i], one);
    double three = two;
    if (i >= 2) {
      const Key before = pair_at(text, i - 1);
      const std::size_t context = pairs.place(before);
      if (pairs.has(context, before)) three = triples.probability(context, text[i], two);
    }
    losses.unigram.push_back(-std::log(one));
    losses.bigram.push_back(-std::log(two));
    losses.trigram.push_back(-std::log(three));
  }
  return losses;
}

}  // namespace eigenscope

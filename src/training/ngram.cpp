#include "training/ngram.h"

#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace eigenscope {
namespace {

using Context = std::uint64_t;

Context of_token(TokenId token) { return static_cast<Context>(token); }
Context of_pair(TokenId before, TokenId token) { return of_token(before) << 32 | of_token(token); }

// How often each token follows each context.
class Counts {
 public:
  void add(Context context, TokenId token) {
    Followers& own = followers_[context];
    own.total += 1;
    own.counts[token] += 1;
  }
  // Interpolated with the probability given a shorter context.
  double probability(Context context, TokenId token, double shorter) const {
    const auto found = followers_.find(context);
    if (found == followers_.end()) return shorter;
    const Followers& own = found->second;
    const auto count = own.counts.find(token);
    const auto different = static_cast<double>(own.counts.size());
    return ((count == own.counts.end() ? 0 : count->second) + different * shorter) /
           (own.total + different);
  }

 private:
  struct Followers {
    double total = 0;
    std::unordered_map<TokenId, double> counts;
  };
  std::unordered_map<Context, Followers> followers_;
};

}  // namespace

NgramLosses ngram_losses(std::span<const TokenId> training, std::span<const TokenId> text,
                         Eigen::Index vocabulary) {
  constexpr Context kNone = 0;
  Counts tokens, after_one, after_two;
  for (std::size_t i = 0; i < training.size(); ++i) {
    tokens.add(kNone, training[i]);
    if (i >= 1) after_one.add(of_token(training[i - 1]), training[i]);
    if (i >= 2) after_two.add(of_pair(training[i - 2], training[i - 1]), training[i]);
  }
  NgramLosses losses;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const double uniform = 1 / static_cast<double>(vocabulary);
    const double one = tokens.probability(kNone, text[i], uniform);
    const double two = after_one.probability(of_token(text[i - 1]), text[i], one);
    const double three =
        i < 2 ? two : after_two.probability(of_pair(text[i - 2], text[i - 1]), text[i], two);
    losses.unigram.push_back(-std::log(one));
    losses.bigram.push_back(-std::log(two));
    losses.trigram.push_back(-std::log(three));
  }
  return losses;
}

}  // namespace eigenscope

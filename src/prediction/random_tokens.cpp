#include "prediction/random_tokens.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "support/error.h"
#include "support/parameter.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::uint64_t kTokenStream = 0x746f6b656e730000;  // "tokens", with room for the sequences

}  // namespace

VectorXd token_probabilities(const RandomTokens& tokens) {
  checked(kZipfExponent, tokens.exponent);
  checked(kZipfOffset, tokens.offset);
  if (tokens.law == TokenLaw::sampled) {
    throw InvalidArgument("tokens_law", "be a law of independent tokens");
  }
  const auto count = static_cast<Index>(tokens.ids.size());
  if (count == 0) throw InvalidArgument("ids", "have at least one token to draw");
  VectorXd p = VectorXd::Ones(count);
  if (tokens.law == TokenLaw::zipf) {
    const double ranks = static_cast<double>(count);
    p = (VectorXd::LinSpaced(count, 1, ranks).array() + tokens.offset).pow(-tokens.exponent);
  }
  return p / p.sum();
}

Index content_length(const RandomTokens& tokens, Index length) {
  const auto special = static_cast<Index>(tokens.before.size() + tokens.after.size());
  if (length > special) return length - special;
  throw InvalidArgument("length",
                        "be an integer from " + std::to_string(special + 1) + " with " +
                            std::to_string(special) + " special tokens",
                        "found " + std::to_string(length));
}

std::vector<Passage> random_passages(const RandomTokens& tokens, Index count, Index length,
                                     std::uint64_t seed) {
  const Index room = content_length(tokens, length);
  VectorXd below = token_probabilities(tokens);
  for (Index i = 1; i < below.size(); ++i) below[i] += below[i - 1];
  std::vector<Passage> passages;
  for (Index k = 0; k < count; ++k) {
    Passage passage{tokens.before, static_cast<Index>(tokens.before.size()),
                    static_cast<Index>(tokens.after.size())};
    for (Index t = 0; t < room; ++t) {
      const double unit = random_unit(seed, kTokenStream + static_cast<std::uint64_t>(k),
                                      static_cast<std::uint64_t>(t));
      const auto place = std::upper_bound(below.begin(), below.end() - 1, unit) - below.begin();
      passage.ids.push_back(tokens.ids[static_cast<std::size_t>(place)]);
    }
    passage.ids.insert(passage.ids.end(), tokens.after.begin(), tokens.after.end());
    passages.push_back(std::move(passage));
  }
  return passages;
}

}  // namespace eigenscope

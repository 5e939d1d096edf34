#include "training/masked_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "nn/loss.h"
#include "support/random.h"

namespace eigenscope {

Eigen::Index model_vocabulary(const ModelSettings& settings, Eigen::Index tokens) {
  return tokens + (settings.objective == Objective::masked ? 1 : 0);
}

void mask_tokens(double share, TokenId mask, std::uint64_t seed, std::uint64_t draw,
                 std::span<TokenId> inputs, std::span<TokenId> targets) {
  constexpr std::uint64_t kMaskStream = std::uint64_t{1} << 47;
  const std::size_t length = inputs.size();
  const auto wanted = static_cast<std::size_t>(std::round(share * static_cast<double>(length)));
  const std::size_t count = std::clamp<std::size_t>(wanted, 1, length);
  std::vector<std::size_t> places(length);
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (std::size_t i = 0; i < count; ++i) {  // the first steps of a shuffle
    const std::uint64_t at = random_below(length - i, seed, kMaskStream, draw * length + i);
    std::swap(places[i], places[i + at]);
    inputs[places[i]] = mask;
  }
  for (std::size_t i = count; i < length; ++i) targets[places[i]] = kNoTarget;
}

void add_example(const TrainSettings& settings, std::span<const TokenId> tokens, std::uint64_t seed,
                 std::uint64_t draw, std::vector<TokenId>& inputs, std::vector<TokenId>& targets) {
  const bool masked = settings.model.objective == Objective::masked;
  const std::size_t length = tokens.size() - 1;
  const auto read = tokens.subspan(masked ? 1 : 0, length), predicted = tokens.subspan(1);
  inputs.insert(inputs.end(), read.begin(), read.end());
  targets.insert(targets.end(), predicted.begin(), predicted.end());
  if (!masked) return;
  mask_tokens(settings.masked_share, static_cast<TokenId>(settings.model.vocabulary - 1), seed,
              draw, std::span(inputs).last(length), std::span(targets).last(length));
}

}  // namespace eigenscope

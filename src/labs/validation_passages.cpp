#include "labs/validation_passages.h"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <span>
#include <string>

#include "nn/tokens.h"
#include "support/error.h"
#include "training/text.h"

namespace eigenscope {

using Eigen::Index;

std::vector<std::vector<TokenId>> validation_passages(const Tokenizer& tokenizer,
                                                      std::string_view text, Index length,
                                                      Index count) {
  const std::vector<TokenId> tokens =
      tokenizer.encode(text.substr(validation_start(text, tokenizer.words())));
  const auto last = static_cast<Index>(tokens.size()) - 1 - length;
  if (last < 0) {
    throw InvalidArgument("text",
                          "have at least " + std::to_string(length + 1) +
                              " tokens in its last tenth for a sequence of " +
                              std::to_string(length),
                          "found " + std::to_string(tokens.size()));
  }
  const Index passages_found = std::min(count, 1 + last / length);
  std::vector<std::vector<TokenId>> passages;
  for (Index k = 0; k < passages_found; ++k) {
    const auto first = tokens.begin() + (passages_found == 1 ? 0 : last * k / (passages_found - 1));
    passages.emplace_back(first, first + length + 1);
  }
  return passages;
}

EvaluatedPassages::EvaluatedPassages(const TrainedModel& model, std::string_view text, Index count,
                                     std::uint64_t seed)
    : length_(model.settings.model.length) {
  const auto passages = validation_passages(model.tokenizer, text, length_, count);
  count_ = std::ssize(passages);
  for (std::size_t k = 0; k < passages.size(); ++k) {
    add_example(model.settings, passages[k], seed, k, inputs_, targets_);
  }
}

void EvaluatedPassages::evaluate_next(Model<float>& model, const Intervention<float>& intervention,
                                      std::vector<double>& losses) const {
  const Index first = std::ssize(losses), count = std::min(kAtOnce, count_ - first);
  const auto next = [&](const std::vector<TokenId>& tokens) {
    return std::span(tokens).subspan(static_cast<std::size_t>(first * length_),
                                     static_cast<std::size_t>(count * length_));
  };
  model.forward(next(inputs_), length_, intervention);
  const std::span<const TokenId> targets = next(targets_);
  std::vector<double> each(targets.size());
  model.loss(targets, false, each);
  for (Index start = 0; start < std::ssize(each); start += length_) {
    const auto first_target = targets.begin() + start;
    const auto predicted = length_ - std::count(first_target, first_target + length_, kNoTarget);
    const auto terms = each.begin() + start;
    losses.push_back(std::accumulate(terms, terms + length_, 0.0) / static_cast<double>(predicted) /
                     std::numbers::ln2);
  }
}

}  // namespace eigenscope

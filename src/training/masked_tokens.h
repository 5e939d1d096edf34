// Masked-token prediction: the tokens of a sequence that are masked and predicted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/settings.h"

namespace eigenscope {

/// The vocabulary of a model of text with `tokens` tokens: the objective `masked` has one more, the last, which
/// stands for a masked token.
Eigen::Index model_vocabulary(const ModelSettings& settings, Eigen::Index tokens);

/// Replaces max(1, round(share T)) of the T `inputs`, at random places, by `mask`; the `targets` at all other places
/// become kNoTarget. Draw number `draw` of the seed gives the places. `share` is in (0, 1].
void mask_tokens(double share, TokenId mask, std::uint64_t seed, std::uint64_t draw,
                 std::span<TokenId> inputs, std::span<TokenId> targets);

/// Appends T of T + 1 tokens to inputs and targets: all but the last with their successors, or with the objective
/// `masked` all but the first, of which those that mask_tokens hides are predicted.
void add_example(const TrainSettings& settings, std::span<const TokenId> tokens, std::uint64_t seed,
                 std::uint64_t draw, std::vector<TokenId>& inputs, std::vector<TokenId>& targets);

}  // namespace eigenscope

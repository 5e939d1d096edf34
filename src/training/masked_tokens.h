// Masked-token prediction: which tokens of a sequence are hidden and predicted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/settings.h"

namespace eigenscope {

/// The vocabulary of a model of text with `tokens` tokens: the objective `masked` has one more, the last, which
/// stands for a masked token.
Eigen::Index model_vocabulary(const ModelSettings& settings, Eigen::Index tokens);

/// Of a sequence of T tokens as inputs and as targets, max(1, round(share T)) at random places are masked in the
/// inputs; the other targets become kNoTarget. Places are those of draw number `draw` of the seed.
void mask_tokens(double share, TokenId mask, std::uint64_t seed, std::uint64_t draw,
                 std::span<TokenId> inputs, std::span<TokenId> targets);

/// Appends T of T + 1 tokens to inputs and targets: all but the last with their successors, or with the objective
/// `masked` all but the first, of which those that mask_tokens hides are predicted.
void add_example(const TrainSettings& settings, std::span<const TokenId> tokens, std::uint64_t seed,
                 std::uint64_t draw, std::vector<TokenId>& inputs, std::vector<TokenId>& targets);

}  // namespace eigenscope

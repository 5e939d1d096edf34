// Sequences sampled from a language model itself: random tokens with its own neighbours and repetitions.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "inference/transformer.h"
#include "prediction/random_tokens.h"

namespace eigenscope {

/// `count` sequences of `length` tokens between the special tokens of `tokens`. After special tokens in
/// front the model goes on by itself. Without them it goes on from one of `tokens.ids`, all alike, and the
/// last of as many tokens as a sequence has is the first token of the sequence: so that this too is one that
/// the model writes. Each token is drawn from the softmax of the model's logits over `tokens.ids`; those of
/// sequence k by stream k of the seed, of streams that nothing else uses. Keeps all layers in memory. Throws
/// InvalidArgument: "tokens_law" for a model without causal attention, "ids", "length" when the special
/// tokens leave no room; FormatError for weights that cannot be read.
std::vector<Passage> sampled_passages(const Transformer& model, const RandomTokens& tokens,
                                      Eigen::Index count, Eigen::Index length, std::uint64_t seed);

}  // namespace eigenscope

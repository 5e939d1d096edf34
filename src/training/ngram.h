// Losses of n-gram models, which are reference lines for the losses of trained models.
#pragma once

#include <span>
#include <vector>

#include "nn/tokens.h"

namespace eigenscope {

/// -log P in nats of every token of a text but the first, which has none before it: of the token alone, given
/// the one before it, and given the two before it (the second token: the one).
struct NgramLosses {
  std::vector<double> unigram, bigram, trigram;
};

/// P from counts in `training`, interpolated as by Witten and Bell (1991, method C): with n(h) the tokens that
/// follow the context h, n(h, w) those that are w, and D(h) the number of different ones,
/// P(w | h) = (n(h, w) + D(h) P(w | h')) / (n(h) + D(h)), h' being h without its first token. Below the
/// unigram is the uniform law over `vocabulary` tokens; where n(h) is 0, P(w | h) is P(w | h').
NgramLosses ngram_losses(std::span<const TokenId> training, std::span<const TokenId> text,
                         Eigen::Index vocabulary);

}  // namespace eigenscope

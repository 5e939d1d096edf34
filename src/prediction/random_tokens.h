// Sequences without a text, from which the statistics of tokens come: random tokens, and text sampled from the language
// model, with the neighbours and repetitions that it writes.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "inference/transformer.h"
#include "support/choice.h"
#include "support/parameter.h"
#include "text/passages.h"

namespace eigenscope {

/// Laws of the ids.
enum class TokenLaw {
  zipf,     ///< p(rank) proportional to 1 / (rank + offset)^exponent, rank from 1 (Zipf-Mandelbrot)
  uniform,  ///< every id alike
  sampled   ///< text of the language model itself, sampled_passages()
};
inline constexpr std::array kTokenLawNames{Choice{"zipf", "Zipf’s law"},
                                           Choice{"uniform", "uniform tokens"},
                                           Choice{"sampled", "the model’s own text"}};

inline constexpr Parameter kZipfExponent{
    "zipf_exponent", reals(0, 10), 1,
    "exponent of Zipf's law of random tokens, p ~ 1/(rank + offset)^exponent"};
inline constexpr Parameter kZipfOffset{"zipf_offset", reals(0, 10000), 2.7,
                                       "offset of the ranks in Zipf's law of random tokens"};

/// Ids between special tokens.
struct RandomTokens {
  TokenLaw law = TokenLaw::zipf;
  double exponent = kZipfExponent.default_value;
  double offset = kZipfOffset.default_value;
  std::vector<int> ids{};              ///< the most frequent first; at least one
  std::vector<int> before{}, after{};  ///< special tokens of every sequence
};

/// The number of `length` tokens that are not special. Throws InvalidArgument ("length") when there is none.
Eigen::Index content_length(const RandomTokens& tokens, Eigen::Index length);

/// The probability of each of the ids by a law of independent ones; they add up to 1. Throws
/// InvalidArgument: "ids" when there is none, "zipf_exponent", "zipf_offset", and "tokens_law" for
/// `sampled`.
Eigen::VectorXd token_probabilities(const RandomTokens& tokens);

/// `count` sequences of `length` tokens, special ones included. Token t of sequence k is draw t of
/// stream k of the seed, of streams that nothing else uses. Throws InvalidArgument as
/// token_probabilities and content_length do.
std::vector<Passage> random_passages(const RandomTokens& tokens, Eigen::Index count,
                                     Eigen::Index length, std::uint64_t seed);

/// `count` sequences of `length` tokens, special ones included. After special tokens in front the model continues by
/// itself. Without them it continues from a uniformly drawn one of `tokens.ids` for as many tokens as a sequence has,
/// and the last of these is the first token of the sequence, so that this token too is sampled from the model. Each
/// token is drawn from the softmax of the model's logits over `tokens.ids`, in sequence k by stream k of the seed, of
/// streams that nothing else uses. Keeps all layers in memory. Throws InvalidArgument: "tokens_law" for a model without
/// causal attention, "ids", "length" when the special tokens leave no room; FormatError for weights that cannot be
/// read.
std::vector<Passage> sampled_passages(const Transformer& model, const RandomTokens& tokens,
                                      Eigen::Index count, Eigen::Index length, std::uint64_t seed);

}  // namespace eigenscope

// The passages that a prediction needs, drawn from texts or random, as an input of operations.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "operations/reader.h"
#include "prediction/prediction.h"
#include "prediction/random_tokens.h"
#include "prediction/vocabulary_order.h"

namespace eigenscope {

/// Random tokens, by the sizes of a model and the words of its tokenizer.
struct RandomTokensInput {
  TokenLaw law = TokenLaw::zipf;
  TokenOrder order = TokenOrder::vocabulary;
  double exponent = 0, offset = 0;
};
void describe(InputFields& f, RandomTokensInput& in);
/// `count` passages of `length` tokens without a text. Throws as random_passages and sampled_passages do.
std::vector<Passage> made_passages(const RandomTokensInput& in, const Reader& reader,
                                   Eigen::Index count, Eigen::Index length, std::uint64_t seed);

struct PassagesInput {
  ReaderInput reader;
  std::vector<std::byte> file;  ///< for the statistics, and to measure on; else random tokens
  std::vector<std::byte> measure_file;   ///< to measure on, instead of other passages of `file`
  std::vector<std::byte> transfer_file;  ///< another text to measure on, for the transfer null
  RandomTokensInput random;
  Eigen::Index length = 0;
  bool fit_length = false;
  Eigen::Index passages = 0;
  std::uint64_t seed = 0;
};
void describe(InputFields& f, PassagesInput& in);

/// Draws the passages of a prediction: from one text `passages` for the statistics and as many to measure; from two
/// texts, or random tokens and a text, as many of the second to measure, and as many others of it for the ceiling; from
/// `transfer_file` as many for the transfer null.
PredictionPassages drawn_passages(const PassagesInput& in, const Reader& reader);

}  // namespace eigenscope

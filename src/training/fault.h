// Faults that are injected into a training run from a step on, to test early warnings of failing runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/model.h"

namespace eigenscope {

/// True if a lasting fault acts in the step after `step` completed ones.
bool acts(const FaultSettings& fault, Eigen::Index step);

/// Learning rate of the step after `step` completed ones over that of the schedule.
double rate_factor(const FaultSettings& fault, Eigen::Index step);

/// The tokens that the step reads in place of `tokens`, those of example number `draw` of the seed, from a text of
/// `vocabulary` tokens; empty where the fault does not change them.
std::vector<TokenId> faulty_tokens(const FaultSettings& fault, Eigen::Index step,
                                   std::uint64_t seed, std::uint64_t draw,
                                   std::span<const TokenId> tokens, Eigen::Index vocabulary);

/// Readings of the heads in the forward pass of the step; empty for the readings as trained.
std::vector<HeadReading<float>> faulty_readings(const FaultSettings& fault, Eigen::Index step,
                                                const Model<float>& model);

}  // namespace eigenscope

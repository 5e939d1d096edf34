// A learned mask over the distances between query and key, after the differentiable attention mask of Shi et al.
// (2021, arXiv:2102.12871). The distance k is kept with probability sigmoid(a_k), in all heads alike.
#pragma once

#include <cstdint>
#include <vector>

#include "training/model.h"

namespace eigenscope {

/// Whether each sequence of a training step sees the keys at each distance, T x B: drawn for each sequence (a hard
/// sample of the Gumbel-sigmoid of a_k), and false at the dropped distance. Empty for a model without a learned mask.
std::vector<char> draw_kept(const Model<float>& model, Eigen::Index batch, std::uint64_t seed,
                            std::uint64_t step);

/// Probability in (0, 1) with which the learned mask keeps a distance.
float keep_probability(const Model<float>& model, Eigen::Index distance);

/// Number of entries at this distance in an attention row, on average over the T rows.
double entries_at(const ModelSettings& settings, Eigen::Index distance);

/// Adds to the model's gradient that of penalty * (expected number of kept entries of a row).
void add_entry_penalty(double penalty, Model<float>& model);

}  // namespace eigenscope

// The projection matrices of a layer: queries, keys, values, attention output and those of the MLP.
#pragma once

#include <vector>

#include "training/model.h"

namespace eigenscope {

/// A matrix inside the parameters: entry (i, j) is at offset + i + j leading.
struct ProjectionPlace {
  Eigen::Index offset, rows, columns, leading;
};

/// The projection matrices of all layers, in the order of the forward pass. Queries, keys and values of all heads are
/// one matrix each, as in sigmaReparam's paper.
std::vector<ProjectionPlace> projections_of(const ModelSettings& settings,
                                            const ParameterLayout& layout);

/// Multiplies W_Q and b_Q of every layer among `numbers`, one for each parameter, by `factor`. Training at the softmax
/// temperature t sqrt(d_h) is training at sqrt(d_h) with W_Q and b_Q that start at 1/t, have 1/t of the learning rate
/// and t times the weight decay: Adam's steps do not depend on the scale of the gradient.
void scale_queries(const ModelSettings& settings, const ParameterLayout& layout, float factor,
                   Vector<float>& numbers);
/// Multiplies W_Q, b_Q, W_K and b_K of every layer among `numbers`, one for each parameter, by `factor`.
void scale_queries_and_keys(const ModelSettings& settings, const ParameterLayout& layout,
                            float factor, Vector<float>& numbers);

}  // namespace eigenscope

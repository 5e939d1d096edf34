// The projection matrices of a layer (queries, keys, values, attention output and those of the
// MLP): their places, scales, and bounds of a step of the optimizer on them, QK-Clip and AdamW^2.
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

/// QK-Clip (Kimi K2, arXiv:2507.20534): W_Q and W_K (and their biases) of every head whose largest causal
/// logit in the last batch is above `limit` are multiplied by sqrt(limit / logit) each. A key head that several query
/// heads share does not change, and W_Q of these heads is multiplied by limit / logit.
void clip_queries_and_keys(double limit, Model<float>& model);

/// Largest q^T k / sqrt(d_h) of the last batch over keys up to the query, by head, layer by layer.
std::vector<double> largest_logits(const Model<float>& model);

/// AdamW^2 (Qi et al., arXiv:2505.21910): where a step U of a projection matrix W has sigma(U) above
/// `limit` sigma(W), U is scaled down to that. sigma by eight power iterations from a fixed vector.
/// `before` are the parameters before the step, `parameters` those after it.
void limit_growth(double limit, const Model<float>& model, const Vector<float>& before,
                  Vector<float>& parameters);

}  // namespace eigenscope

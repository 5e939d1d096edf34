// Bounds of a step of the optimizer, applied after it: QK-Clip and AdamW^2.
#pragma once

#include "training/model.h"

namespace eigenscope {

/// QK-Clip (Kimi K2, arXiv:2507.20534): W_Q and W_K (and their biases) of every head whose largest causal
/// logit in the last batch is above `limit` are multiplied by sqrt(limit / logit) each. A key head that several query
/// heads share does not change, and W_Q of these heads is multiplied by limit / logit.
void clip_queries_and_keys(double limit, Model<float>& model);

/// Largest q^T k / sqrt(d_h) of the last batch over keys up to the query, layer by layer a head.
std::vector<double> largest_logits(const Model<float>& model);

/// AdamW^2 (Qi et al., arXiv:2505.21910): where a step U of a projection matrix W has sigma(U) above
/// `limit` sigma(W), U is scaled down to that. sigma by eight power iterations from a fixed vector.
/// `before` are the parameters before the step, `parameters` those after it.
void limit_growth(double limit, const Model<float>& model, const Vector<float>& before,
                  Vector<float>& parameters);

}  // namespace eigenscope

// Measures of the layers and heads of a model on its last batch, for a row of the log.
#pragma once

#include "propagation/logit_law.h"
#include "training/log_row.h"
#include "training/model.h"

namespace eigenscope {

/// Euclidean norms of the gradient by parts of the model; NaN before the first step.
struct GradientNorms {
  double embedding, query_key, value, mlp, vectors;
  std::vector<double> layers, layers_query_key;

  explicit GradientNorms(Eigen::Index depth);
  /// `gradient` is by the numbers that the optimizer trains.
  GradientNorms(const ModelSettings& settings, const ParameterLayout& layout,
                const Vector<float>& gradient);
};

/// Sets the layers of the row, see kRunLayerMeasures.
void measure_layers(const Model<float>& model, const GradientNorms& gradients, LogRow& row);
/// Sets the heads of the row, see kRunHeadMeasures. `kernel` is that of the theory's tokens. `before` are the
/// parameters before the last step, empty for none: the measures of its change are NaN then. Throws FormatError naming
/// the head whose weights are not finite.
void measure_heads(const Model<float>& model, const CentredKernel& kernel,
                   const Vector<float>& before, LogRow& row);

}  // namespace eigenscope

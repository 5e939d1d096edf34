#include "prediction/folded_projections.h"

#include <cmath>

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Multiplies the d_h rows of head number `head`, which `norm` normalizes, by its gain over the root mean square
/// that their outputs, or those of all heads, have for isotropic tokens. `inputs` are factors of the inputs of
/// `from`, which the rows have already.
void divide_by_norm(const Norm& norm, const Linear& from, const VectorXd& inputs, Index head,
                    MatrixXd& rows) {
  const Index width = rows.rows(), size = norm.gain.size();
  const Index first = size > width ? 0 : head * width;
  const auto all = from.weight.middleRows(first, size).cast<double>();
  VectorXd squares = all.colwise().squaredNorm();
  if (norm.kind == NormKind::layer_norm) {
    const VectorXd mean = all.colwise().mean();
    squares -= static_cast<double>(size) * mean.cwiseAbs2();
    rows.rowwise() -= mean.cwiseProduct(inputs).transpose();
  }
  double square = squares.dot(inputs.cwiseAbs2());
  if (from.bias.size() > 0) square += from.bias.segment(first, size).cast<double>().squaredNorm();
  const double root = std::sqrt(square / static_cast<double>(size) + norm.epsilon);
  const VectorXd gain = norm.gain.segment(head * width - first, width).cast<double>() / root;
  rows = gain.asDiagonal() * rows;
}

}  // namespace

HeadProjections folded_projections(const LayerWeights& weights, const LayerRules& rules, int head) {
  const Index width = rules.head_width;
  const auto rows_of = [&](const Linear& from, const Norm& norm, Index number) {
    const Norm& before = weights.attention_norm;
    const VectorXd inputs = before.is_none() ? VectorXd::Ones(from.weight.cols())
                                             : VectorXd(before.gain.cast<double>());
    MatrixXd rows = from.weight.middleRows(number * width, width).cast<double>();
    rows *= inputs.asDiagonal();
    if (!norm.is_none()) divide_by_norm(norm, from, inputs, number, rows);
    return rows;
  };
  return {rows_of(weights.query, weights.query_norm, head),
          rows_of(weights.key, weights.key_norm, rules.key_head(head))};
}

}  // namespace eigenscope

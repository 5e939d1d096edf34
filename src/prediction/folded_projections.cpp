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
void divide_by_norm(const Norm& norm, const HeadProjection& from, const VectorXd& inputs, int head,
                    MatrixXd& rows) {
  const Index width = rows.rows(), size = norm.gain.size();
  const Index first = size > width ? 0 : head * width;
  const Linear normed = size > width ? *from.all() : from.head(head);
  const auto all = normed.weight.cast<double>();
  VectorXd squares = all.colwise().squaredNorm();
  if (norm.kind == NormKind::layer_norm) {
    const VectorXd mean = all.colwise().mean();
    squares -= static_cast<double>(size) * mean.cwiseAbs2();
    rows.rowwise() -= mean.cwiseProduct(inputs).transpose();
  }
  double square = squares.dot(inputs.cwiseAbs2());
  if (normed.bias.size() > 0) square += normed.bias.cast<double>().squaredNorm();
  const double root = std::sqrt(square / static_cast<double>(size) + norm.epsilon);
  const VectorXd gain = norm.gain.segment(head * width - first, width).cast<double>() / root;
  rows = gain.asDiagonal() * rows;
}

}  // namespace

HeadProjections folded_projections(const LayerWeights& weights, const LayerRules& rules, int head) {
  const auto rows_of = [&](const HeadProjection& from, const Norm& norm, int number) {
    const Norm& before = weights.attention_norm;
    const VectorXd inputs =
        before.is_none() ? VectorXd::Ones(from.inputs()) : VectorXd(before.gain.cast<double>());
    MatrixXd rows = from.head(number).weight.cast<double>();
    rows *= inputs.asDiagonal();
    if (!norm.is_none()) divide_by_norm(norm, from, inputs, number, rows);
    return rows;
  };
  return {rows_of(weights.query, weights.query_norm, head),
          rows_of(weights.key, weights.key_norm, rules.key_head(head))};
}

}  // namespace eigenscope

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

/// The compression of latent attention as a linear map of the tokens, whose coordinates have the factors `inputs`: its
/// norm divides by the root mean square that its inputs have for isotropic tokens.
MatrixXd linear_compression(const Compression& compression, const VectorXd& inputs) {
  MatrixXd map = compression.map.weight.cast<double>() * inputs.asDiagonal();
  const Norm& norm = compression.norm;
  auto normed = map.topRows(norm.gain.size());
  double square = normed.squaredNorm();
  if (const auto& bias = compression.map.bias; bias.size() > 0) {
    square += bias.head(norm.gain.size()).cast<double>().squaredNorm();
  }
  const double root = std::sqrt(square / static_cast<double>(normed.rows()) + norm.epsilon);
  normed = VectorXd(norm.gain.cast<double>() / root).asDiagonal() * normed.eval();
  return map;
}

}  // namespace

HeadProjections folded_projections(const LayerWeights& weights, const LayerRules& rules, int head) {
  const auto rows_of = [&](const HeadProjection& from, const Compression& compression,
                           const Norm& norm, int number) {
    const Norm& before = weights.attention_norm;
    const Index width = compression.is_none() ? from.inputs() : compression.map.weight.cols();
    const VectorXd inputs =
        before.is_none() ? VectorXd::Ones(width) : VectorXd(before.gain.cast<double>());
    MatrixXd rows = from.head(number).weight.cast<double>();
    if (!compression.is_none()) return MatrixXd(rows * linear_compression(compression, inputs));
    rows *= inputs.asDiagonal();
    if (!norm.is_none()) divide_by_norm(norm, from, inputs, number, rows);
    return rows;
  };
  return {rows_of(weights.query, weights.query_input, weights.query_norm, head),
          rows_of(weights.key, weights.key_input, weights.key_norm, rules.key_head(head))};
}

}  // namespace eigenscope

#include "inference/token_mixer.h"

#include <algorithm>
#include <cmath>

#include "nn/activation.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr float kLengthEpsilon = 1e-6F;  // of queries and keys, in all published models

float softplus(float x) { return std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x))); }

MatrixXf mixed(const OutputGate&, const MatrixXf& projected, const MatrixXf& read) {
  return read.binaryExpr(projected, [](float x, float gate) { return x * sigmoid(gate); });
}

MatrixXf mixed(const ShortConvolution& mixer, const MatrixXf& projected, const MatrixXf&) {
  const Index channels = mixer.convolution.channels();
  const auto part = [&](Index number) {
    return projected.middleRows(number * channels, channels).array();
  };
  return mixer.convolution(part(0) * part(2)).array() * part(1);
}

/// Each block of `width` rows of a column, times `scale` over its length.
MatrixXf directions(MatrixXf x, Index width, float scale) {
  for (Index t = 0; t < x.cols(); ++t) {
    for (Index first = 0; first < x.rows(); first += width) {
      auto block = x.col(t).segment(first, width);
      block *= scale / std::sqrt(block.squaredNorm() + kLengthEpsilon);
    }
  }
  return x;
}

MatrixXf mixed(const DeltaRule& rule, const MatrixXf& projected, const MatrixXf&) {
  const Index keys = rule.key_heads * rule.key_width, values = rule.heads * rule.value_width;
  MatrixXf convolved = rule.convolution(projected.topRows(2 * keys + values));
  activation_forward(Activation::silu, convolved, convolved);
  const float scale = 1 / std::sqrt(static_cast<float>(rule.key_width));
  const MatrixXf q = directions(convolved.topRows(keys), rule.key_width, scale);
  const MatrixXf k = directions(convolved.middleRows(keys, keys), rule.key_width, 1);
  const auto v = convolved.bottomRows(values);
  const auto z = projected.middleRows(2 * keys + values, values);
  const auto write = projected.middleRows(2 * keys + 2 * values, rule.heads);
  const auto step = projected.bottomRows(rule.heads);

  MatrixXf read(values, projected.cols());
  for (Index head = 0; head < rule.heads; ++head) {
    const Index shared = rule.in_turn ? head % rule.key_heads : head * rule.key_heads / rule.heads;
    const Index first_key = shared * rule.key_width;
    const Index first_value = head * rule.value_width;
    MatrixXf state = MatrixXf::Zero(rule.key_width, rule.value_width);
    for (Index t = 0; t < projected.cols(); ++t) {
      const auto key = k.col(t).segment(first_key, rule.key_width);
      state *= std::exp(-rule.rate[head] * softplus(step(head, t) + rule.step_bias[head]));
      const VectorXf change =
          sigmoid(write(head, t)) *
          (v.col(t).segment(first_value, rule.value_width) - state.transpose() * key);
      state.noalias() += key * change.transpose();
      read.col(t).segment(first_value, rule.value_width).noalias() =
          state.transpose() * q.col(t).segment(first_key, rule.key_width);
    }
  }
  MatrixXf gates = z;
  activation_forward(Activation::silu, gates, gates);
  return rule.norm(std::move(read)).cwiseProduct(gates);
}

}  // namespace

MatrixXf CausalConvolution::operator()(const MatrixXf& x) const {
  MatrixXf y = MatrixXf::Zero(x.rows(), x.cols());
  if (bias.size() > 0) y.colwise() += bias;
  const Index width = weight.rows();
  for (Index i = 0; i < width; ++i) {
    const Index back = width - 1 - i;  // positions
    if (back >= x.cols()) continue;
    y.rightCols(x.cols() - back) +=
        weight.row(i).transpose().asDiagonal() * x.leftCols(x.cols() - back);
  }
  return y;
}

MatrixXf mix_tokens(const TokenMixer& mixer, const MatrixXf& projected, const MatrixXf& read) {
  return std::visit([&](const auto& own) { return mixed(own, projected, read); }, mixer);
}

}  // namespace eigenscope

#include "prediction/token_statistics.h"

#include <algorithm>
#include <cmath>

#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Fewer have no correlation worth the name.
constexpr double kPairs = 50;

}  // namespace

void HeadStates::add(const HeadTokens& tokens) {
  Eigen::MatrixXd& query = queries.emplace_back(tokens.queries.cast<double>());
  const double scale = std::sqrt(static_cast<double>(query.rows()));
  double* const number = query.data();
  for (Eigen::Index i = 0; i < query.size(); ++i) number[i] /= scale;
  keys.push_back(tokens.keys.cast<double>());
  values.push_back(tokens.values.cast<double>());
  offset_bias = tokens.offset_bias.cast<double>();
}

Moments::Moments(Index width)
    : sum_(VectorXd::Zero(width)), square_(MatrixXd::Zero(width, width)) {}

void Moments::add(const MatrixXd& tokens) {
  if (tokens.cols() == 0) return;
  count_ += static_cast<double>(tokens.cols());
  sum_ += tokens.rowwise().sum();
  const Index width = tokens.rows();
  const Factor<double> states = factor(tokens.data(), width);
  const Product<double> product{width,          width, states,       states.transposed(),
                                square_.data(), width, /*add=*/true, Entries::upper};
  multiply<double, double>(tokens.cols(), {&product, 1});
}

Moments& Moments::operator+=(const Moments& other) {
  count_ += other.count_;
  sum_ += other.sum_;
  square_ += other.square_;
  return *this;
}

MatrixXd Moments::covariance() const {
  const VectorXd centre = mean();
  MatrixXd covariance = square_.selfadjointView<Eigen::Upper>();
  covariance /= count_;
  covariance.noalias() -= centre * centre.transpose();
  return covariance;
}

MatrixXd smoothed_by_position(const MatrixXd& means, const SinkKeys& apart) {
  constexpr Index kHalfWindow = 4;
  const Index begin = apart.leading, end = means.cols() - apart.trailing;
  MatrixXd smooth = means;
  for (Index t = begin; t < end; ++t) {
    const Index first = std::max(begin, t - kHalfWindow), last = std::min(end - 1, t + kHalfWindow);
    const auto count = static_cast<double>(last - first + 1);
    smooth.col(t).setZero();
    for (Index near = first; near <= last; ++near) smooth.col(t) += means.col(near);
    smooth.col(t) /= count;
  }
  return smooth;
}

VectorXd correlations_of(const std::vector<Eigen::MatrixXf>& states, const SinkKeys& sinks) {
  const Index length = states.front().cols(), content = length - sinks.leading - sinks.trailing;
  const MatrixXd means = smoothed_by_position(mean_of(states), sinks);
  VectorXd products = VectorXd::Zero(content), pairs = VectorXd::Zero(content);
  for (const Eigen::MatrixXf& passage : states) {
    const MatrixXd centred = (passage.cast<double>() - means).middleCols(sinks.leading, content);
    const MatrixXd gram = transposed_times(centred, centred, Entries::upper);
    for (Index distance = 0; distance < content; ++distance) {
      products[distance] += gram.diagonal(distance).sum();
      pairs[distance] += static_cast<double>(content - distance);
    }
  }
  VectorXd correlations = VectorXd::Zero(length);
  if (products[0] <= 0) return correlations;
  for (Index distance = 0; distance < content; ++distance) {
    if (pairs[distance] < kPairs) break;
    const double ratio = products[distance] / pairs[distance] / (products[0] / pairs[0]);
    correlations[distance] = std::clamp(ratio, -1.0, 1.0);
  }
  return correlations;
}

VectorXd correlations_of(const LayerWeights& layer, const std::vector<Eigen::MatrixXf>& states,
                         const SinkKeys& sinks) {
  if (!layer.key_input.selects()) return correlations_of(states, sinks);
  std::vector<Eigen::MatrixXf> of_keys;
  for (const Eigen::MatrixXf& passage : states) of_keys.push_back(layer.key_input(passage));
  return correlations_of(of_keys, sinks);
}

}  // namespace eigenscope

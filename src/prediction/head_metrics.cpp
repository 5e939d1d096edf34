#include "prediction/head_metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "prediction/token_statistics.h"
#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Queries above keys, 2 d_h x T for each passage.
std::vector<MatrixXd> stacked(const HeadStates& states) {
  std::vector<MatrixXd> passages;
  for (std::size_t k = 0; k < states.queries.size(); ++k) {
    const MatrixXd &queries = states.queries[k], &keys = states.keys[k];
    MatrixXd both(queries.rows() + keys.rows(), queries.cols());
    both << queries, keys;
    passages.push_back(std::move(both));
  }
  return passages;
}

Moments content_moments(const std::vector<MatrixXd>& passages, const SinkKeys& sinks) {
  Moments moments(passages.front().rows());
  for (const MatrixXd& passage : passages) {
    moments.add(passage.middleCols(sinks.leading, passage.cols() - sinks.leading - sinks.trailing));
  }
  return moments;
}

/// `covariance` of queries above keys: its blocks are W_Q^T C W_Q, W_K^T C W_Q and W_K^T C W_K.
FactorProducts products_of(const MatrixXd& covariance) {
  const Index n = covariance.rows() / 2;
  return {n, covariance.bottomLeftCorner(n, n), covariance.topLeftCorner(n, n),
          covariance.bottomRightCorner(n, n)};
}

double largest_norm(const std::vector<MatrixXd>& passages) {
  double most = 0;
  for (const MatrixXd& passage : passages) {
    most = std::max(most, passage.colwise().norm().maxCoeff());
  }
  return most;
}

HeadInMetric in_metric(const FactorProducts& products) {
  WeightedSpectrum spectrum = weighted_spectrum(products);
  HeadInMetric head;
  head.trace = spectrum.traces.xi;
  head.spread = std::sqrt(spectrum.traces.eta_f);
  head.components = static_cast<double>(spectrum.components());
  head.symmetric_share = symmetric_share(spectrum.traces);
  head.singular_values = std::move(spectrum.singular_values);
  head.eigenvalues = std::move(spectrum.eigenvalues);
  return head;
}

}  // namespace

FactorProducts content_products(const HeadStates& states, const SinkKeys& sinks) {
  return products_of(content_moments(stacked(states), sinks).covariance());
}

HeadInMetric head_in_metric(const HeadStates& states, const SinkKeys& sinks, double rotary_factor) {
  std::vector<MatrixXd> passages = stacked(states);
  const Moments content = content_moments(passages, sinks);
  HeadInMetric head = in_metric(products_of(content.covariance()));

  const MatrixXd means = mean_of(passages);
  const Index n = means.rows() / 2;
  const VectorXd mean = content.mean();
  const VectorXd first = means.leftCols(sinks.leading).rowwise().mean();
  head.sink_gap = inner_product(mean.data(), VectorXd(first.tail(n) - mean.tail(n)).data(), n);
  head.logit_bound = rotary_factor * largest_norm(states.queries) * largest_norm(states.keys) +
                     states.largest_offset_bias();

  const MatrixXd by_position = smoothed_by_position(means, sinks);
  for (MatrixXd& passage : passages) passage -= by_position;
  const Traces traces = products_of(content_moments(passages, sinks).covariance()).traces();
  head.trace_content = traces.xi;
  head.spread_content = std::sqrt(std::max(0.0, traces.eta_f));
  return head;
}

HeadInMetric head_in_identity(const FactorProducts& products, double logit_bound) {
  HeadInMetric head = in_metric(products);
  head.logit_bound = logit_bound;
  return head;
}

}  // namespace eigenscope

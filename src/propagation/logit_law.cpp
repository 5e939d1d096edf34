#include "propagation/logit_law.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "support/error.h"

namespace eigenscope {
namespace {

void check_query(Eigen::Index query, Eigen::Index smallest, Eigen::Index largest) {
  if (query < smallest || query > largest) {
    throw InvalidArgument(
        "query",
        "be an integer from " + std::to_string(smallest) + " to " + std::to_string(largest),
        "found " + std::to_string(query));
  }
}

}  // namespace

CentredKernel centred_kernel(const TokenProcess& process, Eigen::Index query) {
  check_query(query, 1, process.length);
  const Eigen::MatrixXd k = kernel_matrix(process, query);
  const Eigen::VectorXd row_mean = k.rowwise().mean();
  const Eigen::VectorXd last = k.col(query - 1);
  CentredKernel centred;
  centred.query_variance = k(query - 1, query - 1);
  // A variance: negative only by rounding.
  centred.variance = ((k.diagonal() - 2 * row_mean).array() + row_mean.mean()).max(0.0);
  centred.cross = last.array() - last.mean();
  return centred;
}

CentredKernel centred_kernel(const TokenProcess& process) {
  return centred_kernel(process, process.length);
}

Eigen::Index QueryRange::of_sample(std::uint64_t sample) const {
  constexpr double kGolden = 0.6180339887498949;
  const double place = (static_cast<double>(sample) + 0.5) * kGolden;
  return first +
         static_cast<Eigen::Index>((place - std::floor(place)) * static_cast<double>(count()));
}

QueryRange causal_queries(const TokenProcess& process) { return {2, process.length}; }

QueryRange checked_queries(const TokenProcess& process, QueryRange range) {
  for (Eigen::Index* end : {&range.first, &range.last}) {
    if (*end == 0) *end = process.length;
    check_query(*end, 2, process.length);
  }
  check_query(range.first, 2, range.last);
  return range;
}

std::vector<CentredKernel> centred_kernels(const TokenProcess& process, QueryRange range) {
  range = checked_queries(process, range);
  if (range.count() == 1) return {centred_kernel(process, range.last)};
  const Eigen::MatrixXd k = kernel_matrix(process, range.last);
  Eigen::VectorXd row_sum = Eigen::VectorXd::Zero(range.last);  // over the keys so far
  std::vector<CentredKernel> kernels;
  for (Eigen::Index q = 1; q <= range.last; ++q) {
    const auto column = k.col(q - 1).head(q);
    row_sum.head(q - 1) += column.head(q - 1);
    row_sum[q - 1] = column.sum();
    if (q < range.first) continue;
    const auto keys = static_cast<double>(q);
    const Eigen::ArrayXd row_mean = row_sum.head(q).array() / keys;
    kernels.push_back({column[q - 1],
                       (k.diagonal().head(q).array() - 2 * row_mean + row_mean.mean()).max(0.0),
                       column.array() - column.mean()});
  }
  return kernels;
}

LogitLaw logit_law(const CentredKernel& kernel, const Traces& traces) {
  check_traces(traces);
  LogitLaw law;
  law.mean = traces.xi * kernel.cross;
  const Eigen::ArrayXd variance = traces.eta_f * kernel.query_variance * kernel.variance.array() +
                                  traces.eta_s * kernel.cross.array().square();
  law.std = variance.max(0.0).sqrt();  // Cauchy-Schwarz keeps it positive but for rounding
  return law;
}

LogitLaw logit_law(std::span<const CentredKernel> kernels, const Traces& traces) {
  if (kernels.size() == 1) return logit_law(kernels.front(), traces);
  const Eigen::Index keys = kernels.back().cross.size();
  Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(keys), square = sum, seen = sum;
  for (const CentredKernel& kernel : kernels) {
    const LogitLaw law = logit_law(kernel, traces);
    const Eigen::Index n = law.mean.size();
    sum.head(n) += law.mean.array();
    square.head(n) += law.mean.array().square() + law.std.array().square();
    seen.head(n) += 1;
  }
  const Eigen::ArrayXd mean = sum / seen;
  return {mean, (square / seen - mean.square()).max(0.0).sqrt()};
}

}  // namespace eigenscope

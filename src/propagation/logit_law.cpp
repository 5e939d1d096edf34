#include "propagation/logit_law.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope {

CentredKernel centred_kernel(const TokenProcess& process, Eigen::Index query) {
  if (query < 1 || query > process.length) {
    throw InvalidArgument("query", std::to_string(query) +
                                       " is not allowed; it must be an integer from 1 to " +
                                       std::to_string(process.length));
  }
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

LogitLaw logit_law(const CentredKernel& kernel, const Traces& traces) {
  check_traces(traces);
  LogitLaw law;
  law.mean = traces.xi * kernel.cross;
  const Eigen::ArrayXd variance = traces.eta_f * kernel.query_variance * kernel.variance.array() +
                                  traces.eta_s * kernel.cross.array().square();
  law.std = variance.max(0.0).sqrt();  // Cauchy-Schwarz keeps it positive but for rounding
  return law;
}

LogitLaw random_walk_logit_law(Eigen::Index length, const Traces& traces) {
  checked("length", static_cast<double>(length));
  check_traces(traces);
  const auto t = static_cast<double>(length);
  const Eigen::ArrayXd i = Eigen::ArrayXd::LinSpaced(length, 1, t);
  const Eigen::ArrayXd offset = i - (t + 1) / 2;
  const Eigen::ArrayXd token = i - i * (2 * t - i + 1) / t + (t + 1) * (2 * t + 1) / (6 * t);
  return {(traces.xi * offset).matrix(),
          (traces.eta_f * t * token + traces.eta_s * offset.square()).max(0.0).sqrt().matrix()};
}

}  // namespace eigenscope

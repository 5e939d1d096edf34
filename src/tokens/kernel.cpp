#include "tokens/kernel.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope {
namespace {

constexpr std::array kKernels{
    TokenKernel{"random-walk", "min(s, t)",
                [](double s, double t, double, double) { return std::min(s, t); }},
    TokenKernel{"normalized-walk", "min(s, t)/T",
                [](double s, double t, double length, double) { return std::min(s, t) / length; }},
    TokenKernel{"ar1", "a^|s - t|",
                [](double s, double t, double, double a) { return std::pow(a, std::abs(s - t)); }},
};

}  // namespace

std::span<const TokenKernel> token_kernels() { return kKernels; }

TokenProcess token_process(std::string_view name, Eigen::Index length, double correlation) {
  checked("length", static_cast<double>(length));
  checked("correlation", correlation);
  std::string known;
  for (const TokenKernel& kernel : kKernels) {
    if (kernel.name == name) return {&kernel, correlation, length};
    known += (known.empty() ? "" : ", ") + std::string(kernel.name);
  }
  throw InvalidArgument("tokens",
                        "'" + std::string(name) + "' is not allowed; it must be one of " + known);
}

Eigen::MatrixXd kernel_matrix(const TokenProcess& process, Eigen::Index count) {
  const auto length = static_cast<double>(process.length);
  return Eigen::MatrixXd::NullaryExpr(count, count, [&](Eigen::Index s, Eigen::Index t) {
    return process.kernel->covariance(static_cast<double>(s + 1), static_cast<double>(t + 1),
                                      length, process.correlation);
  });
}

Eigen::MatrixXd kernel_matrix(const TokenProcess& process) {
  return kernel_matrix(process, process.length);
}

Eigen::MatrixXd kernel_factor(const TokenProcess& process) {
  const Eigen::LLT<Eigen::MatrixXd> cholesky(kernel_matrix(process));
  if (cholesky.info() != Eigen::Success) {
    throw InvalidArgument("tokens", std::string(process.kernel->name) +
                                        " has no positive definite kernel of this length");
  }
  return cholesky.matrixL();
}

}  // namespace eigenscope

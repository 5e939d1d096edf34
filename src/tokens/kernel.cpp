#include "tokens/kernel.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

constexpr std::array kKernels{
    TokenKernel{{"random-walk", "random walk"},
                "min(s, t)",
                [](double s, double t, double, double) { return std::min(s, t); }},
    TokenKernel{{"normalized-walk", "normalized random walk"},
                "min(s, t)/T",
                [](double s, double t, double length, double) { return std::min(s, t) / length; }},
    TokenKernel{{"ar1", "stationary AR(1)"},
                "a^|s - t|",
                [](double s, double t, double, double a) { return std::pow(a, std::abs(s - t)); }},
};

}  // namespace

std::span<const TokenKernel> token_kernels() { return kKernels; }

double last_variance_power(const TokenKernel& kernel) {
  // Natural logarithms everywhere: the table of another base is 2 kB of the engine.
  return std::log(kernel.covariance(64, 64, 64, 0.5) / kernel.covariance(32, 32, 32, 0.5)) /
         std::numbers::ln2;
}

bool depends_on_correlation(const TokenKernel& kernel) {
  return kernel.covariance(1, 2, 2, 0.25) != kernel.covariance(1, 2, 2, 0.5);
}

TokenProcess token_process(const TokenKernel& kernel, Eigen::Index length, double correlation) {
  checked(shared::kLength, static_cast<double>(length));
  checked(shared::kCorrelation, correlation);
  return {&kernel, correlation, length};
}

TokenProcess token_process(std::string_view name, Eigen::Index length, double correlation) {
  const Choices names(kKernels);
  return token_process(kKernels[names.index_of("tokens", name)], length, correlation);
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

KernelFactor::KernelFactor(const TokenProcess& process, Eigen::Index count)
    : carry_(Eigen::VectorXd::Zero(count)), innovation_(count) {
  if (find_recurrence(process)) return;
  const Eigen::LLT<Eigen::MatrixXd> cholesky(kernel_matrix(process, count));
  if (cholesky.info() != Eigen::Success) {
    throw InvalidArgument("tokens", "have a positive definite kernel of this length",
                          "found " + std::string(process.kernel->name));
  }
  cholesky_ = cholesky.matrixL();
}

// False when the kernel is not Markov to rounding, or a variance is not positive.
bool KernelFactor::find_recurrence(const TokenProcess& process) {
  const auto k = [&](Eigen::Index s, Eigen::Index t) {
    return process.kernel->covariance(static_cast<double>(s + 1), static_cast<double>(t + 1),
                                      static_cast<double>(process.length), process.correlation);
  };
  if (!(k(0, 0) > 0)) return false;
  innovation_[0] = std::sqrt(k(0, 0));
  for (Eigen::Index t = 1; t < length(); ++t) {
    const double carry = k(t, t - 1) / k(t - 1, t - 1);
    for (Eigen::Index s = 0; s + 1 < t; ++s) {
      if (std::abs(k(t, s) - carry * k(t - 1, s)) > 1e-12 * k(t, t)) return false;
    }
    const double variance = k(t, t) - carry * k(t, t - 1);
    if (!(variance > 0)) return false;
    carry_[t] = carry;
    innovation_[t] = std::sqrt(variance);
  }
  return true;
}

void KernelFactor::multiply(Eigen::Ref<Eigen::VectorXd> z) const {
  if (cholesky_.size() > 0) {
    const auto factor = cholesky_.topLeftCorner(z.size(), z.size());
    z = factor.triangularView<Eigen::Lower>() * z.eval();
    return;
  }
  double token = 0;
  for (Eigen::Index t = 0; t < z.size(); ++t) {
    z[t] = token = carry_[t] * token + innovation_[t] * z[t];
  }
}

Eigen::VectorXd KernelFactor::row(Eigen::Index position) const {
  if (cholesky_.size() > 0) return cholesky_.row(position).head(position + 1);
  Eigen::VectorXd row(position + 1);
  double weight = 1;
  for (Eigen::Index t = position; t >= 0; --t) {
    row[t] = weight * innovation_[t];
    weight *= carry_[t];
  }
  return row;
}

}  // namespace eigenscope

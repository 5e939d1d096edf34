// Token sequences as centred Gaussian processes: Cov(x_s, x_t) = K(s, t) Sigma, and the kernel K is
// all that differs between them. A new token model is one more row of the table in kernel.cpp.
#pragma once

#include <Eigen/Core>
#include <span>
#include <string_view>

#include "support/choice.h"

namespace eigenscope {

struct TokenKernel : Choice {
  std::string_view formula;  ///< K(s, t)
  /// K(s, t) for positions 1 <= s, t <= T; `a` is the correlation where the kernel has one.
  double (*covariance)(double s, double t, double length, double a);
};
std::span<const TokenKernel> token_kernels();

/// Exponent p of K(T, T) ~ T^p; 0 if the variance of the last token does not depend on the length.
double last_variance_power(const TokenKernel& kernel);
/// True if the kernel depends on its parameter a.
bool depends_on_correlation(const TokenKernel& kernel);

/// Rows of token_kernels().
enum class TokenKind { random_walk, normalized_walk, ar1 };

/// A kernel with its parameters.
struct TokenProcess {
  const TokenKernel* kernel = nullptr;
  double correlation = 0;   ///< a in [0, 1), used by ar1
  Eigen::Index length = 0;  ///< T in tokens
};

/// Throw InvalidArgument: "length", "correlation" out of range, "tokens" for an unknown name.
TokenProcess token_process(const TokenKernel& kernel, Eigen::Index length, double correlation);
TokenProcess token_process(std::string_view name, Eigen::Index length, double correlation);

/// K, T x T, symmetric positive semi-definite. `count` < T gives its top left corner: the first
/// `count` positions of the same sequence.
Eigen::MatrixXd kernel_matrix(const TokenProcess& process, Eigen::Index count);
Eigen::MatrixXd kernel_matrix(const TokenProcess& process);

/// L, T x T, lower triangular, with L L^T = K: then X = E L^T, E d x T of independent N(0, 1), has
/// the covariance of the process with Sigma = I.
///
/// Where the process is Markov, K(s, t) K(u, u) = K(s, u) K(u, t) for s <= u <= t, as all present ones
/// are, L is never formed: x_{t+1} = a_t x_t + b_t z_{t+1} multiplies by it in O(T). The constructor tests
/// this on the kernel; any other kernel gets a Cholesky factor.
class KernelFactor {
 public:
  /// The factor over the first `count` positions (1 to T; all of them by default). Throws InvalidArgument
  /// ("tokens") when the kernel is not positive definite to rounding.
  KernelFactor(const TokenProcess& process, Eigen::Index count);
  explicit KernelFactor(const TokenProcess& process) : KernelFactor(process, process.length) {}

  Eigen::Index length() const { return innovation_.size(); }
  /// z <- L z, T numbers; of fewer, the first rows and columns of L alone.
  void multiply(Eigen::Ref<Eigen::VectorXd> z) const;
  /// Row `position` (from 0) of L up to its diagonal, position + 1 numbers:
  /// x_{position+1} = E row(position), E of the first position + 1 tokens' innovations.
  Eigen::VectorXd row(Eigen::Index position) const;

 private:
  bool find_recurrence(const TokenProcess& process);

  Eigen::VectorXd carry_, innovation_;  // a_{t-1} (0 for the first token) and b_{t-1}
  Eigen::MatrixXd cholesky_;            // empty when the process is Markov
};

}  // namespace eigenscope

// The law of one row of logits, exact in the sequence length.
#pragma once

#include <Eigen/Core>

#include "spectrum/traces.h"
#include "tokens/kernel.h"

namespace eigenscope {

/// What the centred logits omega_i - omega_bar of the query at position q need to know of the
/// kernel; all vectors have q entries, one a key.
struct CentredKernel {
  double query_variance = 0;  ///< K(q, q)
  Eigen::VectorXd variance;   ///< variance of x_i - x_bar, per coordinate, over the first q tokens
  Eigen::VectorXd cross;      ///< K(i, q) - mean_j K(j, q)
};

/// From the kernel in O(q^2); the query is the last token. For a causal query earlier in the
/// sequence give its position (1 <= query <= length; throws InvalidArgument "query" otherwise).
CentredKernel centred_kernel(const TokenProcess& process, Eigen::Index query);
CentredKernel centred_kernel(const TokenProcess& process);

/// Mean and standard deviation of omega_i - omega_bar, where omega_i = x_i^T W x_q.
struct LogitLaw {
  Eigen::VectorXd mean;  ///< xi (K(i,q) - mean_j K(j,q))
  Eigen::VectorXd std;   ///< both have one entry a key
};

/// By Isserlis' theorem Cov(omega_i, omega_j) = eta_F K(i,j) K(q,q) + eta_S K(i,q) K(j,q): exact at
/// any width for Gaussian tokens. Generalises Bao et al. (2024), lemma on the logits' moments, to
/// finite T, any kernel and non-symmetric W. Throws InvalidArgument as check_traces does.
LogitLaw logit_law(const CentredKernel& kernel, const Traces& traces);

/// The closed form of logit_law for the free random walk (kernel min(s, t)), query at T:
/// mean_i = xi (i - (T+1)/2),
/// std_i^2 = eta_F T [i - i(2T-i+1)/T + (T+1)(2T+1)/(6T)] + eta_S (i - (T+1)/2)^2.
LogitLaw random_walk_logit_law(Eigen::Index length, const Traces& traces);

}  // namespace eigenscope

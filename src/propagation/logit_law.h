// The law of one row of logits, exact in the sequence length.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "spectrum/traces.h"
#include "tokens/kernel.h"

namespace eigenscope {

/// The values of the kernel that the centred logits omega_i - omega_bar of the query at position q depend on; all
/// vectors have q entries, one a key.
struct CentredKernel {
  double query_variance = 0;  ///< K(q, q)
  Eigen::VectorXd variance;   ///< variance of x_i - x_bar, per coordinate, over the first q tokens
  Eigen::VectorXd cross;      ///< K(i, q) - mean_j K(j, q)
};

/// The values for the causal query at position `query`, 1 to length, or the last token, in O(q^2). Throws
/// InvalidArgument ("query") for another position.
CentredKernel centred_kernel(const TokenProcess& process, Eigen::Index query);
CentredKernel centred_kernel(const TokenProcess& process);

/// The causal queries whose rows are averaged, by position from 1, both ends included. A query at
/// position q sees the keys 1 to q. The default is the last query alone.
struct QueryRange {
  Eigen::Index first = 0;  ///< 0: the last position of the sequence
  Eigen::Index last = 0;   ///< likewise

  Eigen::Index count() const { return last - first + 1; }
  /// The query of sample `sample`: a golden-ratio sequence, which visits the range evenly.
  Eigen::Index of_sample(std::uint64_t sample) const;
};

/// Every query that sees at least two keys, as causal training averages over them.
QueryRange causal_queries(const TokenProcess& process);

/// `range` with the default resolved. Throws InvalidArgument ("query") unless
/// 2 <= first <= last <= length: a single key has no localization.
QueryRange checked_queries(const TokenProcess& process, QueryRange range);

/// centred_kernel of each query of the range, in O(last^2) altogether. Errors as checked_queries.
std::vector<CentredKernel> centred_kernels(const TokenProcess& process, QueryRange range);

/// Mean and standard deviation of omega_i - omega_bar, where omega_i = x_i^T W x_q.
struct LogitLaw {
  Eigen::VectorXd mean;  ///< xi (K(i,q) - mean_j K(j,q))
  Eigen::VectorXd std;   ///< both have one entry a key
};

/// The law of the logits: by Isserlis' theorem Cov(omega_i, omega_j) = eta_F K(i,j) K(q,q) + eta_S K(i,q) K(j,q): exact
/// at any width for Gaussian tokens. Generalises Bao et al. (2024), lemma on the logits' moments, to
/// finite T, any kernel and non-symmetric W. Throws InvalidArgument as check_traces does.
LogitLaw logit_law(const CentredKernel& kernel, const Traces& traces);

/// The law of the logits where each of several queries is as likely: by key, the mean and the standard deviation of its
/// centred logit over the sequences and the queries that see it. `kernels` is not empty and ends with the longest.
LogitLaw logit_law(std::span<const CentredKernel> kernels, const Traces& traces);

}  // namespace eigenscope

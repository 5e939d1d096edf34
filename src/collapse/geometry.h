// Measures of the similarity of the tokens of a layer.
#pragma once

#include <Eigen/Core>

namespace eigenscope {

/// Measures of a token matrix X, d x T. All are NaN for a zero matrix.
struct TokenGeometry {
  double residual = 0;     ///< ||X - mean_t(X) 1^T||_F / ||X||_F in [0, 1]: 0 is rank collapse
  double stable_rank = 0;  ///< ||X||_F^2 / ||X||_2^2, from 1 to min(d, T)
  double effective_rank =
      0;              ///< exp of the entropy of the normalized singular values (Roy, Vetterli)
  double cosine = 0;  ///< mean cosine of the pairs s != t; NaN for one token
};
TokenGeometry token_geometry(const Eigen::MatrixXd& tokens);

/// Cosine of every pair of tokens, T x T; NaN beside a zero token.
Eigen::MatrixXd cosine_matrix(const Eigen::MatrixXd& tokens);

/// Largest singular value.
double spectral_norm(const Eigen::MatrixXd& matrix);

/// Lower bound of the entropy in nats of a softmax row over `keys` keys whose logits (after division
/// by the temperature) have Euclidean norm at most `norm` (Zhai et al., 2023, sigmaReparam, theorem
/// 3.1): with beta = exp(-norm sqrt(n/(n-1))),
/// log(1 + (n-1) beta) + norm sqrt(n(n-1)) beta / (1 + (n-1) beta). 0 for one key.
double entropy_lower_bound(double norm, Eigen::Index keys);

}  // namespace eigenscope

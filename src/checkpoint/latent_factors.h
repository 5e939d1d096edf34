// Matrices that the heads of a layer of latent attention share, so that no d x d_h factor of a head must be formed.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "spectrum/traces.h"

namespace eigenscope {

/// The maps that compress the tokens of a layer for its queries and keys, with the gain of the norm before them: A_Q
/// (d x r_Q) = U_Q F_Q^T and A_K (d x r_K) = U_K F_K^T with orthonormal columns of U and upper triangular F. The
/// factors of a head's W are A_Q B_Q and A_K B_K, with the coordinates F^T B in the bases U. Columns of A cancel in
/// F^T B already, before any product in single precision is formed.
template <class Scalar>
struct LatentFactors {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::Index width = 0;  ///< d
  Matrix query, key;       ///< F_Q and F_K
  Matrix core;             ///< U_K^T U_Q
};

/// The factors of A_Q `query` and A_K `key` in O(d (r_Q + r_K)^2), in double precision. Nothing where the columns of
/// one are so nearly dependent (by 1e-4 of the longest) that F would lose too much, or are not finite.
template <class Scalar>
std::optional<LatentFactors<Scalar>> latent_factors(const Eigen::MatrixXd& query,
                                                    const Eigen::MatrixXd& key);

/// products_of_factors() of A_Q `query` and A_K `key`, for B_Q (r_Q x d_h) and B_K (r_K x d_h), in O(r_Q^2 d_h) and in
/// the precision of products_of_factors() of `Scalar`.
template <class Scalar>
FactorProducts products_of_latents(const LatentFactors<Scalar>& latents,
                                   const typename LatentFactors<Scalar>::Matrix& query,
                                   const typename LatentFactors<Scalar>::Matrix& key);

}  // namespace eigenscope

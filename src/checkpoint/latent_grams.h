// What a layer of latent attention shares between its heads, by which none of these is formed over all coordinates of
// the tokens.
#pragma once

#include <Eigen/Core>

#include "spectrum/traces.h"

namespace eigenscope {

/// Gram matrices of the columns of A_Q (d x r_Q) and A_K (d x r_K), the maps that compress the tokens of a layer for
/// its queries and keys, with the gain of the norm before them. The factors of a head's W are A_Q B_Q and A_K B_K.
struct LatentGrams {
  Eigen::Index width = 0;  ///< d
  Eigen::MatrixXd
      query;  ///< A_Q^T A_Q: its upper triangle, with half of the diagonal and zeros below
  Eigen::MatrixXd key;   ///< A_K^T A_K
  Eigen::MatrixXd core;  ///< A_K^T A_Q
};

/// In O(d (r_Q + r_K)^2), in double precision: where the columns of a B cancel much of those of its A, a Gram matrix of
/// floats would leave nothing of their product.
LatentGrams latent_grams(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key);

/// products_of_factors() of A_Q `query` and A_K `key`, for B_Q (r_Q x d_h) and B_K (r_K x d_h), in O(r_Q^2 d_h).
FactorProducts products_of_latents(const LatentGrams& grams, const Eigen::MatrixXd& query,
                                   const Eigen::MatrixXd& key);

}  // namespace eigenscope

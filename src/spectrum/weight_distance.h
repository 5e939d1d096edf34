// Distance of two query-key matrices, without forming them.
#pragma once

#include <Eigen/Core>

namespace eigenscope {

/// W = query key^T, both d x d_h.
struct QueryKeyFactors {
  const Eigen::MatrixXd& query;
  const Eigen::MatrixXd& key;
};

/// ||W' - W||_F / ||W||_F, in O(d d_h^2), off by about 1e-8; NaN for W = 0. Throws InvalidArgument ("width") for
/// matrices of different width, and as products_of_factors does.
double weight_distance(const QueryKeyFactors& before, const QueryKeyFactors& after);

/// The rank of W' - W: its singular values above 1e-6 times the largest of W. Throws as weight_distance does.
Eigen::Index change_rank(const QueryKeyFactors& before, const QueryKeyFactors& after);

/// ||s' - s|| / ||s|| of singular values in decreasing order, in [0, weight_distance] (Mirsky 1960); those that one
/// list lacks are 0. NaN for s = 0.
double spectrum_distance(const Eigen::VectorXd& before, const Eigen::VectorXd& after);

}  // namespace eigenscope

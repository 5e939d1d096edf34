// The directionality score of a query-key matrix.
#pragma once

#include <Eigen/Core>

#include "spectrum/traces.h"

namespace eigenscope {

/// Directionality of a d x d matrix from the norms of its rows and columns (Saponati et al., arXiv:2502.10927): with
/// the excess of norms the sum of what exceeds their mean by more than two standard deviations (that of a sample,
/// over d - 1), it is the columns' excess minus the rows' over the sum of both; in [-1, 1], 0 without any excess. Rows
/// are coordinates of the query's token, columns of the key's. NaN below two rows.
double directionality(const Eigen::VectorXd& rows, const Eigen::VectorXd& columns);

/// The directionality of W = query key^T, both d x d_h, with its bare products (products_of_factors), in O(d d_h^2)
/// without forming W. Squared norms are off by 1e-16 times the largest, those of factors in single precision by 1e-6 of
/// it.
double directionality_of_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key,
                                 const FactorProducts& products);
double directionality_of_factors(const Eigen::MatrixXf& query, const Eigen::MatrixXf& key,
                                 const FactorProducts& products);

}  // namespace eigenscope

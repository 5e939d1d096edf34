// A head of random weights, and what it makes of tokens.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "prediction/levels.h"
#include "prediction/token_statistics.h"

namespace eigenscope::testing {

/// Projections d_h x d with their biases, d_h.
struct TestHead {
  Eigen::MatrixXd query;
  Eigen::VectorXd query_bias;
  Eigen::MatrixXd key;
  Eigen::VectorXd key_bias;

  Eigen::MatrixXd query_of(const Eigen::MatrixXd& states) const {
    return ((query * states).colwise() + query_bias) / std::sqrt(static_cast<double>(query.rows()));
  }
  Eigen::MatrixXd key_of(const Eigen::MatrixXd& states) const {
    return (key * states).colwise() + key_bias;
  }
  HeadQuery query_at(const Eigen::VectorXd& state, Eigen::Index position) const {
    return {query_of(state), key_of(state), position};
  }
  /// Its queries and keys; values are of no use to the levels.
  HeadStates states_of(const std::vector<Eigen::MatrixXd>& passages) const {
    HeadStates made;
    for (const Eigen::MatrixXd& passage : passages) {
      made.queries.push_back(query_of(passage));
      made.keys.push_back(key_of(passage));
    }
    return made;
  }
};

}  // namespace eigenscope::testing

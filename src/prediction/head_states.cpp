#include "prediction/head_states.h"

#include <cmath>

namespace eigenscope {

void HeadStates::add(const HeadTokens& tokens) {
  Eigen::MatrixXd& query = queries.emplace_back(tokens.queries.cast<double>());
  const double scale = std::sqrt(static_cast<double>(query.rows()));
  double* const number = query.data();
  for (Eigen::Index i = 0; i < query.size(); ++i) number[i] /= scale;
  keys.push_back(tokens.keys.cast<double>());
  values.push_back(tokens.values.cast<double>());
}

}  // namespace eigenscope

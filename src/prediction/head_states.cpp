#include "prediction/head_states.h"

#include <cmath>

#include "support/widened.h"

namespace eigenscope {

void HeadStates::add(const HeadTokens& tokens) {
  Eigen::MatrixXd& query = queries.emplace_back(widened(tokens.queries));
  const double scale = std::sqrt(static_cast<double>(query.rows()));
  double* const number = query.data();
  for (Eigen::Index i = 0; i < query.size(); ++i) number[i] /= scale;
  keys.push_back(widened(tokens.keys));
  values.push_back(widened(tokens.values));
}

}  // namespace eigenscope

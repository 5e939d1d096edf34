#include "checkpoint/logit_bound.h"

#include <cmath>
#include <limits>

#include "spectrum/weighted_spectrum.h"

namespace eigenscope {
namespace {

Eigen::MatrixXd with_gain(const Eigen::MatrixXd& weight, const Eigen::VectorXd& gain) {
  if (gain.size() == 0) return weight;
  return gain.asDiagonal() * weight;
}

}  // namespace

double logit_bound(const HeadFactors& head, double spectral_norm) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (!head.query_input || !head.key_input) return kUnknown;
  const auto& [query_gain, query_shift] = *head.query_input;
  const auto& [key_gain, key_shift] = *head.key_input;
  for (const auto* vector : {&query_gain, &query_shift, &key_gain, &key_shift}) {
    if (!vector->allFinite()) return kUnknown;
  }
  const Eigen::MatrixXd query = with_gain(head.query, query_gain);
  const Eigen::MatrixXd key = with_gain(head.key, key_gain);
  const bool plain = query_gain.size() == 0 && key_gain.size() == 0;
  const double largest = plain && !std::isnan(spectral_norm)
                             ? spectral_norm
                             : largest_singular_value(products_of_factors(query, key));
  const auto d = static_cast<double>(query.rows());
  const double mixed = (query * key_shift).norm() + (key * query_shift).norm();
  return (d * largest + std::sqrt(d) * mixed + std::abs(query_shift.dot(key_shift))) /
         std::sqrt(static_cast<double>(query.cols()));
}

}  // namespace eigenscope

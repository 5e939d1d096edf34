#include "checkpoint/logit_bound.h"

#include <cmath>
#include <limits>

#include "spectrum/weighted_spectrum.h"

namespace eigenscope {
namespace {

template <class Weight>
Eigen::MatrixXd with_gain(const Weight& weight, const Eigen::VectorXd& gain) {
  Eigen::MatrixXd wide = weight.template cast<double>();
  if (gain.size() > 0) wide.array().colwise() *= gain.array();
  return wide;
}

/// |weight vector|, of the weight with its gain.
template <class Weight>
double norm_of_product(const Weight& weight, const Eigen::VectorXd& gain,
                       const Eigen::VectorXd& vector) {
  if (vector.isZero(0)) return 0;  // without biases
  Eigen::VectorXd product = Eigen::VectorXd::Zero(weight.rows());
  for (Eigen::Index k = 0; k < weight.cols(); ++k) {
    product += vector[k] * weight.col(k).template cast<double>();
  }
  return gain.size() == 0 ? product.norm() : gain.cwiseProduct(product).norm();
}

}  // namespace

template <class Scalar>
double logit_bound(const FactorsOf<Scalar>& head, double spectral_norm) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (!head.query_input || !head.key_input) return head.latent_bound;
  const auto& [query_gain, query_shift] = *head.query_input;
  const auto& [key_gain, key_shift] = *head.key_input;
  for (const auto* vector : {&query_gain, &query_shift, &key_gain, &key_shift}) {
    if (!vector->allFinite()) return kUnknown;
  }
  const bool plain = query_gain.size() == 0 && key_gain.size() == 0;
  const double largest =
      plain && !std::isnan(spectral_norm)
          ? spectral_norm
          : largest_singular_value(products_of_factors(with_gain(head.query, query_gain),
                                                       with_gain(head.key, key_gain)));
  const auto d = static_cast<double>(head.query.rows());
  const double mixed = norm_of_product(head.query, query_gain, key_shift) +
                       norm_of_product(head.key, key_gain, query_shift);
  return (d * largest + std::sqrt(d) * mixed + std::abs(query_shift.dot(key_shift))) /
         std::sqrt(static_cast<double>(head.query.cols()));
}

template double logit_bound(const FactorsOf<float>&, double);
template double logit_bound(const FactorsOf<double>&, double);

}  // namespace eigenscope

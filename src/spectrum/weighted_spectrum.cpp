#include "spectrum/weighted_spectrum.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "spectrum/eigenvalues.h"

namespace eigenscope {

using Eigen::Index;

namespace {

constexpr double kComponentsShare = 0.9;

}  // namespace

Index WeightedSpectrum::components() const {
  const double all = singular_values.squaredNorm();
  // Rounding must not ask for one more where the sum is met exactly.
  const double enough = kComponentsShare * all * (1 - 1e-12);
  double sum = 0;
  for (Index i = 0; i < singular_values.size(); ++i) {
    if (sum >= enough) return i;
    sum += singular_values[i] * singular_values[i];
  }
  return singular_values.size();
}

double largest_singular_value(const FactorProducts& products) {
  return std::sqrt(std::max(0.0, eigenvalues_of_matrix(products.gram).real().maxCoeff()));
}

WeightedSpectrum weighted_spectrum(const FactorProducts& products) {
  WeightedSpectrum found;
  found.traces = moments_of_products(products).traces;
  found.eigenvalues = eigenvalues_of_matrix(products.core);
  sort_for_display(found.eigenvalues);
  // The gram is similar to a symmetric matrix that is not negative: the rest is rounding.
  found.singular_values = eigenvalues_of_matrix(products.gram).real().cwiseMax(0).cwiseSqrt();
  std::sort(found.singular_values.begin(), found.singular_values.end(), std::greater<>());
  return found;
}

}  // namespace eigenscope

// Seeded random matrices for the tests.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <cstdint>
#include <limits>

#include "support/random.h"

/// rows x columns of independent N(0, 1) numbers.
inline Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Eigen::MatrixXf draws(rows, columns);
  eigenscope::NormalStream(seed, 0).fill({draws.data(), static_cast<std::size_t>(draws.size())});
  return draws.cast<double>();
}

/// Largest absolute entry; infinite when one is not finite, which Eigen's maximum would pass over.
template <class Derived>
double largest(const Eigen::DenseBase<Derived>& entries) {
  const Eigen::ArrayXXcd values = entries.derived().template cast<std::complex<double>>();
  if (!values.allFinite()) return std::numeric_limits<double>::infinity();
  return values.size() == 0 ? 0 : values.abs().maxCoeff();
}

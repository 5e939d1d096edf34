// Seeded random matrices for the tests.
#pragma once

#include <Eigen/QR>
#include <cstdint>

#include "support/random.h"

/// rows x columns of independent N(0, 1) numbers.
inline Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Eigen::MatrixXf draws(rows, columns);
  eigenscope::NormalStream(seed, 0).fill({draws.data(), static_cast<std::size_t>(draws.size())});
  return draws.cast<double>();
}

/// A Haar-distributed orthogonal matrix (up to the signs of its columns).
inline Eigen::MatrixXd random_orthogonal(Eigen::Index size, std::uint64_t seed) {
  return Eigen::HouseholderQR<Eigen::MatrixXd>(random_matrix(size, size, seed)).householderQ();
}

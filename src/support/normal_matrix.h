// Matrices of independent normal numbers.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "support/random.h"

namespace eigenscope {

/// The first numbers of a stream, column by column.
inline Eigen::MatrixXf normal_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed,
                                     std::uint64_t stream) {
  Eigen::MatrixXf drawn(rows, columns);
  NormalStream(seed, stream).fill({drawn.data(), static_cast<std::size_t>(drawn.size())});
  return drawn;
}

}  // namespace eigenscope

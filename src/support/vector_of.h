#pragma once

#include <Eigen/Core>
#include <vector>

namespace eigenscope {

/// A list of numbers as a vector, which refers to it.
inline Eigen::Map<const Eigen::VectorXd> vector_of(const std::vector<double>& list) {
  return {list.data(), static_cast<Eigen::Index>(list.size())};
}

}  // namespace eigenscope

// Orders of numbers.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

namespace eigenscope {

/// 0 ... count - 1.
std::vector<Eigen::Index> in_order(Eigen::Index count);

/// The places of the values from the smallest to the largest; equal values keep their order. No NaN.
std::vector<std::size_t> argsort(std::span<const double> values);

}  // namespace eigenscope

// Orders of numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace eigenscope {

/// The places of the values from the smallest to the largest; equal values keep their order. No NaN.
std::vector<std::size_t> argsort(std::span<const double> values);

}  // namespace eigenscope

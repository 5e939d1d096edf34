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
///
/// Whatever has a number to be sorted by is sorted by it: each further type or order that std::sort compiles adds one to
/// two kilobytes to the module for browsers, and std::stable_sort three.
std::vector<std::size_t> argsort(std::span<const double> values);

/// Sorts the values from the smallest to the largest. No NaN.
void sort_up(std::span<double> values);

}  // namespace eigenscope

#pragma once

#include <Eigen/Core>
#include <functional>
#include <iterator>
#include <vector>

namespace eigenscope {

/// A list of numbers as a vector, which refers to it.
inline Eigen::Map<const Eigen::VectorXd> vector_of(const std::vector<double>& list) {
  return {list.data(), static_cast<Eigen::Index>(list.size())};
}

/// value(item) of each item, or a member of it.
template <class Items, class Value>
Eigen::VectorXd vector_over(const Items& items, const Value& value) {
  Eigen::VectorXd values(std::ssize(items));
  Eigen::Index at = 0;
  for (const auto& item : items) values[at++] = std::invoke(value, item);
  return values;
}

}  // namespace eigenscope

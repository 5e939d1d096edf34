// Keys that a query sees, one after another.
#pragma once

#include <Eigen/Core>

namespace eigenscope {

/// Keys first .. first + count - 1.
struct KeyRange {
  Eigen::Index first = 0, count = 0;

  Eigen::Index end() const { return first + count; }
  bool contains(Eigen::Index key) const { return key >= first && key < end(); }
};

}  // namespace eigenscope

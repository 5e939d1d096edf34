#include "support/argsort.h"

#include <algorithm>
#include <numeric>

namespace eigenscope {

std::vector<Eigen::Index> in_order(Eigen::Index count) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  return order;
}

std::vector<std::size_t> argsort(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  return order;
}

void sort_up(std::span<double> values) { std::sort(values.data(), values.data() + values.size()); }

}  // namespace eigenscope

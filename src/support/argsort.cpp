#include "support/argsort.h"

#include <algorithm>
#include <numeric>

namespace eigenscope {

std::vector<std::size_t> argsort(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

}  // namespace eigenscope

#include "statistics/drift.h"

#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <vector>

#include "statistics/rank_correlation.h"
#include "support/error.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::VectorXd;

Drift drift_between(const VectorXd& before, const VectorXd& after) {
  if (before.size() != after.size()) {
    throw InvalidArgument("after", "be as long as the list before");
  }
  std::vector<Index> known;
  for (Index i = 0; i < before.size(); ++i) {
    if (std::isfinite(before[i]) && std::isfinite(after[i])) known.push_back(i);
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Drift drift{kNone, VectorXd::Constant(before.size(), kNone), kNone, kNone, kNone};
  if (known.size() < 2) return drift;
  const auto at_known = [&](const VectorXd& values) {
    const auto value_at = [&](Index k) { return values[known[static_cast<std::size_t>(k)]]; };
    return VectorXd::NullaryExpr(std::ssize(known), value_at).eval();
  };
  const VectorXd old = at_known(before), now = at_known(after);
  const auto count = static_cast<double>(known.size());
  drift.spread = std::sqrt((old.array() - old.mean()).square().sum() / (count - 1));
  drift.rank_correlation = rank_correlation(old, now);
  if (drift.spread == 0) return drift;
  const VectorXd changes = (now - old) / drift.spread;
  for (std::size_t k = 0; k < known.size(); ++k)
    drift.of_head[known[k]] = changes[static_cast<Index>(k)];
  drift.rms = std::sqrt(changes.squaredNorm() / count);
  drift.largest = changes.cwiseAbs().maxCoeff();
  return drift;
}

}  // namespace eigenscope

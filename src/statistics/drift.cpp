#include "statistics/drift.h"

#include <cmath>
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
  const VectorXd old = before(known), now = after(known);
  const auto count = static_cast<double>(known.size());
  drift.spread = std::sqrt((old.array() - old.mean()).square().sum() / (count - 1));
  drift.rank_correlation = rank_correlation(old, now);
  if (drift.spread == 0) return drift;
  const VectorXd changes = (now - old) / drift.spread;
  drift.of_head(known) = changes;
  drift.rms = std::sqrt(changes.squaredNorm() / count);
  drift.largest = changes.cwiseAbs().maxCoeff();
  return drift;
}

}  // namespace eigenscope

#include "prediction/verdict.h"

#include <cmath>

namespace eigenscope {

Verdict verdict(const HeadPrediction& head) {
  const double measured = head.measured.queries > 0
                              ? head.measured.row.entropy
                              : head.levels[static_cast<std::size_t>(Level::sequences)].row.entropy;
  Verdict result = Verdict::unexplained;
  for (std::size_t level = kNestedLevels; level-- > 0;) {
    if (!(std::abs(head.levels[level].row.entropy - measured) <= kVerdictTolerance)) break;
    result = *kLevels[level].explains;
  }
  return result;
}

}  // namespace eigenscope

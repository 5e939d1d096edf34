#include "attention/criticality.h"

#include <cmath>

#include "attention/random_energy.h"
#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope {

double key_logit_variance(const CorrelatedHeads& heads, double unlike) {
  checked("alpha", heads.alpha);
  const double d = checked("width", static_cast<double>(heads.width));
  const double h = checked("head_width", static_cast<double>(heads.head_width));
  if (!(unlike >= 0 && unlike <= 1))
    throw InvalidArgument("unlike", shown(unlike) + " is not allowed; it must be from 0 to 1");
  // Of E ||A^T (alpha A + sqrt(1 - alpha^2) C) x||^2 / d_h for ||x||^2 = d: E A^T A A^T A =
  // (d_h/d^2) (d + d_h + 1) I, E C^T A A^T C = (d_h/d) I, and the mixed terms vanish.
  return unlike * (1 + heads.alpha * heads.alpha * (h + 1) / d);
}

double freezing_scale(const CorrelatedHeads& heads, double unlike, Eigen::Index keys) {
  const double point = freezing_point(keys);
  return std::sqrt(point / std::sqrt(key_logit_variance(heads, unlike)));
}

}  // namespace eigenscope

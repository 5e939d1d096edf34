#include "operations/query_key.h"

#include <array>
#include <limits>
#include <optional>

#include "operations/theory_fields.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

constexpr std::array kGainNames{Choice{"auto", "folded into W"}, Choice{"no", "left out"}};

}  // namespace

HeadSettings QueryKeyInput::settings(Eigen::Index length) const {
  HeadSettings settings;
  settings.fold_gains = fold_gains == 0;
  settings.offset.offset = static_cast<double>(offset);
  if (average) settings.offset.average = length;
  return settings;
}

void describe(InputFields& f, QueryKeyInput& in) {
  f.choice("fold_gains", in.fold_gains, kGainNames,
           "gains of the norms before the projections: folded into W_QK or omitted");
  f.number(shared::kOffset, in.offset);
  f.flag("average", in.average,
         "average W_QK of rotary heads over the offsets of a sequence of this length");
  f.excludes("average", "offset");
}

void describe(ResultFields& out, const HeadReport& head) {
  out.text("stack", head.stack, "stack of the layer; empty in a model with one stack");
  out.integer("layer", head.layer, "layer, as numbered in the checkpoint");
  out.integer("head", head.head, "head in the layer, from 0");
  describe(out, head.moments);
  out.integer("head_width", head.head_width, "head width d_h");
  out.number("variance_modulus", head.variance_modulus, "E|mu - mean|^2 over all eigenvalues");
  const bool known = head.spectrum.singular_values.size() > 0;
  out.nullable(
      "components", known ? std::optional(head.spectrum.components()) : std::nullopt,
      "singular values of C^(1/2) W C^(1/2) that hold 90% of the sum of their squares; C is the "
      "covariance of the tokens, I in the frame `identity`");
  out.nullable("spectral_norm",
               known ? head.spectrum.singular_values[0] : std::numeric_limits<double>::quiet_NaN(),
               "the largest of these singular values");
  out.nullable(
      "symmetric_share", symmetric_share(head.moments.traces),
      "||(A + A^T)/2||_F^2 / ||A||_F^2 of A = C^(1/2) W C^(1/2); 2 symmetric_share - 1 is the "
      "symmetry score of Saponati et al. (arXiv:2502.10927)");
  out.nullable(
      "directionality", head.directionality,
      "directionality score of W (Saponati et al.), in [-1, 1]: excess of the norms of its "
      "columns (key) over their mean + 2 standard deviations, minus the same of its rows "
      "(query), over the sum of both");
  out.nullable(
      "logit_bound", head.logit_bound,
      "upper bound of |logit| over all tokens, biases included, from |x|^2 <= d before the "
      "gain of the norm that the projections read; null without such a norm, with "
      "query-key norms, without folded gains, and for an average over offsets");
  out.number("rank_floor", rank_floor(head.moments, head.head_width),
             "rank floor: smallest variance of a matrix of this rank and mean");
  out.nullable("localization", head.localization,
               "localization index predicted by the theory at temperature sqrt(d_h)");
  out.nullable("rho_mean", head.rho_mean, "mean of rho");
  out.choice("regime", static_cast<std::size_t>(head.regime), kRegimeNames,
             "keys with a large rho");
  out.choice("signal", static_cast<std::size_t>(head.signal), kSignalNames,
             "localized, uniform-alive, uniform-dead or none");
  out.text("outside_theory", head.outside_theory,
           "why localization and rho_mean are null and the measures of the theory do not hold; "
           "empty where they do");
}

}  // namespace eigenscope

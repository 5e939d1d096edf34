#include "checkpoint/head_report.h"

#include <cmath>
#include <limits>
#include <string>

#include "checkpoint/logit_bound.h"
#include "propagation/theory_range.h"
#include "spectrum/directionality.h"
#include "support/error.h"

namespace eigenscope {

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

bool are_finite(const SpectralMoments& moments) {
  const Traces& traces = moments.traces;
  return std::isfinite(traces.xi) && std::isfinite(traces.eta_s) && std::isfinite(traces.eta_f) &&
         std::isfinite(moments.quartic_s) && std::isfinite(moments.quartic_f);
}

/// Without the theory, should it not hold.
template <class Scalar>
HeadReport report_spectrum(const FactorsOf<Scalar>& factors, const FactorProducts& products,
                           const ReportSettings& settings) {
  HeadReport report;
  report.stack = factors.stack;
  report.layer = factors.layer;
  report.head = factors.head;
  report.head_width = factors.query.cols();
  report.bias_query = factors.bias_query;
  report.bias_key = factors.bias_key;
  report.sink_logit = factors.sink_logit;
  report.folded = factors.folded;
  report.rotary = factors.rotary;
  report.moments = moments_of_products(products);
  report.variance_modulus = report.logit_bound = report.directionality = kNoNumber;
  report.localization = report.rho_mean = kNoNumber;
  if (!are_finite(report.moments)) {
    report.moments = {products.width, {kNoNumber, kNoNumber, kNoNumber}, kNoNumber, kNoNumber};
    report.outside_theory = "the traces of its products overflow";
    return report;
  }
  if (settings.eigenvalues) {
    report.spectrum = weighted_spectrum(products);
    report.variance_modulus = variance_modulus(report.spectrum.eigenvalues, report.moments.width);
    const bool bare = settings.covariance == nullptr;
    report.logit_bound =
        logit_bound(factors, bare ? report.spectrum.singular_values[0] : kNoNumber);
    if (settings.directionality) {
      report.directionality = directionality_of_factors(
          factors.query, factors.key,
          bare ? products : products_of_factors(factors.query, factors.key));
    }
  }
  if (!factors.known_scale) {
    report.outside_theory = "the scale of the logits is not known";
  } else if (!factors.same_tokens) {
    report.outside_theory = "queries and keys are made of different tokens";
  }
  return report;
}

/// Throws InvalidArgument where the traces leave the range of the theory.
void add_theory(const CentredKernel& kernel, HeadReport& report) {
  const Propagation predicted =
      propagate(kernel, report.moments.traces, std::sqrt(static_cast<double>(report.head_width)));
  report.localization = predicted.localization;
  report.rho_mean = predicted.rho_mean;
  report.regime = predicted.regime;
  report.signal = predicted.signal;
}

template <class Scalar>
std::string name_of(const FactorsOf<Scalar>& factors) {
  return (factors.stack.empty() ? "" : factors.stack + " ") + "layer " +
         std::to_string(factors.layer) + " head " + std::to_string(factors.head);
}

template <class Scalar>
FactorProducts products_of(const FactorsOf<Scalar>& factors) {
  return factors.latents ? products_of_latents(*factors.latents, factors.query, factors.key)
                         : products_of_factors(factors.query, factors.key);
}

template <class Scalar>
HeadReport report_by(const ReportSettings& settings, const FactorsOf<Scalar>& factors) {
  const Eigen::MatrixXd* const covariance = settings.covariance.get();
  if (covariance != nullptr && covariance->rows() != factors.query.rows()) {
    throw FormatError(name_of(factors), "its width is " + std::to_string(factors.query.rows()) +
                                            ", but the token embeddings have " +
                                            std::to_string(covariance->rows()));
  }
  const FactorProducts products =
      covariance == nullptr ? products_of(factors)
                            : products_of_factors(factors.query.template cast<double>(),
                                                  factors.key.template cast<double>(), *covariance);
  return report_spectrum(factors, products, settings);
}

}  // namespace

HeadReport report_head(const HeadFactors& factors, const CentredKernel& kernel) {
  return within_theory(name_of(factors), [&] {
    HeadReport report = report_by({}, factors);
    // Traces that overflow are refused here too.
    if (report.outside_theory.empty() || !are_finite(report.moments)) add_theory(kernel, report);
    return report;
  });
}

HeadReport report_head(const ScannedHead& head, const CentredKernel& kernel,
                       const ReportSettings& settings) {
  HeadReport report = std::visit(
      [&](const auto& factors) {
        return within_theory(name_of(factors), [&] { return report_by(settings, factors); });
      },
      head);
  if (!report.outside_theory.empty()) return report;
  try {
    add_theory(kernel, report);
  } catch (const InvalidArgument& refusal) {
    report.outside_theory = out_of_theory(refusal);
  }
  return report;
}

}  // namespace eigenscope

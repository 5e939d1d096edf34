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

template <class Scalar>
HeadReport report_products(const FactorsOf<Scalar>& factors, const FactorProducts& products,
                           const CentredKernel& kernel, const ReportSettings& settings) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
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
  report.variance_modulus = report.logit_bound = report.directionality = kUnknown;
  if (settings.eigenvalues) {
    report.spectrum = weighted_spectrum(products);
    report.variance_modulus = variance_modulus(report.spectrum.eigenvalues, report.moments.width);
    const bool bare = settings.covariance == nullptr;
    report.logit_bound = logit_bound(factors, bare ? report.spectrum.singular_values[0] : kUnknown);
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
  if (!report.outside_theory.empty()) {
    report.localization = report.rho_mean = kUnknown;
    return report;
  }
  const Propagation predicted =
      propagate(kernel, report.moments.traces, std::sqrt(static_cast<double>(report.head_width)));
  report.localization = predicted.localization;
  report.rho_mean = predicted.rho_mean;
  report.regime = predicted.regime;
  report.signal = predicted.signal;
  return report;
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
HeadReport report_by(const ReportSettings& settings, const FactorsOf<Scalar>& factors,
                     const CentredKernel& kernel) {
  const Eigen::MatrixXd* const covariance = settings.covariance.get();
  if (covariance != nullptr && covariance->rows() != factors.query.rows()) {
    throw FormatError(name_of(factors), "its width is " + std::to_string(factors.query.rows()) +
                                            ", but the token embeddings have " +
                                            std::to_string(covariance->rows()));
  }
  return within_theory(name_of(factors), [&] {
    const FactorProducts products =
        covariance == nullptr
            ? products_of(factors)
            : products_of_factors(factors.query.template cast<double>(),
                                  factors.key.template cast<double>(), *covariance);
    return report_products(factors, products, kernel, settings);
  });
}

}  // namespace

HeadReport report_head(const HeadFactors& factors, const CentredKernel& kernel) {
  return report_by({}, factors, kernel);
}

HeadReport report_head(const ScannedHead& head, const CentredKernel& kernel,
                       const ReportSettings& settings) {
  return std::visit([&](const auto& factors) { return report_by(settings, factors, kernel); },
                    head);
}

}  // namespace eigenscope

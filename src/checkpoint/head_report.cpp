#include "checkpoint/head_report.h"

#include <cmath>
#include <limits>
#include <string>

#include "spectrum/eigenvalues.h"
#include "support/error.h"

namespace eigenscope {

namespace {

FactorProducts products(const HeadFactors& factors, const ReportSettings& settings) {
  if (settings.covariance == nullptr) return products_of_factors(factors.query, factors.key);
  return products_of_factors(factors.query, factors.key, *settings.covariance);
}

HeadReport report_finite(const HeadFactors& factors, const CentredKernel& kernel,
                         const ReportSettings& settings) {
  HeadReport report;
  report.stack = factors.stack;
  report.layer = factors.layer;
  report.head = factors.head;
  report.head_width = factors.query.cols();
  report.bias_query = factors.bias_query;
  report.bias_key = factors.bias_key;
  report.folded = factors.folded;
  report.rotary = factors.rotary;
  const FactorProducts seen = products(factors, settings);
  report.moments = moments_of_products(seen);
  report.variance_modulus = std::numeric_limits<double>::quiet_NaN();
  if (settings.eigenvalues) {
    report.eigenvalues = eigenvalues_of_matrix(seen.core);
    sort_for_display(report.eigenvalues);
    report.variance_modulus = variance_modulus(report.eigenvalues, report.moments.width);
  }
  const Propagation predicted =
      propagate(kernel, report.moments.traces, std::sqrt(static_cast<double>(report.head_width)));
  report.localization = predicted.localization;
  report.regime = predicted.regime;
  return report;
}

}  // namespace

HeadReport report_head(const HeadFactors& factors, const CentredKernel& kernel,
                       const ReportSettings& settings) {
  const std::string name = (factors.stack.empty() ? "" : factors.stack + " ") + "layer " +
                           std::to_string(factors.layer) + " head " + std::to_string(factors.head);
  if (settings.covariance != nullptr && settings.covariance->rows() != factors.query.rows()) {
    throw FormatError(name, "its width is " + std::to_string(factors.query.rows()) +
                                ", but the token embeddings have " +
                                std::to_string(settings.covariance->rows()));
  }
  try {
    return report_finite(factors, kernel, settings);
  } catch (const InvalidArgument& refusal) {
    throw FormatError(name, std::string("its weights are too large: ") + refusal.what());
  }
}

}  // namespace eigenscope

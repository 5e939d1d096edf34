#include "checkpoint/head_report.h"

#include <cmath>
#include <string>

#include "spectrum/eigenvalues.h"
#include "support/error.h"

namespace eigenscope {

namespace {

HeadReport report_finite(const HeadFactors& factors, const CentredKernel& kernel) {
  HeadReport report;
  report.layer = factors.layer;
  report.head = factors.head;
  report.head_width = factors.query.cols();
  const FactorProducts products = products_of_factors(factors.query, factors.key);
  report.moments = moments_of_products(products);
  report.eigenvalues = eigenvalues_of_matrix(products.core);
  sort_for_display(report.eigenvalues);
  report.variance_modulus = variance_modulus(report.eigenvalues, report.moments.width);
  const Propagation predicted =
      propagate(kernel, report.moments.traces, std::sqrt(static_cast<double>(report.head_width)));
  report.localization = predicted.localization;
  report.regime = predicted.regime;
  return report;
}

}  // namespace

HeadReport report_head(const HeadFactors& factors, const CentredKernel& kernel) {
  try {
    return report_finite(factors, kernel);
  } catch (const InvalidArgument& refusal) {
    throw FormatError(
        "layer " + std::to_string(factors.layer) + " head " + std::to_string(factors.head),
        std::string("its weights are too large: ") + refusal.what());
  }
}

}  // namespace eigenscope

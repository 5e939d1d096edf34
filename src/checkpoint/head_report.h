// One row of the table of heads: the spectrum of a trained head and the theory's predictions for it.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <memory>
#include <string>

#include "checkpoint/heads.h"
#include "propagation/propagation.h"
#include "spectrum/traces.h"
#include "spectrum/weighted_spectrum.h"

namespace eigenscope {

struct HeadReport {
  std::string stack;  ///< empty in a family with one stack
  int layer = 0;
  int head = 0;
  Eigen::Index head_width = 0;  ///< d_h
  SpectralMoments moments;      ///< over all d eigenvalues, in the frame of reference
  double variance_modulus = 0;  ///< E|mu - m|^2 over all d eigenvalues; NaN without these
  WeightedSpectrum spectrum;    ///< in the frame of reference; empty without eigenvalues
  double logit_bound = 0;       ///< see logit_bound(); NaN without eigenvalues
  double directionality =
      0;  ///< of W in any frame, see directionality(); NaN where it is not asked for
  double localization = 0;  ///< by the isotropic theory, temperature sqrt(d_h); may be NaN
  double rho_mean = 0;      ///< likewise, mean of rho
  Regime regime = Regime::none;
  Signal signal = Signal::none;
  double bias_query = 0, bias_key = 0;  ///< see HeadFactors
  double sink_logit = 0;                ///< likewise
  std::string folded;                   ///< likewise
  bool rotary = false;                  ///< likewise
  /// Why the theory does not hold, in which case its predictions are NaN and `none`; empty where it holds.
  std::string outside_theory;
};

/// Settings of a report.
struct ReportSettings {
  bool eigenvalues =
      true;  ///< false: traces only, which for wide heads takes a fraction of the time
  /// Sigma (d x d), the frame of reference; null for the identity.
  std::shared_ptr<const Eigen::MatrixXd> covariance = {};
  bool directionality = true;  ///< beside eigenvalues; NaN where false
};

/// Spectrum and predicted localization of one head for tokens with the given kernel, Sigma = I. Costs
/// O(d d_h^2 + d_h^3). Throws FormatError naming layer and head when the weights are so large that
/// their traces leave the range of the theory.
HeadReport report_head(const HeadFactors& factors, const CentredKernel& kernel);

/// Reports a head as the scan yields it, by `settings`: products in the precision of the factors
/// (see products_of_factors), or in double with a covariance, which costs O(d^2 d_h) more. Where the traces leave the
/// range of the theory, `outside_theory` says so; where moments overflow, these and all that follows from them are NaN
/// and there is no spectrum. Throws FormatError when the covariance is of another width.
HeadReport report_head(const ScannedHead& head, const CentredKernel& kernel,
                       const ReportSettings& settings);

}  // namespace eigenscope

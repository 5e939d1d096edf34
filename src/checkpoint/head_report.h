// One row of the table of heads: the spectrum of a trained head and what the theory makes of it.
#pragma once

#include <Eigen/Core>
#include <complex>

#include "checkpoint/heads.h"
#include "propagation/propagation.h"
#include "spectrum/traces.h"

namespace eigenscope {

struct HeadReport {
  int layer = 0;
  int head = 0;
  Eigen::Index head_width = 0;   ///< d_h
  SpectralMoments moments;       ///< over all d eigenvalues, frame of reference Sigma = I
  double variance_modulus = 0;   ///< E|mu - m|^2 over all d eigenvalues
  Eigen::VectorXcd eigenvalues;  ///< the d_h that need not be zero, in the order of display
  double localization = 0;       ///< by the isotropic theory, temperature sqrt(d_h); may be NaN
  Regime regime = Regime::none;
};

/// Spectrum and predicted localization of one head for tokens with the given kernel. Costs
/// O(d d_h^2 + d_h^3). Throws FormatError naming layer and head when the weights are so large that
/// their traces leave the range of the theory.
HeadReport report_head(const HeadFactors& factors, const CentredKernel& kernel);

}  // namespace eigenscope

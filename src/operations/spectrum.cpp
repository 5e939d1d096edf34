// Moments and eigenvalues of one member of an ensemble.
#include "operations/operations.h"
#include "operations/theory_input.h"
#include "operations/theory_result.h"
#include "spectrum/eigenvalues.h"

namespace eigenscope {
namespace {

struct SpectrumResult {
  SpectralMoments moments;
  double variance_modulus = 0;
  Eigen::VectorXcd eigenvalues;
};

void describe(ResultFields& out, const SpectrumResult& result) {
  out.object("moments", "moments of W_QK", [&](ResultFields& inner) {
    describe(inner, result.moments);
    inner.number("variance_modulus", result.variance_modulus,
                 "E|mu - mean|^2 over all eigenvalues");
  });
  out.array("eigenvalues", result.eigenvalues, {{"eigenvalue", result.eigenvalues.size()}},
            "eigenvalues by decreasing modulus");
}

SpectrumResult compute_spectrum(const SpectrumInput& in) {
  Ensemble ensemble(in.ensemble.settings());
  const auto [mean, variance] = in.point();
  SpectrumResult result{ensemble.moments(mean, variance), 0, ensemble.eigenvalues(mean, variance)};
  sort_for_display(result.eigenvalues);
  result.variance_modulus = variance_modulus(result.eigenvalues, result.moments.width);
  return result;
}

}  // namespace

const Operation spectrum_operation = operation<SpectrumInput, OneShotJob<&compute_spectrum>>(
    "spectrum", "Moments and eigenvalues of one member of an ensemble of W_QK",
    "eigenscope spectrum --ensemble factored --width 64 --head-width 16 --variance 0.3 --csv");

}  // namespace eigenscope

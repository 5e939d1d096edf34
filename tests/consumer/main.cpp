// Localization of attention by an installed library, at a point where it is known in closed form.
#include <all_headers.h>
#include <cmath>
#include <cstdio>

int main() {
  using namespace eigenscope;
  // W_QK = 0: all logits are 0, every key is inside the linear range alike, and rows are uniform.
  Ensemble ensemble(EnsembleSettings{});
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 32, 0));
  const Propagation flat = propagate(kernel, ensemble.moments(0, 0).traces, 8);
  // A positive mean without variance localizes.
  const Propagation sharp = propagate(kernel, ensemble.moments(0.5, 0).traces, 8);
  const double entropy = independent_row(0, 32).entropy;
  std::printf("localization %g and %g, entropy %g\n", flat.localization, sharp.localization,
              entropy);
  const bool right = flat.localization < 1e-12 && flat.regime == Regime::uniform &&
                     sharp.localization > 0.1 && std::abs(entropy - 1) < 1e-9;
  if (!right)
    std::puts("localization must be 0 at W_QK = 0 and positive at mean 0.5, and the entropy 1");
  return right ? 0 : 1;
}

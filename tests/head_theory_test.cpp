// Predicted measures of many heads, and of rows of independent logits, as jobs that advance in steps.
#include "simulation/head_theory.h"

#include <cmath>

#include "catch.h"
#include "simulation/row_entropy.h"
#include "support/error.h"

using namespace eigenscope;

namespace {

HeadTheorySettings settings_for(TheoryMeasure measure) {
  return {measure, token_process("normalized-walk", 24, 0), {}, 40, 3};
}

HeadTheoryValues values_in_steps(TracedHeadTheory theory, Eigen::Index steps) {
  while (!theory.advance(steps)) CHECK(theory.steps_done() < theory.steps_wanted());
  return theory.values();
}

}  // namespace

TEST_CASE("each head has the closed form of its traces, a missing head none") {
  EnsembleSettings ensemble;
  ensemble.kind = EnsembleKind::factored;
  ensemble.width = 16;
  ensemble.head_width = 4;
  const std::vector<double> means{0, 0.5}, variances{0.01, 2};
  const auto heads = heads_on_grid(ensemble, means, variances, 8);
  REQUIRE(heads.size() == 4);
  CHECK_FALSE(heads[2].has_value());  // below the variance of zeros outside the head's subspace
  const HeadTheorySettings settings = settings_for(TheoryMeasure::localization);
  const HeadTheoryValues found = values_in_steps(TracedHeadTheory(heads, settings), 1);
  const CentredKernel kernel = centred_kernel(settings.tokens);
  for (const Eigen::Index i : {0, 1, 3}) {
    const TracedHead& head = *heads[static_cast<std::size_t>(i)];
    const Propagation own = propagate(kernel, head.traces, head.temperature);
    CHECK(found.value[i] == own.localization);
    CHECK(found.error[i] == 0);
    CHECK(found.regime[static_cast<std::size_t>(i)] == static_cast<std::uint8_t>(own.regime));
  }
  CHECK(std::isnan(found.value[2]));
  CHECK(std::isnan(found.error[2]));
}

TEST_CASE("sampled measures of heads do not depend on the steps") {
  const std::vector<std::optional<TracedHead>> heads{TracedHead{{16, 4, 4}, 8}, std::nullopt,
                                                     TracedHead{{0, 1, 9}, 2}};
  const TracedHeadTheory theory(heads, settings_for(TheoryMeasure::entropy));
  const HeadTheoryValues one = values_in_steps(theory, 40), many = values_in_steps(theory, 7);
  for (const Eigen::Index i : {0, 2}) {
    CHECK(one.value[i] == many.value[i]);
    CHECK((one.value[i] > 0 && one.value[i] < 1));
    CHECK(one.error[i] > 0);
  }
  CHECK(std::isnan(one.value[1]));
}

TEST_CASE("rows of independent logits have their expectation, and samples near it") {
  RowEntropies entropies({8, 32}, {0.5, 2}, 400, 1);
  while (!entropies.advance(1e4)) CHECK(entropies.progress() < 1);
  const std::vector<RowEntropy> rows = entropies.rows();
  REQUIRE(rows.size() == 4);
  CHECK((rows[1].length == 8 && rows[1].logit_std == 2));
  CHECK((rows[2].length == 32 && rows[2].logit_std == 0.5));
  for (const RowEntropy& row : rows) {
    CHECK(row.exact.entropy == independent_row(row.logit_std, row.length).entropy);
    CHECK(row.sampled.samples == 400);
    CHECK(std::abs(row.sampled.entropy.value - row.exact.entropy) < 5 * row.sampled.entropy.error);
  }
}

#include "labs/token_prior.h"

#include <cmath>
#include <stdexcept>

#include "catch.h"
#include "small_run.h"
#include "support/error.h"

using namespace eigenscope;
using testing::made_text;

namespace {

TokenPriorSettings token_prior_settings() {
  TokenPriorSettings settings;
  settings.bytes = {1000};
  settings.steps = 6;
  settings.trainings = 2;
  settings.seed = 3;
  return settings;
}

std::vector<TokenPriorRow> token_prior_rows(const TokenPriorSettings& settings,
                                            double work = 1e12) {
  TokenPriors lab(made_text(12000), settings);
  while (!lab.advance(work)) continue;
  CHECK(lab.progress() == 1);
  return lab.rows();
}

const TokenPriorRow& row_at(const std::vector<TokenPriorRow>& rows, TokenPriorKind prior,
                            Eigen::Index bytes) {
  for (const TokenPriorRow& row : rows) {
    if (row.prior == prior && row.bytes == bytes) return row;
  }
  throw std::logic_error("no such row");
}

}  // namespace

TEST_CASE("a prior on a token moves the attention there, with every kind of positions", "[long]") {
  for (const Positions positions : {Positions::relative, Positions::learned, Positions::rotary}) {
    TokenPriorSettings settings = token_prior_settings();
    settings.positions = positions;
    settings.bytes = {4000};
    settings.steps = 60;
    settings.prior_weight = 10;
    const std::vector<TokenPriorRow> rows = token_prior_rows(settings);
    CAPTURE(name_of(positions));
    const double none = row_at(rows, TokenPriorKind::none, 4000).mean_weight.value;
    CHECK(row_at(rows, TokenPriorKind::previous, 4000).mean_weight.value > none + 0.3);
    CHECK(row_at(rows, TokenPriorKind::far, 4000).mean_weight.value < none);
    for (const TokenPriorRow& row : rows) {
      CHECK(row.trainings == 2);
      CHECK(row.largest_weight.value >= row.mean_weight.value);
      const double baseline = row_at(rows, TokenPriorKind::none, row.bytes).loss.value;
      CHECK(row.added.value == Approx(row.loss.value - baseline).margin(1e-12));
    }
    CHECK(row_at(rows, TokenPriorKind::none, 4000).added.error == 0);
  }
}

TEST_CASE("small steps of the lab of token priors change no number, and rows come one by one") {
  const TokenPriorSettings settings = token_prior_settings();
  const std::vector<TokenPriorRow> whole = token_prior_rows(settings);
  const std::vector<TokenPriorRow> stepped = token_prior_rows(settings, 1);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(stepped[i].loss.value == whole[i].loss.value);
    CHECK(stepped[i].added.error == whole[i].added.error);
  }
  TokenPriors lab(made_text(12000), settings);
  while (lab.rows().front().trainings == 0) lab.advance(1);
  CHECK(lab.rows()[1].trainings == 0);
  CHECK(std::isnan(lab.rows()[1].loss.value));
}

TEST_CASE("seeds of token priors that are divided among workers give the same numbers") {
  TokenPriorSettings settings = token_prior_settings();
  settings.bytes = {1000, 4000};
  settings.steps = 2;
  settings.trainings = 3;
  const std::vector<TokenPriorRow> whole = token_prior_rows(settings);
  std::vector<std::vector<std::byte>> found;
  for (const std::size_t first : {0, 1}) {
    TokenPriors part(made_text(12000), settings, {first, 2});
    while (!part.advance(1e12)) continue;
    CHECK(part.rows().back().trainings == (first == 0 ? 2 : 1));
    found.push_back(part.bytes());
  }
  TokenPriors joined(made_text(12000), settings);
  joined.join(found);
  CHECK(joined.advance(0));
  const std::vector<TokenPriorRow> rows = joined.rows();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(rows[i].trainings == 3);
    CHECK(rows[i].loss.value == whole[i].loss.value);
    CHECK(rows[i].added.error == whole[i].added.error);
    CHECK(rows[i].largest_weight.value == whole[i].largest_weight.value);
  }
  found[1].pop_back();
  CHECK_THROWS_AS(joined.join(found), InvalidArgument);
}

TEST_CASE("without weight every token prior is none, and the training text must be long enough") {
  TokenPriorSettings settings = token_prior_settings();
  settings.prior_weight = 0;
  settings.steps = 5;
  for (const TokenPriorRow& row : token_prior_rows(settings)) CHECK(row.added.value == 0);
  settings.bytes = {1000, 10800};  // nine tenths of the text
  CHECK_NOTHROW(TokenPriors(made_text(12000), settings));
  settings.bytes = {1000, 10801};
  CHECK_THROWS_AS(TokenPriors(made_text(12000), settings), InvalidArgument);
  settings.bytes = {4000, 1000};
  CHECK_THROWS_AS(TokenPriors(made_text(12000), settings), InvalidArgument);
}

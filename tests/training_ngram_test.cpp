// The reference lines of losses: tables of unigrams, bigrams and trigrams.
#include <cmath>
#include <numeric>

#include "catch.h"
#include "paths.h"
#include "small_run.h"
#include "training/ngram.h"

using namespace eigenscope;
using namespace eigenscope::testing;

TEST_CASE("n-gram losses equal an independent count on Moby Dick, for bytes and words",
          "[sample]") {
  const auto wanted = reference("ngram-losses.json");
  for (const char* tokenizer : {"bytes", "words"}) {
    const NgramLosses found = tokenized_text(tokenizer, moby_dick(), 5).references;
    const auto check = [&](const std::vector<double>& losses, const nlohmann::json& own) {
      // The reference begins with the third token, whose loss is the second.
      const double mean = std::accumulate(losses.begin() + 1, losses.end(), 0.0) /
                          static_cast<double>(losses.size() - 1);
      CHECK_THAT(mean, WithinRel(own["mean"].get<double>(), 1e-10));
      for (std::size_t i = 0; i < own["first"].size(); ++i) {
        CHECK_THAT(losses[i + 1], WithinRel(own["first"][i].get<double>(), 1e-10));
      }
    };
    check(found.unigram, wanted[tokenizer]["unigram"]);
    check(found.bigram, wanted[tokenizer]["bigram"]);
    check(found.trigram, wanted[tokenizer]["trigram"]);
  }
}

TEST_CASE("n-gram losses of a few tokens by hand, with contexts that training does not have") {
  const std::vector<TokenId> training{0, 0, 1, 0}, text{1, 0, 2, 0};
  const NgramLosses found = ngram_losses(training, text, 4);
  // Unigrams: 3, 1, 0, 0 of 4 tokens, 2 of them different, over 1/4.
  const double p0 = (3 + 2 * 0.25) / 6, p2 = (0 + 2 * 0.25) / 6;
  // After 0 come 0 and 1, after 1 comes 0; 2 is never a context.
  const double p0_after_1 = (1 + 1 * p0) / 2, p2_after_0 = (0 + 2 * p2) / 4;
  const auto check = [](const std::vector<double>& losses,
                        const std::vector<double>& probabilities) {
    REQUIRE(losses.size() == probabilities.size());
    for (std::size_t i = 0; i < losses.size(); ++i) {
      CHECK_THAT(losses[i], WithinRel(-std::log(probabilities[i]), 1e-12));
    }
  };
  check(found.unigram, {p0, p2, p0});
  check(found.bigram, {p0_after_1, p2_after_0, p0});
  // No token follows (1, 0) in training, nor (0, 2).
  check(found.trigram, {p0_after_1, p2_after_0, p0});
}

TEST_CASE("a run logs the n-gram losses of the tokens that it is evaluated on") {
  const auto text = small_text();
  const auto logged = [&](Eigen::Index batches) {
    TrainSettings settings = small_run();
    settings.eval_batches = batches;
    return Trainer(settings, text).evaluate();
  };
  // 8 sequences of 8 at even distances: the targets of each begin one after its start.
  const auto last = static_cast<Eigen::Index>(text->validation.size()) - 9;
  double sum = 0;
  for (Eigen::Index k = 0; k < 8; ++k) {
    for (Eigen::Index i = 0; i < 8; ++i) {
      sum += text->references.bigram[static_cast<std::size_t>(last * k / 7 + i)];
    }
  }
  const LogRow sample = logged(2), whole = logged(0);
  CHECK_THAT(sample.measure("bigram_loss"), WithinRel(sum / 64, 1e-12));
  CHECK(whole.measure("bigram_loss") != sample.measure("bigram_loss"));
  CHECK(whole.measure("unigram_loss") > whole.measure("bigram_loss"));
  CHECK(std::isfinite(whole.measure("trigram_loss")));
}

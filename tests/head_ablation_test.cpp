// Outcomes of models with heads switched off, against heads' outputs set by hand in an independent script.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint_failure.h"
#include "inference/head_ablation.h"
#include "inference/text_attention.h"
#include "inference_models.h"
#include "paths.h"
#include "prediction/predicted_attention.h"
#include "support/error.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Json = nlohmann::json;

namespace {

const Json& models() {
  static const Json read = reference("head-ablation.json");
  return read;
}

std::vector<HeadPlace> places(const Json& off) {
  std::vector<HeadPlace> heads;
  for (const Json& place : off) heads.push_back({place.at(0), place.at(1)});
  return heads;
}

/// All of a job, which cannot be moved.
std::unique_ptr<HeadAblation> run(const Json& model, std::size_t passages, Ablation ablation,
                                  const std::vector<std::vector<HeadPlace>>& sets) {
  const Passage passage{model.at("ids").get<std::vector<int>>(), 0, 0};
  std::optional<int> mask;
  if (model.contains("mask")) mask = model.at("mask").get<int>();
  auto job =
      std::make_unique<HeadAblation>(transformer_of(wave_model(model), model.at("config").dump()),
                                     std::vector<Passage>(passages, passage), ablation, sets, mask);
  CHECK(std::isnan(job->loss()));
  Index before = 0;
  while (!job->advance(0)) {
    CHECK(job->steps_done() >= before);
    before = job->steps_done();
  }
  CHECK(job->steps_done() == job->steps_wanted());
  return job;
}

void check_logs(const Json& expected, const Eigen::VectorXf& found) {
  REQUIRE(static_cast<Index>(expected.size()) == found.size());
  for (Index i = 0; i < found.size(); ++i) {
    CHECK_THAT(found[i], WithinAbs(expected[static_cast<std::size_t>(i)].get<double>(), 5e-5));
  }
}

}  // namespace

TEST_CASE("models without heads have the outcomes of heads' outputs set by hand", "[ablation]") {
  for (const std::string kind : {"next-token", "masked-token"}) {
    const Json& model = models().at(kind);
    for (const Json& expected : model.at("cases")) {
      INFO(kind << expected.at("off") << expected.at("ablation"));
      const auto ablation = value_of_name<Ablation>(
          "ablation", expected.at("ablation").get<std::string>(), kAblationNames);
      const auto job = run(model, 2, ablation, {places(expected.at("off"))});
      CHECK(kOutcomeNames[static_cast<std::size_t>(job->kind())].name == kind);
      check_logs(expected.at("log_probabilities"), job->log_probabilities_without());
      check_logs(model.at("cases").at(0).at("log_probabilities"), job->log_probabilities());
      CHECK_THAT(job->output_change(0),
                 WithinAbs(expected.at("output_change").get<double>(), 1e-5));
      if (!expected.contains("loss")) {
        CHECK(std::isnan(job->loss()));
        continue;
      }
      CHECK_THAT(job->loss(0), WithinAbs(expected.at("loss").get<double>(), 2e-5));
      CHECK_THAT(job->loss(), WithinAbs(model.at("cases").at(0).at("loss").get<double>(), 2e-5));
    }
  }
}

TEST_CASE("sets of heads that run together have the outcomes of each set alone", "[ablation]") {
  const Json& model = models().at("next-token");
  std::vector<std::vector<HeadPlace>> sets;
  for (int head = 0; head < 4; ++head) sets.push_back({{1, head}});
  const auto together = run(model, 1, Ablation::mean, sets);
  CHECK(together->sets_done() == sets.size());
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const auto alone = run(model, 1, Ablation::mean, {sets[k]});
    CHECK(together->set(k) == sets[k]);
    CHECK(together->loss(k) == alone->loss(0));
    CHECK(together->output_change(k) == alone->output_change(0));
  }
}

TEST_CASE("a model whose attention was measured is not run again for its outcome", "[ablation]") {
  const Json& model = models().at("next-token");
  const auto transformer = transformer_of(wave_model(model), model.at("config").dump());
  const std::vector<Passage> passages(2, {model.at("ids").get<std::vector<int>>(), 0, 0});
  TextAttention attention(transformer, passages, /*keep_weights=*/false, 0, LayerEnd::tokens);
  while (!attention.advance(0)) continue;
  for (const std::vector<std::vector<HeadPlace>>& sets :
       {std::vector<std::vector<HeadPlace>>{}, {{{1, 3}, {0, 1}}, {{1, 2}}}}) {
    HeadAblation job(
        transformer, passages, Ablation::mean, sets, {}, {},
        [&](std::size_t passage) -> const Eigen::MatrixXf& { return attention.tokens(passage); });
    Index before = 0;
    while (!job.advance(0)) {
      CHECK(job.steps_done() >= before);
      before = job.steps_done();
    }
    const auto whole = run(model, 2, Ablation::mean, sets);
    CHECK(job.steps_done() == job.steps_wanted());
    CHECK(job.steps_wanted() == whole->steps_wanted() - 2 * transformer->layers());
    CHECK(job.loss() == whole->loss());
    CHECK(job.log_probabilities() == whole->log_probabilities());
    REQUIRE(job.sets_done() == sets.size());
    for (std::size_t k = 0; k < sets.size(); ++k) {
      CHECK(job.loss(k) == whole->loss(k));
      CHECK(job.output_change(k) == whole->output_change(k));
    }
  }
}

TEST_CASE("an ablated head keeps to the keys that its queries see", "[ablation]") {
  const LayerRules window{.causal = true, .reach = 1}, alone{.causal = true, .reach = 0};
  Eigen::MatrixXf weights = Eigen::MatrixXf::Constant(3, 3, 9);
  ablate(Ablation::mean, window, weights);
  CHECK(weights == (Eigen::Matrix3f() << 1, 0.5f, 0, 0, 0.5f, 0.5f, 0, 0, 0.5f).finished());
  ablate(Ablation::previous, window, weights);
  CHECK(weights == (Eigen::Matrix3f() << 1, 1, 0, 0, 0, 1, 0, 0, 0).finished());
  ablate(Ablation::previous, alone, weights);
  CHECK(weights == Eigen::Matrix3f::Identity());
  ablate(Ablation::zero, window, weights);
  CHECK(weights == Eigen::Matrix3f::Zero());
}

TEST_CASE("predicted weights stand where those of a head set by hand would", "[ablation]") {
  const Json& model = models().at("next-token");
  const auto transformer = transformer_of(wave_model(model), model.at("config").dump());
  const Passage passage{model.at("ids").get<std::vector<int>>(), 0, 0};
  const std::vector<HeadPlace> heads{{1, 3}, {0, 1}};
  const Index length = passage.length();
  Eigen::MatrixXf means(length, length);
  ablate(Ablation::mean, transformer->rules(0), means);
  // The outcome with equal weights is that of the independent script.
  HeadAblation by_hand(
      transformer, {passage}, Ablation::predicted, {heads}, {},
      [&](std::size_t, const HeadPlace&) -> const Eigen::MatrixXf& { return means; });
  while (!by_hand.advance(0)) continue;
  const auto mean = run(model, 1, Ablation::mean, {heads});
  CHECK(by_hand.loss(0) == mean->loss(0));
  CHECK(by_hand.log_probabilities_without() == mean->log_probabilities_without());
  CHECK(by_hand.loss(0) != by_hand.loss());
}

TEST_CASE("the expected attention of a level has rows of weight 1 on the keys that are seen",
          "[ablation]") {
  const Json& model = models().at("next-token");
  const auto transformer = transformer_of(wave_model(model), model.at("config").dump());
  const Passage passage{model.at("ids").get<std::vector<int>>(), 0, 0};
  const std::vector<Passage> passages(3, passage);
  const std::vector<HeadPlace> heads{{1, 3}, {0, 1}};
  const Index length = passage.length();
  for (const Level level : {Level::spectrum, Level::mean, Level::neighbours}) {
    INFO("level " << static_cast<int>(level));
    PredictedAttention predicted(transformer, passages, level, heads, 1);
    Index before = -1;
    while (!predicted.advance(0)) {
      CHECK(predicted.steps_done() >= before);
      before = predicted.steps_done();
    }
    for (const HeadPlace& head : heads) {
      const Eigen::MatrixXf& weights = predicted.weights(2, head);
      CHECK((weights.colwise().sum().array() - 1).abs().maxCoeff() < 1e-5f);
      CHECK(weights(0, 0) == 1);
      CHECK(Eigen::MatrixXf(weights.triangularView<Eigen::StrictlyLower>()).isZero(0));
      if (level != Level::spectrum) continue;
      // All keys are alike to it: the mean of independent rows is uniform, each with a deviation below 1 / sqrt(draws).
      const float most = 4 / std::sqrt(static_cast<float>(PredictedAttention::kDraws));
      CHECK((weights.col(length - 1).array() - 1 / static_cast<float>(length)).abs().maxCoeff() <
            most);
    }
    CHECK(predicted.weights(0, heads[0]) != predicted.weights(0, heads[1]));
  }
  const auto made = [&](std::vector<Passage> given, Level level) {
    return failure_of([&] { PredictedAttention(transformer, given, level, heads, 1); });
  };
  CHECK(made(passages, Level::isotropic).message ==
        "ablation_level must be an integer from 1 to 7: found 0");
  Passage shorter = passage;
  shorter.ids.pop_back();
  CHECK(made({passage, shorter}, Level::mean).item == "ablation");
}

TEST_CASE("heads that a model does not have are refused by the name of the field", "[ablation]") {
  const Failure failure = failure_of([] {
    run(models().at("next-token"), 1, Ablation::zero, {{{0, 1}, {2, 0}}});
  });
  CHECK(failure.item == "ablate");
  CHECK(failure.message == "ablate must name heads from 0.0 to 1.3 as layer.head: found 2.0");
}

#include "labs/attention_prior.h"

#include <cmath>
#include <set>

#include "catch.h"
#include "central_differences.h"
#include "support/error.h"

using namespace eigenscope;
using Eigen::Index;
using testing::gradient_error;

namespace {

std::vector<const Scene*> all_of(const std::vector<Scene>& scenes) {
  std::vector<const Scene*> all;
  for (const Scene& scene : scenes) all.push_back(&scene);
  return all;
}

AttentionPriorSettings prior_settings() {
  AttentionPriorSettings settings;
  settings.examples = {50, 400};
  settings.trainings = 2;
  settings.steps = 200;
  settings.seed = 3;
  return settings;
}

std::vector<AttentionPriorRow> all_rows(const AttentionPriorSettings& settings, double work) {
  AttentionPriors lab(settings);
  while (!lab.advance(work)) continue;
  CHECK(lab.progress() == 1);
  return lab.rows();
}

const AttentionPriorRow& row_of(const std::vector<AttentionPriorRow>& rows, PriorKind prior,
                                Index examples) {
  for (const AttentionPriorRow& row : rows) {
    if (row.prior == prior && row.examples == examples) return row;
  }
  throw std::logic_error("no such row");
}

}  // namespace

TEST_CASE("a question means one object, and its answer is a feature of this object") {
  const std::vector<Scene> scenes = draw_scenes(300, 7, 1);
  std::set<int> targets, answers;
  for (const Scene& scene : scenes) {
    int with_given = 0;
    for (int i = 0; i < kObjects; ++i) {
      const auto& object = scene.features[static_cast<std::size_t>(i)];
      for (int a = 0; a < kAttributes; ++a) {
        CHECK(object[static_cast<std::size_t>(a)] / kValues == a);
        if (object[static_cast<std::size_t>(a)] != scene.given) continue;
        ++with_given;
        CHECK(i == scene.target);
        CHECK(a != scene.asked);
      }
      const auto asked = static_cast<std::size_t>(scene.asked);
      if (i == scene.target) CHECK(object[asked] == scene.answer);
      if (i == scene.lowest) continue;
      CHECK(object[asked] > scene.features[static_cast<std::size_t>(scene.lowest)][asked]);
    }
    CHECK(with_given == 1);
    targets.insert(scene.target);
    answers.insert(scene.answer);
  }
  CHECK(targets.size() == kObjects);
  CHECK(answers.size() == kFeatures);
  const std::vector<Scene> fewer = draw_scenes(20, 7, 1);
  CHECK(fewer.back().features == scenes[19].features);
  CHECK(draw_scenes(20, 7, 2).back().features != fewer.back().features);
}

TEST_CASE("the gradient of a reader agrees with central differences, with and without a prior") {
  const std::vector<Scene> scenes = draw_scenes(5, 2, 0);
  const std::vector<const Scene*> batch = all_of(scenes);
  Matrix<double> prior = Matrix<double>::Constant(kObjects, 5, 0.02);
  for (Index b = 0; b < 5; ++b) prior(b, b) = 0.9;
  for (const Matrix<double>& given : {Matrix<double>(), prior}) {
    SceneReader<double> reader(4, 0.7, 11, 0);
    const auto loss = [&] {
      reader.forward(batch);
      return reader.backward(batch, given, 0.8);
    };
    loss();
    CHECK(gradient_error(loss, reader.parameters(), reader.gradient()) < 1e-7);
  }
}

TEST_CASE("the spectrum of a reader is that of its logits between features") {
  SceneReader<double> reader(4, 0.7, 11, 0);
  const Eigen::Map<const Eigen::MatrixXd> queries(reader.parameters().data(), 4, kFeatures);
  const Eigen::Map<const Eigen::MatrixXd> keys(
      reader.parameters().data() + 4 * (kFeatures + kAttributes), 4, kFeatures);
  const Eigen::MatrixXd w = queries.transpose() * keys / 2;  // sqrt(d_h) = 2
  const SpectralMoments moments = reader.spectrum();
  CHECK(moments.mean() == Approx(w.trace() / kFeatures));
  CHECK(moments.variance() == Approx((w * w).trace() / kFeatures - std::pow(moments.mean(), 2)));
}

TEST_CASE("the weight of a W_QK that is its mean times the identity") {
  CHECK(weight_of_mean(0) == Approx(1.0 / kObjects));
  CHECK(weight_of_mean(2) == Approx(std::exp(2.0) / (std::exp(2.0) + kObjects - 1)));
}

TEST_CASE("a prior on the target helps with few examples, and a wrong one harms with many",
          "[long]") {
  AttentionPriorSettings settings = prior_settings();
  settings.examples = {200, 800};
  settings.steps = 600;
  const std::vector<AttentionPriorRow> rows = all_rows(settings, 1e9);
  const auto accuracy = [&](PriorKind prior, Index examples) {
    return row_of(rows, prior, examples).accuracy.value;
  };
  CHECK(accuracy(PriorKind::correct, 200) > accuracy(PriorKind::none, 200) + 0.2);
  CHECK(accuracy(PriorKind::wrong, 800) < accuracy(PriorKind::none, 800) - 0.5);
  CHECK(row_of(rows, PriorKind::correct, 800).target_weight.value > 0.7);
  CHECK(row_of(rows, PriorKind::uniform, 800).entropy.value >
        row_of(rows, PriorKind::none, 800).entropy.value + 0.1);
  for (const AttentionPriorRow& row : rows) {
    CHECK(row.trainings == 2);
    const double none = accuracy(PriorKind::none, row.examples);
    CHECK(row.gain.value == Approx(row.accuracy.value - none).margin(1e-12));
    CHECK(row.accuracy.error >= 0);
  }
  CHECK(row_of(rows, PriorKind::none, 200).gain.error == 0);
}

TEST_CASE("small steps of the job change no number, and rows come one by one") {
  AttentionPriorSettings settings = prior_settings();
  settings.steps = 20;
  const std::vector<AttentionPriorRow> whole = all_rows(settings, 1e12);
  const std::vector<AttentionPriorRow> stepped = all_rows(settings, 1);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(stepped[i].accuracy.value == whole[i].accuracy.value);
    CHECK(stepped[i].variance.error == whole[i].variance.error);
  }
  AttentionPriors lab(settings);
  while (lab.rows().front().trainings == 0) lab.advance(1);
  CHECK(lab.rows()[1].trainings == 0);
  CHECK(std::isnan(lab.rows()[1].accuracy.value));
  CHECK(std::isnan(lab.rows()[0].accuracy.error));
  CHECK(std::isnan(lab.agreement().with_mean.value));
}

TEST_CASE("without weight every prior is none, and examples must ascend") {
  AttentionPriorSettings settings = prior_settings();
  settings.steps = 20;
  settings.prior_weight = 0;
  for (const AttentionPriorRow& row : all_rows(settings, 1e12)) CHECK(row.gain.value == 0);
  settings.examples = {100, 100};
  CHECK_THROWS_AS(AttentionPriors(settings), InvalidArgument);
  settings.examples = {};
  CHECK_THROWS_AS(AttentionPriors(settings), InvalidArgument);
}

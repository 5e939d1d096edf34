#include "labs/attention_prior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/softmax.h"
#include "statistics/estimate.h"
#include "statistics/rank_correlation.h"
#include "support/error.h"
#include "support/random.h"
#include "support/shared_parameters.h"
#include "support/vector_of.h"
#include "training/parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr Index kBatch = 64;
constexpr std::size_t kFresh = 1000;
/// Weight that a prior of one object leaves to all six alike.
constexpr float kPriorRest = 0.05f;

/// Draws of one training run.
enum class PriorDraw { examples, fresh, weights, batches, kept, objects, count };

/// The stream of example number `example` of a training run.
Eigen::Matrix<float, kObjects, 1> prior_of(PriorKind kind, const Scene& scene, std::uint64_t seed,
                                           std::uint64_t training, std::uint64_t example) {
  const auto random = [&] {
    return static_cast<int>(
        random_below(kObjects, seed, stream_of(training, PriorDraw::objects), example));
  };
  const auto on = [](int object) {
    Eigen::Matrix<float, kObjects, 1> prior;
    prior.setConstant(kPriorRest / kObjects);
    prior[object] += 1 - kPriorRest;
    return prior;
  };
  switch (kind) {
    case PriorKind::correct:
      return on(scene.target);
    case PriorKind::half:
      return on(random_below(2, seed, stream_of(training, PriorDraw::kept), example) == 0
                    ? scene.target
                    : random());
    case PriorKind::random:
      return on(random());
    case PriorKind::wrong:
      return on(scene.lowest);
    default:
      return Eigen::Matrix<float, kObjects, 1>::Constant(1.0f / kObjects);
  }
}

}  // namespace

double weight_of_mean(double mean) { return 1 / (1 + (kObjects - 1) * std::exp(-mean)); }

AttentionPriors::AttentionPriors(const AttentionPriorSettings& settings)
    : settings_(settings),
      runs_(kPriorNames.size(), settings.examples.size(), settings.trainings, settings.steps) {
  checked(training::kPriorWeight, settings.prior_weight);
  checked(kStartScale, settings.start_scale);
  checked(shared::kHeadWidth, static_cast<double>(settings.head_width));
  checked(shared::kSteps, static_cast<double>(settings.steps));
  checked(kTrainings, static_cast<double>(settings.trainings));
  check_ascending(kExamples, settings.examples);
}

AttentionPriors::Run AttentionPriors::begin() {
  const std::uint64_t seed = settings_.seed;
  const auto stream = [&](PriorDraw draw) { return stream_of(runs_.seed(), draw); };
  if (runs_.first_of_seed()) {
    const auto most = static_cast<std::size_t>(settings_.examples.back());
    examples_ = draw_scenes(most, seed, stream(PriorDraw::examples));
    fresh_ = draw_scenes(kFresh, seed, stream(PriorDraw::fresh));
  }
  SceneReader<float> reader(settings_.head_width, settings_.start_scale, seed,
                            stream(PriorDraw::weights));
  const Index parameters = reader.parameters().size();
  return {std::move(reader), small_optimizer(settings_.steps, parameters)};
}

void AttentionPriors::step(Run& run) {
  const std::uint64_t seed = settings_.seed, stream = stream_of(runs_.seed(), PriorDraw::batches);
  const auto count = static_cast<std::uint64_t>(settings_.examples[runs_.point()]);
  const auto prior = static_cast<PriorKind>(runs_.kind());
  std::vector<const Scene*> batch;
  Matrix<float> priors(prior == PriorKind::none ? 0 : kObjects, kBatch);
  for (Index b = 0; b < kBatch; ++b) {
    const auto draw = static_cast<std::uint64_t>(run.step * kBatch + b);
    const std::uint64_t example = random_below(count, seed, stream, draw);
    const Scene& scene = examples_[example];
    batch.push_back(&scene);
    if (prior == PriorKind::none) continue;
    priors.col(b) = prior_of(prior, scene, seed, runs_.seed(), example);
  }
  run.reader.forward(batch);
  run.reader.backward(batch, priors, static_cast<float>(settings_.prior_weight));
  run.optimizer.step(run.step, 1, run.reader.gradient(), run.reader.parameters());
}

AttentionPriors::Measures AttentionPriors::measured(SceneReader<float>& reader) const {
  std::vector<const Scene*> all;
  for (const Scene& scene : fresh_) all.push_back(&scene);
  reader.forward(all);
  Measures measures{};
  for (std::size_t k = 0; k < kFresh; ++k) {
    const auto column = static_cast<Index>(k);
    Index answer = 0;
    reader.logits().col(column).maxCoeff(&answer);
    measures.accuracy += answer == fresh_[k].answer ? 1 : 0;
    const Eigen::VectorXd weights = reader.weights().col(column).cast<double>();
    measures.target_weight += weights[fresh_[k].target];
    measures.entropy += normalized_entropy(weights);
  }
  for (double* sum : {&measures.accuracy, &measures.target_weight, &measures.entropy}) {
    *sum /= static_cast<double>(kFresh);
  }
  const SpectralMoments spectrum = reader.spectrum();
  measures.mean = spectrum.mean();
  measures.variance = spectrum.variance();
  return measures;
}

bool AttentionPriors::advance(double work) {
  const auto width = static_cast<double>(settings_.head_width);
  const double step_work = kBatch * width * (9 * kObjects + 3 * kFeatures);
  return runs_.advance(
      work, [&] { return begin(); },
      [&](Run& run) {
        step(run);
        return step_work;
      },
      [&](Run& run, Measures& measures) {
        measures = measured(run.reader);
        return step_work * kFresh / kBatch / 2;
      });
}

double AttentionPriors::progress() const { return runs_.progress(); }

std::vector<AttentionPriorRow> AttentionPriors::rows() const {
  constexpr auto kNone = static_cast<std::size_t>(PriorKind::none);
  std::vector<AttentionPriorRow> rows;
  for (std::size_t prior = 0; prior < kPriorNames.size(); ++prior) {
    for (std::size_t at = 0; at < settings_.examples.size(); ++at) {
      const auto of = [&](double Measures::*member) { return runs_.over(at, prior, member); };
      AttentionPriorRow row;
      row.prior = static_cast<PriorKind>(prior);
      row.examples = static_cast<Index>(settings_.examples[at]);
      row.trainings = static_cast<Index>(runs_.finished(at, prior));
      row.accuracy = of(&Measures::accuracy);
      row.gain = runs_.over(at, prior, kNone, [](const Measures& trained, const Measures& none) {
        return trained.accuracy - none.accuracy;
      });
      row.target_weight = of(&Measures::target_weight);
      row.entropy = of(&Measures::entropy);
      row.mean = of(&Measures::mean);
      row.variance = of(&Measures::variance);
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<IdentityWeight> AttentionPriors::identity() const {
  constexpr int kPoints = 33;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const AttentionPriorRow& row : rows()) {
    if (row.trainings == 0) continue;
    least = std::min(least, row.mean.value);
    most = std::max(most, row.mean.value);
  }
  std::vector<IdentityWeight> points;
  for (int i = 0; i < kPoints && runs_.done() > 0; ++i) {
    const double mean = least + (most - least) * i / (kPoints - 1);
    points.push_back({mean, weight_of_mean(mean)});
  }
  return points;
}

AttentionPriorAgreement AttentionPriors::agreement() const {
  const auto of = [&](std::size_t training, double Measures::*member) {
    return vector_over(runs_.results_from(training).first(runs_.runs_of_seed()), member);
  };
  const std::size_t trainings = runs_.done() / runs_.runs_of_seed();
  const auto with = [&](double Measures::*member) {
    return estimate_over(trainings, [&](std::size_t training) {
      return rank_correlation(of(training, member), of(training, &Measures::target_weight));
    });
  };
  AttentionPriorAgreement agreement;
  agreement.with_mean = with(&Measures::mean);
  agreement.with_variance = with(&Measures::variance);
  agreement.with_accuracy = with(&Measures::accuracy);
  agreement.mean_error = estimate_over(trainings, [&](std::size_t training) {
    const Eigen::VectorXd predicted = of(training, &Measures::mean).unaryExpr(&weight_of_mean);
    return (of(training, &Measures::target_weight) - predicted).cwiseAbs().mean();
  });
  return agreement;
}

}  // namespace eigenscope

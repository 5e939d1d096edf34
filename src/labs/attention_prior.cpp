#include "labs/attention_prior.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attention/softmax.h"
#include "labs/estimate_over.h"
#include "statistics/rank_correlation.h"
#include "support/error.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr Index kBatch = 64;
constexpr std::size_t kFresh = 1000;
/// Weight that a prior of one object leaves to all six alike.
constexpr float kPriorRest = 0.05f;
constexpr double kLearningRate = 1e-2, kWeightDecay = 0.1;
constexpr Index kWarmup = 30;

/// Draws of one training run.
enum class PriorDraw { examples, fresh, weights, batches, kept, objects, count };

std::uint64_t stream_of(std::uint64_t training, PriorDraw draw) {
  return training * static_cast<std::uint64_t>(PriorDraw::count) + static_cast<std::uint64_t>(draw);
}

OptimizerSettings optimizer_of(Index steps) {
  OptimizerSettings optimizer;
  optimizer.steps = steps;
  optimizer.learning_rate = kLearningRate;
  optimizer.warmup = kWarmup;
  return optimizer;
}

/// Of example number `example` of a training run.
Eigen::Matrix<float, kObjects, 1> prior_of(PriorKind kind, const Scene& scene, std::uint64_t seed,
                                           std::uint64_t training, std::uint64_t example) {
  const auto unit = [&](PriorDraw draw) {
    return random_unit(seed, stream_of(training, draw), example);
  };
  const auto random = [&] {
    return std::min(kObjects - 1, static_cast<int>(unit(PriorDraw::objects) * kObjects));
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
      return on(unit(PriorDraw::kept) < 0.5 ? scene.target : random());
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

AttentionPriors::AttentionPriors(const AttentionPriorSettings& settings) : settings_(settings) {
  checked(kPriorWeight, settings.prior_weight);
  checked(kStartScale, settings.start_scale);
  checked("head_width", static_cast<double>(settings.head_width));
  checked("steps", static_cast<double>(settings.steps));
  checked("trainings", static_cast<double>(settings.trainings));
  if (settings.examples.empty()) throw InvalidArgument("examples", "at least one is needed");
  for (const double count : settings.examples) checked(kExamples, count);
  if (!std::is_sorted(settings.examples.begin(), settings.examples.end(), std::less_equal<>())) {
    throw InvalidArgument("examples", "each must be larger than the one before");
  }
}

void AttentionPriors::begin() {
  const std::uint64_t seed = settings_.seed;
  const auto stream = [&](PriorDraw draw) { return stream_of(training(), draw); };
  if (done_ % runs_of_seed() == 0) {
    const auto most = static_cast<std::size_t>(settings_.examples.back());
    examples_ = draw_scenes(most, seed, stream(PriorDraw::examples));
    fresh_ = draw_scenes(kFresh, seed, stream(PriorDraw::fresh));
  }
  SceneReader<float> reader(settings_.head_width, settings_.start_scale, seed,
                            stream(PriorDraw::weights));
  const Index size = reader.parameters().size();
  AdamW optimizer(optimizer_of(settings_.steps),
                  Vector<float>::Constant(size, static_cast<float>(kWeightDecay)));
  run_.emplace(Run{std::move(reader), std::move(optimizer)});
}

void AttentionPriors::step() {
  const std::uint64_t stream = stream_of(training(), PriorDraw::batches);
  const double count = settings_.examples[point()];
  std::vector<const Scene*> batch;
  Matrix<float> priors(prior() == PriorKind::none ? 0 : kObjects, kBatch);
  for (Index b = 0; b < kBatch; ++b) {
    const auto draw = static_cast<std::uint64_t>(run_->step * kBatch + b);
    const double at = std::floor(random_unit(settings_.seed, stream, draw) * count);
    const auto example = static_cast<std::uint64_t>(std::min(at, count - 1));
    const Scene& scene = examples_[example];
    batch.push_back(&scene);
    if (prior() == PriorKind::none) continue;
    priors.col(b) = prior_of(prior(), scene, settings_.seed, training(), example);
  }
  run_->reader.forward(batch);
  run_->reader.backward(batch, priors, static_cast<float>(settings_.prior_weight));
  run_->optimizer.step(run_->step, 1, run_->reader.gradient(), run_->reader.parameters());
  ++run_->step;
}

AttentionPriors::Measures AttentionPriors::measured() {
  SceneReader<float>& reader = run_->reader;
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
  const std::size_t all = runs_of_seed() * static_cast<std::size_t>(settings_.trainings);
  const auto width = static_cast<double>(settings_.head_width);
  const double step_work = kBatch * width * (9 * kObjects + 3 * kFeatures);
  for (double spent = 0; done_ < all;) {
    if (spent >= work) return false;
    if (!run_) begin();
    if (run_->step < settings_.steps) {
      step();
      spent += step_work;
    } else {
      found_.push_back(measured());
      spent += step_work * kFresh / kBatch / 2;
      run_.reset();
      ++done_;
    }
  }
  return true;
}

double AttentionPriors::progress() const {
  const double step = run_ && settings_.steps > 0
                          ? static_cast<double>(run_->step) / static_cast<double>(settings_.steps)
                          : 0;
  return (static_cast<double>(done_) + step) /
         static_cast<double>(runs_of_seed() * static_cast<std::size_t>(settings_.trainings));
}

std::vector<AttentionPriorRow> AttentionPriors::rows() const {
  std::vector<AttentionPriorRow> rows;
  constexpr std::size_t kPriors = kPriorNames.size();
  for (std::size_t prior = 0; prior < kPriors; ++prior) {
    for (std::size_t at = 0; at < settings_.examples.size(); ++at) {
      const std::size_t first = at * kPriors, left = runs_of_seed() - first - prior;
      const std::size_t count = (done_ + left - 1) / runs_of_seed();
      const auto over = [&](auto value) {
        return estimate_over(count, [&](std::size_t training) {
          const std::size_t own = training * runs_of_seed() + first;
          return value(found_[own + prior], found_[own]);
        });
      };
      const auto of = [&](double Measures::*member) {
        return over([&](const Measures& own, const Measures&) { return own.*member; });
      };
      AttentionPriorRow row;
      row.prior = static_cast<PriorKind>(prior);
      row.examples = static_cast<Index>(settings_.examples[at]);
      row.trainings = static_cast<Index>(count);
      row.accuracy = of(&Measures::accuracy);
      row.gain = over(
          [](const Measures& own, const Measures& none) { return own.accuracy - none.accuracy; });
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
  for (int i = 0; i < kPoints && done_ > 0; ++i) {
    const double mean = least + (most - least) * i / (kPoints - 1);
    points.push_back({mean, weight_of_mean(mean)});
  }
  return points;
}

AttentionPriorAgreement AttentionPriors::agreement() const {
  const std::size_t runs = runs_of_seed();
  const auto of = [&](std::size_t training, double Measures::*member) {
    Eigen::VectorXd values(static_cast<Index>(runs));
    for (std::size_t i = 0; i < runs; ++i) {
      values[static_cast<Index>(i)] = found_[training * runs + i].*member;
    }
    return values;
  };
  const auto with = [&](double Measures::*member) {
    return estimate_over(done_ / runs, [&](std::size_t training) {
      return rank_correlation(of(training, member), of(training, &Measures::target_weight));
    });
  };
  AttentionPriorAgreement agreement;
  agreement.with_mean = with(&Measures::mean);
  agreement.with_variance = with(&Measures::variance);
  agreement.with_accuracy = with(&Measures::accuracy);
  agreement.mean_error = estimate_over(done_ / runs, [&](std::size_t training) {
    const Eigen::VectorXd predicted = of(training, &Measures::mean).unaryExpr(&weight_of_mean);
    return (of(training, &Measures::target_weight) - predicted).cwiseAbs().mean();
  });
  return agreement;
}

}  // namespace eigenscope

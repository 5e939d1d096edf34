#include "labs/position_meaning.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "statistics/estimate.h"
#include "support/error.h"
#include "support/gemm.h"
#include "support/lanes.h"
#include "support/normal_matrix.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Root mean square of the gradient at which a minimization ends: the losses differ by 1e-3 and more.
constexpr double kGradient = 1e-6;
/// Most iterations of a minimization. Gradient descent, which has no curvature to go by, needs many times more.
constexpr int kQuasiNewtonIterations = 400, kDescentIterations = 20000;
/// Multiply-adds of an iteration of the saddle-point equations, about.
constexpr double kTheoryWork = 2e6;
/// Guesses from which the equations find the positional and the semantic minimum.
constexpr Overlaps kGuesses[] = {{0.2, 0, 0.25}, {0.5, 0.6, 0}};

VectorXd normals(std::uint64_t seed, std::uint64_t stream, Index count, double std) {
  return std * normal_matrix(count, 1, seed, stream).cast<double>();
}

std::uint64_t dataset_stream(std::uint64_t dataset, std::uint64_t pair) {
  return (dataset << 32) + pair;
}
constexpr std::uint64_t kStartStream = (std::uint64_t{1} << 32) - 1;  // after any pair

// Sums have one order on every machine, which those of Eigen have not.
double sum_of(const VectorXd& values) {
  return lane_sum<double>(values.size(), [&](Index i) { return values[i]; });
}
double product(const VectorXd& a, const VectorXd& b) {
  return inner_product(a.data(), b.data(), a.size());
}

/// Losses that differ by less than this are those of one minimum, reached twice.
constexpr double kSameLoss = 1e-6;

/// The point at which the differences first change from negative to positive; NaN for nowhere.
template <class Difference>
double crossing_of(const std::vector<double>& at, Difference difference) {
  for (std::size_t i = 1; i < at.size(); ++i) {
    const double before = difference(i - 1), after = difference(i);
    if (before < 0 && after > kSameLoss) {
      return at[i - 1] + (at[i] - at[i - 1]) * before / (before - after);
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

TokenPairs::TokenPairs(const PositionSettings& settings, Index pairs, std::uint64_t dataset)
    : ridge_(settings.ridge), tokens_(settings.width, 2 * pairs) {
  const Index d = settings.width;
  const auto width = static_cast<double>(d);
  meaning_ = normals(settings.seed, dataset_stream(dataset, 0), d, 1);
  meaning_ *= std::sqrt(width / product(meaning_, meaning_));
  const Teacher teacher{settings.teacher_position};
  for (Index k = 0; k < pairs; ++k) {
    const auto stream = dataset_stream(dataset, 1 + static_cast<std::uint64_t>(k));
    const VectorXd both = normals(settings.seed, stream, 2 * d, settings.token_std);
    tokens_.col(2 * k) = both.head(d);
    tokens_.col(2 * k + 1) = both.tail(d);
    const SelfWeights z = fields(k, meaning_, 0);
    targets_.push_back(teacher(z[0], z[1]));
    const auto apart = [&](Index i) {
      const double difference = both[i] - both[d + i];
      return difference * difference;
    };
    scales_.push_back(lane_sum<double>(d, apart) / width);
  }
}

SelfWeights TokenPairs::fields(Index pair, const VectorXd& w, double position) const {
  const Index d = w.size();
  const double root = std::sqrt(static_cast<double>(d));
  const double* const first = tokens_.data() + 2 * pair * d;
  return {inner_product(first, w.data(), d) / root + position,
          inner_product(first + d, w.data(), d) / root - position};
}

double TokenPairs::loss(Index pairs, const VectorXd& w, VectorXd& gradient) const {
  const Index d = w.size();
  const auto width = static_cast<double>(d);
  const double position = sum_of(w) / width, root = std::sqrt(width);
  double value = ridge_ / 2 * product(w, w);
  double along_position = 0;
  gradient = ridge_ * w;
  for (Index k = 0; k < pairs; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const SelfWeights u = fields(k, w, position);
    const SampleLoss sample(u[0], u[1], targets_[at], scales_[at]);
    value += sample.value;
    along_position += sample.d1 - sample.d2;
    const double by1 = sample.d1 / root, by2 = sample.d2 / root;
    const double* const first = tokens_.data() + 2 * k * d;
    const double* const second = first + d;
    double* const slope = gradient.data();
    for (Index i = 0; i < d; ++i) slope[i] += by1 * first[i] + by2 * second[i];
  }
  gradient.array() += along_position / width;
  return value;
}

Overlaps TokenPairs::overlaps(const VectorXd& w) const {
  const auto width = static_cast<double>(w.size());
  return {product(w, w) / width, product(w, meaning_) / width, sum_of(w) / width};
}

PositionMeaning::PositionMeaning(const PositionSettings& settings) : settings_(settings) {
  checked(kTokenWidth, static_cast<double>(settings.width));
  checked(kTeacherPosition, settings.teacher_position);
  checked(kTokenStd, settings.token_std);
  checked(kRidge, settings.ridge);
  checked(kDatasets, static_cast<double>(settings.datasets));
  checked(kStartNorm, settings.start_norm);
  const std::vector<double>& points = settings_.samples_over_width;
  check_ascending(kSamplesOverWidth, points);
  minima_.resize(points.size());
  theory_.resize(2 * points.size());
  best_constant_ = law_.best_constant(problem(0));
}

TiedProblem PositionMeaning::problem(std::size_t point) const {
  return {Teacher{settings_.teacher_position}, settings_.token_std, settings_.ridge,
          settings_.samples_over_width[point]};
}

Index PositionMeaning::pairs(std::size_t point) const {
  const double count = settings_.samples_over_width[point] * static_cast<double>(settings_.width);
  return std::max<Index>(1, static_cast<Index>(std::lround(count)));
}

void PositionMeaning::begin_minimum() {
  const std::size_t per_set = kMinimumStarts * minima_.size();
  const std::uint64_t dataset = done_ / per_set;
  const std::size_t point = done_ % per_set / kMinimumStarts;
  if (done_ % per_set == 0) {
    data_ = std::make_unique<TokenPairs>(settings_, pairs(minima_.size() - 1), dataset);
  }
  VectorXd start;
  switch (static_cast<MinimumStart>(done_ % kMinimumStarts)) {
    case MinimumStart::position:
      start = VectorXd::Constant(settings_.width, settings_.start_norm);
      break;
    case MinimumStart::meaning:
      start = settings_.start_norm * data_->meaning();
      break;
    case MinimumStart::random:
      start = normals(settings_.seed, dataset_stream(dataset, kStartStream), settings_.width,
                      settings_.start_norm);
  }
  const auto loss = [this, count = pairs(point)](const VectorXd& w, VectorXd& gradient) {
    return data_->loss(count, w, gradient);
  };
  const bool descends = settings_.minimizer == Descent::gradient;
  minimizer_.emplace(
      loss, std::move(start),
      Lbfgs::Limits{.gradient = kGradient,
                    .iterations = descends ? kDescentIterations : kQuasiNewtonIterations,
                    .descent = settings_.minimizer});
}

double PositionMeaning::step_minimum() {
  if (!minimizer_) begin_minimum();
  const std::size_t point = done_ % (kMinimumStarts * minima_.size()) / kMinimumStarts;
  const int before = minimizer_->evaluations();
  if (minimizer_->advance()) {
    const Overlaps overlaps = data_->overlaps(minimizer_->at());
    minima_[point].push_back({minimizer_->value() / static_cast<double>(settings_.width), overlaps,
                              law_.test_error(problem(point), overlaps)});
    minimizer_.reset();
    ++done_;
    return kTheoryWork;
  }
  const double evaluation =
      4 * static_cast<double>(pairs(point)) * static_cast<double>(settings_.width);
  return evaluation * (minimizer_->evaluations() - before);
}

double PositionMeaning::step_theory() {
  const std::size_t point = solved_ / 2;
  if (!saddle_) saddle_.emplace(law_, problem(point), kGuesses[solved_ % 2]);
  if (saddle_->advance()) {
    if (saddle_->holds()) {
      theory_[solved_] = {saddle_->overlaps(), saddle_->loss(),
                          law_.test_error(problem(point), saddle_->overlaps())};
    }
    saddle_.reset();
    ++solved_;
  }
  return kTheoryWork;
}

bool PositionMeaning::advance(double work) {
  const std::size_t first_set = kMinimumStarts * minima_.size();
  const std::size_t all = first_set * static_cast<std::size_t>(settings_.datasets);
  for (double spent = 0; done_ < all || solved_ < theory_.size();) {
    if (spent >= work) return false;
    const bool theory = done_ >= first_set && solved_ < theory_.size();
    spent += theory ? step_theory() : step_minimum();
  }
  data_.reset();
  return true;
}

double PositionMeaning::progress() const {
  const double all = static_cast<double>(kMinimumStarts * minima_.size()) *
                     static_cast<double>(settings_.datasets);
  return (static_cast<double>(done_) + static_cast<double>(solved_)) /
         (all + static_cast<double>(theory_.size()));
}

std::vector<PositionRow> PositionMeaning::rows() const {
  std::vector<PositionRow> rows;
  for (std::size_t i = 0; i < minima_.size(); ++i) {
    const std::vector<Minimum>& minima = minima_[i];
    const std::size_t sets = minima.size() / kMinimumStarts;
    PositionRow row{};
    row.samples_over_width = settings_.samples_over_width[i];
    row.datasets = static_cast<Index>(sets);
    for (std::size_t start = 0; start < kMinimumStarts; ++start) {
      const auto at = [&](std::size_t set) { return minima[set * kMinimumStarts + start]; };
      MinimumMeans& means = row.minima[start];
      means.loss = estimate_over(sets, [&](std::size_t s) { return at(s).loss; });
      means.position =
          estimate_over(sets, [&](std::size_t s) { return std::abs(at(s).overlaps.position); });
      means.meaning =
          estimate_over(sets, [&](std::size_t s) { return std::abs(at(s).overlaps.meaning); });
      means.test_error = estimate_over(sets, [&](std::size_t s) { return at(s).test_error; });
      const auto is_semantic = [&](std::size_t s) {
        const Overlaps& o = at(s).overlaps;
        return std::abs(o.meaning) > std::abs(o.position);
      };
      double semantic = 0;
      for (std::size_t s = 0; s < sets; ++s) semantic += is_semantic(s);
      means.semantic_share = share_of(semantic, static_cast<double>(sets));
    }
    const auto above_semantic = [&](MinimumStart start) {
      return estimate_over(sets, [&, at = static_cast<std::size_t>(start)](std::size_t s) {
        return minima[s * kMinimumStarts + at].loss - minima[s * kMinimumStarts + 1].loss;
      });
    };
    row.difference = above_semantic(MinimumStart::position);
    row.random_difference = above_semantic(MinimumStart::random);
    const Known &positional = theory_[2 * i], &semantic = theory_[2 * i + 1];
    row.theory_difference = positional.loss - semantic.loss;
    row.theory_position = positional.overlaps;
    row.theory_meaning = semantic.overlaps;
    row.theory_position_test = positional.test_error;
    row.theory_meaning_test = semantic.test_error;
    rows.push_back(row);
  }
  return rows;
}

std::vector<double> PositionMeaning::crossings() const {
  std::vector<double> crossings;
  const std::size_t sets = minima_.back().size() / kMinimumStarts;
  for (std::size_t set = 0; set < sets; ++set) {
    const double at = crossing_of(settings_.samples_over_width, [&](std::size_t i) {
      const std::vector<Minimum>& minima = minima_[i];
      return minima[set * kMinimumStarts].loss - minima[set * kMinimumStarts + 1].loss;
    });
    if (!std::isnan(at)) crossings.push_back(at);
  }
  return crossings;
}

Estimate PositionMeaning::crossing() const { return estimate_of(crossings()); }

Index PositionMeaning::crossed() const { return static_cast<Index>(crossings().size()); }

double PositionMeaning::theory_crossing() const {
  return crossing_of(settings_.samples_over_width,
                     [&](std::size_t i) { return theory_[2 * i].loss - theory_[2 * i + 1].loss; });
}

}  // namespace eigenscope

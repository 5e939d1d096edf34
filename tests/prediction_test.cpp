// The predictor: its formulas against the very tokens they summarize; rank correlation and intervals.
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <vector>

#include "catch.h"
#include "checkpoint_failure.h"
#include "inference_models.h"
#include "prediction/agreement.h"
#include "prediction/levels.h"
#include "prediction/prediction.h"
#include "test_head.h"
#include "test_matrices.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr Index kWidth = 6, kLength = 24, kPassages = 40;
constexpr double kCorrelation = 0.6;

/// AR(1) tokens of correlation kCorrelation with a mean and a covariance of their own; the first and
/// the last have other means.
Eigen::MatrixXf passage(Index number) {
  const MatrixXd mix = random_matrix(kWidth, kWidth, 1), shift = random_matrix(kWidth, 3, 2);
  const MatrixXd fresh = random_matrix(kWidth, kLength, 100 + static_cast<std::uint64_t>(number));
  MatrixXd x = fresh;
  for (Index t = 1; t < kLength; ++t) {
    x.col(t) =
        kCorrelation * x.col(t - 1) + std::sqrt(1 - kCorrelation * kCorrelation) * fresh.col(t);
  }
  x = (mix * x).colwise() + shift.col(0);
  x.col(0) += 3 * shift.col(1);
  x.col(kLength - 1) += 3 * shift.col(2);
  return x.cast<float>();
}

/// Of kPassages passages, in single precision.
const std::vector<Eigen::MatrixXf>& states() {
  static const std::vector<Eigen::MatrixXf> made = [] {
    std::vector<Eigen::MatrixXf> passages;
    for (Index k = 0; k < kPassages; ++k) passages.push_back(passage(k));
    return passages;
  }();
  return made;
}

const std::vector<MatrixXd>& tokens() {
  static const std::vector<MatrixXd> made = [] {
    std::vector<MatrixXd> passages;
    for (const Eigen::MatrixXf& passage : states()) passages.push_back(passage.cast<double>());
    return passages;
  }();
  return made;
}

const SinkKeys kSinks{1, 1};

TestHead head() {
  return {random_matrix(3, kWidth, 50), random_matrix(3, 1, 51), random_matrix(3, kWidth, 52),
          VectorXd::Zero(3)};
}

HeadPredictor predictor_of(const TestHead& h) {
  static const VectorXd correlations = correlations_of(states(), kSinks);
  static const RotaryTurns none;
  return {h.states_of(tokens()), kSinks, correlations, none, {h.query, h.key}};
}

/// Calls visit(query state, logits of all keys of all passages in columns `first` to `last` - 1).
void each_query(Index first, Index last,
                const std::function<void(const VectorXd&, const VectorXd&)>& visit) {
  const TestHead h = head();
  MatrixXd keys(3, kPassages * (last - first));
  for (Index k = 0; k < kPassages; ++k) {
    keys.middleCols(k * (last - first), last - first) =
        h.key * tokens()[static_cast<std::size_t>(k)].middleCols(first, last - first);
  }
  for (Index k = 0; k < kPassages; ++k) {
    for (Index t = 0; t < kLength; ++t) {
      const VectorXd state = tokens()[static_cast<std::size_t>(k)].col(t);
      visit(state, keys.transpose() * h.query_of(state));
    }
  }
}

double variance(const VectorXd& values) { return (values.array() - values.mean()).square().mean(); }

}  // namespace

TEST_CASE("level 1 is the Frobenius trace of the query-key matrix", "[prediction]") {
  const TestHead h = head();
  const HeadPredictor predictor = predictor_of(h);
  const RowLaw law = predictor.spectrum();
  CHECK(law.std.size() == kLength);
  CHECK(law.mean.isZero());
  CHECK(law.std[3] * law.std[3] == Approx((h.query.transpose() * h.key).squaredNorm() / 3));
}

TEST_CASE("levels 2 and 3 are the mean square and variance of logits over all pairs",
          "[prediction]") {
  const TokenClouds clouds(tokens(), kSinks);
  const TestHead h = head();
  const HeadPredictor predictor = predictor_of(h);
  const VectorXd centre = clouds.all.mean;
  double centred = 0, whole = 0, count = 0;
  each_query(0, kLength, [&](const VectorXd& state, const VectorXd& logits) {
    whole += variance(logits);
    const VectorXd without = h.query * (state - centre) / std::sqrt(3.0);
    centred += without.dot(h.key * clouds.all.covariance * h.key.transpose() * without);
    count += 1;
  });
  CHECK(std::pow(predictor.covariance().std[0], 2) == Approx(centred / count).epsilon(1e-6));
  CHECK(std::pow(predictor.mean().std[0], 2) == Approx(whole / count).epsilon(1e-6));
}

TEST_CASE("level 4 has the mean and variance of the logits of one query", "[prediction]") {
  const TestHead h = head();
  const HeadPredictor predictor = predictor_of(h);
  each_query(1, kLength, [&](const VectorXd& state, const VectorXd& logits) {
    const RowLaw law = predictor.law(Level::sink, h.query_at(state, 5));
    CHECK(law.mean[7] == Approx(logits.mean()).epsilon(1e-6).margin(1e-6));
    CHECK(law.std[7] * law.std[7] == Approx(variance(logits)).epsilon(1e-6));
    CHECK(law.std[0] == 0);
  });
  each_query(0, 1, [&](const VectorXd& state, const VectorXd& logits) {
    CHECK(predictor.law(Level::sink, h.query_at(state, 5)).mean[0] ==
          Approx(logits.mean()).epsilon(1e-6).margin(1e-6));
  });
}

TEST_CASE("level 6 knows the separator, and each level from 5 the mean by position",
          "[prediction]") {
  const TokenClouds clouds(tokens(), kSinks);
  const TestHead h = head();
  const HeadPredictor predictor = predictor_of(h);
  each_query(kLength - 1, kLength, [&](const VectorXd& state, const VectorXd& logits) {
    const RowLaw law = predictor.law(Level::separator, h.query_at(state, 5));
    CHECK(law.mean[kLength - 1] == Approx(logits.mean()).epsilon(1e-6).margin(1e-6));
    CHECK(law.std[kLength - 1] == 0);
  });
  // Means by position and what is left around them make up the whole variance.
  const MatrixXd means = clouds.smooth.middleCols(1, kLength - 2);
  const MatrixXd centred = means.colwise() - means.rowwise().mean();
  CHECK((clouds.around_smooth + centred * centred.transpose() / (kLength - 2.0))
            .isApprox(clouds.content.covariance, 1e-9));
}

TEST_CASE("level 7 finds the correlation of neighbours and predicts their logits", "[prediction]") {
  const TestHead h = head();
  const HeadPredictor predictor = predictor_of(h);
  const VectorXd correlations = correlations_of(states(), kSinks);
  CHECK(correlations[0] == Approx(1));
  CHECK_THAT(correlations[1], WithinAbs(kCorrelation, 0.06));
  CHECK_THAT(correlations[2], WithinAbs(kCorrelation * kCorrelation, 0.08));
  double error = 0, expected = 0, without = 0;
  for (Index k = kPassages; k < 3 * kPassages; ++k) {  // tokens that the statistics have not seen
    const MatrixXd x = passage(k).cast<double>();
    for (Index t = 3; t < kLength - 3; ++t) {
      const double logit = h.query_of(x.col(t)).col(0).dot(h.key * x.col(t + 1));
      const RowLaw law = predictor.law(Level::neighbours, h.query_at(x.col(t), t));
      error += std::pow(logit - law.mean[t + 1], 2);
      expected += std::pow(law.std[t + 1], 2);
      without +=
          std::pow(logit - predictor.law(Level::separator, h.query_at(x.col(t), t)).mean[t + 1], 2);
      CHECK(law.mean[t] == Approx(h.query_of(x.col(t)).col(0).dot(h.key * x.col(t))).margin(1e-9));
      CHECK(law.std[t] == Approx(0).margin(1e-6));
    }
  }
  CHECK_THAT(error / expected, WithinAbs(1, 0.15));
  CHECK(error < 0.8 * without);
}

TEST_CASE("bootstrap intervals are as wide as theory says, and the seed's", "[prediction]") {
  const VectorXd measured = VectorXd::Zero(400), predicted = random_matrix(400, 1, 77).cwiseAbs();
  const Agreement found = agreement(predicted, measured, {2000, 1});
  CHECK(found.pairs == 400);
  CHECK(found.error.value == Approx(predicted.mean()));
  const double half = 1.96 * std::sqrt(variance(predicted) / 400);
  CHECK_THAT((found.error.high - found.error.low) / (2 * half), WithinAbs(1, 0.1));
  CHECK(std::isnan(found.rank_correlation.value));
  CHECK(agreement(predicted, measured, {2000, 1}).error.low == found.error.low);
  CHECK(agreement(predicted, measured, {2000, 2}).error.low != found.error.low);

  const Agreement exact = agreement(predicted, predicted.array() + 0.5, {100, 1});
  CHECK(exact.rank_correlation.low == Approx(1));
  CHECK(exact.error.low == Approx(0.5));
  CHECK(exact.error.high == Approx(0.5));
}

TEST_CASE("pairs with NaN are left out, and bad sizes refused", "[prediction]") {
  VectorXd a = Eigen::Vector3d(1, std::nan(""), 3), b = Eigen::Vector3d(1, 2, 4);
  CHECK(agreement(a, b, {10, 1}).pairs == 2);
  CHECK(agreement(a, b, {10, 1}).error.value == Approx(0.5));
  CHECK(agreement(VectorXd::Constant(3, std::nan("")), b, {10, 1}).pairs == 0);
  CHECK(failure_of([&] { agreement(a, VectorXd::Ones(2), {10, 1}); }).item == "measured");
  CHECK(failure_of([&] { agreement(a, b, {0, 1}); }).item == "resamples");
}

namespace {

// Every number of the heads; a NaN is what no head has.
std::vector<double> numbers_of(const std::vector<HeadPrediction>& heads) {
  std::vector<double> numbers;
  const auto add = [&](double value) { numbers.push_back(std::isnan(value) ? -1e300 : value); };
  const auto add_measures = [&](const HeadMeasures& of) {
    for (const PredictedMeasure& measure : kPredictedMeasures) add(measure.value(of));
  };
  for (const HeadPrediction& head : heads) {
    for (const int number : {head.layer, head.head}) add(number);
    for (const HeadMeasures* of : {&head.measured, &head.ceiling, &head.transfer})
      add_measures(*of);
    for (const double number : {head.measured_logits.components, head.measured_logits.largest}) {
      add(number);
    }
    for (const HeadInMetric& metric : head.metrics) {
      for (const SpectralQuantity& quantity : kSpectralQuantities) add(quantity.value(metric));
      for (const double value : metric.singular_values) add(value);
      for (const std::complex<double> value : metric.eigenvalues) add(value.imag());
    }
    for (const HeadMeasures& of : head.levels) add_measures(of);
    add(head.measured.localization);
    add(head.report.localization);
    for (const VectorXd* of : {&head.measured_by_distance, &head.gaussian_by_distance}) {
      add(static_cast<double>(of->size()));
      for (const double weight : *of) add(weight);
    }
  }
  return numbers;
}

}  // namespace

TEST_CASE("the shares of a prediction are together the prediction", "[prediction]") {
  const auto model = transformer_of(tiny_gpt2());
  const auto passages = [](int from) {
    std::vector<Passage> made(2);
    for (int k = 0; k < 2; ++k) {
      for (int t = 0; t < 12; ++t) {
        made[static_cast<std::size_t>(k)].ids.push_back(((from + k) * 5 + t * t + t * k) %
                                                        kTinyTokens);
      }
    }
    return made;
  };
  const std::vector<Passage> first = passages(0), second = passages(2), third = passages(4);
  for (const PredictionPassages& given : {PredictionPassages{first, second, {}, true},
                                          PredictionPassages{first, second, third, false},
                                          PredictionPassages{first, second, {}, false, third},
                                          PredictionPassages{first, {}, {}, false}}) {
    const auto found = [&](PredictionPartition share) {
      Prediction prediction(model, given, {50, 1}, share);
      prediction.advance(100000);
      REQUIRE(prediction.done());
      CHECK(prediction.steps_done() == prediction.steps_wanted());
      return prediction.heads();
    };
    const std::vector<HeadPrediction> levels = found(PredictionPartition::levels);
    const std::vector<HeadPrediction> others = found(PredictionPartition::others);
    const std::vector<HeadPrediction> whole = found(PredictionPartition::all);
    CHECK(numbers_of(levels) != numbers_of(whole));
    CHECK(numbers_of(others) != numbers_of(whole));
    CHECK(numbers_of(joined(levels, others)) == numbers_of(whole));
    CHECK(failure_of([&] { joined(levels, {}); }).item == "partitions");
    const std::vector<std::byte> bytes = bytes_of(whole);
    CHECK(numbers_of(heads_of(bytes)) == numbers_of(whole));
    CHECK(failure_of([&] { heads_of(std::span(bytes).first(bytes.size() - 1)); }).item ==
          "partitions");
  }
}

TEST_CASE("a prediction does not depend on how the work was cut", "[prediction]") {
  const auto model = transformer_of(tiny_gpt2());
  std::vector<Passage> passages;
  for (int k = 0; k < 6; ++k) {
    Passage made;
    for (int t = 0; t < 12; ++t) made.ids.push_back((k * 5 + t * t + t * k) % kTinyTokens);
    passages.push_back(made);
  }
  const std::vector<Passage> first(passages.begin(), passages.begin() + 3),
      second(passages.begin() + 3, passages.end());
  const PredictionPassages both{first, second, {}, true};
  Prediction whole(model, both, {50, 1}), cut(model, both, {50, 1});
  CHECK(whole.advance(1000));
  // Predictions come first: no head is measured when all are predicted.
  std::size_t predicted = 0;
  for (int steps = 1; !cut.advance(1); ++steps) {
    CHECK(cut.steps_done() == steps);
    if (cut.heads().size() < kTinyLayers * kTinyHeads) continue;
    if (predicted++ > 0) continue;
    for (const HeadPrediction& head : cut.heads()) {
      CHECK(head.measured.queries == 0);
      CHECK(std::isnan(head.measured.row.entropy));
    }
  }
  // The mean field: a step for each head, and one for each of its passages in each layer but the last; then the text:
  // one for each passage and layer, of which the last returns.
  CHECK(predicted ==
        kTinyLayers * (kTinyHeads + first.size()) - first.size() + kTinyLayers * second.size());
  REQUIRE(whole.heads().size() == kTinyLayers * kTinyHeads);
  REQUIRE(cut.heads().size() == whole.heads().size());
  for (std::size_t i = 0; i < cut.heads().size(); ++i) {
    CHECK(cut.heads()[i].measured.row.entropy == whole.heads()[i].measured.row.entropy);
    CHECK(cut.heads()[i].gaussian_by_distance == whole.heads()[i].gaussian_by_distance);
    CHECK(decay_exponent(whole.heads()[i].measured_by_distance) == whole.heads()[i].measured.decay);
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      const HeadMeasures &a = cut.heads()[i].levels[level], &b = whole.heads()[i].levels[level];
      CHECK(a.row.entropy == b.row.entropy);
      CHECK(a.row.entropy > 0);
      CHECK(a.row.entropy <= 1);
      CHECK(a.row.participation > 0);
      CHECK(std::isnan(a.row.sink()) == (level == 0));
    }
  }
  CHECK(failure_of([&] { Prediction(model, {{}, second, {}}, {50, 1}); }).item == "passages");
  CHECK(failure_of([&] {
          Prediction(model, {first, {{{1, 2}, 0, 0}}, {}}, {50, 1});
        }).item == "passages");
  CHECK(failure_of([&] { Prediction(model, {first, second, {}}, {0, 1}); }).item == "queries");
}

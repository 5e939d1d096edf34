#include "labs/position_meaning.h"

#include <cmath>

#include "catch.h"
#include "central_differences.h"

using namespace eigenscope;
using Eigen::Index;
using Eigen::VectorXd;

namespace {

PositionSettings small_settings() {
  PositionSettings settings;
  settings.width = 30;
  settings.samples_over_width = {0.5, 1, 2};
  settings.datasets = 3;
  settings.seed = 5;
  return settings;
}

// Softmax of a row of two logits, as the textbook has it.
double weight_on_first(double a, double b) { return std::exp(a) / (std::exp(a) + std::exp(b)); }

SaddlePoint solved(const SampleLaw& law, const TiedProblem& problem, const Overlaps& guess) {
  SaddlePoint point(law, problem, guess);
  while (!point.advance()) continue;
  return point;
}

}  // namespace

TEST_CASE("the weights of two tokens are those of the softmax of their products") {
  const double u1 = 0.7, u2 = -1.3;
  const SelfWeights own = self_weights(u1, u2);
  CHECK(own[0] == Approx(weight_on_first(u1 * u1, u1 * u2)).epsilon(1e-14));
  CHECK(own[1] == Approx(weight_on_first(u2 * u2, u2 * u1)).epsilon(1e-14));
}

TEST_CASE("first and second derivatives of a sample's loss agree with central differences") {
  const SelfWeights target{0.3, 0.8};
  constexpr double kStep = 1e-5;
  const auto at = [&](double a, double b) { return SampleLoss(a, b, target, 0.6); };
  for (const double u1 : {-1.1, 0.0, 0.4}) {
    const double u2 = 0.9;
    const SampleLoss here = at(u1, u2);
    const SampleLoss right = at(u1 + kStep, u2), left = at(u1 - kStep, u2);
    const SampleLoss up = at(u1, u2 + kStep), down = at(u1, u2 - kStep);
    CHECK(here.d1 == Approx((right.value - left.value) / (2 * kStep)).margin(1e-9));
    CHECK(here.d2 == Approx((up.value - down.value) / (2 * kStep)).margin(1e-9));
    CHECK(here.d11 == Approx((right.d1 - left.d1) / (2 * kStep)).margin(1e-8));
    CHECK(here.d12 == Approx((right.d2 - left.d2) / (2 * kStep)).margin(1e-8));
    CHECK(here.d22 == Approx((up.d2 - down.d2) / (2 * kStep)).margin(1e-8));
  }
}

TEST_CASE("the gradient of the training loss agrees with central differences") {
  const TokenPairs data(small_settings(), 40, 1);
  VectorXd w = VectorXd::LinSpaced(30, -0.8, 1.1), gradient(30), unused(30);
  data.loss(25, w, gradient);
  const auto loss = [&] { return data.loss(25, w, unused); };
  CHECK(testing::gradient_error(loss, w, gradient) < 1e-7);
}

TEST_CASE("a smaller training set is the beginning of a larger one") {
  const TokenPairs small(small_settings(), 10, 0), large(small_settings(), 40, 0);
  const VectorXd w = VectorXd::LinSpaced(30, -1, 1);
  VectorXd gradient(30);
  CHECK(small.loss(10, w, gradient) == large.loss(10, w, gradient));
  CHECK(large.loss(10, w, gradient) < large.loss(40, w, gradient));
}

TEST_CASE("at the teacher's own direction only its positional part is left of the loss") {
  PositionSettings settings = small_settings();
  settings.width = 400;
  settings.teacher_position = 0;
  settings.ridge = 1e-6;
  const TokenPairs data(settings, 200, 0);
  VectorXd gradient(400);
  const VectorXd& q = data.meaning();
  // The position of q, of order 1/sqrt(d), is what differs.
  const double own = data.loss(200, q, gradient) / 400;
  const double none = data.loss(200, VectorXd::Zero(400), gradient) / 400;
  CHECK(own < 0.2 * none);
  CHECK(data.overlaps(q).square == Approx(1).epsilon(1e-12));
  CHECK(data.overlaps(q).meaning == Approx(1).epsilon(1e-12));
}

TEST_CASE("L-BFGS finds the minimum of a quadratic and of Rosenbrock's function") {
  const auto quadratic = [](const VectorXd& x, VectorXd& gradient) {
    const VectorXd scale = VectorXd::LinSpaced(x.size(), 1, 100);
    gradient = scale.cwiseProduct(x - VectorXd::Ones(x.size()));
    return 0.5 * gradient.dot(x - VectorXd::Ones(x.size()));
  };
  Lbfgs first(quadratic, VectorXd::Zero(20), {.gradient = 1e-9, .iterations = 200});
  while (!first.advance()) continue;
  CHECK(first.converged());
  CHECK((first.at() - VectorXd::Ones(20)).norm() < 1e-8);
  const auto valley = [](const VectorXd& x, VectorXd& gradient) {
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];
    gradient << -2 * a - 400 * x[0] * b, 200 * b;
    return a * a + 100 * b * b;
  };
  Lbfgs second(valley, VectorXd{{-1.2, 1.0}}, {.gradient = 1e-9, .iterations = 200});
  while (!second.advance()) continue;
  CHECK(second.at()[0] == Approx(1).epsilon(1e-7));
  CHECK(second.at()[1] == Approx(1).epsilon(1e-7));
  Lbfgs third(quadratic, VectorXd::Zero(20),
              {.gradient = 1e-9, .iterations = 20000, .descent = Descent::gradient});
  while (!third.advance()) continue;
  CHECK(third.converged());
  CHECK(third.iterations() > 3 * first.iterations());
  CHECK((third.at() - VectorXd::Ones(20)).norm() < 1e-7);
}

TEST_CASE("a random start of larger norm ends by meaning more often, by both minimizers") {
  PositionSettings settings;
  settings.width = 60;
  settings.samples_over_width = {2};
  settings.datasets = 24;
  for (const Descent minimizer : {Descent::lbfgs, Descent::gradient}) {
    settings.minimizer = minimizer;
    const auto share = [&](double norm) {
      settings.start_norm = norm;
      PositionMeaning lab(settings);
      while (!lab.advance(1e9)) continue;
      const std::vector<PositionRow> rows = lab.rows();
      const Share found =
          rows.front().minima[static_cast<int>(MinimumStart::random)].semantic_share;
      CHECK((found.low < found.value && found.value < found.high));
      return found.value;
    };
    CHECK(share(1) > share(0.2) + 0.15);
  }
}

TEST_CASE("the test error is that of fresh samples") {
  PositionSettings settings = small_settings();
  settings.width = 300;
  const TokenPairs data(settings, 4000, 2);
  const VectorXd w = 0.6 * data.meaning() + VectorXd::Constant(300, 0.2);
  VectorXd gradient(300);
  const Overlaps overlaps = data.overlaps(w);
  const double ridge = settings.ridge / 2 * overlaps.square * 300;
  const double sampled = (data.loss(4000, w, gradient) - ridge) / 4000;
  const SampleLaw law;
  const TiedProblem problem{Teacher{settings.teacher_position}};
  CHECK(sampled == Approx(law.test_error(problem, overlaps)).epsilon(0.05));
  // Nothing that is equal for all samples beats the best constant; w = 0 is such a thing.
  CHECK(law.best_constant(problem) < law.test_error(problem, {}));
}

TEST_CASE(
    "with more samples the semantic minimum turns to the teacher, and positions are not read") {
  const SampleLaw law;
  TiedProblem problem{Teacher{0}};
  const double none = law.test_error(problem, {});
  double before = 0;
  for (const double samples : {0.5, 1.0, 4.0}) {
    problem.samples_over_width = samples;
    const SaddlePoint point = solved(law, problem, {0.5, 0.6, 0});
    REQUIRE(point.holds());
    const Overlaps found = point.overlaps();
    const double cosine = found.meaning / std::sqrt(found.square);
    CHECK(cosine > before);
    CHECK(std::abs(found.position) < 1e-6);
    before = cosine;
    if (samples == 4) CHECK(law.test_error(problem, found) < 0.1 * none);
  }
  CHECK(before > 0.99);
  CHECK(before <= 1);
}

TEST_CASE("a strong ridge leaves w = 0, with the loss of uniform attention") {
  const SampleLaw law;
  TiedProblem problem{Teacher{0.3}};
  problem.ridge = 10;
  const SaddlePoint point = solved(law, problem, {0.2, 0.1, 0.1});
  REQUIRE(point.holds());
  CHECK(std::abs(point.overlaps().position) < 1e-3);
  CHECK(std::abs(point.overlaps().meaning) < 1e-3);
  CHECK(point.loss() == Approx(law.test_error(problem, {})).epsilon(1e-3));
}

TEST_CASE("minima on finite data approach the saddle point as the width grows", "[long]") {
  struct Case {
    Index width, datasets;
    double bias;
  };
  for (const Case& it : {Case{50, 24, 0.15}, Case{400, 3, 0.02}}) {
    PositionSettings settings;
    settings.width = it.width;
    settings.samples_over_width = {1.5};
    settings.datasets = it.datasets;
    PositionMeaning lab(settings);
    while (!lab.advance(1e9)) continue;
    const PositionRow row = lab.rows().front();
    REQUIRE(row.theory_meaning);
    const Estimate found = row.minima[static_cast<int>(MinimumStart::meaning)].meaning;
    INFO("width " << it.width << " overlap " << found.value << " +- " << found.error << " theory "
                  << row.theory_meaning->meaning << " difference " << row.difference.value << " +- "
                  << row.difference.error << " theory " << row.theory_difference);
    CHECK(std::abs(found.value - row.theory_meaning->meaning) < it.bias);
    CHECK(std::abs(row.difference.value - row.theory_difference) < 4 * row.difference.error + 1e-4);
  }
}

TEST_CASE("a positional teacher has no semantic minimum that wins") {
  PositionSettings settings = small_settings();
  settings.teacher_position = 1;
  PositionMeaning lab(settings);
  while (!lab.advance(1e9)) continue;
  CHECK(lab.best_constant() == Approx(0).margin(1e-12));
  for (const PositionRow& row : lab.rows()) {
    CHECK(row.datasets == 3);
    CHECK(row.minima[static_cast<int>(MinimumStart::meaning)].meaning.value < 0.3);
  }
}

TEST_CASE("the work may be divided into steps of any size") {
  PositionMeaning whole(small_settings()), parts(small_settings());
  while (!whole.advance(1e12)) continue;
  int steps = 0;
  for (; !parts.advance(1e5); ++steps) {
    CHECK(parts.progress() <= 1);
  }
  CHECK(steps > 50);
  CHECK(whole.progress() == 1);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(parts.rows()[i].difference.value == whole.rows()[i].difference.value);
    CHECK(parts.rows()[i].theory_difference == whole.rows()[i].theory_difference);
  }
}

TEST_CASE("samples over width must ascend") {
  PositionSettings settings = small_settings();
  settings.samples_over_width = {1, 1};
  CHECK_THROWS_WITH(PositionMeaning(settings), ContainsSubstring("larger than the one before"));
}

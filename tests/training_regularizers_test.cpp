// Every row of the table of regularizers: gradients, what each does to a run, and the matrices that they are made of.
#include <Eigen/Cholesky>
#include <cmath>

#include "catch.h"
#include "central_differences.h"
#include "checkpoint_failure.h"
#include "small_model.h"
#include "small_run.h"
#include "spectral_norm.h"
#include "spectrum/eigenvalues.h"
#include "spectrum/traces.h"
#include "test_matrices.h"
#include "training/regularizers/penalty.h"
#include "training/trainer.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;

namespace {

// A covariance and a mean.
Matrix<double> some_moments(Index width, std::uint64_t stream) {
  const MatrixXd root = random_matrix(width, width, stream);
  Matrix<double> moments(width, width + 1);
  moments << root * root.transpose() / 8, random_matrix(width, 1, stream + 7);
  return moments;
}

const std::vector<double> kHeadTargets{0.1, 0.2, -0.3, 0.4, 0.5, 0.6, 0.7, 0.8};

}  // namespace

TEST_CASE("the gradient of every penalty equals central differences") {
  for (const ModelSettings& settings : norms_and_positions()) {
    Model<double> model = drawn(settings);
    for (const RegularizerKind kind : regularizer_kinds()) {
      CAPTURE(regularizer_row(kind).name);
      RegularizerSettings penalty;
      penalty.kind = kind;
      penalty.mean_weight = 0.7;
      penalty.scale_weight = 0.3;
      const auto regularizer = regularizer_of(penalty, model);
      loss_of(model);
      regularizer->observe(model, /*first=*/true);
      model.gradient().setZero();
      const double found = regularizer->add_penalty(kHeadTargets, model);
      CHECK((model.gradient().norm() > 0) == (found != 0));
      if (found == 0) continue;  // a decay or a reparametrization
      const auto loss = [&] { return regularizer->add_penalty(kHeadTargets, model); };
      CHECK(gradient_error(loss, model.parameters(), model.gradient()) < 1e-6);
    }
  }
}

TEST_CASE("the attention prior adds -log of the weight on its key, averaged over rows and heads") {
  std::vector<ModelSettings> all = norms_and_positions();
  all.resize(all.size() + 2, small_model());
  all.rbegin()[0].positions = all.rbegin()[1].positions = Positions::relative;
  all.back().objective = Objective::masked;
  for (const ModelSettings& settings : all) {
    Model<double> model = drawn(settings);
    for (const Index distance : {0, 1, 3}) {
      RegularizerSettings own;
      own.kind = RegularizerKind::attention_prior;
      own.prior_weight = 0.7;
      own.prior_distance = distance;
      const auto regularizer = regularizer_of(own, model);
      const auto loss = [&] {
        double sum = loss_of(model, true);
        const auto rows = static_cast<double>(2 * 4 * 2 * (5 - distance));
        for (Index layer = 0; layer < 2; ++layer) {
          const Matrix<double>& weights = model.attention(layer);
          for (Index column = 0; column < weights.cols(); ++column) {
            const Index key = column % 5 - distance;
            if (key >= 0) sum -= 0.7 / rows * std::log(weights(key, column));
          }
        }
        return sum;
      };
      loss();
      model.backward(regularizer->prior(model.shape()));
      CHECK(gradient_error(loss, model.parameters(), model.gradient()) < 1e-6);
    }
  }
}

TEST_CASE("an attention prior needs a key in the sequence that softmax attention sees") {
  const auto refused = [](auto change) {
    TrainSettings settings = small_run();
    settings.regularizer.kind = RegularizerKind::attention_prior;
    change(settings);
    return failure_of([&] { check_training(settings); }).item;
  };
  CHECK(refused([](TrainSettings& s) { s.regularizer.prior_distance = 8; }) == "prior_distance");
  CHECK(refused([](TrainSettings& s) { s.model.dropped_distance = 1; }) == "prior_distance");
  CHECK(refused([](TrainSettings& s) { s.model.attention = AttentionKind::hard; }) == "attention");
  CHECK(refused([](TrainSettings& s) { s.model.attention = AttentionKind::self; }) ==
        "regularizer");
  CHECK(refused([](TrainSettings& s) { s.regularizer.prior_distance = 7; }).empty());
}

TEST_CASE("LocAteR: the penalty of both scales by the matrices themselves") {
  for (const Index key_heads : {0, 2}) {
    ModelSettings settings = small_model();
    settings.key_heads = key_heads;
    Model<double> model = drawn(settings);
    RegularizerSettings penalty;
    penalty.mean_weight = 0.7;
    penalty.scale_weight = 0.3;
    for (const auto kind : {RegularizerKind::locater, RegularizerKind::locater_frobenius}) {
      penalty.kind = kind;
      double expected = 0;
      for (Index k = 0; k < 8; ++k) {
        const HeadFactors head = model.head(k / 4, k % 4);
        const SpectralMoments moments = moments_of_matrix(head.query * head.key.transpose());
        const Traces& t = moments.traces;
        const double scale = kind == RegularizerKind::locater ? t.eta_s : t.eta_f;
        const double excess = moments.mean() - kHeadTargets[static_cast<std::size_t>(k)];
        expected += 0.7 * excess * excess + 0.3 * scale / 8;
      }
      CHECK_THAT(regularizer_of(penalty, model)->add_penalty(kHeadTargets, model),
                 WithinRel(expected, 1e-10));
    }
  }
}

TEST_CASE("sigmaReparam: gradient by W and gamma; every matrix has the spectral norm gamma") {
  const ModelSettings settings = small_model();
  Model<double> model = drawn(settings);
  RegularizerSettings own;
  own.kind = RegularizerKind::sigma_reparam;
  const auto regularizer = regularizer_of(own, model);
  Reparametrization<double>& reparam = *regularizer->reparametrization();
  const Index count = model.layout().size;
  Vector<double> raw(count + reparam.gains());
  raw << model.parameters(), Vector<double>::LinSpaced(reparam.gains(), 0.5, 1.5);
  for (int k = 0; k < 2000; ++k) reparam.follow(raw);
  const auto loss = [&] {
    reparam.apply(raw, model.parameters());
    return loss_of(model, true);
  };
  loss();
  const Index d = settings.width, fused = settings.fused_width(), hidden = settings.hidden();
  const Index keys = settings.groups() * settings.head_width();
  Index matrix = 0;  // the gammas follow the parameters in this order
  for (const LayerOffsets& layer : model.layout().layers) {
    const auto check_norm = [&](Index offset, Index rows, Index columns, Index leading) {
      CAPTURE(matrix);
      const Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>> w(
          model.parameters().data() + offset, rows, columns, Eigen::OuterStride<>(leading));
      const double norm = spectral_norm(w);
      CHECK_THAT(norm, WithinRel(raw[count + matrix++], 1e-6));
    };
    check_norm(layer.fused, d, d, fused);
    check_norm(layer.fused + d, keys, d, fused);
    check_norm(layer.fused + d + keys, keys, d, fused);
    check_norm(layer.projection, d, d, d);
    check_norm(layer.up, hidden, d, hidden);
    check_norm(layer.down, d, hidden, d);
  }
  REQUIRE(matrix == reparam.gains());
  model.backward();
  Vector<double> gradient;
  reparam.pull_back(raw, model.gradient(), gradient);
  CHECK(gradient_error(loss, raw, gradient) < 1e-6);
}

TEST_CASE("effective LocAteR sees what the query bias and the norm's gain carry") {
  const ModelSettings settings = small_model();
  Model<double> model = drawn(settings);
  const LayerOffsets& own = model.layout().layers[1];
  const Vector<double>& p = model.parameters();
  const HeadFactors head = model.head(1, 2);
  const Eigen::VectorXd gain = p.segment(own.norm1, 8), beta = p.segment(own.norm1_bias, 8);
  MatrixXd augmented(9, 8);
  augmented.topRows(8) = gain.asDiagonal() * head.query * head.key.transpose() * gain.asDiagonal();
  const Eigen::VectorXd bias = p.segment(own.fused_bias + 4, 2) + head.query.transpose() * beta;
  augmented.row(8) = (head.key * bias).transpose() * gain.asDiagonal();
  const EffectiveHead<double> folded(model, 1, 2, nullptr);
  CHECK_THAT(folded.scale, WithinRel(augmented.squaredNorm(), 1e-10));
  CHECK_THAT(folded.trace, WithinRel(augmented.topRows(8).trace(), 1e-10));

  // Under S = I, mean 0 and no bias the covariance's scale is ||W||_F^2.
  model.parameters().segment(own.fused_bias, 8).setZero();
  Matrix<double> unit = Matrix<double>::Zero(8, 9);
  unit.leftCols(8).setIdentity();
  const EffectiveHead<double> plain(model, 1, 2, &unit);
  CHECK_THAT(plain.scale, WithinRel(head_traces(model, 1, 2).eta_f, 1e-10));
  CHECK_THAT(plain.trace, WithinRel(head_traces(model, 1, 2).xi, 1e-10));
}

TEST_CASE("the covariance's scale is d_h times the variance of the logits of independent tokens",
          "[long]") {
  Model<double> model = drawn(small_model());
  const Matrix<double> moments = some_moments(8, 3);
  const double scale = EffectiveHead<double>(model, 0, 1, &moments).scale;
  const HeadFactors head = model.head(0, 1);
  const Eigen::VectorXd bias =
      model.parameters().segment(model.layout().layers[0].fused_bias + 2, 2);
  const MatrixXd root = moments.leftCols(8).llt().matrixL();
  const Eigen::VectorXd mean = moments.col(8);
  constexpr Index kDraws = 200000;
  const MatrixXd queries = root * random_matrix(8, kDraws, 21),
                 keys = root * random_matrix(8, kDraws, 22);
  double sum = 0, square = 0;
  for (Index i = 0; i < kDraws; ++i) {
    const Eigen::Vector2d query = head.query.transpose() * (queries.col(i) + mean) + bias;
    const double deviation = query.dot(head.key.transpose() * keys.col(i));
    sum += deviation * deviation;
    square += std::pow(deviation, 4);
  }
  const double found = sum / kDraws;
  const double error = std::sqrt((square / kDraws - found * found) / kDraws);
  CHECK(std::abs(found - scale) < 4 * error);
}

TEST_CASE("running moments: the first batch as it is, then a share of what is new") {
  Model<float> model(small_model());
  initialize(model, {}, 5);
  RegularizerSettings own;
  own.kind = RegularizerKind::locater_covariance;
  const auto observed = [&](Regularizer<float>& regularizer, bool first) {
    regularizer.observe(model, first);
    const std::span<float> state = regularizer.state();
    return Matrix<float>(Eigen::Map<const Matrix<float>>(state.data(), 8, 18));
  };
  const auto running = regularizer_of(own, model), second = regularizer_of(own, model);
  model.forward(kTokens, 5);
  const Matrix<float> first = observed(*running, true);
  const MatrixXd x = model.attention_input(1).cast<double>();
  const MatrixXd centred = x.colwise() - x.rowwise().mean();
  const MatrixXd covariance = centred * centred.transpose() / 10;
  CHECK((first.middleCols(9, 8).cast<double>() - covariance).norm() < 1e-5);
  std::vector<TokenId> others(kTokens.rbegin(), kTokens.rend());
  model.forward(others, 5);
  const Matrix<float> fresh = observed(*second, true);
  CHECK((fresh - first).norm() > 1e-3);
  CHECK((observed(*running, false) - (0.95f * first + 0.05f * fresh)).norm() < 1e-5);
}

TEST_CASE("random LocAteR pulls W R, R orthogonal with a mean eigenvalue of zero") {
  ModelSettings settings = small_model();
  // One head with a full W, and R from traces against unit matrices: orthogonal, all eigenvalues on the
  // circle, and none of them at the mean.
  settings.heads = 1;
  Model<double> full(settings);
  RegularizerSettings random;
  random.kind = RegularizerKind::locater_random;
  const auto regularizer = regularizer_of(random, full);
  const auto& own = full.layout().layers[0];
  Eigen::Map<MatrixXd> fused(full.parameters().data() + own.fused, 24, 8);
  fused.middleRows(8, 8).setIdentity();  // W_K = 1, so W = W_Q
  MatrixXd rotation(8, 8);
  for (Index i = 0; i < 8; ++i) {
    for (Index j = 0; j < 8; ++j) {
      fused.topRows(8).setZero();
      fused(j, i) = 1;  // W_Q^T
      rotation(j, i) = 8 * regularizer->mean(full, 0, 0);
    }
  }
  CHECK((rotation * rotation.transpose() - MatrixXd::Identity(8, 8)).norm() == 0);
  CHECK(rotation.trace() == 0);
  const Eigen::VectorXcd eigenvalues = eigenvalues_of_matrix(rotation);
  CHECK(std::abs(eigenvalues.sum()) < 1e-10);
}

TEST_CASE("LocAteR alone lowers the scale and keeps the mean at its target", "[long]") {
  ModelSettings settings;
  settings.width = 32;
  settings.heads = 2;
  settings.depth = 1;
  RegularizerSettings wanted;
  wanted.initialization = Initialization::mimetic;
  wanted.target = 0.5;
  wanted.mean_weight = 100;
  wanted.scale_weight = 0.01;
  for (const auto kind : {RegularizerKind::locater, RegularizerKind::locater_frobenius}) {
    wanted.kind = kind;
    Model<float> model(settings);
    initialize(model, wanted, 1);
    // Eigenvalues from nearly 0 to nearly twice their mean.
    Eigen::Map<Matrix<float>> fused(model.parameters().data() + model.layout().layers[0].fused, 96,
                                    32);
    for (Index i = 0; i < 32; ++i) fused.row(i) *= 0.1f + 0.12f * static_cast<float>(i % 16);
    const std::vector<double> targets = head_means(model);
    const auto regularizer = regularizer_of(wanted, model);
    std::vector<double> before;
    for (Index head = 0; head < 2; ++head) before.push_back(head_traces(model, 0, head).eta_s);
    for (int step = 0; step < 1500; ++step) {
      model.gradient().setZero();
      regularizer->add_penalty(targets, model);
      model.parameters() -= 0.05f * model.gradient();
      if (step % 100 != 0) continue;
      for (Index head = 0; head < 2; ++head) {
        const double target = targets[static_cast<std::size_t>(head)];
        CHECK_THAT(head_traces(model, 0, head).xi / 32, WithinRel(target, 0.01));
      }
    }
    for (std::size_t head = 0; head < 2; ++head) {
      CHECK(head_traces(model, 0, static_cast<Index>(head)).eta_s < 0.97 * before[head]);
    }
  }
}

TEST_CASE("each regularizer does what it is for") {
  const auto text = small_text();
  const auto trained = [&](RegularizerKind kind) {
    TrainSettings settings = small_run();
    settings.optimizer.steps = 40;
    settings.optimizer.learning_rate = 1e-2;
    settings.regularizer.kind = kind;
    settings.regularizer.scale_weight = 10;
    settings.regularizer.qk_decay = 20;
    Trainer trainer(settings, text);
    trainer.advance(40);
    CHECK(trainer.failure().empty());
    return trainer.take_log().back();
  };
  const LogRow none = trained(RegularizerKind::none);
  CHECK(trained(RegularizerKind::locater_frobenius).head_mean("eta_f") < none.head_mean("eta_f"));
  CHECK(trained(RegularizerKind::locater).head_mean("eta_s") < none.head_mean("eta_s"));
  CHECK(trained(RegularizerKind::qk_decay).head_mean("eta_f") < none.head_mean("eta_f"));
  CHECK(trained(RegularizerKind::none).measure("loss") == none.measure("loss"));
}

TEST_CASE("LocAteR acts on the heads and in the steps that it is told to") {
  for (const RegularizerKind kind :
       {RegularizerKind::locater, RegularizerKind::locater_frobenius,
        RegularizerKind::locater_effective, RegularizerKind::locater_random}) {
    TrainSettings all = small_run();
    all.regularizer.kind = kind;
    all.regularizer.target = 1;
    const auto after = [&](Index steps, Index heads, Index until) {
      TrainSettings settings = all;
      settings.regularizer.target_heads = heads;
      settings.regularizer.target_steps = until;
      Trainer trainer(settings, small_text());
      trainer.advance(steps);
      return Vector<float>(trainer.model().parameters());
    };
    const Index heads = all.model.heads;
    CHECK(after(6, heads, 6) == after(6, 0, 0));
    CHECK(after(6, 0, 5) != after(6, 0, 0));
    CHECK(after(5, 0, 5) == after(5, 0, 0));
    const Model<float> first = Trainer(all, small_text()).model();
    const auto gradient_rows = [&](Index acting, Index head) {
      Model<float> model(first);
      model.gradient().setZero(model.parameters().size());
      RegularizerSettings own = all.regularizer;
      own.target_heads = acting;
      const std::vector<double> targets(static_cast<std::size_t>(heads * all.model.depth), 1.0);
      regularizer_of(own, model)->add_penalty(targets, model);
      const Eigen::Map<const Matrix<float>> fused(
          model.gradient().data() + model.layout().layers.back().fused, all.model.fused_width(),
          all.model.width);
      return Matrix<float>(fused.middleRows(head * all.model.head_width(), all.model.head_width()));
    };
    for (Index head = 0; head < heads; ++head) {
      const Matrix<float> whole = gradient_rows(0, head), part = gradient_rows(1, head);
      CHECK(whole.norm() > 0);
      CHECK(part == (head == 0 ? whole : Matrix<float>(0 * whole)));
    }
  }
}

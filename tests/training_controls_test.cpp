// Controls of training runs: fixed attention, a mean of zero at mimetic norms, the whole text at the end.
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "catch.h"
#include "central_differences.h"
#include "checkpoint_failure.h"
#include "safetensors_writer.h"
#include "small_model.h"
#include "small_run.h"
#include "training/export_file.h"
#include "training/regularizers/head_products.h"
#include "training/text_sampler.h"
#include "training/trainer.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;

namespace {

const std::vector<AttentionKind> kControls{AttentionKind::none, AttentionKind::self};

TrainSettings control(AttentionKind kind) {
  TrainSettings settings = small_run();
  settings.model.attention = kind;
  return settings;
}

}  // namespace

TEST_CASE("fixed attention: the gradient equals central differences and does not reach W_QK") {
  std::vector<ModelSettings> all(3, small_model());
  all[1].norm = BlockNorm::post;
  all[2] = small_llama();
  for (ModelSettings settings : all) {
    for (const AttentionKind kind : kControls) {
      settings.attention = kind;
      Model<double> model = drawn(settings);
      // Biases that a LLaMA does not have are zero, whatever the differences try.
      const auto loss = [&] {
        for (const LayerOffsets& own : model.layout().layers) {
          if (settings.linear_bias == LinearBias::with) break;
          model.parameters().segment(own.fused_bias, settings.fused_width()).setZero();
          model.parameters().segment(own.projection_bias, settings.width).setZero();
          model.parameters().segment(own.up_bias, settings.hidden()).setZero();
          model.parameters().segment(own.down_bias, settings.width).setZero();
        }
        return loss_of(model);
      };
      loss();
      loss_of(model, true);
      model.backward();
      const Vector<double> gradient = model.gradient();
      CHECK(gradient_error(loss, model.parameters(), gradient) < 1e-6);
      const Index query_key = (settings.heads + settings.groups()) * settings.head_width();
      for (const LayerOffsets& layer : model.layout().layers) {
        const Eigen::Map<const Matrix<double>> fused(gradient.data() + layer.fused,
                                                     settings.fused_width(), settings.width);
        CHECK(fused.topRows(query_key).isZero(0));
        CHECK((fused.bottomRows(settings.fused_width() - query_key).norm() > 0) ==
              (kind == AttentionKind::self));
      }
    }
  }
}

TEST_CASE("fixed attention: a token gets its own value through W_O, or the output bias alone") {
  for (const AttentionKind kind : kControls) {
    ModelSettings settings = small_model();
    settings.attention = kind;
    settings.depth = 1;
    settings.mlp_ratio = 0;
    settings.norm = BlockNorm::post;
    settings.key_heads = 2;
    Model<double> model = drawn(settings);
    const LayerOffsets& own = model.layout().layers[0];
    model.parameters().segment(own.norm1, 8).setOnes();
    model.parameters().segment(own.norm1_bias, 8).setZero();
    loss_of(model);
    const auto matrix = [&](Index offset, Index rows) {
      return MatrixXd(Eigen::Map<const MatrixXd>(model.parameters().data() + offset, rows, 8));
    };
    const MatrixXd x = model.output_of(0);
    // Heads 0 and 1 read the first key head's values, 2 and 3 the second's.
    const MatrixXd values = (matrix(own.fused, 16).bottomRows(4) * x).colwise() +
                            Eigen::VectorXd(model.parameters().segment(own.fused_bias + 12, 4));
    MatrixXd heads = MatrixXd::Zero(8, 10);
    if (kind == AttentionKind::self) {
      heads << values.topRows(2), values.topRows(2), values.bottomRows(2), values.bottomRows(2);
    }
    MatrixXd sum = x + matrix(own.projection, 8) * heads;
    sum.colwise() += Eigen::VectorXd(model.parameters().segment(own.projection_bias, 8));
    sum.rowwise() -= sum.colwise().mean().eval();
    const Eigen::ArrayXd deviation = (sum.colwise().squaredNorm().array() / 8 + 1e-5).sqrt();
    const MatrixXd wanted = sum * deviation.inverse().matrix().asDiagonal();
    CHECK((model.output_of(1) - wanted).norm() < 1e-9);
  }
}

TEST_CASE("fixed attention: the measures are those of its weights, or none") {
  Trainer self(control(AttentionKind::self), small_text());
  const LogRow row = self.evaluate();
  CHECK(row.head_mean("entropy") == 0);
  CHECK(row.head_mean("self_mass") == 1);
  CHECK(row.head_mean("sensitivity") == 0);
  CHECK(std::isnan(row.head_mean("entropy_bound")));
  Trainer none(control(AttentionKind::none), small_text());
  const LogRow without = none.evaluate();
  for (const char* name :
       {"entropy", "entropy_bound", "self_mass", "self_reference", "sensitivity"}) {
    CHECK(std::isnan(without.head_mean(name)));
  }
  CHECK(std::isfinite(without.head_mean("variance_frobenius")));
  CHECK(none.advance(12));
  CHECK(none.failure().empty());
}

TEST_CASE("what acts on W_QK, and other programs' formats, are refused with fixed attention") {
  for (const AttentionKind kind : kControls) {
    const auto refusal = [&](auto change) {
      TrainSettings settings = control(kind);
      change(settings);
      return failure_of([&] { check_training(settings); });
    };
    CHECK(refusal([](TrainSettings&) {}).kind == "none");
    CHECK(refusal([](TrainSettings& s) {
            s.regularizer.kind = RegularizerKind::sigma_reparam;
          }).kind == "none");
    const Failure locater =
        refusal([](TrainSettings& s) { s.regularizer.kind = RegularizerKind::locater; });
    CHECK(locater.message ==
          std::string("regularizer must be none or sigma-reparam with attention ") +
              (kind == AttentionKind::none ? "none" : "self") +
              ", which does not depend on W_Q and W_K: found locater");
    CHECK(refusal([](TrainSettings& s) {
            s.regularizer.initialization = Initialization::mimetic;
          }).item == "initialization");
    CHECK(refusal([](TrainSettings& s) { s.optimizer.qk_clip = 2; }).item == "qk_clip");
    CHECK(refusal([](TrainSettings& s) { s.model.query_key_norm = QueryKeyNorm::rms; }).item ==
          "query_key_norm");
    CHECK(failure_of([&] { export_family(control(kind).model); }).item == "export");
    const Model<float> model(control(kind).model);
    CHECK(failure_of([&] { intervention_of_name("hard", 1, model); }).item == "intervention");
    CHECK(intervention_of_name("none", 1, model).readings.empty());
  }
}

TEST_CASE("mimetic-zero: the norms and singular values of mimetic, and a mean of zero") {
  ModelSettings settings;
  Model<float> model(settings);
  const auto initialized = [&](Initialization kind, std::uint64_t seed, double target) {
    RegularizerSettings wanted;
    wanted.initialization = kind;
    wanted.target = target;
    initialize(model, wanted, seed);
  };
  double norms[2] = {0, 0}, factors[2] = {0, 0}, mean = 0, square = 0;
  constexpr int kSeeds = 40;
  const double count = kSeeds * 8;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const int zero : {0, 1}) {
      initialized(zero == 1 ? Initialization::mimetic_zero : Initialization::mimetic, seed, 1);
      for (Index layer = 0; layer < settings.depth; ++layer) {
        for (Index head = 0; head < settings.heads; ++head) {
          const HeadFactors own = model.head(layer, head);
          norms[zero] += head_traces(model, layer, head).eta_f / count;
          factors[zero] += (own.query.squaredNorm() + own.key.squaredNorm()) / count;
        }
      }
    }
    for (const double own : head_means(model)) {
      mean += own / count;
      square += own * own / count;
    }
  }
  CHECK_THAT(norms[1], WithinRel(norms[0], 0.005));
  CHECK_THAT(factors[1], WithinRel(factors[0], 0.005));
  CHECK(std::abs(mean) < 4 * std::sqrt(square / count));
  CHECK(std::sqrt(square) < 0.05);  // of a single head
  // At a large target nothing but c U P U^T is left: its singular values are c, its trace is zero.
  initialized(Initialization::mimetic_zero, 3, 1e5);
  const HeadFactors head = model.head(1, 2);
  const MatrixXd w = head.query * head.key.transpose();
  const Eigen::VectorXd values = w.jacobiSvd().singularValues();
  const double c = 1e5 * 64 / 16;
  CHECK_THAT(values[0], WithinRel(c, 0.01));
  CHECK_THAT(values[15], WithinRel(c, 0.01));
  CHECK(std::abs(w.trace()) / 64 < 0.001 * 1e5);
  TrainSettings narrow = small_run();
  narrow.model.heads = 16;
  narrow.regularizer.initialization = Initialization::mimetic_zero;
  CHECK(failure_of([&] { check_training(narrow); }).item == "heads");
}

TEST_CASE(
    "the evaluation after the last step reads the whole validation text where it is asked to") {
  TrainSettings sample = small_run(), whole = small_run(), all = small_run();
  whole.final_evaluation = FinalEvaluation::whole;
  all.eval_batches = 0;
  const auto log_of = [](const TrainSettings& settings) {
    Trainer trainer(settings, small_text());
    trainer.advance(12);
    return trainer.take_log();
  };
  const auto a = log_of(sample), b = log_of(whole), c = log_of(all);
  REQUIRE(b.size() == 5);
  for (std::size_t i = 0; i < 4; ++i) CHECK(b[i].measure("loss") == a[i].measure("loss"));
  CHECK(b[4].measure("loss") == c[4].measure("loss"));
  CHECK(b[4].measure("loss") != a[4].measure("loss"));
  whole.patience = 1;
  CHECK(failure_of([&] { check_training(whole); }).item == "patience");
}

TEST_CASE("the standard error of the loss is that of the sequences' losses") {
  TrainSettings settings = small_run();
  settings.eval_batches = 0;
  Trainer trainer(settings, small_text());
  trainer.advance(6);
  const LogRow row = trainer.evaluate();
  Model<double> model(trainer.settings().model);
  model.parameters() = trainer.model().parameters().cast<double>();
  const std::vector<TokenId> text = small_text()->validation;
  const Index last = static_cast<Index>(text.size()) - 9, count = 1 + last / 8;
  std::vector<double> losses;
  for (Index k = 0; k < count; ++k) {
    const auto start = text.begin() + last * k / (count - 1);
    model.forward(std::vector<TokenId>(start, start + 8), 8);
    losses.push_back(model.loss(std::vector<TokenId>(start + 1, start + 9)) / std::log(2.0));
  }
  double mean = 0, square = 0;
  for (const double loss : losses) mean += loss / static_cast<double>(count);
  for (const double loss : losses) square += (loss - mean) * (loss - mean);
  const double error = std::sqrt(square / static_cast<double>(count * (count - 1)));
  CHECK_THAT(row.measure("bits_per_byte"), WithinRel(mean, 1e-5));
  CHECK_THAT(row.measure("bits_per_byte_error"), WithinRel(error, 1e-4));
}

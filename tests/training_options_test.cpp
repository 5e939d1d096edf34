// What a training run may do beside the default: regularizers of the effective W, QK-norm, dropout, clips.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "catch.h"
#include "central_differences.h"
#include "checkpoint_failure.h"
#include "safetensors_writer.h"
#include "small_model.h"
#include "small_run.h"
#include "spectral_norm.h"
#include "spectrum/traces.h"
#include "support/random.h"
#include "test_matrices.h"
#include "training/fault.h"
#include "training/logit_parts.h"
#include "training/projections.h"
#include "training/trainer.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;

namespace {

MatrixXd matrix_at(const Vector<float>& values, const ProjectionPlace& place) {
  MatrixXd matrix(place.rows, place.columns);
  for (Index j = 0; j < place.columns; ++j) {
    matrix.col(j) = values.segment(place.offset + j * place.leading, place.rows).cast<double>();
  }
  return matrix;
}

// Mean over rows of the variance of log P over the keys: of the logits, which differ by a constant.
double measured_variance(const Model<double>& model, Index layer, Index head) {
  const AttentionShape& shape = model.shape();
  double sum = 0;
  for (Index sequence = 0; sequence < shape.batch; ++sequence) {
    for (Index t = 1; t < shape.length; ++t) {
      const Eigen::ArrayXd logs = model.attention(layer)
                                      .col(shape.weights_column(sequence, head) + t)
                                      .head(t + 1)
                                      .array()
                                      .log();
      sum += (logs - logs.mean()).square().mean();
    }
  }
  return sum / static_cast<double>(shape.batch * (shape.length - 1));
}

}  // namespace

TEST_CASE("QK-norm, missing biases and dropout: the gradient equals central differences") {
  for (ModelSettings settings : norms_and_positions()) {
    settings.query_key_norm = QueryKeyNorm::rms;
    for (const auto biases : {QueryKeyBias::with, QueryKeyBias::without}) {
      settings.query_key_bias = biases;
      Model<double> model = drawn(settings);
      const Dropout dropout{0.3, 4, 9};
      const Index query_key = (settings.heads + settings.groups()) * settings.head_width();
      // Biases that are missing are zero, whatever the differences try.
      const auto loss = [&](bool gradient) {
        for (const LayerOffsets& own : model.layout().layers) {
          if (biases == QueryKeyBias::with) break;
          model.parameters().segment(own.fused_bias, query_key).setZero();
        }
        return loss_of(model, gradient, dropout);
      };
      loss(true);
      model.backward();
      CHECK(gradient_error([&] { return loss(false); }, model.parameters(), model.gradient()) <
            1e-6);
      CHECK(std::abs(loss_of(model) - loss(false)) > 1e-3);
    }
  }
}

TEST_CASE("QK-norm: queries and keys of every head have the length of their gain") {
  ModelSettings settings = small_model();
  settings.query_key_norm = QueryKeyNorm::rms;
  Model<double> model(settings);
  initialize(model, {}, 5);
  loss_of(model);
  for (Index head = 0; head < 8; ++head) {  // 4 of queries, 4 of keys
    for (Index t = 0; t < 10; ++t) {
      CHECK_THAT(model.fused(0).block(2 * head, t, 2, 1).squaredNorm(), WithinRel(2.0, 0.01));
    }
  }
}

TEST_CASE("without query and key biases they stay zero, and values keep theirs") {
  TrainSettings settings = small_run();
  settings.model.query_key_bias = QueryKeyBias::without;
  Trainer trainer(settings, small_text());
  trainer.advance(12);
  const auto bias = trainer.model().layout().layers[1].fused_bias;
  const Index width = settings.model.width;
  CHECK(trainer.model().parameters().segment(bias, 2 * width).norm() == 0);
  CHECK(trainer.model().parameters().segment(bias + 2 * width, width).norm() > 0);
}

TEST_CASE("dropout drops the share it is told, keeps the mean and depends on the step") {
  Matrix<double> ones = Matrix<double>::Ones(100, 100), again = ones, other = ones;
  apply_dropout({0.25, 3, 7}, 1, ones);
  apply_dropout({0.25, 3, 7}, 1, again);
  apply_dropout({0.25, 3, 8}, 1, other);
  CHECK(ones == again);
  CHECK(ones != other);
  // 5 standard deviations of a binomial share of 10,000.
  CHECK_THAT(static_cast<double>((ones.array() == 0).count()), WithinAbs(2500, 217));
  CHECK((ones.array() == 0 || ones.array() == 1 / 0.75).all());
}

TEST_CASE("correlated initialization moves the mean and keeps the norms") {
  ModelSettings settings;
  Model<float> model(settings), normal(settings);
  initialize(normal, {}, 3);
  RegularizerSettings wanted;
  wanted.initialization = Initialization::correlated;
  initialize(model, wanted, 3);
  CHECK((model.parameters() - normal.parameters()).norm() < 1e-5);  // alpha 0, GPT-2's scale
  for (const double alpha : {-1.0, 0.5, 1.0}) {
    wanted.alpha = alpha;
    wanted.init_scale = 2;
    initialize(model, wanted, 3);
    double mean = 0;
    for (const double own : head_means(model)) mean += own / 8;
    // s^2 alpha d_h / d; the mean of 8 heads of 64 x 16 products has deviation 4 sqrt(2/1024/8) at most.
    CHECK_THAT(mean, WithinAbs(alpha * 4 * 16 / 64, 0.3));
    const HeadFactors head = model.head(1, 1);
    CHECK_THAT(head.query.squaredNorm(), WithinRel(4.0 * 16, 0.2));
    CHECK_THAT(head.key.squaredNorm(), WithinRel(4.0 * 16, 0.2));
    if (alpha == 1.0) CHECK((head.query - head.key).norm() < 1e-5);
  }
}

TEST_CASE("the parts of the logits' variance add up to it") {
  for (ModelSettings settings : norms_and_positions()) {
    for (const auto norm : {QueryKeyNorm::none, QueryKeyNorm::rms}) {
      settings.query_key_norm = norm;
      Model<double> model = drawn(settings);
      loss_of(model);
      for (Index layer = 0; layer < settings.depth; ++layer) {
        const std::vector<LogitStatistics> all = logit_statistics(model, layer);
        for (Index head = 0; head < settings.heads; ++head) {
          const LogitStatistics& own = all[static_cast<std::size_t>(head)];
          double sum = 0;
          for (const double part : own.parts) sum += part;
          const double measured = measured_variance(model, layer, head);
          CHECK_THAT(sum, WithinRel(measured, 1e-10));
          CHECK_THAT(own.variance, WithinRel(measured, 1e-10));
        }
      }
    }
  }
}

TEST_CASE("parts of the logits' variance where only one of them can be") {
  const ModelSettings settings = small_model();
  const auto parts_with = [&](auto change) {
    Model<double> model = drawn(settings);
    change(model);
    loss_of(model);
    return logit_statistics(model, 0)[1];
  };
  const auto zero_weights = [](Model<double>& model) {
    const LayerOffsets& own = model.layout().layers[0];
    Eigen::Map<MatrixXd>(model.parameters().data() + own.fused, 24, 8).topRows(8).setZero();
  };
  // W_Q = 0: the bias alone asks.
  const LogitStatistics bias = parts_with(zero_weights);
  CHECK(bias.variance > 0);
  CHECK(bias.parts[0] == 0);
  CHECK(bias.parts[1] == 0);
  CHECK(bias.parts[2] == 0);
  CHECK_THAT(bias.parts[3] + bias.parts[4], WithinRel(bias.variance, 1e-10));
  // All tokens alike, no query bias: positions only (and the first of them, the sink).
  const LogitStatistics position = parts_with([&](Model<double>& model) {
    for (Index token = 1; token < 7; ++token) {
      model.parameters().segment(8 * token, 8) = model.parameters().head(8);
    }
    model.parameters().segment(model.layout().layers[0].fused_bias, 8).setZero();
  });
  CHECK(std::abs(position.parts[0]) < 1e-12);
  CHECK(std::abs(position.parts[1]) < 1e-12);
  CHECK_THAT(position.parts[2] + position.parts[4], WithinRel(position.variance, 1e-10));

  // No positions, and after LayerNorm W alone reads the embeddings.
  const auto parts_of = [&](auto change, const std::vector<TokenId>& tokens) {
    Model<double> model = drawn(settings);
    const ParameterLayout& layout = model.layout();
    Eigen::Map<MatrixXd> embeddings(model.parameters().data() + layout.embedding, 8, 7);
    model.parameters().segment(layout.positions, 8 * settings.length).setZero();
    model.parameters().segment(layout.layers[0].norm1_bias, 8).setZero();
    change(embeddings, model.parameters().segment(layout.layers[0].fused_bias, 8));
    model.forward(tokens, 5);
    return logit_statistics(model, 0)[1];
  };
  // Two sequences of opposite embeddings after a zero, no query bias: the mean is 0 everywhere.
  const LogitStatistics content = parts_of(
      [](auto& embeddings, auto query_bias) {
        embeddings.col(0).setZero();
        embeddings.rightCols(3) = -embeddings.middleCols(1, 3);
        query_bias.setZero();
      },
      {0, 1, 2, 3, 1, 0, 4, 5, 6, 4});
  CHECK(content.variance > 0);
  CHECK_THAT(content.parts[0], WithinRel(content.variance, 1e-10));
  for (const std::size_t other : {1, 2, 3, 4}) CHECK(std::abs(content.parts[other]) < 1e-12);
  // Tokens after the first are all alike: only the first differs as a key.
  const LogitStatistics sink = parts_of([](auto&, auto) {}, {0, 3, 3, 3, 3, 1, 3, 3, 3, 3});
  CHECK(sink.variance > 0);
  CHECK_THAT(sink.parts[4], WithinRel(sink.variance, 1e-10));
  for (const std::size_t other : {0, 1, 2, 3}) CHECK(std::abs(sink.parts[other]) < 1e-12);
}

TEST_CASE("self-attention's excess and reference: exact where all other logits are equal") {
  // One layer, W_Q = W_K = s on the token's own one-hot coordinate, no positions: the logit is s^2 for the
  // same token, 0 for another.
  ModelSettings settings = small_model();
  settings.depth = 1;
  settings.heads = 1;
  settings.norm = BlockNorm::post;
  Model<float> model(settings);
  const LayerOffsets& own = model.layout().layers[0];
  Eigen::Map<Matrix<float>>(model.parameters().data(), 8, 7).setIdentity();
  Eigen::Map<Matrix<float>> fused(model.parameters().data() + own.fused, 24, 8);
  fused.topRows(8) = 2 * Matrix<float>::Identity(8, 8);
  fused.middleRows(8, 8) = 2 * Matrix<float>::Identity(8, 8);
  const std::vector<TokenId> distinct{0, 1, 2, 3, 4};
  model.forward(distinct, 5);
  const LogitStatistics statistics = logit_statistics(model, 0)[0];
  const double delta = 4 / std::sqrt(8.0);
  CHECK_THAT(statistics.self_excess, WithinRel(delta, 1e-5));
  LogRow row;
  row.layers.resize(1);
  row.heads.resize(1);
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 5, 0));
  measure_heads(model, kernel, {}, row);
  CHECK_THAT(row.head_mean("self_mass"), WithinRel(row.head_mean("self_reference"), 1e-5));
  CHECK_THAT(row.head_mean("self_mass"),
             WithinAbs(model.attention(0).diagonal().tail(4).mean(), 1e-6));
  CHECK_THAT(row.head_mean("sink"), WithinAbs(model.attention(0).row(0).tail(4).mean(), 1e-6));
  // W is 4 times the identity; the covariance of five different tokens has four eigenvalues of 1/5.
  CHECK_THAT(row.head_mean("largest_logit"), WithinRel(delta, 1e-5));
  CHECK_THAT(row.head_mean("sigma_max"), WithinRel(4.0, 1e-6));
  CHECK_THAT(row.head_mean("stable_rank"), WithinRel(8.0, 1e-6));
  CHECK_THAT(row.head_mean("spread"), WithinRel(std::sqrt(16 * 4.0 / 25 / 8), 1e-5));
  CHECK(std::isnan(row.head_mean("update_ratio")));
  // From 2 times the identity; eight equal singular values of at most sixteen.
  Vector<float> before = model.parameters();
  for (Index j = 0; j < 8; ++j) before[own.fused + j * 24 + j] = 1;
  measure_heads(model, kernel, before, row);
  CHECK_THAT(row.head_mean("update_ratio"), WithinRel(0.5, 1e-6));
  CHECK_THAT(row.head_mean("update_entropy"), WithinRel(0.75, 1e-6));
}

TEST_CASE("QK-Clip brings the largest logit to the limit and leaves the others' heads alone") {
  for (const Index groups : {0, 2}) {
    ModelSettings settings = small_model();
    settings.key_heads = groups;
    Model<float> model(settings);
    model.parameters() = drawn(settings).parameters().cast<float>() * 3;
    model.forward(kTokens, 5);
    const std::vector<double> before = largest_logits(model);
    double limit = 0;
    for (const double logit : before) limit += std::max(0.0, logit) / 8;
    CHECK(limit > 0);
    const HeadFactors first = model.head(0, 0);
    clip_queries_and_keys(limit, model);
    CHECK((before[0] > limit) == (first.query != model.head(0, 0).query));
    // In the first layer, whose input has not changed; a shared key head leaves what was clipped apart.
    model.forward(kTokens, 5);
    const std::vector<double> after = largest_logits(model);
    for (std::size_t head = 0; head < 4; ++head) {
      CHECK_THAT(after[head], WithinRel(std::min(before[head], limit), 1e-4));
    }
  }
}

TEST_CASE("capped growth: no projection's step is above its share of the matrix") {
  Model<float> model(small_model());
  initialize(model, {}, 5);
  const Vector<float> before = model.parameters();
  const Eigen::Index count = model.layout().size;
  const Vector<float> step = 0.01 * random_matrix(count, 1, 4).cast<float>();
  Vector<float> after = before + step;
  limit_growth(0.05, model, before, after);
  const auto norm = [](const Vector<float>& values, const ProjectionPlace& place) {
    return spectral_norm(matrix_at(values, place));
  };
  int capped = 0;
  for (const ProjectionPlace& place : projections_of(model.settings(), model.layout())) {
    const double most = 0.05 * norm(before, place), own = norm(after - before, place);
    CHECK(own < 1.15 * most);  // eight power iterations are from below
    capped += norm(step, place) > most;
  }
  CHECK(capped > 0);
  CHECK(after.head(8) == (before + step).head(8));  // an embedding, not a projection
}

TEST_CASE("sigmaReparam begins with every spectral norm at 1") {
  TrainSettings settings = small_run();
  settings.model.width = 32;
  settings.regularizer.kind = RegularizerKind::sigma_reparam;
  const Trainer trainer(settings, small_text());
  for (const ProjectionPlace& place :
       projections_of(trainer.settings().model, trainer.model().layout())) {
    CHECK_THAT(spectral_norm(matrix_at(trainer.model().parameters(), place)), WithinAbs(1, 2e-3));
  }
}

TEST_CASE("schedules end where they should") {
  OptimizerSettings settings{.steps = 110, .learning_rate = 2, .final_rate = 0.1, .warmup = 10};
  for (const auto& [schedule, middle, last] :
       {std::tuple{Schedule::cosine, 1.1, 0.2}, std::tuple{Schedule::linear, 1.1, 0.2},
        std::tuple{Schedule::constant, 2.0, 2.0}}) {
    settings.schedule = schedule;
    CHECK_THAT(learning_rate_at(settings, 4), WithinRel(1.0, 1e-12));
    CHECK_THAT(learning_rate_at(settings, 60), WithinRel(middle, 1e-12));
    CHECK_THAT(learning_rate_at(settings, 110), WithinRel(last, 1e-12));
  }
  settings.schedule = Schedule::linear;
  CHECK_THAT(learning_rate_at(settings, 35), WithinRel(2 * (0.1 + 0.9 * 0.75), 1e-12));
}

TEST_CASE("a run that learns nothing new stops early, resumed or not, and knows its lowest loss") {
  TrainSettings settings = small_run();
  settings.optimizer.steps = 300;
  settings.optimizer.learning_rate = 0.5;  // soon worse than it was
  settings.patience = 3;
  settings.eval_batches = 0;
  Trainer whole(settings, small_text());
  CHECK(whole.advance(1000));
  CHECK(whole.failure().empty());
  CHECK(whole.stopped_early());
  const std::vector<LogRow> rows = whole.take_log();
  CHECK(whole.steps_done() < 300);
  double lowest = 1e9, step = 0;
  for (const LogRow& row : rows) {
    if (row.measure("loss") >= lowest) continue;
    lowest = row.measure("loss");
    step = static_cast<double>(row.step);
  }
  CHECK(rows.back().measure("lowest_loss") == lowest);
  CHECK(rows.back().measure("lowest_step") == step);
  CHECK(static_cast<double>(rows.back().step) == step + 9);
  CHECK(resumed(settings, static_cast<Index>(step) + 4).steps_done() == whole.steps_done());
}

TEST_CASE("the gradient's norms by kind are those of the parameters of that kind, and add up") {
  for (const auto norm : {BlockNorm::pre, BlockNorm::post}) {
    TrainSettings settings = small_run();
    settings.model.norm = norm;
    settings.model.output = OutputKind::free;
    settings.optimizer.clip = 0;
    settings.log_every = 1;
    Trainer trainer(settings, small_text());
    trainer.advance(1);
    const LogRow row = trainer.take_log().back();
    // After one step the first moment is 1 - beta1 of the gradient.
    const Vector<float> gradient = read_training_file(*open(trainer.checkpoint())).first /
                                   static_cast<float>(1 - settings.optimizer.beta1);
    std::map<std::string, double> squares;
    std::vector<double> of_layers(2);
    for (const Block& block : trainer.model().layout().blocks) {
      const Eigen::Map<const Matrix<float>> own(gradient.data() + block.offset, block.rows,
                                                block.columns);
      const auto has = [&](const char* part) { return block.name.find(part) != std::string::npos; };
      if (block.columns == 1) {
        squares["gradient_vectors"] += own.squaredNorm();
      } else if (has("attn.c_attn")) {
        const double square = own.topRows(2 * 16).squaredNorm();
        squares["gradient_query_key"] += square;
        squares["gradient_value"] += own.bottomRows(16).squaredNorm();
        of_layers.at(static_cast<std::size_t>(block.layer)) = square;
      } else {
        squares[has("attn.c_proj") ? "gradient_value"
                : has("mlp")       ? "gradient_mlp"
                                   : "gradient_embedding"] += own.squaredNorm();
      }
    }
    REQUIRE(squares.size() == 5);
    double sum = 0;
    for (const auto& [kind, square] : squares) {
      CAPTURE(kind);
      CHECK(square > 0);
      CHECK_THAT(row.measure(kind), WithinRel(std::sqrt(square), 1e-4));
      sum += row.measure(kind) * row.measure(kind);
    }
    CHECK_THAT(std::sqrt(sum), WithinRel(row.measure("gradient_norm"), 1e-6));
    const auto measure =
        std::find_if(kRunLayerMeasures.begin(), kRunLayerMeasures.end(),
                     [](const LoggedMeasure& it) { return it.name == "gradient_query_key"; });
    REQUIRE(measure != kRunLayerMeasures.end());
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const auto at = static_cast<std::size_t>(measure - kRunLayerMeasures.begin());
      CHECK_THAT(row.layers.at(layer)[at], WithinRel(std::sqrt(of_layers[layer]), 1e-4));
    }
  }
}

TEST_CASE("with 0 evaluation batches every token of the validation text counts") {
  TrainSettings settings = small_run();
  settings.eval_batches = 0;
  const auto loss_with = [&](const Text& text) {
    return Trainer(settings, std::make_shared<const Text>(text)).evaluate().measure("loss");
  };
  const Text text = *small_text();
  const double loss = loss_with(text);
  std::size_t unread = 0;
  for (std::size_t at = 0; at < text.validation.size(); ++at) {
    Text changed = text;
    changed.validation[at] = 'z';
    unread += loss_with(changed) == loss;
  }
  CHECK(text.validation.size() > 100);
  CHECK(unread == 0);
  settings.eval_batches = 2;
  CHECK(loss_with(text) != loss);
}

TEST_CASE("every option resumes bit by bit") {
  std::vector<TrainSettings> all(18, small_run());
  all[0].regularizer.kind = RegularizerKind::locater_effective;
  all[1].regularizer.kind = RegularizerKind::locater_covariance;
  all[1].regularizer.target_kind = TargetKind::initial;
  all[2].regularizer.kind = RegularizerKind::locater_random;
  all[3].dropout = 0.2;
  all[4].optimizer.qk_clip = 1e-3;
  all[5].optimizer.growth_limit = 1e-3;
  all[6].model.query_key_norm = QueryKeyNorm::rms;
  all[6].model.query_key_bias = QueryKeyBias::without;
  all[6].optimizer.schedule = Schedule::linear;
  all[7].regularizer.kind = RegularizerKind::locater_frobenius;
  all[7].regularizer.target_steps = 7;
  all[8].model.attention = AttentionKind::none;
  all[9].model.attention = AttentionKind::self;
  all[10].attention_temperature = 3;
  all[11].optimizer.epsilon = 1e-3;
  for (std::size_t kind = 1; kind <= 6; ++kind) {
    all[11 + kind].fault = {static_cast<FaultKind>(kind), 3, 4, 2};
  }
  Trainer plain(small_run(), small_text());
  plain.advance(12);
  for (const TrainSettings& settings : all) {
    Trainer whole(settings, small_text());
    whole.advance(12);
    Trainer second = resumed(settings, 5);
    CHECK(second.model().parameters() == whole.model().parameters());
    CHECK(second.take_log().back().run == whole.take_log().back().run);
    // And it does something.
    if (whole.model().parameters().size() == plain.model().parameters().size()) {
      CHECK(whole.model().parameters() != plain.model().parameters());
    }
  }
}

TEST_CASE("sigmaReparam and a limit of the optimizer exclude each other") {
  TrainSettings settings = small_run();
  settings.regularizer.kind = RegularizerKind::sigma_reparam;
  settings.optimizer.qk_clip = 1;
  CHECK(failure_of([&] { check_training(settings); }).item == "qk_clip");
  settings.optimizer.qk_clip = 0;
  settings.optimizer.growth_limit = 1;
  CHECK(failure_of([&] { check_training(settings); }).item == "growth_limit");
}

TEST_CASE("a temperature of attention is one of W_Q and b_Q in start, steps and decay") {
  TrainSettings settings = small_run();
  settings.optimizer.warmup = 0;
  settings.optimizer.clip = 0;
  settings.optimizer.weight_decay = 0.5;
  const Trainer plain(settings, small_text());
  const Vector<float> start = plain.model().parameters();
  settings.attention_temperature = 4;
  Trainer trainer(settings, small_text());
  const Vector<float> before = trainer.model().parameters();
  trainer.advance(1);
  const Vector<float> after = trainer.model().parameters();
  const auto rate = static_cast<float>(settings.optimizer.learning_rate);
  const Index d = settings.model.width, fused = settings.model.fused_width();
  for (const LayerOffsets& own : trainer.model().layout().layers) {
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < 2 * d; ++i) {
        const Index at = own.fused + j * fused + i;
        const float part = i < d ? 0.25f : 1.0f;
        CHECK(before[at] == part * start[at]);
        // The first step of Adam is the rate in the direction of the gradient's sign, or a little less where the
        // gradient is not much larger than epsilon; the decay is the setting's.
        const float step = std::abs(after[at] - before[at] * (1 - rate * 0.5f));
        CHECK(step < 1.001f * part * rate);
        CHECK(step > 0.95f * part * rate);
      }
    }
    for (Index i = 0; i < d; ++i) {
      const float step = std::abs(after[own.fused_bias + i]);
      CHECK_THAT(step, WithinRel(0.25f * rate, 0.02f));
    }
  }
}

TEST_CASE("a temperature of attention needs queries whose norms are free") {
  const auto refused = [](auto change) {
    TrainSettings settings = small_run();
    settings.attention_temperature = 2;
    change(settings);
    return failure_of([&] { check_training(settings); }).item;
  };
  CHECK(refused([](TrainSettings& s) { s.model.query_key_norm = QueryKeyNorm::rms; }) ==
        "attention_temperature");
  CHECK(refused([](TrainSettings& s) { s.regularizer.kind = RegularizerKind::sigma_reparam; }) ==
        "attention_temperature");
  CHECK(refused([](TrainSettings& s) { s.model.attention = AttentionKind::none; }) ==
        "attention_temperature");
  CHECK(refused([](TrainSettings&) {}).empty());
}

TEST_CASE("AdamW adds epsilon to the root of the mean squared gradient") {
  OptimizerSettings settings;
  settings.warmup = 0;
  settings.epsilon = 1;
  AdamW optimizer(settings, Vector<float>::Zero(1));
  Vector<float> parameters = Vector<float>::Zero(1);
  optimizer.step(0, 1, Vector<float>::Constant(1, 3), parameters);
  CHECK_THAT(parameters[0], WithinRel(-0.75F * static_cast<float>(settings.learning_rate), 1e-5F));
}

TEST_CASE("a fault acts in its steps alone") {
  TrainSettings settings = small_run();
  settings.optimizer.warmup = 0;
  settings.optimizer.schedule = Schedule::constant;
  settings.log_every = 1;
  Trainer plain(settings, small_text());
  plain.advance(8);
  const std::vector<LogRow> healthy = plain.take_log();
  for (std::size_t kind = 1; kind <= 6; ++kind) {
    settings.fault = {static_cast<FaultKind>(kind), 3, 2, 4};
    Trainer trainer(settings, small_text());
    trainer.advance(8);
    const std::vector<LogRow> rows = trainer.take_log();
    for (std::size_t step = 1; step <= 8; ++step) {
      const bool acting = step == 4 || step == 5;
      CHECK((rows[step].measure("loss") == healthy[step].measure("loss")) == (step < 4));
      const double rate = kind == 1 && acting ? 4 : 1;
      CHECK_THAT(rows[step].measure("learning_rate"),
                 WithinRel(rate * settings.optimizer.learning_rate, 1e-12));
    }
  }
}

TEST_CASE("a run into which a fault is injected goes on as one that had it from its beginning") {
  TrainSettings settings = small_run();
  for (std::size_t kind = 1; kind <= 6; ++kind) {
    Trainer running(settings, small_text());
    running.advance(3);
    const FaultSettings fault{static_cast<FaultKind>(kind), 3, 2, 4};
    running.inject(fault);
    running.inject(FaultSettings{});  // as every later piece without its fault
    running.advance(5);
    TrainSettings faulty = settings;
    faulty.fault = fault;
    Trainer whole(faulty, small_text());
    whole.advance(8);
    CHECK(running.checkpoint() == whole.checkpoint());
    running.inject(fault);
    CHECK(failure_of([&] {
            running.inject({static_cast<FaultKind>(kind), 8, 0, 4});
          }).item == "fault");
  }
  Trainer running(settings, small_text());
  running.advance(3);
  CHECK(failure_of([&] {
          running.inject({FaultKind::learning_rate, 2, 0, 4});
        }).item == "fault_step");
  CHECK(failure_of([&] {
          running.inject({FaultKind::rounded_logits, 3, 0, 7.5});
        }).item == "fault_size");
}

TEST_CASE("a fault scales queries and keys once, and nothing else") {
  TrainSettings settings = small_run();
  settings.optimizer.learning_rate = 0;
  settings.fault = {FaultKind::query_key_scale, 2, 0, 4};
  Trainer trainer(settings, small_text());
  const Vector<float> before = trainer.model().parameters();
  trainer.advance(2);
  CHECK(trainer.model().parameters() == before);
  trainer.advance(3);
  Vector<float> expected = before;
  const Index d = settings.model.width, fused = settings.model.fused_width();
  for (const LayerOffsets& layer : trainer.model().layout().layers) {
    for (Index j = 0; j < d; ++j) expected.segment(layer.fused + j * fused, 2 * d) *= 4;
  }
  CHECK(trainer.model().parameters() == expected);
}

TEST_CASE("a fault of the tokens repeats the first, reverses them or draws them all") {
  const std::vector<TokenId> tokens{7, 1, 2, 3};
  FaultSettings fault{FaultKind::repeated_tokens, 5, 1, 1};
  CHECK(faulty_tokens(fault, 5, 1, 0, tokens, 9) == std::vector<TokenId>(4, 7));
  CHECK(faulty_tokens(fault, 4, 1, 0, tokens, 9).empty());
  CHECK(faulty_tokens(fault, 6, 1, 0, tokens, 9).empty());
  fault.kind = FaultKind::reversed_tokens;
  CHECK(faulty_tokens(fault, 5, 1, 0, tokens, 9) == std::vector<TokenId>{3, 2, 1, 7});
  fault.kind = FaultKind::random_tokens;
  std::map<TokenId, int> counts;
  for (std::uint64_t draw = 0; draw < 900; ++draw) {
    for (const TokenId token : faulty_tokens(fault, 5, 1, draw, tokens, 9)) ++counts[token];
  }
  CHECK(counts.size() == 9);
  for (const auto& [token, count] : counts) CHECK(std::abs(count - 400) < 80);
}

TEST_CASE("rounded logits keep their first bits") {
  constexpr int kBits = 4;
  const AttentionShape shape{1, 1, 2, 5, 1};
  const Matrix<double> fused = random_matrix(6, 5, 3);
  Matrix<double> weights(5, 5), out(2, 5);
  const HeadReading<double> reading{Retrieval::soft, 1, kBits};
  attention_forward(shape, fused, {&reading, 1}, weights, out);
  for (Index query = 0; query < 5; ++query) {
    Eigen::VectorXd logits(query + 1);
    for (Index key = 0; key <= query; ++key) {
      int exponent = 0;
      const double product = fused.col(query).head(2).dot(fused.col(key).segment(2, 2));
      const double mantissa = std::frexp(product, &exponent);
      logits[key] = std::ldexp(std::round(std::ldexp(mantissa, kBits)), exponent - kBits);
    }
    const Eigen::ArrayXd powers = (logits.array() / std::sqrt(2.0)).exp();
    CHECK((weights.col(query).head(query + 1) - (powers / powers.sum()).matrix()).norm() < 1e-12);
  }
}

TEST_CASE("faults that cannot act are refused") {
  const auto refused = [](FaultSettings fault, auto change) {
    TrainSettings settings = small_run();
    settings.fault = fault;
    change(settings);
    return failure_of([&] { check_training(settings); }).item;
  };
  const FaultSettings scale{FaultKind::query_key_scale, 0, 0, 4};
  const auto nothing = [](TrainSettings&) {};
  CHECK(refused(scale, nothing).empty());
  CHECK(refused(scale, [](TrainSettings& s) { s.model.query_key_norm = QueryKeyNorm::rms; }) ==
        "fault");
  CHECK(refused(scale, [](TrainSettings& s) {
          s.regularizer.kind = RegularizerKind::sigma_reparam;
        }) == "fault");
  CHECK(refused(scale, [](TrainSettings& s) { s.model.attention = AttentionKind::none; }) ==
        "fault");
  CHECK(refused({FaultKind::rounded_logits, 0, 0, 8}, nothing).empty());
  CHECK(refused({FaultKind::rounded_logits, 0, 0, 7.5}, nothing) == "fault_size");
  CHECK(refused({FaultKind::rounded_logits, 0, 0, 24}, nothing) == "fault_size");
  CHECK(refused({FaultKind::rounded_logits, 0, 0, 8},
                [](TrainSettings& s) { s.model.attention = AttentionKind::hard; }) == "fault");
  CHECK(refused({FaultKind::learning_rate, small_run().optimizer.steps, 0, 8}, nothing) ==
        "fault_step");
}

TEST_CASE("QK-Clip and QK-norm exclude each other") {
  TrainSettings settings = small_run();
  settings.model.query_key_norm = QueryKeyNorm::rms;
  check_training(settings);
  settings.optimizer.qk_clip = 1;
  check_failure(failure_of([&] { check_training(settings); }), "qk_clip", "must be 0");
}

TEST_CASE("mimetic initialization gives the target to the heads that it is told to") {
  TrainSettings settings = small_run();
  settings.regularizer.initialization = Initialization::mimetic;
  settings.regularizer.target = 1;
  const auto means = [&](Index acting) {
    settings.regularizer.target_heads = acting;
    Model<float> model(settings.model);
    initialize(model, settings.regularizer, 1);
    return head_means(model);
  };
  const std::vector<double> all = means(0), one = means(1);
  CHECK(means(settings.model.heads) == all);
  settings.regularizer.initialization = Initialization::normal;
  const std::vector<double> none = means(1);
  const auto heads = static_cast<std::size_t>(settings.model.heads);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(one[i] == (i % heads == 0 ? all : none)[i]);
  settings.regularizer.target_heads = settings.model.heads + 1;
  const Failure refused = failure_of([&] { check_training(settings); });
  CHECK(refused.item == "target_heads");
}

TEST_CASE("a file from before an option existed goes on with its default") {
  Trainer trainer(small_run(), small_text());
  trainer.advance(5);
  const std::vector<std::byte> bytes = trainer.checkpoint();
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const char* name :
       {"schedule", "query_key_bias", "query_key_norm", "dropout", "patience", "alpha",
        "init_scale", "target_heads", "target_steps", "qk_clip", "growth_limit", "attention",
        "final_evaluation", "lowest_loss", "lowest_step"}) {
    // Renamed to a key that nothing reads, of the same length.
    const std::size_t at = text.find("\"" + std::string(name) + "\"");
    REQUIRE(at != std::string::npos);
    text[at + 1] = '_';
  }
  const std::vector<std::byte> older(reinterpret_cast<const std::byte*>(text.data()),
                                     reinterpret_cast<const std::byte*>(text.data()) + text.size());
  Trainer old(*open(older), small_text());
  old.advance(12);
  trainer.advance(12);
  CHECK(old.model().parameters() == trainer.model().parameters());
}

TEST_CASE("a file with the former name of qk_clip has its value") {
  Trainer trainer(small_run(), small_text());
  const TrainingState state = read_training_file(*open(trainer.checkpoint()));
  const auto bytes = write_training_file(state, trainer.model(), {{"logit_limit", "3"}});
  CHECK(read_training_file(*open(bytes)).settings.optimizer.qk_clip == 3);
}

TEST_CASE("heads and layers are measured over as many batches as the settings say") {
  TrainSettings halves = small_run();
  halves.measure_batches = 2;
  TrainSettings whole = small_run();
  whole.batch = 8;
  whole.eval_batches = 1;
  const auto measured = [](const TrainSettings& settings) {
    return Trainer(settings, small_text()).evaluate();
  };
  const LogRow two = measured(halves), one = measured(whole), first = measured(small_run());
  for (const char* name : {"entropy", "entropy_bound", "self_mass", "mean", "variance_frobenius"}) {
    CHECK_THAT(two.head_mean(name), WithinRel(one.head_mean(name), 1e-6));
  }
  CHECK_THAT(two.layer_mean("residual"), WithinRel(one.layer_mean("residual"), 1e-6));
  CHECK(first.head_mean("entropy") != two.head_mean("entropy"));
  halves.measure_batches = 0;
  CHECK(measured(halves).head_mean("entropy") == two.head_mean("entropy"));
}

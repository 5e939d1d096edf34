#include "labs/hard_retrieval.h"

#include <cmath>
#include <memory>

#include "attention/softmax.h"
#include "catch.h"
#include "central_differences.h"
#include "checkpoint_failure.h"
#include "safetensors_writer.h"
#include "small_model.h"
#include "small_run.h"
#include "statistics/rank_correlation.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;

namespace {

const std::string kText = made_text(4000);
constexpr HardRetrievalSettings kSettings{16, 0.5, 7};

// Trained for a few steps.
TrainedModel trained(AttentionKind attention, std::uint64_t seed, Index steps = 12) {
  TrainSettings settings = small_run();
  settings.model.attention = attention;
  settings.model.depth = 1;
  settings.model.heads = 4;
  settings.optimizer.steps = steps;
  settings.seed = seed;
  return trained_model(settings, kText);
}

HardRetrieval finished(std::vector<TrainedModel> models, double work = 1e9,
                       const HardRetrievalSettings& settings = kSettings) {
  HardRetrieval lab(std::move(models), kText, settings);
  while (!lab.advance(work)) continue;
  CHECK(lab.progress() == 1);
  return lab;
}

std::vector<TrainedModel> four() {
  std::vector<TrainedModel> models;
  for (const auto kind : {AttentionKind::hard, AttentionKind::softmax}) {
    for (const std::uint64_t seed : {1, 2}) models.push_back(trained(kind, seed));
  }
  return models;
}

// W_Q W_K^T of every head times `factor`.
TrainedModel with_logits(TrainedModel model, float factor) {
  const ModelSettings& own = model.settings.model;
  const LayerOffsets& layer = model.model.layout().layers[0];
  Eigen::Map<Matrix<float>>(model.model.parameters().data() + layer.fused, own.fused_width(),
                            own.width)
      .topRows(own.width) *= factor;
  model.model.parameters().segment(layer.fused_bias, own.width) *= factor;
  return model;
}

}  // namespace

TEST_CASE("each head reads as it is told: softmax, largest logit, random key") {
  const AttentionShape shape{4, 2, 3, 6, 2};
  const MatrixXd fused = random_matrix(shape.fused(), 12, 1);
  const std::vector<HeadReading<double>> readings{
      {}, {Retrieval::hard}, {Retrieval::soft, 0}, {Retrieval::random}};
  MatrixXd weights(6, 6 * 2 * 4), out(12, 12);
  attention_forward<double>(shape, fused, readings, weights, out);
  bool first = true, last = true;
  for (Index sequence = 0; sequence < 2; ++sequence) {
    const auto tokens = fused.middleCols(6 * sequence, 6);
    for (Index head = 0; head < 4; ++head) {
      const MatrixXd query = tokens.middleRows(3 * head, 3);
      const MatrixXd key = tokens.middleRows(shape.key_row(head), 3);
      const MatrixXd value = tokens.middleRows(shape.value_row(head), 3);
      for (Index t = 0; t < 6; ++t) {
        const Eigen::VectorXd logits =
            key.leftCols(t + 1).transpose() * query.col(t) / std::sqrt(3.0);
        const auto row = weights.col(shape.weights_column(sequence, head) + t);
        const Eigen::VectorXd own = row.head(t + 1);
        CHECK(row.tail(5 - t).isZero(0));
        if (head == 0) CHECK((own - softmax(logits, 1)).norm() < 1e-14);
        if (head == 1) CHECK(own == hard_softmax(logits));
        if (head == 2)
          CHECK((own.array() - 1.0 / static_cast<double>(t + 1)).abs().maxCoeff() < 1e-14);
        if (head == 3) {
          CHECK(own.maxCoeff() == 1);
          CHECK(own.sum() == 1);
          first = first && own[0] == 1;
          last = last && own[t] == 1;
        }
        const Eigen::VectorXd read = value.leftCols(t + 1) * own;
        CHECK((out.col(6 * sequence + t).segment(3 * head, 3) - read).norm() < 1e-13);
      }
    }
  }
  CHECK(!first);
  CHECK(!last);
}

TEST_CASE("straight-through: the gradient of hard weights is that of V (hard + soft - constant)") {
  const AttentionShape shape{2, 2, 3, 5, 2};
  MatrixXd fused = random_matrix(shape.fused(), 10, 1);
  const MatrixXd c = random_matrix(6, 10, 2);
  const std::vector<HeadReading<double>> hard(2, {Retrieval::hard}), softmax(2);
  MatrixXd weights(5, 20), soft(5, 20), out(6, 10), dfused(shape.fused(), 10);
  attention_forward<double>(shape, fused, hard, weights, out);
  attention_backward(shape, fused, weights, /*hard=*/true, c, dfused);
  attention_forward<double>(shape, fused, softmax, soft, out);
  const auto loss = [&] {
    MatrixXd now(5, 20), ignored(6, 10), sum = MatrixXd::Zero(6, 10);
    attention_forward<double>(shape, fused, softmax, now, ignored);
    const MatrixXd mixed = weights + now - soft;
    for (Index sequence = 0; sequence < 2; ++sequence) {
      for (Index head = 0; head < 2; ++head) {
        sum.block(3 * head, 5 * sequence, 3, 5) =
            fused.block(shape.value_row(head), 5 * sequence, 3, 5) *
            mixed.middleCols(shape.weights_column(sequence, head), 5);
      }
    }
    return (c.array() * sum.array()).sum();
  };
  CHECK(gradient_error(loss, fused, dfused) < 1e-6);
}

TEST_CASE("a model that is trained hard reads one key; its values have an exact gradient") {
  ModelSettings settings = small_model();
  settings.attention = AttentionKind::hard;
  Model<double> model = drawn(settings);
  loss_of(model, true);
  for (const double weight : model.attention(1).reshaped()) CHECK((weight == 0 || weight == 1));
  model.backward();
  CHECK(model.gradient().head(model.layout().layers[0].fused).norm() > 0);
  // The choice of keys stays under small changes of the last layer's values and of what follows them.
  const Index last = model.layout().size - model.layout().layers[1].projection;
  const auto loss = [&] { return loss_of(model); };
  CHECK(gradient_error(loss, model.parameters().tail(last), model.gradient().tail(last)) < 1e-6);
}

TEST_CASE("costs of heads are those of the model with this head replaced") {
  const HardRetrieval lab = finished(four(), 1);
  const std::vector<RetrievalHead> heads = lab.heads();
  const std::vector<RetrievalModel> models = lab.models();
  CHECK(heads.size() == 8);
  CHECK(models.size() == 4);
  CHECK(models[0].trained == AttentionKind::softmax);
  CHECK(models[3].trained == AttentionKind::hard);
  TrainedModel own = trained(AttentionKind::softmax, 2);
  const std::string validation = kText.substr(validation_start(kText, false));
  const std::vector<TokenId> tokens = own.tokenizer.encode(validation);
  std::vector<TokenId> inputs, targets;
  for (Index k = 0; k < 16; ++k) {
    const auto start = tokens.begin() + (static_cast<Index>(tokens.size()) - 9) * k / 15;
    inputs.insert(inputs.end(), start, start + 8);
    targets.insert(targets.end(), start + 1, start + 9);
  }
  const auto loss = [&](const Intervention<float>& intervention) {
    own.model.forward(inputs, 8, intervention);
    return own.model.loss(targets) / std::log(2.0);
  };
  const double soft = loss({});
  CHECK_THAT(models[1].soft.value, WithinAbs(soft, 1e-6));
  for (std::size_t place = 0; place < 4; ++place) {
    const RetrievalHead& head = heads[4 + place];
    CHECK(head.seed == 2);
    CHECK(head.head == static_cast<Index>(place));
    Intervention<float> only{own.model.readings()};
    only.readings[place].retrieval = Retrieval::hard;
    CHECK_THAT(head.loss(Replacement::hard).value, WithinAbs(loss(only) - soft, 1e-6));
    only.readings[place] = {Retrieval::soft, 0};
    CHECK_THAT(head.loss(Replacement::uniform).value, WithinAbs(loss(only) - soft, 1e-6));
    CHECK(head.loss(Replacement::uniform).error > 0);
  }
  Index worse = 0;
  for (const RetrievalHead& head : heads) worse += head.losses[0].value > head.losses[1].value;
  CHECK(lab.worse() == worse);
  const RetrievalLosses losses = lab.losses();
  CHECK_THAT(losses.soft.value,
             WithinAbs((models[0].soft.value + models[1].soft.value) / 2, 1e-12));
  const auto hard = [&](std::size_t i) { return models[i].losses[0].value; };
  CHECK_THAT(
      losses.read_hard.value,
      WithinAbs((hard(0) - models[0].soft.value + hard(1) - models[1].soft.value) / 2, 1e-12));
  CHECK_THAT(
      losses.trained_hard.value,
      WithinAbs((hard(2) - models[0].soft.value + hard(3) - models[1].soft.value) / 2, 1e-12));
}

TEST_CASE("peaked rows: none without logits, all with large ones, predicted and measured") {
  for (const auto& [factor, share] : {std::pair{0.0f, 0.0}, {1e5f, 1.0}}) {
    std::vector<TrainedModel> models;
    models.push_back(with_logits(trained(AttentionKind::softmax, 1), factor));
    for (const RetrievalHead& head : finished(std::move(models)).heads()) {
      CHECK_THAT(head.predicted, WithinAbs(share, 0.02));
      CHECK_THAT(head.measured, WithinAbs(share, 0.02));
      // With all weight on one key already, hard attention costs nothing.
      if (share == 1) CHECK(std::abs(head.loss(Replacement::hard).value) < 1e-3);
      if (share == 0) CHECK(head.loss(Replacement::uniform).value == 0);
    }
  }
}

TEST_CASE("correlations are those over the heads with some worth, with their permutations") {
  std::vector<TrainedModel> models;
  for (const std::uint64_t seed : {1, 2}) {
    models.push_back(trained(AttentionKind::softmax, seed, 200));
  }
  const HardRetrieval lab = finished(std::move(models), 1e9, {64, 0.3, 7});
  for (const bool predicted : {true, false}) {
    std::vector<double> costs, shares;
    for (const std::uint64_t seed : {1, 2}) {
      std::vector<double> peaked, cost, share;
      for (const RetrievalHead& head : lab.heads()) {
        const Estimate& worth = head.loss(Replacement::uniform);
        if (head.seed != seed || !(worth.value > 2 * worth.error)) continue;
        peaked.push_back(predicted ? head.predicted : head.measured);
        cost.push_back(head.loss(Replacement::hard).value);
        share.push_back(cost.back() / worth.value);
      }
      const auto of = [](const std::vector<double>& list) {
        return Eigen::VectorXd(
            Eigen::Map<const Eigen::VectorXd>(list.data(), static_cast<Index>(list.size())));
      };
      const double own = rank_correlation(of(peaked), of(cost));
      if (!std::isfinite(own)) continue;
      costs.push_back(own);
      shares.push_back(rank_correlation(of(peaked), of(share)));
    }
    REQUIRE(!costs.empty());
    const RetrievalCorrelation found = lab.correlation(predicted);
    const auto mean = [](const std::vector<double>& list) {
      double sum = 0;
      for (const double it : list) sum += it;
      return sum / static_cast<double>(list.size());
    };
    CHECK_THAT(found.cost.value, WithinAbs(mean(costs), 1e-12));
    CHECK_THAT(found.share.value, WithinAbs(mean(shares), 1e-12));
    CHECK(found.null_low <= found.null);
    CHECK(found.null <= found.null_high);
    CHECK((found.p > 0 && found.p <= 1));
  }
  std::vector<double> agreements;
  for (const std::uint64_t seed : {1, 2}) {
    Eigen::VectorXd predicted(4), measured(4);
    for (const RetrievalHead& head : lab.heads()) {
      if (head.seed != seed) continue;
      predicted[head.head] = head.predicted;
      measured[head.head] = head.measured;
    }
    const double own = rank_correlation(predicted, measured);
    if (std::isfinite(own)) agreements.push_back(own);
  }
  REQUIRE(!agreements.empty());
  double sum = 0;
  for (const double it : agreements) sum += it;
  CHECK_THAT(lab.agreement().value, WithinAbs(sum / static_cast<double>(agreements.size()), 1e-12));
}

TEST_CASE("runs that do not belong together are refused") {
  const auto item = [](std::vector<TrainedModel> models, const std::string& text = kText,
                       const HardRetrievalSettings& settings = kSettings) {
    return failure_of([&] { HardRetrieval(std::move(models), text, settings); }).item;
  };
  const auto of = [](auto... models) {
    std::vector<TrainedModel> all;
    (all.push_back(std::move(models)), ...);
    return all;
  };
  const auto soft = [] { return trained(AttentionKind::softmax, 1); };
  CHECK(item({}) == "runs");
  CHECK(item(of(trained(AttentionKind::hard, 1))) == "runs");
  CHECK(item(of(soft(), trained(AttentionKind::self, 1))) == "runs");
  CHECK(item(of(soft(), soft())) == "runs");
  CHECK(item(of(soft()), "a short text") == "text");
  CHECK(item(of(soft()), kText, {1, 0.5, 1}) == "sequences");
  CHECK(item(of(soft()), kText, {16, 1.5, 1}) == "peak_weight");
}

TEST_CASE("weights alone are read back in every type, and are not resumed") {
  TrainSettings settings = small_run();
  settings.model.attention = AttentionKind::hard;
  const auto text = small_text();
  Trainer trainer(settings, text);
  trainer.advance(5);
  for (const auto& [format, precision] : {std::pair{TensorFormat::f32, 0.0},
                                          {TensorFormat::f16, 0x1p-10},
                                          {TensorFormat::bf16, 0x1p-7}}) {
    const Safetensors file(std::make_shared<MemorySource>("weights", trainer.weights(format)));
    const TrainedModel read = read_model(file);
    CHECK(read.settings.model.attention == AttentionKind::hard);
    const auto exact = trainer.model().parameters().array();
    const auto off = (read.model.parameters().array() - exact).abs();
    CHECK((off <= static_cast<float>(precision) * exact.abs() + 1e-7f).all());
    CHECK(failure_of([&] { Trainer(file, text); }).item == "training.parameters");
  }
}

// Terms of attention by the offset between query and key, and masked-token prediction.
#include <cmath>
#include <set>

#include "catch.h"
#include "checkpoint_failure.h"
#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/tokens.h"
#include "small_model.h"
#include "small_run.h"
#include "test_matrices.h"
#include "training/export_file.h"
#include "training/offset_mask.h"
#include "training/text.h"
#include "training/text_sampler.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

TrainSettings masked_run() {
  TrainSettings settings = small_run();
  settings.model.objective = Objective::masked;
  settings.model.positions = Positions::relative;
  settings.model.offset_mask = OffsetMask::learned;
  settings.masked_share = 0.25;
  return settings;
}

std::vector<double> probabilities(const Trainer& trainer) {
  const Model<float>& model = trainer.model();
  std::vector<double> all;
  for (Index k = 0; k < model.settings().length; ++k) {
    all.push_back(static_cast<double>(sigmoid(model.parameters()[model.layout().offset_mask + k])));
  }
  return all;
}

}  // namespace

TEST_CASE("the slope of a distance is what its keys add to a loss that is linear in the outputs") {
  for (const Entries visible : {Entries::upper, Entries::all}) {
    const AttentionShape shape{2, 1, 3, 5, 2, visible};
    const MatrixXd fused = random_matrix(shape.fused(), 10, 1), c = random_matrix(6, 10, 2);
    const Index longest = 6, rows = OffsetTerms<double>{longest}.rows(visible);
    const MatrixXd bias = random_matrix(rows, 2, 3);
    // In the first sequence the diagonal is hidden, and with it all keys of its first causal query.
    const std::vector<char> kept{0, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0, 1};
    const OffsetTerms<double> offsets{longest, bias.data(), kept};
    const std::vector<HeadReading<double>> readings(2);
    MatrixXd weights(5, 20), out(6, 10), dfused(shape.fused(), 10), slope(rows, 2);
    attention_forward<double>(shape, fused, readings, weights, out, {}, offsets);
    VectorXd found = VectorXd::Zero(longest);
    slope.setZero();
    attention_backward(shape, fused, weights, false, c, dfused, offsets,
                       {slope.data(), found.data()});

    // One row of one head, with the key `changed` seen or not.
    const auto loss = [&](Index sequence, Index head, Index query, Index changed, bool seen) {
      const Index column = 5 * sequence + query;
      VectorXd sum = VectorXd::Zero(3);
      double total = 0;
      for (Index key = 0; key < shape.keys(query); ++key) {
        const auto place = static_cast<std::size_t>(6 * sequence + std::abs(query - key));
        if (!(key == changed ? seen : kept[place] != 0)) continue;
        const auto token = fused.col(5 * sequence + key);
        const double logit = fused.col(column).segment(3 * head, 3).dot(token.segment(6, 3));
        const double weight =
            std::exp(logit / std::sqrt(3.0) + bias(longest - 1 + key - query, head));
        total += weight;
        sum += weight * token.segment(9, 3);
      }
      return total > 0 ? sum.dot(c.col(column).segment(3 * head, 3)) / total : 0;
    };
    VectorXd expected = VectorXd::Zero(longest);
    for (Index sequence = 0; sequence < 2; ++sequence) {
      for (Index head = 0; head < 2; ++head) {
        for (Index query = 0; query < 5; ++query) {
          for (Index key = 0; key < shape.keys(query); ++key) {
            expected[std::abs(query - key)] +=
                loss(sequence, head, query, key, true) - loss(sequence, head, query, key, false);
          }
        }
      }
    }
    CHECK((found - expected).norm() < 1e-12 * expected.norm());
    CHECK(found[5] == 0);  // no sequence is as long
  }
}

TEST_CASE("distances are drawn with their probabilities, and the penalty has its gradient") {
  ModelSettings settings = small_model();
  settings.offset_mask = OffsetMask::learned;
  settings.dropped_distance = 4;
  for (const Objective objective : {Objective::next, Objective::masked}) {
    settings.objective = objective;
    Model<float> model(settings);
    const Index first = model.layout().offset_mask;
    model.parameters().segment(first, 5) << -2.0f, -0.5f, 0.0f, 1.5f, 9.0f;
    const std::vector<char> kept = draw_kept(model, 2000, 3, 7);
    REQUIRE(kept.size() == 10000);
    const auto expected = [&] {
      double sum = 0;
      for (Index k = 0; k < 5; ++k) {
        const double entries = static_cast<double>(5 - k) / 5;
        const bool twice = objective == Objective::masked && k > 0;
        sum +=
            (twice ? 2 : 1) * entries * static_cast<double>(sigmoid(model.parameters()[first + k]));
      }
      return 0.3 * sum;
    };
    model.gradient().setZero();
    add_entry_penalty(0.3, model);
    for (Index k = 0; k < 5; ++k) {
      const double p = static_cast<double>(sigmoid(model.parameters()[first + k]));
      double share = 0;
      for (std::size_t b = 0; b < 2000; ++b) share += kept[5 * b + static_cast<std::size_t>(k)];
      // 5 standard deviations; the dropped distance is never drawn.
      CHECK_THAT(share / 2000, WithinAbs(k == 4 ? 0 : p, 5 * std::sqrt(p * (1 - p) / 2000)));
      float& parameter = model.parameters()[first + k];
      const float before = parameter;
      parameter = before + 0.01f;
      const double above = expected();
      parameter = before - 0.01f;
      const double slope = (above - expected()) / 0.02;
      parameter = before;
      CHECK_THAT(static_cast<double>(model.gradient()[first + k]), WithinAbs(slope, 1e-5));
    }
    CHECK(model.kept() == std::vector<char>{0, 0, 1, 1, 0});
    CHECK(draw_kept(model, 2000, 3, 8) != kept);
  }
}

TEST_CASE("a large penalty drops every distance, none keeps the nearest") {
  TrainSettings settings = masked_run();
  settings.optimizer.steps = 200;
  settings.optimizer.bias_rate = 10;
  settings.entry_penalty = 10;
  Trainer dropping(settings, small_text());
  dropping.advance(200);
  for (const double p : probabilities(dropping)) CHECK(p < 0.1);
  settings.entry_penalty = 0;
  Trainer keeping(settings, small_text());
  keeping.advance(200);
  CHECK(probabilities(keeping)[1] > 0.8);
  CHECK(keeping.evaluate().measure("loss") < dropping.evaluate().measure("loss") - 0.1);
}

TEST_CASE("relative biases learn at a rate of their own") {
  TrainSettings settings = small_run();
  settings.model.positions = Positions::relative;
  settings.optimizer.warmup = 0;
  settings.optimizer.clip = 0;
  settings.optimizer.bias_rate = 7;
  Trainer trainer(settings, small_text());
  trainer.advance(1);
  // The first step of AdamW is the learning rate wherever there is a gradient.
  const Index bias = trainer.model().layout().layers[1].relative;
  CHECK_THAT(static_cast<double>(std::abs(trainer.model().parameters()[bias + 7])),
             WithinRel(7 * settings.optimizer.learning_rate, 1e-3));
}

TEST_CASE("masked tokens: their number, their places, and nothing else") {
  std::vector<TokenId> inputs, targets;
  std::set<std::size_t> places;
  for (const double share : {0.001, 0.3, 1.0}) {
    const int wanted = share == 0.3 ? 3 : share == 1.0 ? 10 : 1;
    for (std::uint64_t draw = 0; draw < 200; ++draw) {
      inputs.assign(10, 5);
      targets.assign(10, 5);
      mask_tokens(share, 9, 3, draw, inputs, targets);
      for (std::size_t i = 0; i < 10; ++i) {
        CHECK((inputs[i] == 9) == (targets[i] == 5));
        CHECK((inputs[i] == 5) == (targets[i] == kNoTarget));
        if (inputs[i] == 9 && wanted == 1) places.insert(i);
      }
      CHECK(std::count(inputs.begin(), inputs.end(), 9) == wanted);
    }
  }
  CHECK(places.size() == 10);
}

TEST_CASE("the loss leaves out columns without a target") {
  const MatrixXd logits = random_matrix(4, 3, 1);
  MatrixXd all = logits, one = logits;
  std::vector<double> each(3), own(3);
  cross_entropy<double>(std::vector<TokenId>{2, 0, 1}, true, all, each);
  const double loss =
      cross_entropy<double>(std::vector<TokenId>{kNoTarget, 0, kNoTarget}, true, one, own);
  CHECK_THAT(loss, WithinRel(each[1], 1e-14));
  CHECK(own == std::vector<double>{0, each[1], 0});
  CHECK((one.col(1) - 3 * all.col(1)).norm() < 1e-14);
  CHECK(one.col(0).isZero(0));
  CHECK(one.col(2).isZero(0));
}

TEST_CASE("a run of masked tokens resumes bit by bit, with its vocabulary and mask") {
  Trainer whole(masked_run(), small_text());
  CHECK(whole.settings().model.vocabulary == 257);
  whole.advance(100);
  CHECK(resumed(masked_run(), 5).checkpoint() == whole.checkpoint());
  const TrainedModel trained = read_model(*open(whole.checkpoint()));
  CHECK(trained.settings.model.vocabulary == 257);
  CHECK(trained.model.kept() == whole.model().kept());
  CHECK(whole.take_log().back().measure("loss") < std::log(256.0));
}

TEST_CASE("masked tokens: the reference losses are those of the same tokens") {
  TrainSettings masked = small_run();
  masked.model.objective = Objective::masked;
  masked.masked_share = 1;
  const LogRow all = Trainer(masked, small_text()).evaluate();
  const LogRow next = Trainer(small_run(), small_text()).evaluate();
  for (const char* name : {"unigram_loss", "bigram_loss", "trigram_loss"}) {
    CHECK_THAT(all.measure(name), WithinRel(next.measure(name), 1e-12));
  }
  masked.masked_share = 0.25;
  CHECK(Trainer(masked, small_text()).evaluate().measure("bigram_loss") !=
        all.measure("bigram_loss"));
}

TEST_CASE("measures of rows are those of all keys with masked tokens") {
  TrainSettings settings = small_run();
  settings.model.objective = Objective::masked;
  settings.eval_batches = settings.measure_batches = 1;
  Trainer trainer(settings, small_text());
  const LogRow row = trainer.evaluate();
  const Model<float>& model = trainer.model();
  double self = 0, entropy = 0;
  for (Index sequence = 0; sequence < 4; ++sequence) {
    for (Index t = 1; t < 8; ++t) {
      const VectorXd weights = model.attention(0).col(16 * sequence + t).cast<double>();
      CHECK_THAT(weights.sum(), WithinAbs(1, 1e-6));
      self += weights[t] / 28;
      entropy -= weights.dot(weights.array().log().matrix()) / std::log(8.0) / 28;
    }
  }
  const auto measure = [&](std::string_view name) {
    for (std::size_t i = 0; i < kRunHeadMeasures.size(); ++i) {
      if (kRunHeadMeasures[i].name == name) return row.heads[0][i];
    }
    return std::nan("");
  };
  CHECK_THAT(measure("self_mass"), WithinAbs(self, 1e-9));
  CHECK_THAT(measure("entropy"), WithinAbs(entropy, 1e-9));
}

TEST_CASE("what offsets and masked tokens cannot be combined with is refused by name") {
  const auto item = [](auto change) {
    TrainSettings settings = small_run();
    change(settings);
    return failure_of([&] { Trainer(settings, small_text()); }).item;
  };
  CHECK(item([](TrainSettings& s) { s.model.dropped_distance = 8; }) == "dropped_distance");
  for (const AttentionKind kind : {AttentionKind::none, AttentionKind::self, AttentionKind::hard}) {
    CHECK(item([=](TrainSettings& s) {
            s.model.dropped_distance = 0;
            s.model.attention = kind;
          }) == "attention");
    CHECK(item([=](TrainSettings& s) {
            s.model.positions = Positions::relative;
            s.model.attention = kind;
          }) == "attention");
    CHECK(item([=](TrainSettings& s) {
            s.model.offset_mask = OffsetMask::learned;
            s.model.attention = kind;
          }) == "attention");
  }
  CHECK(item([](TrainSettings& s) { s.masked_share = 0; }) == "masked_share");
  CHECK(item([](TrainSettings& s) { s.entry_penalty = -1; }) == "entry_penalty");

  Trainer masked(masked_run(), small_text());
  CHECK(failure_of([&] {
          TextSampler(read_model(*open(masked.checkpoint())), "call", 4, 1, 1);
        }).item == "checkpoint");
  CHECK(failure_of([&] { export_family(masked.settings().model); }).item == "export");
  Model<float> model(small_model());
  CHECK(failure_of([&] {
          model.forward(kTokens, 5, {{}, {}, std::vector<char>(4)});
        }).item == "kept");
  Model<float> relative([] {
    ModelSettings settings = small_model();
    settings.positions = Positions::relative;
    return settings;
  }());
  CHECK(failure_of([&] { relative.forward(kTokens, 10); }).item == "length");
}

#include "labs/attention_entries.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "catch.h"
#include "checkpoint_failure.h"
#include "nn/activation.h"
#include "nn/tokens.h"
#include "small_run.h"
#include "training/text.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr Index kPassage = 12, kRead = 16;
const std::string kStory = made_text(9000);
/// With which learned masks keep some distances and drop others.
constexpr double kPenalty = 0.002;
constexpr AttentionEntriesSettings kMasked{Objective::masked, AttentionSkip::with, kRead, 5};

TrainSettings entries_run(std::uint64_t seed) {
  TrainSettings settings = small_run();
  settings.model.objective = Objective::masked;
  settings.model.positions = Positions::relative;
  settings.model.length = kPassage;
  settings.masked_share = 0.25;
  settings.optimizer.steps = 8;
  settings.optimizer.learning_rate = 0.02;
  settings.seed = seed;
  return settings;
}

TrainSettings without(std::uint64_t seed, Index distance) {
  TrainSettings settings = entries_run(seed);
  settings.model.dropped_distance = distance;
  return settings;
}

TrainSettings learning(std::uint64_t seed, double penalty) {
  TrainSettings settings = entries_run(seed);
  settings.model.offset_mask = OffsetMask::learned;
  settings.entry_penalty = penalty;
  return settings;
}

TrainedModel trained(const TrainSettings& settings) { return trained_model(settings, kStory); }

std::vector<TrainedModel> all_trained(const std::vector<TrainSettings>& runs) {
  std::vector<TrainedModel> models;
  for (const TrainSettings& run : runs) models.push_back(trained(run));
  return models;
}

const std::vector<TrainSettings> kRuns{without(2, 1),  entries_run(2),        learning(1, kPenalty),
                                       entries_run(1), learning(2, kPenalty), without(1, 1),
                                       without(1, 4)};

AttentionEntries answered(std::vector<TrainedModel> models,
                          const AttentionEntriesSettings& settings = kMasked, double work = 1e9) {
  AttentionEntries lab(std::move(models), kStory, settings);
  while (!lab.advance(work)) continue;
  CHECK(lab.progress() == 1);
  return lab;
}

// Loss of each passage in bits per predicted token, with the keys at some distances alone.
VectorXd read_with(const TrainSettings& run, const std::vector<char>& kept) {
  TrainedModel own = trained(run);
  const bool masked = run.model.objective == Objective::masked;
  const auto passages = validation_passages(own.tokenizer, kStory, kPassage, kRead);
  VectorXd losses(kRead);
  for (std::size_t k = 0; k < passages.size(); ++k) {
    std::vector<TokenId> inputs(passages[k].begin() + masked, passages[k].end() - 1 + masked);
    std::vector<TokenId> targets(passages[k].begin() + 1, passages[k].end());
    if (masked) mask_tokens(0.25, 256, 5, k, inputs, targets);
    own.model.forward(inputs, kPassage, {{}, {}, kept});
    losses[static_cast<Index>(k)] = own.model.loss(targets) / std::log(2.0);
  }
  return losses;
}

std::vector<char> all_but(Index distance) {
  std::vector<char> kept(kPassage, 1);
  kept[static_cast<std::size_t>(distance)] = 0;
  return kept;
}

// Mean of models x passages, and the standard error of both spreads.
void check_estimate(const Estimate& found, const std::vector<VectorXd>& models) {
  MatrixXd values(std::ssize(models), kRead);
  for (Index i = 0; i < values.rows(); ++i) values.row(i) = models[static_cast<std::size_t>(i)];
  CHECK_THAT(found.value, WithinAbs(values.mean(), 1e-5));
  const auto squared_error = [](const VectorXd& means) {
    const auto n = static_cast<double>(means.size());
    return n > 1 ? (means.array() - means.mean()).square().sum() / (n * (n - 1)) : 0;
  };
  const double error = std::sqrt(squared_error(values.colwise().mean().transpose()) +
                                 squared_error(values.rowwise().mean()));
  CHECK_THAT(found.error, WithinAbs(error, 1e-5));
}

}  // namespace

TEST_CASE("each cost of a distance is the one that is measured by hand") {
  const AttentionEntries lab = answered(all_trained(kRuns), kMasked, 1);
  const std::vector<EntryRow> rows = lab.rows();
  REQUIRE(rows.size() == 9);  // 0 to 8 of 12 tokens
  const VectorXd full1 = read_with(entries_run(1), {}), full2 = read_with(entries_run(2), {});
  CHECK(lab.models() == 2);
  check_estimate(lab.loss(), {full1, full2});
  for (const Index distance : {0, 1, 4}) {
    const EntryRow& row = rows[static_cast<std::size_t>(distance)];
    CHECK(row.distance == distance);
    const VectorXd read1 = read_with(entries_run(1), all_but(distance)),
                   read2 = read_with(entries_run(2), all_but(distance));
    check_estimate(row.ablated, {read1 - full1, read2 - full2});
    check_estimate(row.over_diagonal, {read1 - read_with(entries_run(1), all_but(0)),
                                       read2 - read_with(entries_run(2), all_but(0))});
    CHECK_THAT(row.entries,
               WithinAbs(distance == 0 ? 1 : 2 * (12 - static_cast<double>(distance)) / 12, 1e-12));
  }
  check_estimate(rows[1].trained,
                 {read_with(without(2, 1), {}) - full2, read_with(without(1, 1), {}) - full1});
  CHECK(rows[1].trainings == 2);
  check_estimate(rows[4].trained, {read_with(without(1, 4), {}) - full1});
  CHECK(rows[4].trainings == 1);
  CHECK(std::isnan(rows[0].trained.value));
}

TEST_CASE("learned masks and their controls have as many entries") {
  const AttentionEntries lab = answered(all_trained(kRuns));
  const std::vector<MaskRow> masks = lab.masks();
  REQUIRE(masks.size() == 3);
  std::vector<VectorXd> added, in_training;
  double entries = 0;
  for (const std::uint64_t seed : {1, 2}) {
    const TrainedModel own = trained(learning(seed, kPenalty));
    const std::vector<char> kept = own.model.kept();
    const auto count = std::count(kept.begin(), kept.end(), 1);
    CHECK((count > 0 && count < kPassage));
    const VectorXd full = read_with(entries_run(seed), {});
    added.push_back(read_with(entries_run(seed), kept) - full);
    in_training.push_back(read_with(learning(seed, kPenalty), {}) - full);
    for (Index k = 0; k < kPassage; ++k) {
      if (kept[static_cast<std::size_t>(k)] == 0) continue;
      entries += (k == 0 ? 1 : 2) * (12 - static_cast<double>(k)) / 12 / 2;
    }
  }
  check_estimate(masks[0].added, added);
  check_estimate(masks[0].trained, in_training);
  CHECK_THAT(masks[0].entries, WithinAbs(entries, 1e-12));
  for (const MaskRow& row : masks) {
    CHECK(row.penalty == kPenalty);
    CHECK(std::abs(row.entries - entries) <= 1);
  }
  const std::vector<LearnedDistance> learned = lab.learned();
  REQUIRE(learned.size() == kPassage);
  for (const Index k : {0, 3}) {
    double mean = 0;
    for (const std::uint64_t seed : {1, 2}) {
      const TrainedModel own = trained(learning(seed, kPenalty));
      mean +=
          static_cast<double>(sigmoid(own.model.parameters()[own.model.layout().offset_mask + k])) /
          2;
    }
    CHECK_THAT(learned[static_cast<std::size_t>(k)].kept.value, WithinAbs(mean, 1e-12));
  }
}

TEST_CASE("the trace of W Sigma is the excess logit of the diagonal over the same passages") {
  TrainedModel own = trained(entries_run(1));
  Model<float>& model = own.model;
  // Both halves are one passage: the identity is exact for attention to all tokens.
  std::vector<TokenId> tokens;
  for (Index i = 0; i < 2 * kPassage; ++i) {
    tokens.push_back(static_cast<unsigned char>(kStory[static_cast<std::size_t>(i % kPassage)]));
  }
  model.forward(tokens, kPassage);
  DiagonalSums sums(model.settings());
  sums.add(model);
  const std::vector<DiagonalHead> heads = sums.heads(model, 7);
  REQUIRE(heads.size() == 4);
  const AttentionShape& shape = model.shape();
  for (const DiagonalHead& head : heads) {
    CHECK(head.seed == 7);
    const Eigen::MatrixXf& fused = model.fused(head.layer);
    double excess = 0, mass = 0, bias_mass = 0, predicted = 0, first = 0;
    const Index relative = model.layout().layers[static_cast<std::size_t>(head.layer)].relative;
    const auto bias = [&](Index offset) {
      return static_cast<double>(
          model.parameters()[relative + head.head * (2 * kPassage - 1) + kPassage - 1 + offset]);
    };
    for (Index t = 0; t < kPassage; ++t) {
      double own_excess = 0, others = 0;
      for (Index key = 0; key < kPassage; ++key) {
        const double logit =
            static_cast<double>(fused.col(t)
                                    .segment(head.head * 8, 8)
                                    .dot(fused.col(key).segment(shape.key_row(head.head), 8))) /
            std::sqrt(8.0);
        own_excess += key == t ? logit : -logit / (kPassage - 1);
        if (key != t) others += std::exp(bias(key - t) - bias(0));
      }
      if (t == 0) {
        first = own_excess;
        continue;
      }
      excess += own_excess / (kPassage - 1);
      bias_mass += 1 / (1 + others) / (kPassage - 1);
      predicted += 1 / (1 + others * std::exp(-head.trace)) / (kPassage - 1);
      mass += static_cast<double>(
                  model.attention(head.layer)(t, shape.weights_column(0, head.head) + t)) /
              (kPassage - 1);
    }
    CHECK_THAT(head.excess, WithinAbs(excess, 1e-5));
    CHECK_THAT(head.mass, WithinAbs(mass, 1e-6));
    CHECK_THAT(head.bias_mass, WithinAbs(bias_mass, 1e-9));
    CHECK_THAT(head.predicted, WithinAbs(predicted, 1e-9));
    // Over all rows, of which the measure leaves out the first.
    CHECK_THAT(head.trace, WithinAbs((excess * (kPassage - 1) + first) / kPassage, 1e-5));
  }
}

TEST_CASE("heads are those of all models with all entries, and their correlations exist") {
  const AttentionEntries lab = answered(all_trained(kRuns));
  CHECK(lab.heads().size() == 8);
  for (const PermutedCorrelation& it : lab.correlations()) {
    CHECK(std::abs(it.value.value) <= 1);
    CHECK(it.null_low <= it.null_high);
    CHECK((it.p > 0 && it.p <= 1));
  }
  CHECK(lab.errors().trace.value > 0);
  CHECK(lab.errors().trace.value < lab.errors().trace.value + lab.errors().bias.value);
}

TEST_CASE("models of the next token have causal distances") {
  TrainSettings run = entries_run(1);
  run.model.objective = Objective::next;
  const AttentionEntries lab = answered(all_trained({run, entries_run(1)}),
                                        {Objective::next, AttentionSkip::with, kRead, 5});
  CHECK(lab.models() == 1);
  check_estimate(lab.loss(), {read_with(run, {})});
  check_estimate(lab.rows()[2].ablated, {read_with(run, all_but(2)) - read_with(run, {})});
  CHECK_THAT(lab.rows()[2].entries, WithinAbs(10.0 / 12, 1e-12));
  CHECK(lab.learned().empty());
}

TEST_CASE("runs whose entries cannot be compared are refused") {
  const auto item = [](const std::vector<TrainSettings>& runs, const std::string& text = kStory,
                       const AttentionEntriesSettings& settings = kMasked) {
    return failure_of([&] { AttentionEntries(all_trained(runs), text, settings); }).item;
  };
  TrainSettings own = entries_run(1);
  own.optimizer.steps = 0;
  TrainSettings learned = own, other = own, share = own, both = own, normed = own, next = own;
  learned.model.positions = Positions::learned;
  other.model.length = 10;
  other.seed = 2;
  share.masked_share = 0.5;
  share.seed = 2;
  both.model.dropped_distance = 0;
  both.model.offset_mask = OffsetMask::learned;
  normed.model.query_key_norm = QueryKeyNorm::rms;
  next.model.objective = Objective::next;
  CHECK(item({}) == "runs");
  CHECK(item({learned}) == "runs");
  CHECK(item({normed}) == "runs");
  CHECK(item({next}) == "runs");
  CHECK(item({without(1, 0)}) == "runs");
  CHECK(item({own, without(2, 0)}) == "runs");
  CHECK(item({own, own}) == "runs");
  CHECK(item({own, both}) == "runs");
  CHECK(item({own, other}) == "runs");
  CHECK(item({own, share}) == "runs");
  CHECK(item({own}, "a short text") == "text");
  AttentionEntriesSettings few = kMasked;
  few.sequences = 15;
  CHECK(item({own}, kStory, few) == "sequences");
}

#include "labs/parallel_contexts.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "attention/softmax.h"
#include "catch.h"
#include "checkpoint_failure.h"
#include "small_model.h"
#include "small_run.h"
#include "statistics/rank_correlation.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr Index kWhole = 64, kContext = 48;
const std::string kSomeText = made_text(12000);
constexpr ParallelContextsSettings kPassages{16, 2, 8, 7};

TrainSettings rotary_run(std::uint64_t seed) {
  TrainSettings settings = small_run();
  settings.model.positions = Positions::rotary;
  settings.model.length = kWhole;
  settings.optimizer.steps = 8;
  settings.optimizer.learning_rate = 0.02;
  settings.seed = seed;
  return settings;
}

std::vector<TrainedModel> two_models() {
  std::vector<TrainedModel> models;
  for (const std::uint64_t seed : {1, 2})
    models.push_back(trained_model(rotary_run(seed), kSomeText));
  return models;
}

ParallelContexts read_by(std::vector<TrainedModel> models, double work = 1e9,
                         const ParallelContextsSettings& settings = kPassages) {
  ParallelContexts lab(std::move(models), kSomeText, settings);
  while (!lab.advance(work)) continue;
  CHECK(lab.progress() == 1);
  return lab;
}

const ContextRow& row_of(const std::vector<ContextRow>& rows, ContextReading reading,
                         Index blocks) {
  return *std::find_if(rows.begin(), rows.end(), [&](const ContextRow& row) {
    return row.reading == reading && row.blocks == blocks;
  });
}

// A passage read by hand: blocks of the context by their first and last token, then the last quarter.
struct ByHand {
  double loss = 0, entropy = 0;
  std::vector<double> masses;
};
ByHand read_by_hand(TrainedModel& trained, const std::vector<TokenId>& passage,
                    const std::vector<std::pair<Index, Index>>& blocks, bool kept,
                    Index shared = 0) {
  std::vector<TokenId> tokens, targets;
  Intervention<float> how;
  std::vector<Index> owner;  // of each token
  Index longest = 0;
  const auto add = [&](Index token, Index position, Index own_shared, Index first, Index block) {
    tokens.push_back(passage[static_cast<std::size_t>(token)]);
    targets.push_back(passage[static_cast<std::size_t>(token) + 1]);
    how.places.push_back({kept ? token : position, own_shared, first, 1});
    owner.push_back(block);
  };
  for (Index token = 0; token < shared; ++token) add(token, token, 0, 0, -1);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const auto first = std::ssize(tokens);
    for (Index token = blocks[block].first; token < blocks[block].second; ++token) {
      add(token, shared + token - blocks[block].first, shared, first, static_cast<Index>(block));
    }
    longest = std::max(longest, blocks[block].second - blocks[block].first);
  }
  const auto start = std::ssize(tokens);
  for (Index token = kContext; token < kWhole; ++token) {
    add(token, shared + longest + token - kContext, 0, 0, -1);
  }
  const auto length = std::ssize(tokens);
  trained.model.forward(tokens, length, how);
  ByHand found{0, 0, std::vector<double>(blocks.size())};
  const AttentionShape& shape = trained.model.shape();
  for (Index layer = 0; layer < 2; ++layer) {
    for (Index head = 0; head < 2; ++head) {
      for (Index query = start; query < length; ++query) {
        const VectorXd weights = trained.model.attention(layer)
                                     .col(shape.weights_column(0, head) + query)
                                     .cast<double>();
        for (Index key = 0; key < length; ++key) {
          if (weights[key] > 0) found.entropy -= weights[key] * std::log(weights[key]) / 64;
          const Index block = owner[static_cast<std::size_t>(key)];
          if (block >= 0) found.masses[static_cast<std::size_t>(block)] += weights[key];
        }
      }
    }
  }
  std::vector<double> each(static_cast<std::size_t>(length));
  trained.model.loss(targets, false, each);
  found.loss = std::accumulate(each.begin() + start, each.end(), 0.0) / 16 / std::log(2.0);
  return found;
}

std::vector<std::pair<Index, Index>> split(Index blocks, Index shared = 0) {
  std::vector<std::pair<Index, Index>> all;
  for (Index b = 0; b < blocks; ++b) {
    all.emplace_back(shared + (kContext - shared) * b / blocks,
                     shared + (kContext - shared) * (b + 1) / blocks);
  }
  return all;
}

}  // namespace

TEST_CASE("queries see the keys of their places, with their own factor") {
  const AttentionShape shape{2, 2, 3, 6, 2};
  const MatrixXd fused = random_matrix(shape.fused(), 12, 1);
  const std::vector<HeadReading<double>> readings(2);
  std::vector<TokenPlace> places(12);
  for (std::size_t t = 0; t < 12; ++t) {
    places[t].shared = static_cast<Index>(t % 3 == 0 ? 0 : 1);
    places[t].first = static_cast<Index>(t % 6 < 3 ? 0 : t % 6 < 5 ? 3 : 2);
    places[t].factor = t < 6 ? 1 : 2.5;
  }
  MatrixXd weights(6, 24), out(6, 12);
  attention_forward<double>(shape, fused, readings, weights, out, places);
  for (Index sequence = 0; sequence < 2; ++sequence) {
    const auto tokens = fused.middleCols(6 * sequence, 6);
    for (Index head = 0; head < 2; ++head) {
      for (Index t = 0; t < 6; ++t) {
        const TokenPlace& place = places[static_cast<std::size_t>(6 * sequence + t)];
        VectorXd expected = VectorXd::Zero(6);
        for (Index key = 0; key <= t; ++key) {
          if (key >= place.shared && key < place.first) continue;
          const double logit = tokens.col(t)
                                   .segment(3 * head, 3)
                                   .dot(tokens.col(key).segment(shape.key_row(head), 3));
          expected[key] = std::exp(place.factor * logit / std::sqrt(3.0));
        }
        expected /= expected.sum();
        const VectorXd own = weights.col(shape.weights_column(sequence, head) + t);
        CHECK((own - expected).norm() < 1e-13);
        const VectorXd read = tokens.middleRows(shape.value_row(head), 3) * expected;
        CHECK((out.col(6 * sequence + t).segment(3 * head, 3) - read).norm() < 1e-13);
      }
    }
  }
}

TEST_CASE("blocks are encoded as if each were alone, wherever they stand") {
  Model<double> model = drawn(small_llama());
  const std::vector<TokenId> tokens{0, 3, 6, 3, 1};
  model.forward(tokens, 5);
  const MatrixXd whole = model.logits();
  // One block whose positions are moved by 0: the same numbers.
  Intervention<double> how;
  for (Index t = 0; t < 5; ++t) how.places.push_back({t, 0, 0, 1});
  model.forward(tokens, 5, how);
  CHECK((model.logits() - whole).norm() < 1e-12);
  // Blocks of two and three tokens.
  model.forward(std::vector<TokenId>{0, 3}, 2);
  const MatrixXd first = model.logits();
  model.forward(std::vector<TokenId>{6, 3, 1}, 3);
  const MatrixXd second = model.logits();
  for (const Index position : {0, 2}) {
    how.places = {{0, 0, 0, 1}, {1, 0, 0, 1}};
    for (Index t = 0; t < 3; ++t) how.places.push_back({position + t, 0, 2, 1});
    model.forward(tokens, 5, how);
    CHECK((model.logits().leftCols(2) - first).norm() < 1e-12);
    CHECK((model.logits().rightCols(3) - second).norm() < 1e-12);
  }
  CHECK((second - whole.rightCols(3)).norm() > 1e-3);
}

TEST_CASE("places that a model cannot take are refused") {
  const std::vector<TokenId> tokens{0, 3, 6};
  const auto item = [&](const ModelSettings& settings, std::vector<TokenPlace> places) {
    Model<double> model = drawn(settings);
    return failure_of([&] { model.forward(tokens, 3, {{}, std::move(places)}); }).item;
  };
  const std::vector<TokenPlace> three(3);
  CHECK(item(small_llama(), {{0, 0, 0, 1}}) == "places");
  CHECK(item(small_llama(), {{0, 0, 0, 1}, {5, 0, 0, 1}, {1, 0, 0, 1}}) == "places");
  CHECK(item(small_model(), three) == "places");
  ModelSettings hard = small_llama();
  hard.attention = AttentionKind::hard;
  CHECK(item(hard, three) == "places");
}

TEST_CASE("each reading of the context is the one that is made by hand") {
  const ParallelContexts lab = read_by(two_models(), 1);
  const std::vector<ContextRow> rows = lab.rows();
  CHECK(rows.size() == 17);
  std::vector<TrainedModel> models = two_models();
  const auto passages = validation_passages({}, kSomeText, kWhole, kPassages.sequences);
  CHECK(passages.size() == 16);
  const auto compared = [&](ContextReading reading, Index blocks, const auto& by_hand) {
    const ContextRow& row = row_of(rows, reading, blocks);
    double loss = 0, entropy = 0;
    for (TrainedModel& model : models) {
      for (const std::vector<TokenId>& passage : passages) {
        const ByHand found = by_hand(model, passage);
        loss += found.loss / 32;
        entropy += found.entropy / 32;
      }
    }
    CHECK_THAT(row.loss, WithinAbs(loss, 1e-6));
    CHECK_THAT(row.entropy, WithinAbs(entropy, 1e-6));
    CHECK_THAT(row.added.value, WithinAbs(loss - rows[0].loss, 1e-6));
    CHECK_THAT(row.entropy_added.value, WithinAbs(entropy - rows[0].entropy, 1e-6));
    CHECK_THAT((row.added_early.value + 3 * row.added_late.value) / 4,
               WithinAbs(row.added.value, 1e-12));
    CHECK_THAT((row.first_layer_added.value + row.last_layer_added.value) / 2,
               WithinAbs(row.entropy_added.value, 1e-12));
  };
  const auto with = [](std::vector<std::pair<Index, Index>> blocks, bool kept, Index shared = 0) {
    return [=](TrainedModel& model, const std::vector<TokenId>& passage) {
      return read_by_hand(model, passage, blocks, kept, shared);
    };
  };
  compared(ContextReading::full, 1, with(split(1), true));
  compared(ContextReading::full, 1, with(split(1), false));  // rotary: only distances count
  compared(ContextReading::none, 0, with({}, false));
  for (const Index blocks : {2, 4, 8}) {
    compared(ContextReading::reset, blocks, with(split(blocks), false));
    compared(ContextReading::kept, blocks, with(split(blocks), true));
    compared(ContextReading::prefix, blocks, with(split(blocks, 8), false, 8));
  }
  const auto eighths = split(8);
  compared(ContextReading::last, 8, with({eighths[6], eighths[7]}, false));
  compared(ContextReading::mass, 8, [&](TrainedModel& model, const std::vector<TokenId>& passage) {
    const ByHand all = read_by_hand(model, passage, eighths, false);
    std::vector<std::size_t> order(8);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return all.masses[a] > all.masses[b]; });
    std::sort(order.begin(), order.begin() + 2);
    return read_by_hand(model, passage, {eighths[order[0]], eighths[order[1]]}, false);
  });
  const ContextRow& random = row_of(rows, ContextReading::random, 8);
  CHECK(random.loss != row_of(rows, ContextReading::last, 8).loss);
  CHECK(row_of(rows, ContextReading::reset, 8).added.error > 0);
}

TEST_CASE("sharpening gives the last block the entropy of one block", "[long]") {
  const std::vector<ContextRow> rows = read_by(two_models()).rows();
  const double full = rows[0].entropy;
  for (const Index blocks : {2, 4, 8}) {
    const ContextRow& sharpened = row_of(rows, ContextReading::sharpened, blocks);
    const double before = row_of(rows, ContextReading::reset, blocks).entropy;
    CHECK(std::abs(sharpened.entropy - full) < 0.25 * std::abs(before - full) + 1e-3);
    CHECK((sharpened.factor > 1) == (before > full));
  }
}

TEST_CASE("selecting seven blocks of eight at random leaves one out", "[long]") {
  const std::vector<ContextRow> rows = read_by(two_models(), 1e9, {16, 7, 8, 7}).rows();
  const double all = row_of(rows, ContextReading::reset, 8).entropy;
  CHECK(row_of(rows, ContextReading::random, 8).entropy < all);
  CHECK(row_of(rows, ContextReading::random, 8).entropy >
        row_of(rows, ContextReading::none, 0).entropy);
}

TEST_CASE("correlations over passages and heads have their permutations") {
  const ParallelContexts lab = read_by(two_models());
  const std::vector<PassageCorrelation> passages = lab.passages();
  REQUIRE(passages.size() == 3);
  for (const PassageCorrelation& it : passages) {
    CHECK(std::abs(it.correlation.value.value) <= 1);
    CHECK(it.correlation.null_low < it.correlation.null_high);
    CHECK((it.correlation.p > 0 && it.correlation.p <= 1));
  }
  const std::vector<ContextHead> heads = lab.heads();
  REQUIRE(heads.size() == 8);
  double entropy = 0, added = 0;
  for (const ContextHead& head : heads) {
    entropy += head.entropy / 8;
    added += head.entropy_added.value / 8;
  }
  const std::vector<ContextRow> rows = lab.rows();
  CHECK_THAT(entropy, WithinAbs(rows[0].entropy, 1e-12));
  CHECK_THAT(added, WithinAbs(row_of(rows, ContextReading::reset, 8).entropy_added.value, 1e-12));
  // With the gain of the norm in W_QK.
  const TrainedModel own = trained_model(rotary_run(2), kSomeText);
  const HeadFactors factors = own.model.head(1, 1);
  const VectorXd gain =
      own.model.parameters().segment(own.model.layout().layers[1].norm1, 16).cast<double>();
  const MatrixXd w =
      gain.asDiagonal() * factors.query * factors.key.transpose() * gain.asDiagonal();
  CHECK_THAT(heads[7].mean, WithinAbs(w.trace() / 16, 1e-9));
  CHECK_THAT(heads[7].variance,
             WithinAbs((w * w).trace() / 16 - std::pow(w.trace() / 16, 2), 1e-9));
  std::vector<VectorXd> a(2, VectorXd(4)), b(2, VectorXd(4));
  for (Index i = 0; i < 8; ++i) {
    const ContextHead& head = heads[static_cast<std::size_t>(i)];
    a[static_cast<std::size_t>(i / 4)][i % 4] = head.entropy;
    b[static_cast<std::size_t>(i / 4)][i % 4] = head.entropy_added.value;
  }
  const double expected = (rank_correlation(a[0], b[0]) + rank_correlation(a[1], b[1])) / 2;
  CHECK_THAT(lab.properties()[2].value.value, WithinAbs(expected, 1e-12));
}

TEST_CASE("permuted correlations: certain, absent, undefined, in common and one by one") {
  VectorXd rising(8), ties(8);
  rising << 1, 2, 3, 4, 5, 6, 7, 8;
  ties << 1, 1, 2, 2, 2, 4, 4, 4;
  CHECK(centred_ranks(ties)[0] == -3);
  CHECK(centred_ranks(ties).sum() == 0);
  for (const auto kind : {Permutation::common, Permutation::separate}) {
    const PermutedCorrelation same =
        permuted_correlation({rising, rising}, {rising, ties}, kind, 1);
    CHECK_THAT(same.value.value, WithinAbs((1 + rank_correlation(rising, ties)) / 2, 1e-12));
    CHECK(same.p < 0.01);
    CHECK(same.null_low < -0.3);
    CHECK(same.null_high > 0.3);
    const PermutedCorrelation opposed =
        permuted_correlation({rising, rising}, {rising, -rising}, kind, 1);
    CHECK_THAT(opposed.value.value, WithinAbs(0, 1e-12));
    CHECK(opposed.p > 0.9);
  }
  // What is of the same items has a null as wide as that of one group.
  const auto width = [&](Permutation kind) {
    const PermutedCorrelation found = permuted_correlation(
        {rising, rising, rising, rising}, {rising, rising, rising, rising}, kind, 1);
    return found.null_high - found.null_low;
  };
  CHECK(width(Permutation::common) > 1.5 * width(Permutation::separate));
  const PermutedCorrelation none =
      permuted_correlation({VectorXd::Ones(8)}, {rising}, Permutation::separate, 1);
  CHECK(std::isnan(none.value.value));
  CHECK(std::isnan(none.p));
}

TEST_CASE("runs whose contexts cannot be read in parallel are refused") {
  const auto item = [](std::vector<TrainedModel> models, const std::string& text = kSomeText,
                       const ParallelContextsSettings& settings = kPassages) {
    return failure_of([&] { ParallelContexts(std::move(models), text, settings); }).item;
  };
  const auto of = [](auto... settings) {
    std::vector<TrainedModel> all;
    (all.push_back(trained_model(settings, kSomeText)), ...);
    return all;
  };
  TrainSettings own = rotary_run(1);
  own.optimizer.steps = 0;
  TrainSettings learned = own, none = own, shorter = own, other = own;
  learned.model.positions = Positions::learned;
  none.model.attention = AttentionKind::none;
  shorter.model.length = 20;
  other.model.length = 32;
  other.seed = 2;
  CHECK(item({}) == "runs");
  CHECK(item(of(learned)) == "runs");
  CHECK(item(of(none)) == "runs");
  CHECK(item(of(shorter)) == "runs");
  CHECK(item(of(own, other)) == "runs");
  CHECK(item(of(own, own)) == "runs");
  CHECK(item(of(own), "a short text") == "text");
  CHECK(item(of(own), kSomeText, {1, 2, 8, 7}) == "sequences");
  CHECK(item(of(own), kSomeText, {16, 8, 8, 7}) == "kept_blocks");
  CHECK(item(of(own), kSomeText, {16, 2, 17, 7}) == "shared_prefix");
}

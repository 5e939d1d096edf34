// Attention sinks and attention as an explanation: MiniLM against numbers of an independent script, a causal model.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint_failure.h"
#include "inference_models.h"
#include "labs/attention_explanation.h"
#include "labs/attention_sinks.h"
#include "labs/head_outputs.h"
#include "minilm.h"
#include "support/error.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;

namespace {

/// The passages of the reference file.
std::vector<Passage> passages_of(const nlohmann::json& expected, const TextTokenizer& tokenizer) {
  std::vector<Passage> passages =
      cut_passages(tokenizer, expected.at("text").get<std::string>(), expected.at("length"));
  const nlohmann::json& ids = expected.at("passages");
  REQUIRE(passages.size() >= ids.size());
  passages.resize(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    CHECK(passages[i].ids == ids[i].get<std::vector<int>>());
  }
  return passages;
}

template <class Job>
void finish(Job& job) {
  while (!job.advance(1e8)) continue;
  CHECK(job.steps_done() == job.steps_wanted());
}

std::shared_ptr<const Transformer> tiny() { return transformer_of(tiny_gpt2()); }

/// Passages of the tiny causal model.
std::vector<Passage> tiny_passages(std::size_t count) {
  const std::vector<std::vector<int>> ids{
      {3, 1, 4, 2, 5, 0, 6}, {2, 6, 1, 0, 3, 5, 4}, {5, 2, 0, 6, 1, 4, 3}, {1, 0, 5, 3, 6, 2, 4}};
  std::vector<Passage> passages;
  for (std::size_t i = 0; i < count; ++i) passages.push_back({ids[i], 0, 0});
  return passages;
}

}  // namespace

TEST_CASE("Attention sinks of MiniLM have the numbers of an independent script", "[labs][sample]") {
  const nlohmann::json reference_file = reference("minilm-labs.json");
  const nlohmann::json& expected = reference_file.at("sinks");
  const auto model = minilm_transformer();
  const TextTokenizer tokenizer = minilm_tokenizer();
  const std::vector<Passage> passages = passages_of(reference_file, tokenizer);
  AttentionSinks lab(model, {passages.begin(), passages.begin() + 2},
                     {passages.begin() + 2, passages.end()}, {0.1, 1});
  CHECK(lab.rows().empty());
  finish(lab);

  std::size_t compared = 0;
  for (const SinkRow& row : lab.rows()) {
    const auto name = std::string(kSinkChangeNames[static_cast<std::size_t>(row.change)].name);
    INFO(name);
    if (row.change == SinkChange::none) CHECK(std::abs(row.output_change.value) < 1e-12);
    for (const auto& other : expected.at("rows")) {
      if (other.at("change") != name) continue;
      ++compared;
      CHECK_THAT(row.sink, WithinAbs(other.at("sink").get<double>(), 1e-4));
      CHECK(row.sinks == other.at("sinks"));
      if (row.change == SinkChange::none) continue;
      CHECK_THAT(row.output_change.value, WithinAbs(other.at("output_change").get<double>(), 1e-4));
      CHECK(row.output_change.error > 0);
    }
  }
  CHECK(compared == expected.at("rows").size());
  CHECK(compared + 2 == kSinkChangeNames.size());  // all but the random direction and value
  // The size of the first value matters, not its content.
  const auto change_by = [&](SinkChange change) {
    return lab.rows()[static_cast<std::size_t>(change)].output_change.value;
  };
  CHECK(change_by(SinkChange::random_value) > 0.3 * change_by(SinkChange::mean_value));
  CHECK(change_by(SinkChange::random_value) > 10 * change_by(SinkChange::zero_value));

  const std::vector<SinkHead> heads = lab.heads();
  REQUIRE(heads.size() == expected.at("heads").size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const SinkHead& head = heads[i];
    const auto& other = expected.at("heads")[i];
    const auto check = [&](const char* name, double value) {
      INFO(name << " of head " << i);
      CHECK_THAT(value, WithinAbs(other.at(name).get<double>(), 2e-3));
    };
    check("sink", head.sink.value);
    check("entropy", head.entropy);
    check("value_norm", head.value_norm.value);
    check("tag_share", head.tag_share.value);
    check("other_share", head.other_share.value);
    check("tag_cosine", head.tag_cosine.value);
    check("missing_cosine", head.missing_cosine.value);
  }
  const std::vector<SinkLayer> layers = lab.layers();
  REQUIRE(layers.size() == expected.at("layers").size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& other = expected.at("layers")[i];
    const double a = other.at("first_at_start"), b = other.at("first_in_middle"),
                 c = other.at("other_at_start"), d = other.at("other_in_middle");
    CHECK_THAT(layers[i].first_at_start.value, WithinAbs(a, 1e-4));
    CHECK_THAT(layers[i].first_in_middle.value, WithinAbs(b, 1e-4));
    CHECK_THAT(layers[i].other_at_start.value, WithinAbs(c, 1e-4));
    CHECK_THAT(layers[i].other_in_middle.value, WithinAbs(d, 1e-4));
    CHECK_THAT(layers[i].position.value, WithinAbs((a + c - b - d) / 2, 1e-4));
    CHECK_THAT(layers[i].token.value, WithinAbs((a + b - c - d) / 2, 1e-4));
  }
  CHECK(lab.between_passages() > 0.1);
  CHECK(lab.value_correlation() < -0.3);
  CHECK(std::isfinite(lab.value_in_layers().p));
}

TEST_CASE("What attention explains in MiniLM has the numbers of an independent script",
          "[labs][sample]") {
  const nlohmann::json reference_file = reference("minilm-labs.json");
  const nlohmann::json& expected = reference_file.at("explanation");
  const auto model = minilm_transformer();
  const TextTokenizer tokenizer = minilm_tokenizer();
  const std::vector<Passage> passages = passages_of(reference_file, tokenizer);
  AttentionExplanation lab(model, passages, {passages.front()},
                           tokenizer.vocabulary().find("[MASK]"), 1);
  CHECK(lab.rows().empty());
  finish(lab);
  CHECK_THAT(lab.changes()[0].value, WithinAbs(expected.at("change_dropped").get<double>(), 1e-4));
  CHECK_THAT(lab.changes()[1].value, WithinAbs(expected.at("change_masked").get<double>(), 1e-4));
  // Ranks of nine tokens: only equal where no two change places.
  CHECK_THAT(lab.agreement().value, WithinAbs(expected.at("agreement").get<double>(), 1e-9));
  const std::vector<ExplanationHead> heads = lab.heads();
  REQUIRE(heads.size() == expected.at("attention_dropped").size());
  std::size_t equal = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto near = [&](const Estimate& own, const char* name) {
      equal += std::abs(own.value - expected.at(name)[i].get<double>()) < 1e-9;
      return WithinAbs(expected.at(name)[i].get<double>(), 0.1);
    };
    CHECK_THAT(heads[i].attention[0].value, near(heads[i].attention[0], "attention_dropped"));
    CHECK_THAT(heads[i].norm[0].value, near(heads[i].norm[0], "norm_dropped"));
    CHECK_THAT(heads[i].norm[1].value, near(heads[i].norm[1], "norm_masked"));
  }
  CHECK(equal > 3 * heads.size() - 6);
  const std::vector<ExplanationRow> rows = lab.rows();
  REQUIRE(rows.size() == kExplanationNames.size());
  const auto agreement = [&](Explanation it, Removal removal) {
    return rows[static_cast<std::size_t>(it)].agreement[static_cast<std::size_t>(removal)];
  };
  const auto row = [&](Explanation it) { return agreement(it, Removal::dropped).whole.value; };
  for (const Removal removal : {Removal::dropped, Removal::masked}) {
    const double frequency = agreement(Explanation::frequency, removal).whole.value;
    const ExplanationAgreement all = agreement(Explanation::all, removal);
    CHECK_THAT(all.gain.value, WithinAbs(all.whole.value - frequency, 1e-12));
    CHECK(std::abs(all.partial.value) <= 1);
  }
  CHECK(agreement(Explanation::all, Removal::masked).gain.value !=
        agreement(Explanation::all, Removal::dropped).gain.value);
  CHECK_THAT(row(Explanation::last_layer_norm),
             WithinAbs(expected.at("last_layer_norm").get<double>(), 1e-9));
  CHECK_THAT(row(Explanation::all), WithinAbs(expected.at("all").get<double>(), 1e-9));
  CHECK(std::isnan(row(Explanation::best)));  // there is no other half
  CHECK(lab.nulls().size() == 4);
}

TEST_CASE("Attention to a key and entropies are those of the queries that see it", "[labs]") {
  Eigen::MatrixXf weights(3, 3);  // column = query
  weights << 1, 0.4f, 0.2f, 0, 0.6f, 0.3f, 0, 0, 0.5f;
  LayerRules rules;
  CHECK_THAT(received(weights, 1, rules), WithinAbs(0.15, 1e-6));
  rules.causal = true;
  CHECK_THAT(received(weights, 0, rules), WithinAbs(0.3, 1e-6));
  CHECK_THAT(received(weights, 1, rules), WithinAbs(0.3, 1e-6));
  const double two = -(0.4 * std::log(0.4) + 0.6 * std::log(0.6)) / std::log(2);
  const double three =
      -(0.2 * std::log(0.2) + 0.3 * std::log(0.3) + 0.5 * std::log(0.5)) / std::log(3);
  CHECK_THAT(mean_entropy(weights, rules), WithinAbs((two + three) / 2, 1e-6));
  rules.reach = 1;
  CHECK_THAT(received(weights, 0, rules), WithinAbs(0.4, 1e-6));
  rules.learned_sinks = true;  // of the last query's two keys
  const double last = -(0.375 * std::log(0.375) + 0.625 * std::log(0.625)) / std::log(2);
  CHECK_THAT(mean_entropy(weights, rules), WithinAbs((two + last) / 2, 1e-6));
}

TEST_CASE("A causal model has its sinks and explanations without special tokens", "[labs]") {
  const std::vector<Passage> passages = tiny_passages(4);
  AttentionSinks sinks(tiny(), {passages.begin(), passages.begin() + 2},
                       {passages.begin() + 2, passages.end()}, {0.1, 3});
  finish(sinks);
  const std::vector<SinkRow> rows = sinks.rows();
  REQUIRE(rows.size() == kSinkChangeNames.size());
  const auto row = [&](SinkChange it) { return rows[static_cast<std::size_t>(it)]; };
  CHECK(row(SinkChange::dropped).sink == 0);
  CHECK(row(SinkChange::none).sink > 0);
  for (std::size_t k = 1; k < rows.size(); ++k) CHECK(rows[k].output_change.value > 0);
  CHECK(row(SinkChange::random).sink != row(SinkChange::direction).sink);

  std::vector<Passage> text = passages;  // with unequal frequencies
  text.push_back({{0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 5}, 0, 0});
  AttentionExplanation explanation(tiny(), text, passages, {}, 3);
  explanation.advance(0);
  CHECK(explanation.steps_done() > 0);
  CHECK(explanation.steps_done() < explanation.steps_wanted());
  finish(explanation);
  CHECK(explanation.heads().size() == kTinyLayers * kTinyHeads);
  CHECK(explanation.nulls().size() == 2);  // nothing is masked
  CHECK(std::isnan(explanation.agreement().value));
  for (const ExplanationRow& found : explanation.rows()) {
    CHECK(std::abs(found.agreement[0].whole.value) <= 1);
    CHECK(std::isnan(found.agreement[1].whole.value));
    CHECK(std::isnan(found.agreement[1].gain.value));
  }
  // A token later in the passage has fewer queries that it can change.
  CHECK(explanation.rows().back().agreement[0].whole.value < 0);
}

TEST_CASE("Labs on text refuse passages without room for content", "[labs]") {
  const std::vector<Passage> few{{{3, 1, 4, 2}, 0, 0}};
  CHECK_THROWS_WITH(
      AttentionSinks(tiny(), few, few, {0.1, 1}),
      ContainsSubstring(
          "length must leave room for 4 content tokens to which others attend: found 2"));
  CHECK_THROWS_WITH(
      AttentionExplanation(tiny(), few, few, {}, 1),
      ContainsSubstring(
          "length must leave room for 4 content tokens to which others attend: found 2"));
  const std::vector<Passage> enough = tiny_passages(1);
  CHECK_THROWS_WITH(AttentionSinks(tiny(), enough, enough, {1.5, 1}),
                    ContainsSubstring("sink_threshold must be "));
}

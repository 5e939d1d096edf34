// Text that a language model writes itself, repeated sequences, and induction heads.
#include "prediction/random_tokens.h"

#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint_failure.h"
#include "inference/forward_pass.h"
#include "inference/text_attention.h"
#include "inference_models.h"
#include "small_model.h"
#include "text/tokenizer.h"
#include "training/export_file.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// As `eigenscope train` writes it, with an output of its own, its weights times `scale` and another rotary base
/// and a window in its last layer.
std::shared_ptr<const Transformer> llama(float scale) {
  ModelSettings settings = small_llama();
  settings.length = 16;
  settings.output = OutputKind::free;
  Model<float> model(settings);
  initialize(model, {}, 3);
  model.parameters() *= scale;
  auto config = nlohmann::json::parse(export_config(settings, TensorFormat::f32));
  config["model_type"] = "qwen2";  // which reads the windows of its layers
  config["use_sliding_window"] = true;
  config["layer_types"] =
      std::vector<std::string>(config.at("num_hidden_layers").get<std::size_t>(), "full_attention");
  config["layer_types"].back() = "sliding_attention";
  config["rope_local_base_freq"] = 5;
  config["sliding_window"] = 2;
  return std::make_shared<const Transformer>(open(export_model(model, TensorFormat::f32)),
                                             Config::parse(config.dump()));
}

/// The law of the token after `ids`, by a forward pass over all of them.
VectorXd law_after(const std::shared_ptr<const Transformer>& model, const std::vector<int>& ids) {
  ForwardPass pass(model, {{ids, 0, 0}});
  while (!pass.done()) pass.advance();
  const VectorXd logits =
      (model->read_output()(model->finished(pass.tokens(0)).rightCols(1))).cast<double>();
  const VectorXd weights = (logits.array() - logits.maxCoeff()).exp();
  return weights / weights.sum();
}

}  // namespace

TEST_CASE("sampled sequences have the law of the model, token after token", "[sampled]") {
  constexpr Index kCount = 3000;
  for (const auto& model : {transformer_of(tiny_gpt2()), llama(1.5f)}) {
    RandomTokens tokens{TokenLaw::sampled};
    for (int id = 0; id < kTinyTokens; ++id) tokens.ids.push_back(id);
    tokens.before = {3, 1};
    const auto passages = sampled_passages(*model, tokens, kCount, 5, 11);
    REQUIRE(passages.size() == kCount);
    // Counts of what follows each start of a sequence.
    std::map<std::vector<int>, VectorXd> counts;
    for (const Passage& passage : passages) {
      REQUIRE(passage.length() == 5);
      CHECK(passage.leading == 2);
      for (std::ptrdiff_t t = 2; t < 5; ++t) {
        const std::vector<int> start(passage.ids.begin(), passage.ids.begin() + t);
        auto& found = counts.try_emplace(start, VectorXd::Zero(kTinyTokens)).first->second;
        found[passage.ids[static_cast<std::size_t>(t)]] += 1;
      }
    }
    double chi_square = 0, freedom = 0;
    for (const auto& [start, found] : counts) {
      if (found.sum() < 300) continue;
      const VectorXd expected = law_after(model, start) * found.sum();
      for (Index i = 0; i < expected.size(); ++i) {
        if (expected[i] < 5) continue;
        chi_square += (found[i] - expected[i]) * (found[i] - expected[i]) / expected[i];
        freedom += 1;
      }
    }
    CHECK(freedom > 15);
    CHECK(chi_square < freedom + 4 * std::sqrt(2 * freedom));
    CHECK(law_after(model, {3, 1}).maxCoeff() > 1.5 / kTinyTokens);  // not that of any model
  }
}

TEST_CASE("sampled sequences without special tokens begin with a token of the model", "[sampled]") {
  const auto model = llama(1);
  RandomTokens tokens{TokenLaw::sampled};
  tokens.ids = {1, 2, 5};
  const auto passages = sampled_passages(*model, tokens, 6, 16, 4);
  std::set<std::vector<int>> different;
  for (const Passage& passage : passages) {
    CHECK(passage.length() == 16);
    CHECK(passage.leading == 0);
    for (const int id : passage.ids) CHECK((id == 1 || id == 2 || id == 5));
    different.insert(passage.ids);
  }
  CHECK(different.size() == 6);
  CHECK(sampled_passages(*model, tokens, 6, 16, 4)[3].ids == passages[3].ids);
  CHECK(sampled_passages(*model, tokens, 6, 16, 5)[3].ids != passages[3].ids);
  CHECK(failure_of([&] { sampled_passages(*model, tokens, 6, 18, 4); }).item == "length");
  CHECK(failure_of([&] { random_passages(tokens, 6, 16, 4); }).item == "tokens_law");
}

TEST_CASE("a head's scores are the weights of the previous token, of equal tokens and after them",
          "[sampled]") {
  const std::vector<int> ids{4, 7, 2, 4, 7, 4};
  Eigen::MatrixXf weights = Eigen::MatrixXf::Zero(6, 6);
  for (Index query = 1; query < 6; ++query) weights(query - 1, query) = 0.25f;
  weights(1, 3) = weights(2, 4) = 0.5f;  // after the first 4 and the first 7
  weights(0, 5) = weights(3, 5) = 0.125f;
  weights(4, 5) = 0.75f;
  PatternMeter meter;
  CHECK(std::isnan(meter.scores().previous_token));
  meter.add(weights, ids);
  CHECK(meter.scores().previous_token == Approx((4 * 0.25 + 0.75) / 5));
  CHECK(meter.scores().duplicate_token == Approx(0.25 / 3));
  CHECK(meter.scores().induction == Approx((0.5 + 0.5 + 0.75) / 3));
  // A learned sink, which has the rest of a row, leaves the scores of the others' weights over their sum.
  Eigen::MatrixXf whole = weights;
  for (Index query = 1; query < 6; ++query) whole.col(query) /= weights.col(query).sum();
  PatternMeter beside, without;
  beside.add(weights, ids, /*learned_sinks=*/true);
  without.add(whole, ids);
  CHECK(beside.scores().previous_token == Approx(without.scores().previous_token));
  CHECK(beside.scores().duplicate_token == Approx(without.scores().duplicate_token));
  CHECK(beside.scores().induction == Approx(without.scores().induction));
  meter.add(Eigen::MatrixXf::Zero(6, 6), ids);
  CHECK(meter.scores().induction == Approx((0.5 + 0.5 + 0.75) / 6));
  PatternMeter none;
  none.add(weights, std::vector<int>{1, 2, 3, 4, 4, 5});  // 4 follows 4 itself: no token between
  CHECK(std::isnan(none.scores().induction));
  CHECK(none.scores().duplicate_token == Approx(weights(3, 4)));
}

TEST_CASE("repeated passages hold different tokens twice", "[sampled]") {
  const TextTokenizer bytes = TextTokenizer::parse(byte_tokenizer_json(), "tokenizer.json");
  const auto text = cut_passages(bytes, "abcdefghij abc", 6);
  for (const Index length : {12, 13}) {
    const auto passages = repeated_passages(text, 3, length, 1);
    REQUIRE(passages.size() == 3);
    CHECK(passages[0].ids != passages[1].ids);
    for (const Passage& passage : passages) {
      REQUIRE(passage.length() == length);
      const auto half = static_cast<std::size_t>((length + 1) / 2);
      const std::set<int> first(passage.ids.begin(), passage.ids.begin() + (length + 1) / 2);
      CHECK(first.size() == half);
      for (std::size_t t = half; t < passage.ids.size(); ++t) {
        CHECK(passage.ids[t] == passage.ids[t - half]);
      }
    }
  }
  check_failure(failure_of([&] { repeated_passages(text, 3, 24, 1); }), "length",
                "11 different tokens", "from 4 to 22");
  CHECK(failure_of([&] { repeated_passages(text, 3, 3, 1); }).item == "length");
}

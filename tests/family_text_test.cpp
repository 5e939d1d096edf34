// Forward passes of every family that reads text, on small checkpoints, against an independent script.
#include <algorithm>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "advance_layer.h"
#include "catch.h"
#include "checkpoint/heads.h"
#include "checkpoint_failure.h"
#include "inference/forward_pass.h"
#include "inference_models.h"
#include "paths.h"
#include "prediction/layer_covariance.h"
#include "prediction/levels.h"
#include "prediction/predicted_attention.h"
#include "prediction/prediction.h"
#include "prediction/random_tokens.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Json = nlohmann::json;

namespace {

const Json& all_models() {
  static const Json read = reference("family-forward.json");
  return read;
}

const Json& models_of(const std::string& family) { return all_models().at(family); }

std::shared_ptr<const Transformer> open_model(const TinyModel& model, const Json& config) {
  return transformer_of(model, config.dump());
}

/// What is refused when the model is run on a passage after `change` to its tensors and config.
template <class Change>
Failure refusal(const std::string& family, Change change) {
  const Json& expected = models_of(family).back();
  TinyModel model = wave_model(expected);
  Json config = expected.at("config");
  change(model, config);
  return failure_of([&] {
    ForwardPass pass(open_model(model, config), {{{1, 2}, 0, 0}});
    while (!pass.done()) pass.advance();
  });
}

}  // namespace

TEST_CASE("forward passes of all families have the numbers of an independent script",
          "[families]") {
  std::set<std::string> covered{"BERT", "GPT-2"};  // in inference_test.cpp
  for (const Family& family : families()) {
    if (!family.reads_text() || covered.contains(std::string(family.name))) continue;
    for (const Json& expected : models_of(std::string(family.name))) {
      CAPTURE(family.name, expected.at("config").dump());
      const auto model = open_model(wave_model(expected), expected.at("config"));
      CHECK(model->family().name == family.name);
      const auto ids = expected.at("ids").get<std::vector<int>>();
      ForwardPass pass(model, {{ids, 0, 0}});
      double worst = 0;
      for (const Json& tokens : expected.at("layers")) {
        advance_layer(pass);
        worst = std::max(worst, difference(pass.tokens(0), tokens));
      }
      CHECK(pass.done());
      CAPTURE(worst);
      CHECK(worst < 1e-5);
      CHECK(worst > 0);
      if (expected.at("logits").empty()) continue;
      MatrixXf logits = model->read_output()(model->finished(pass.tokens(0)).rightCols(1));
      cap_logits<float>(model->output_cap(),
                        {logits.data(), static_cast<std::size_t>(logits.size())});
      CHECK(difference(logits, Json::array({expected.at("logits")})) < 1e-5);
    }
  }
}

TEST_CASE("passages together, one by one and in parts go through every family with the same bits",
          "[families]") {
  std::vector<const Json*> last;
  for (const auto& [family, models] : all_models().items()) last.push_back(&models.back());
  // Without what their last ones have.
  for (const char* const family : {"Falcon-H1", "Gemma 4", "Granite 4", "Nemotron-H"}) {
    const Json& models = models_of(family);
    last.push_back(&models[models.size() - 3]);
    last.push_back(&models[models.size() - 2]);
  }
  for (const Json* const one : last) {
    const Json& expected = *one;
    CAPTURE(expected.at("config").dump());
    const auto model = open_model(wave_model(expected), expected.at("config"));
    const auto ids = expected.at("ids").get<std::vector<int>>();
    const std::vector<std::vector<int>> texts{
        ids, {ids.rbegin(), ids.rend()}, {ids.begin(), ids.begin() + 2}, ids};
    std::vector<Passage> passages;
    for (const auto& text : texts) passages.push_back({text, 0, 0});
    ForwardPass together(model, passages);
    std::vector<PassageMemory> memory;
    for (const auto& text : texts) memory.emplace_back(*model, text, model->embed(text));
    // Their layers are not kept in memory, or read more than their tokens.
    if (model->has_mixtures() || model->has_mixers() || model->has_lent_keys() ||
        model->has_layer_inputs()) {
      std::deque<ForwardPass> alone;
      std::vector<MatrixXf> tokens;
      for (const Passage& passage : passages) {
        alone.emplace_back(model, std::vector{passage});
        tokens.push_back(model->embed(passage));
      }
      for (int layer = 0; layer < model->layers(); ++layer) {
        advance_layer(together);
        std::vector<MatrixXf> read, in_parts = tokens;
        for (std::size_t k = 0; k < texts.size(); ++k) {
          advance_layer(alone[k]);
          CHECK(alone[k].tokens(0) == together.tokens(k));
          read.push_back(together.read(k));
        }
        LayerRest rest(*model, memory, read, in_parts, /*most_hidden=*/1);
        rest.start(layer);
        rest.advance_to(1);
        CHECK(rest.progress() == Approx(1));
        CHECK(in_parts == std::vector{together.tokens(0), together.tokens(1), together.tokens(2),
                                      together.tokens(3)});
        tokens = in_parts;
      }
      CHECK(together.done());
      CHECK(together.steps_done() == together.steps_wanted());
      continue;
    }
    std::vector<MatrixXf> tokens;
    for (const auto& text : texts) tokens.push_back(model->embed(text));
    for (int layer = 0; layer < model->layers(); ++layer) {
      const LayerWeights weights = model->read_layer(layer);
      const LayerWeights stored = model->read_heads(layer, /*most_weights=*/0);
      const LayerRules& rules = model->rules(layer);
      const std::vector<PassageTrace> traces = advance_layer(together);
      std::vector<MatrixXf> read, in_parts = tokens;
      for (std::size_t k = 0; k < texts.size(); ++k) {
        const MatrixXf states = states_of(weights, tokens[k]);
        CHECK(traces[k].states == states);
        const auto check = [&](int head, const HeadTrace& trace) {
          CHECK(traces[k].heads[static_cast<std::size_t>(head)].weights == trace.weights);
        };
        const RotaryTurns turns(rules.rotary, states.cols());
        const HeadTokens all = all_tokens(weights, states), by_head = all_tokens(stored, states);
        CHECK(by_head.queries == all.queries);
        CHECK(by_head.keys == all.keys);
        CHECK(by_head.values == all.values);
        for (int head = 0; head < rules.heads; ++head) {
          const HeadTokens own = head_tokens(stored, rules, head, {&states, 1}).front();
          const HeadTokens same = head_among(all, weights, rules, head);
          CHECK(own.queries == same.queries);
          CHECK(own.keys == same.keys);
          CHECK(own.values == same.values);
        }
        read.push_back(run_heads(weights, rules, turns, all, {}, check));
        finish_layer(weights, rules, read[k], tokens[k]);
      }
      LayerRest rest(*model, memory, read, in_parts, /*most_hidden=*/1);
      rest.start(layer);
      rest.advance_to(1);
      for (std::size_t k = 0; k < texts.size(); ++k) {
        CHECK(together.tokens(k) == tokens[k]);
        CHECK(in_parts[k] == tokens[k]);
      }
    }
    CHECK(together.done());
    CHECK(together.steps_done() == together.steps_wanted());
  }
}

TEST_CASE("heads one by one are those of the whole layer, and real keys give its logits",
          "[families]") {
  for (const auto& [family, models] : all_models().items()) {
    for (const Json& expected : models) {
      CAPTURE(family, expected.at("config").dump());
      const auto model = open_model(wave_model(expected), expected.at("config"));
      ForwardPass pass(model, {{expected.at("ids").get<std::vector<int>>(), 0, 0}});
      const auto length = static_cast<Index>(expected.at("ids").size());
      while (!pass.done()) {
        if (!model->has_heads(pass.layer())) {
          advance_layer(pass);
          continue;
        }
        const LayerRules& rules = model->rules(pass.layer());
        const LayerWeights weights = pass.weights();
        const PassageTrace trace = advance_layer(pass).front();
        MatrixXf read = MatrixXf::Zero(pass.read(0).rows(), length);
        const RotaryTurns turns(rules.rotary, length);
        for (int head = 0; head < model->heads(); ++head) {
          const HeadTokens tokens = head_tokens(weights, rules, head, {&trace.states, 1}).front();
          HeadStates states;
          states.add(tokens);
          const HeadTrace own = run_head(tokens, rules, turns, head, read);
          const MatrixXf& whole = trace.heads[static_cast<std::size_t>(head)].logits;
          const float largest = whole.cwiseAbs().maxCoeff();
          CHECK((own.logits - whole).cwiseAbs().maxCoeff() < 1e-5f * (1 + largest));
          if (!model->has_plain_logits()) continue;
          const Index query = length - 2;
          const KeyRange seen = rules.seen(query, length);
          const std::vector<float> normal(static_cast<std::size_t>(seen.count));
          VectorXd logits = real_logits(
              turns, states, {states.queries[0].col(query), states.keys[0].col(query), query}, 0,
              seen, normal);
          cap_logits<double>(rules.attention_cap,
                             {logits.data(), static_cast<std::size_t>(logits.size())});
          const VectorXd expected = whole.col(query).segment(seen.first, seen.count).cast<double>();
          CHECK((logits - expected).cwiseAbs().maxCoeff() <
                1e-5 * (1 + static_cast<double>(largest)));
        }
        CHECK((read - pass.read(0)).cwiseAbs().maxCoeff() < 1e-4f);
      }
    }
  }
}

TEST_CASE("offsets share a vector from a half of the span on, as config.json says", "[families]") {
  // As make_log_bucket_position of DeBERTa V2 has them for 6 buckets and 10 positions.
  const std::vector<int> places = relative_places(11, 6, 10);
  CHECK(places ==
        std::vector<int>{11, 11, 11, 11, 11, 10, 10, 9, 8, 7, 6, 5, 4, 3, 2, 2, 1, 1, 1, 1, 0});
  CHECK(relative_places(4, 2, 0) == std::vector<int>{3, 3, 3, 2, 1, 0, 0});

  const auto with = [](const char* key, const Json& value) {
    return refusal("DeBERTa", [=](TinyModel&, Json& c) {
      if (value.is_null()) {
        c.erase(key);
      } else {
        c[key] = value;
      }
    });
  };
  for (const char* const key : {"relative_attention", "position_biased_input"}) {
    check_failure(with(key, nullptr), "config.json", key);
  }
  check_failure(with("relative_attention", false), "config.json", "'relative_attention' true");
  check_failure(with("position_biased_input", true), "config.json", "false");
  check_failure(with("position_buckets", 8), "deberta.encoder.rel_embeddings.weight",
                "it must have 16 rows", "has 12");
  check_failure(with("max_relative_positions", 4), "position_buckets",
                "less than twice the 3 offsets");
  check_failure(with("pos_att_type", "p2p"), "pos_att_type", "c2p and p2c alone");
  const auto convolved = [](TinyModel& m, Json&) {
    m.add("deberta.encoder.conv.conv.weight", {4}, 1);
  };
  CHECK(refusal("DeBERTa", convolved).item == "deberta.encoder.conv.conv.weight");
}

TEST_CASE("slopes of ALiBi are those of the paper, of any number of heads", "[families]") {
  const OffsetBias bias = OffsetBias::slopes(6, 8);
  const std::vector<float> slopes{0.25f, 0.0625f, 0.015625f, 0.00390625f, 0.5f, 0.125f};
  for (int head = 0; head < 6; ++head) {
    const float slope = slopes[static_cast<std::size_t>(head)];
    const Eigen::VectorXf found = bias.of_head(head, 3);
    CHECK(found == Eigen::VectorXf{{-2 * slope, -slope, 0, -slope, -2 * slope}});
  }
  CHECK(OffsetBias::slopes(1, 6).of_head(0, 2) == Eigen::VectorXf{{-0.015625f, 0, -0.015625f}});
  CHECK(OffsetBias().of_head(0, 2).size() == 0);
}

TEST_CASE("offsets are in the buckets of T5", "[families]") {
  constexpr Index kLength = 300;
  const OffsetBias bias =
      OffsetBias::in_buckets(Eigen::RowVectorXf::LinSpaced(32, 0, 31), /*farthest=*/128);
  const Eigen::VectorXf found = bias.of_head(0, kLength);
  // The least distance of each bucket, which the published code gives for 32 buckets up to 128 tokens.
  const std::vector<Index> least{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91, kLength};
  for (Index bucket = 0; bucket < 16; ++bucket) {
    const auto at = static_cast<std::size_t>(bucket);
    for (Index distance = least[at]; distance < least[at + 1]; ++distance) {
      CAPTURE(distance);
      const auto number = static_cast<float>(bucket);
      CHECK(found[kLength - 1 - distance] == number);
      if (distance > 0) CHECK(found[kLength - 1 + distance] == 16 + number);
    }
  }
}

TEST_CASE("biases of offsets have the shapes and the config that they are run with", "[families]") {
  const std::string table = "mpnet.encoder.relative_attention_bias.weight";
  const auto with = [](const char* key, const Json& value) {
    return [=](TinyModel&, Json& c) { c[key] = value; };
  };
  const auto shaped = [](const std::string& name, const std::vector<std::uint64_t>& shape) {
    return [=](TinyModel& model, Json& c) {
      model.add(name, shape, 1);
      c.erase("relative_attention_num_buckets");
    };
  };
  const std::string of_first =
      "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
  for (const std::vector<std::uint64_t>& shape :
       std::vector<std::vector<std::uint64_t>>{{8, 3}, {6, 4}, {24, 4}}) {
    check_failure(refusal("T5", shaped(of_first, shape)), of_first, "a multiple of 4", "4 heads");
  }
  check_failure(refusal("MPNet", shaped(table, {8, 4})), table, "32 buckets");
  const std::string of_second =
      "encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight";
  const auto lacking = [&](TinyModel& model, Json&) { model.values.erase(of_second); };
  check_failure(refusal("T5 1.1", lacking), of_second, "is missing");  // of UMT5
  CHECK(refusal("MPT", with("prefix_lm", true)).item == "prefix_lm");
  CHECK(refusal("MPT", with("logit_scale", 0.5)).item == "logit_scale");
  CHECK(refusal("ELECTRA", with("embedding_size", 6)).kind == "none");
  const auto biased = [](TinyModel& model, Json&) {
    model.add("model.layers.0.self_attn.q_proj.bias", {16}, 1);
  };
  CHECK(refusal("EuroBERT", biased).item == "attention_bias");
  CHECK(refusal("StarCoder2", with("use_bias", false)).item == "use_bias");
  CHECK(refusal("Qwen 2 MoE", with("qkv_bias", false)).item == "qkv_bias");
  const auto bare = [](TinyModel& model, Json&) {
    model.values.erase("encoder.layer.0.attention.self.query.bias");
  };
  CHECK(refusal("Jina embeddings 2", bare).item == "encoder.layer.0.attention.self.query.bias");
  CHECK(refusal("MPNet", with("relative_attention_num_buckets", 16)).item ==
        "relative_attention_num_buckets");
  CHECK(refusal("T5", with("feed_forward_proj", "gated-gelu")).item == "feed_forward_proj");
  CHECK(refusal("T5 1.1", with("feed_forward_proj", "gated-silu")).item == "feed_forward_proj");
  CHECK(refusal("T5 1.1", with("relative_attention_max_distance", 2)).item ==
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight");
  CHECK(refusal("Jina embeddings 2", with("feed_forward_type", "reglu")).item ==
        "feed_forward_type");
  const auto nested = [](const std::string& key, const Json& value) {
    return refusal("MPT", [&](TinyModel&, Json& c) { c["attn_config"][key] = value; }).item;
  };
  CHECK(nested("alibi", false) == "alibi");
  CHECK(nested("alibi_bias_max", -1) == "attn_config.alibi_bias_max");
  CHECK(nested("clip_qkv", 6) == "attn_config.clip_qkv");
}

TEST_CASE("passages of GPT-Neo are not longer than the windows of its local layers", "[families]") {
  const Json& expected = models_of("GPT-Neo").front();
  Json config = expected.at("config");
  const TinyModel model = wave_model(expected);
  CHECK(open_model(model, config)->positions() == config.at("window_size").get<Index>());
  config["window_size"] = 3;
  CHECK(open_model(model, config)->positions() == 3);
  config.erase("window_size");  // 256, more than there are positions
  CHECK(open_model(model, config)->positions() == 12);
}

TEST_CASE("families that cannot be run on text are refused by name, and their heads are read",
          "[families]") {
  for (const std::string type : {"internlm3", "ernie4_5_vl_moe", "ministral"}) {
    CAPTURE(type);
    check_failure(refusal("LLaMA", [&](TinyModel&, Json& c) { c["model_type"] = type; }),
                  "test.safetensors", type, "GPT-NeoX");
    const Json& expected = models_of("LLaMA").front();
    Json changed = expected.at("config");
    changed["model_type"] = type;
    const Config config = Config::parse(changed.dump());
    HeadScan scan(open(wave_model(expected).writer().bytes()), &config);
    CHECK(scan.advance().size() == 4);
  }
}

TEST_CASE("a layer with an adapter, another norm or without a known model type is refused for text",
          "[families]") {
  const std::string layer = "model.layers.1.";
  for (const std::string& name : {layer + "self_attn.q_proj.lora_A.default.weight",
                                  layer + "mlp.up_proj.lora_B.default.weight",
                                  layer + "mlp.norm.weight", layer + "post_norm.weight"}) {
    const auto add = [&](TinyModel& m, Json&) { m.add(name, {4}, 1); };
    CHECK(refusal("LLaMA", add).item == name);
  }
  const auto untyped = [](TinyModel&, Json& c) { c.erase("model_type"); };
  check_failure(refusal("LLaMA", untyped), "test.safetensors", "cannot be run on text");
  const auto spiral = [](TinyModel&, Json& c) { c["rope_scaling"] = {{"rope_type", "spiral"}}; };
  check_failure(refusal("LLaMA", spiral), "rope_scaling.rope_type", "must be one of default",
                "found 'spiral'");
}

TEST_CASE("a state space has the widths of config.json and its convolution", "[families]") {
  const auto with = [](const char* key, const Json& value) {
    return [=](TinyModel&, Json& c) { c[key] = value; };
  };
  const std::string mamba = "model.layers.0.mamba.";
  CHECK(refusal("Granite 4", with("mamba_n_heads", 3)).item == "mamba_n_heads");
  CHECK(refusal("Granite 4", with("mamba_d_state", 6)).item == "mamba_d_state");
  check_failure(refusal("Granite 4", with("mamba_n_groups", 3)), mamba + "conv1d.weight",
                "two states of 3 groups");
  CHECK(refusal("Granite 4", with("mamba_conv_bias", false)).item == "mamba_conv_bias");
  CHECK(refusal("Granite 4", with("time_step_limit", Json::array({-1, 100}))).item ==
        "time_step_limit.0");
  CHECK(refusal("Granite 4", with("time_step_limit", Json::array({1, 0.5}))).item ==
        "time_step_limit.1");
  for (const Json& value : {Json(0.0), Json::array(), Json::array({0.5}), Json::array({0, 1, 2})}) {
    CHECK(refusal("Granite 4", with("time_step_limit", value)).item == "time_step_limit");
  }
  CHECK(refusal("Granite 4", with("mamba_d_head", 2)).item == "mamba_d_head");
  CHECK(refusal("Granite 4", with("mamba_d_conv", 3)).item == "mamba_d_conv");
  const auto unbiased = [&](TinyModel& model, Json&) { model.values.erase(mamba + "conv1d.bias"); };
  CHECK(refusal("Granite 4", unbiased).item == mamba + "conv1d.bias");
  CHECK(refusal("Granite 4", with("hidden_act", "gelu")).item == "hidden_act");
  check_failure(refusal("Granite 4", with("layer_types", Json::array({"attention", "attention"}))),
                "layer_types.0", "the layer has no heads");
  const auto resized = [&](TinyModel& model, Json&) { model.add(mamba + "D", {5}, 1); };
  check_failure(refusal("Granite 4", resized), mamba + "D", "must have 4 numbers");
  const auto twice = [&](TinyModel& model, Json&) { model.add(mamba + "A", {4}, 1); };
  CHECK(refusal("Granite 4", twice).item == mamba + "A");
}

TEST_CASE("a state space beside heads has the factors and the norm of config.json", "[families]") {
  const auto with = [](const char* key, const Json& value) {
    return [=](TinyModel&, Json& c) { c[key] = value; };
  };
  for (const char* const list : {"mlp_multipliers", "ssm_multipliers"}) {
    CAPTURE(list);
    for (const Json& value : {Json(2), Json::array({2}), Json::array({1, 1, 1, 1, 1, 1})}) {
      CHECK(refusal("Falcon-H1", with(list, value)).item == list);
    }
    CHECK(refusal("Falcon-H1", with(list, Json::array({0, 1, 1, 1, 1}))).item ==
          std::string(list) + ".0");
  }
  CHECK(refusal("Falcon-H1", with("attention_out_multiplier", -1)).item ==
        "attention_out_multiplier");
  const std::string layer = "model.layers.0.";
  check_failure(refusal("Falcon-H1", with("mamba_rms_norm", true)), layer + "mamba.norm.weight",
                "it is missing");
  const auto normed = [&](TinyModel& model, Json&) {
    model.add(layer + "mamba.norm.weight", {12}, 1);
  };
  check_failure(refusal("Falcon-H1", normed), layer + "mamba.norm.weight", "is not true");
  const auto unsaid = [&](TinyModel& model, Json& c) {
    normed(model, c);
    c.erase("mamba_rms_norm");
  };
  check_failure(refusal("Falcon-H1", unsaid), layer + "mamba.norm.weight", "is not true");
  CHECK(refusal("Falcon-H1", with("mamba_d_ssm", 13)).item == "mamba_d_ssm");
  CHECK(refusal("Falcon-H1", with("partial_rotary_factor", 0.5)).item == "partial_rotary_factor");
  const auto check_biased = [&](const std::string& bias, std::uint64_t outputs, const char* key) {
    const auto biased = [&](TinyModel& model, Json& c) {
      model.add(layer + bias, {outputs}, 1);
      if (!c.contains(key)) c[key] = true;
    };
    check_failure(refusal("Falcon-H1", biased), layer + bias, "is not 1");
    const auto unsaid = [&](TinyModel& model, Json&) { model.add(layer + bias, {outputs}, 1); };
    CHECK(refusal("Falcon-H1", unsaid).item == key);
  };
  check_biased("self_attn.v_proj.bias", 8, "attention_bias");
  check_biased("mamba.in_proj.bias", 48, "mamba_proj_bias");
  const auto switched = [&](TinyModel& model, Json& c) {
    model.add(layer + "mamba.out_proj.bias", {8}, 1);
    c["mamba_proj_bias"] = false;
  };
  CHECK(refusal("Falcon-H1", switched).item == "projectors_bias");
  const auto lacking = [&](TinyModel& model, Json&) {
    model.values.erase(layer + "mamba.out_proj.weight");
  };
  check_failure(refusal("Falcon-H1", lacking), layer + "mamba.out_proj.weight", "it is missing");
  const auto turned = [&](TinyModel& model, Json&) {
    model.add(layer + "mamba.conv1d.weight", {32, 4, 1}, 1);
  };
  check_failure(refusal("Falcon-H1", turned), layer + "mamba.conv1d.weight", "MLX's layout");
}

TEST_CASE("text passes over the layers of pictures that config.json lists", "[families]") {
  const std::string key = "cross_attention_layers";
  for (const Json& value :
       {Json::array(), Json::array({0, 1}), Json::array({2}), Json("1"), Json(nullptr)}) {
    CAPTURE(value.dump());
    const auto listed = [&](TinyModel&, Json& c) { c["text_config"][key] = value; };
    CHECK(refusal("Llama 3.2 Vision", listed).item == "text_config." + key);
  }
  const auto more = [&](TinyModel&, Json& c) { c["text_config"][key] = Json::array({1, 8}); };
  CHECK(refusal("Llama 3.2 Vision", more).kind == "none");
  const auto biased = [](TinyModel& model, Json&) {
    model.add("language_model.model.layers.0.self_attn.v_proj.bias", {4}, 1);
  };
  CHECK(refusal("Llama 3.2 Vision", biased).item == "text_config.attention_bias");
  const Json& expected = models_of("Llama 3.2 Vision").back();
  TinyModel model = wave_model(expected);
  model.values.erase("lm_head.weight");
  model.values.erase("language_model.lm_head.weight");
  const auto tied = open_model(model, expected.at("config"));
  CHECK(failure_of([&] { tied->output(); }).item == "tie_word_embeddings");
}

TEST_CASE("the text of a model of several parts may be that part by itself, whose type is given",
          "[families]") {
  const Json& expected = models_of("LLaMA")[1];
  for (const char* const type : {"aya_vision", "idefics3", "internvl", "internvl_chat",
                                 "llava_next", "llava_onevision", "qwen2_audio", "smolvlm"}) {
    CAPTURE(type);
    Json config{{"model_type", type}, {"text_config", expected.at("config")}};
    CHECK(open_model(wave_model(expected), config)->family().name == "LLaMA");
    config["text_config"]["model_type"] = "gemma";  // by the same names
    CHECK(open_model(wave_model(expected), config)->family().name == "Gemma");
    config["text_config"].erase("model_type");
    CHECK_FALSE(failure_of([&] { open_model(wave_model(expected), config); }).item.empty());
  }
}

TEST_CASE("layers of Nemotron-H are of the kinds that config.json has for them", "[families]") {
  const auto with = [](const char* key, const Json& value) {
    return [=](TinyModel&, Json& c) { c[key] = value; };
  };
  const std::string key = "hybrid_override_pattern";
  check_failure(refusal("Nemotron-H", with("hybrid_override_pattern", "EEME")), key,
                "'E' for layer 1", "the layer has heads");
  check_failure(refusal("Nemotron-H", with("hybrid_override_pattern", "E**E")), key,
                "'*' for layer 2", "the layer has no heads");
  check_failure(refusal("Nemotron-H", with("hybrid_override_pattern", "E*M")), key,
                "each of the 4 layers", "has 3");
  check_failure(
      refusal("Nemotron-H", with("layers_block_type", Json::array({"moe", "moe", "mamba", "moe"}))),
      "layers_block_type.1", "'moe' for layer 1", "the layer has heads");
  check_failure(refusal("Nemotron-H", with("hybrid_override_pattern", "M*ME")), key,
                "'M' for layer 0", "the layer has no state space");
  check_failure(refusal("Nemotron-H", with("hybrid_override_pattern", "E*-E")), key,
                "'-' for layer 2", "the layer has a state space");
  check_failure(refusal("Nemotron-H", with("hybrid_override_pattern", "-*ME")), key,
                "'-' for layer 0", "the layer has experts");
  for (const Json& blocks : {Json::array({"moe", "attention", "mamba"}),
                             Json::array({"moe", "attention", "mamba", "moe", "moe"})}) {
    check_failure(refusal("Nemotron-H",
                          [&](TinyModel&, Json& c) {
                            c.erase("hybrid_override_pattern");
                            c["layers_block_type"] = blocks;
                          }),
                  "layers_block_type", "each of the 4 layers");
  }
  CHECK(refusal("Nemotron-H", with("mamba_n_groups", 2)).item == "mamba_n_groups");
  CHECK(refusal("Nemotron-H", with("mamba_dt_limit", Json::array({0, 0.3}))).item ==
        "mamba_dt_limit");
  check_failure(refusal("Nemotron-H", [](TinyModel&, Json& c) { c.erase("n_groups"); }),
                "backbone.layers.2.mixer.conv1d.weight", "two states of 8 groups");
  CHECK(refusal("Nemotron-H", with("mamba_num_heads", 5)).item == "mamba_num_heads");
  CHECK(refusal("Nemotron-H", with("ssm_state_size", 6)).item == "ssm_state_size");
  CHECK(refusal("Nemotron-H", with("use_conv_bias", false)).item == "use_conv_bias");
  CHECK(refusal("Nemotron-H", with("mamba_hidden_act", "relu")).item == "mamba_hidden_act");
  CHECK(refusal("Nemotron-H", with("mlp_hidden_act", "relu3")).item == "mlp_hidden_act");
  const auto biased = [](TinyModel& model, Json&) {
    model.add("backbone.layers.0.mixer.in_proj.bias", {48}, 1);
  };
  check_failure(refusal("Nemotron-H", biased), "use_bias", "it is missing, and so false");
  for (const char* const map :
       {"experts.1.up_proj", "shared_experts.down_proj", "fc1_latent_proj"}) {
    const std::string name = "backbone.layers.0.mixer." + std::string(map) + ".bias";
    const auto add = [&](TinyModel& model, Json&) { model.add(name, {16}, 1); };
    check_failure(refusal("Nemotron-H", add), "mlp_bias", "it is missing, and so false", name);
  }
  const auto beside = [](TinyModel& model, Json&) {
    model.add("backbone.layers.1.mixer.down_proj.weight", {16, 10}, 1);
  };
  check_failure(refusal("Nemotron-H", beside), "backbone.layers.1.mixer.down_proj.weight",
                "its layer has heads too");
}

TEST_CASE("layers of Llama Nemotron have the branches of config.json", "[families]") {
  const auto with = [](const std::string& path, const Json& value) {
    return [=](TinyModel&, Json& c) { c[Json::json_pointer("/block_configs/" + path)] = value; };
  };
  check_failure(refusal("Llama Nemotron", with("0/attention/no_op", true)),
                "block_configs.0.attention.no_op", "it is true", "layer 0 has its attention");
  check_failure(refusal("Llama Nemotron", with("1/attention/no_op", false)),
                "block_configs.1.attention.no_op", "it is false", "layer 1 has no attention");
  check_failure(refusal("Llama Nemotron", with("2/ffn/no_op", false)), "block_configs.2.ffn.no_op",
                "layer 2 has no ffn");
  check_failure(refusal("Llama Nemotron", with("3/attention/window_length", 8)),
                "block_configs.3.attention.window_length", "must be null, false or left out");
  CHECK(refusal("Llama Nemotron", with("1/ffn/replace_with_linear", true)).item ==
        "block_configs.1.ffn.replace_with_linear");
}

TEST_CASE("values, inputs and factors of Gemma 4 are those of the file and of config.json",
          "[families]") {
  const auto without = [](const std::string& name) {
    return [=](TinyModel& model, Json&) {
      REQUIRE(model.shapes.erase(name) == 1);
      model.values.erase(name);
    };
  };
  const auto with = [](const char* key, const Json& value) {
    return [=](TinyModel&, Json& c) { c[key] = value; };
  };
  const std::string first = "model.layers.0.", second = "model.layers.1.",
                    value = "self_attn.v_proj.weight", inputs = "model.embed_tokens_per_layer";
  check_failure(refusal("Gemma 4", with("attention_k_eq_v", true)), second + value,
                "must not be there where 'attention_k_eq_v'");
  check_failure(refusal("Gemma 4", without(second + value)), second + value,
                "it is missing, though 'attention_k_eq_v'");
  CHECK(refusal("Gemma 4", without(first + value)).item == first + value);  // with a window
  check_failure(refusal("Gemma 4", without(second + "layer_scalar")), second + "layer_scalar",
                "other layers have it");
  CHECK(refusal("Gemma 4", without(inputs + ".weight")).item == inputs + ".weight");
  const auto narrow = [&](TinyModel& model, Json&) { model.add(inputs + ".weight", {7, 14}, 1); };
  check_failure(refusal("Gemma 4", narrow), inputs + ".weight", "5 layers times 3");
  check_failure(refusal("Gemma 4", with("hidden_size_per_layer_input", 4)),
                first + "per_layer_input_gate.weight", "'hidden_size_per_layer_input'");
  CHECK(refusal("Gemma 4", with("use_bidirectional_attention", "all")).item ==
        "use_bidirectional_attention");
  const std::string router = second + "router.proj.weight";
  check_failure(refusal("Gemma 4", with("enable_moe_block", true)), first + "router.proj.weight",
                "it is missing, though 'enable_moe_block'");
  const auto routed = [&](TinyModel& model, Json&) { model.add(router, {4, 16}, 1); };
  check_failure(refusal("Gemma 4", routed), router, "must not be there unless");
  const Json& with_experts = models_of("Gemma 4")[1];
  TinyModel in_part = wave_model(with_experts);
  const std::string last = "language_model.model.layers.1.router.proj.weight";
  in_part.values.erase(last);
  CHECK(failure_of([&] { open_model(in_part, with_experts.at("config")); }).item == last);
  const auto biased = [](const std::string& name, std::uint64_t size) {
    return [=](TinyModel& model, Json&) { model.add(name, {size}, 1); };
  };
  CHECK(refusal("Gemma 4", biased(second + "self_attn.o_proj.bias", 16)).item == "attention_bias");
  CHECK(refusal("Gemma 4", biased(second + "per_layer_projection.bias", 16)).item == "mlp_bias");
  check_failure(refusal("Gemma 4", with("num_kv_shared_layers", 4)), "num_kv_shared_layers",
                "has the kind of layer");
  CHECK(refusal("Gemma 4", [](TinyModel&, Json& c) { c.erase("sliding_window"); }).item ==
        "sliding_window");
  CHECK(refusal("Gemma 4", [](TinyModel&, Json& c) { c.erase("rope_parameters"); }).item ==
        "rope_parameters.sliding_attention.rope_type");
}

TEST_CASE("predicted attention has the share that learned sinks leave", "[families]") {
  const Json& expected = models_of("gpt-oss").front();
  TinyModel model = wave_model(expected);
  for (auto& [name, values] : model.values) {
    // Without queries the keys of a row are alike, and every prediction is exact.
    if (name.find("q_proj") != name.npos) std::fill(values.begin(), values.end(), 0);
  }
  const auto opened = open_model(model, expected.at("config"));
  const std::vector<Passage> passages{{expected.at("ids").get<std::vector<int>>(), 0, 0}};
  ForwardPass pass(opened, passages);
  const PassageTrace trace = advance_layer(pass).front();
  const std::vector<HeadPlace> heads{{0, 0}, {0, 3}};
  PredictedAttention predicted(opened, passages, Level::mean, heads, 1);
  while (!predicted.advance(0)) continue;
  for (const HeadPlace& head : heads) {
    const MatrixXf& weights = trace.heads[static_cast<std::size_t>(head.head)].weights;
    CHECK((predicted.weights(0, head) - weights).cwiseAbs().maxCoeff() < 1e-6f);
    CHECK(weights.colwise().sum().minCoeff() < 0.95f);
  }
}

TEST_CASE("what needs the tokens of one layer alone refuses keys of an earlier one", "[families]") {
  const Json& expected = models_of("Gemma 4").back();
  const auto model = open_model(wave_model(expected), expected.at("config"));
  const auto ids = expected.at("ids").get<std::vector<int>>();
  check_failure(failure_of([&] {
                  LayerCovariance(model, {{ids, 0, 0}}, true);
                }),
                "Gemma 4", "keys of earlier ones");
  const RandomTokens tokens{.ids = {1, 2}};
  check_failure(failure_of([&] { sampled_passages(*model, tokens, 2, 5, 1); }), "tokens_law",
                "read more than the tokens that enter them");
}

TEST_CASE("layers without heads are those of the file and of config.json", "[families]") {
  const auto typed = [](int layer, const char* kind) {
    return [=](TinyModel&, Json& c) { c["layer_types"][layer] = kind; };
  };
  check_failure(refusal("LFM2", typed(1, "conv")), "layer_types.1", "the layer has heads");
  check_failure(refusal("LFM2", typed(0, "full_attention")), "layer_types.0", "has no heads");
  const auto added = [](TinyModel& model, Json&) {
    model.add("model.layers.1.conv.out_proj.weight", {16, 16}, 1);
  };
  CHECK(refusal("LFM2", added).item == "model.layers.1.conv.out_proj.weight");
  const auto unknown = [](TinyModel& model, Json&) {
    model.add("model.layers.0.linear_attn.gate.weight", {16, 16}, 1);
  };
  CHECK(refusal("Qwen 3.5", unknown).item == "model.layers.0.linear_attn.gate.weight");
  const auto without = [](const char* key) { return [=](TinyModel&, Json& c) { c.erase(key); }; };
  CHECK(refusal("Qwen 3.5", without("linear_num_key_heads")).item == "linear_num_key_heads");
  const auto heads = [](TinyModel&, Json& c) { c["linear_num_value_heads"] = 5; };
  check_failure(refusal("Qwen 3.5", heads), "linear_num_key_heads", "does not divide the 5");

  const auto twice = [](TinyModel& model, Json&) {
    model.add("model.layers.0.linear_attn.in_proj_qkv.weight", {32, 16}, 1);
  };
  CHECK(refusal("Qwen 3.5", twice).item == "model.layers.0.linear_attn.in_proj_qkvz.weight");
  const auto stacked = [](TinyModel& model, Json&) {
    model.add("model.layers.0.mlp.experts.down_proj", {4, 16, 6}, 1);
  };
  CHECK(refusal("Qwen 3.5", stacked).item == "model.layers.0.mlp.experts.down_proj");

  const Json& expected = models_of("LFM2").front();
  Json shorter = expected.at("config");
  shorter["num_hidden_layers"] = 2;
  shorter["layer_types"] = {"conv", "full_attention"};
  CHECK(open_model(wave_model(expected), shorter)->layers() == 2);
  const auto model = open_model(wave_model(expected), expected.at("config"));
  CHECK(model->layers() == 3);
  CHECK(model->layers_with_heads() == std::vector{1});
  CHECK(model->all_heads() == 4);
  // Nothing after the last heads is run for them alone.
  ForwardPass pass(model, {{expected.at("ids").get<std::vector<int>>(), 0, 0}}, LayerEnd::heads);
  while (!pass.done()) advance_layer(pass);
  CHECK(pass.steps_done() == pass.steps_wanted());
  CHECK(pass.read(0).rows() == 16);
}

TEST_CASE("a model that selects keys is run on passages of which it selects all", "[families]") {
  Json expected = models_of("Latent attention")[2];
  CHECK(open_model(wave_model(expected), expected.at("config"))->positions() == 8);
  expected["config"]["index_topk"] = 5;
  const auto model = open_model(wave_model(expected), expected.at("config"));
  CHECK(model->positions() == 5);
  CHECK(failure_of([&] { ForwardPass(model, {{{1, 2, 3, 4, 5, 6}, 0, 0}}); }).item == "length");
}

TEST_CASE("positions of RoBERTa count from the padding token's id, and old names of norms are read",
          "[families]") {
  const Json& expected = models_of("RoBERTa").front();
  const std::vector<int> ids{3, 4, 5, 2, 6};  // without padding
  const TinyModel model = wave_model(expected);
  const auto embedded = [&](const TinyModel& own, int padding) {
    Json config = expected.at("config");
    config["pad_token_id"] = padding;
    return open_model(own, config)->embed(ids);
  };
  const MatrixXf usual = open_model(model, expected.at("config"))->embed(ids);
  CHECK(embedded(model, 1) == usual);
  TinyModel shifted = model;
  for (auto& [name, values] : shifted.values) {
    if (!name.ends_with("position_embeddings.weight")) continue;
    const auto width = static_cast<std::ptrdiff_t>(shifted.shapes.at(name)[1]);
    std::rotate(values.begin(), values.begin() + width, values.end());
  }
  CHECK(embedded(shifted, 0) == usual);
  CHECK(embedded(model, 0) != usual);

  TinyModel old;
  for (const auto& [name, values] : model.values) {
    std::string before = name;
    for (const auto& [now, then] : {std::pair("LayerNorm.weight", "LayerNorm.gamma"),
                                    std::pair("LayerNorm.bias", "LayerNorm.beta")}) {
      if (name.ends_with(now)) before.replace(name.rfind(now), std::string(now).size(), then);
    }
    old.values[before] = values;
    old.shapes[before] = model.shapes.at(name);
  }
  ForwardPass pass(open_model(old, expected.at("config")), {{ids, 0, 0}});
  ForwardPass same(open_model(model, expected.at("config")), {{ids, 0, 0}});
  while (!pass.done()) {
    advance_layer(pass);
    advance_layer(same);
  }
  CHECK(pass.tokens(0) == same.tokens(0));
  const Config config = Config::parse(expected.at("config").dump());
  HeadScan scan(open(old.writer().bytes()), &config);
  CHECK(in_double(scan.advance().front()).query_input.has_value());
}

TEST_CASE("of a model of several parts the refusal names the one that reads text", "[families]") {
  const auto visual = [](TinyModel& model, Json& config) {
    model.add("visual.blocks.0.attn.qkv.weight", {24, 8}, 1);
    config["model_type"] = "minicpmv";
  };
  const Failure failure = refusal("LLaMA", visual);
  check_failure(failure, "test.safetensors", "(MiniCPM-V, model_type 'minicpmv'");
  CHECK(failure.message.find("ViT (timm),") == std::string::npos);
}

TEST_CASE("mixtures of experts, latent attention and state-space layers are refused by name",
          "[families]") {
  // LLaMA's attention beside MLPs of experts; heads are read.
  const auto with = [](const std::string& tensor, const std::string& type) {
    const Json& expected = models_of("LLaMA").back();
    TinyModel model = wave_model(expected);
    model.add(tensor, {2, 16, 4}, 1);
    Json config = expected.at("config");
    config["model_type"] = type;
    const Failure failure = failure_of([&] { open_model(model, config); });
    check_failure(failure, "test.safetensors", tensor);
    const Config parsed = Config::parse(config.dump());
    HeadScan scan(open(model.writer().bytes()), &parsed);
    CHECK(scan.advance().size() == 4);
    return failure.message;
  };
  CHECK_THAT(with("model.layers.0.block_sparse_moe.experts.0.w1.weight", "paddleocr_vl"),
             ContainsSubstring("a mixture of experts"));
  CHECK_THAT(with("model.layers.1.block_sparse_moe.experts.0.w1.weight", "phimoe"),
             ContainsSubstring("Phi MoE"));
  // A hybrid: the layers with attention have heads.
  const std::string hybrid = with("model.layers.2.mamba.A_log", "phimoe");
  CHECK_THAT(hybrid, ContainsSubstring("Phi MoE") && ContainsSubstring("state-space"));
  // Even where the model type is one that is read.
  CHECK_THAT(with("model.layers.0.mlp.experts.0.up_proj.weight", "llama"),
             ContainsSubstring("a mixture of experts"));

  const auto refused = [&](const std::vector<std::string>& tensors) {
    TinyModel model;
    for (const std::string& name : tensors) model.add(name, {8, 8}, 1);
    const Config config = Config::parse(R"({"num_attention_heads":2})");
    return failure_of([&] { HeadScan(open(model.writer().bytes()), &config); }).message;
  };
  const std::string mla = "model.layers.0.self_attn.kv_b_proj.weight";
  CHECK_THAT(refused({"model.layers.0.self_attn.q_b_proj.weight", mla}),
             ContainsSubstring("multi-head latent"));
  CHECK_THAT(refused({"model.layers.0.self_attn.q_proj.weight", mla}),
             ContainsSubstring("multi-head latent"));
  CHECK_THAT(refused({"backbone.layers.0.mixer.A_log"}), ContainsSubstring("state-space"));
}

TEST_CASE("inconsistent checkpoints of these families are refused by name", "[families]") {
  const auto resized = [](const std::string& tensor, const std::vector<std::uint64_t>& shape) {
    return [=](TinyModel& m, Json&) { m.add(tensor, shape, 1); };
  };
  const auto without = [](const std::vector<std::string>& tensors) {
    return [=](TinyModel& m, Json&) {
      for (const std::string& tensor : tensors) m.values.erase(tensor);
    };
  };
  const std::vector<std::pair<std::string, std::string>> missing{
      {"Qwen 3", "model.layers.0.self_attn.k_norm.weight"},
      {"Gemma 2", "model.layers.0.post_feedforward_layernorm.weight"},
      {"GPT-NeoX", "gpt_neox.layers.0.attention.query_key_value.bias"},
      {"ModernBERT", "model.layers.1.attn_norm.weight"},
      {"gpt-oss", "model.layers.0.self_attn.sinks"},
      {"gpt-oss", "model.layers.1.mlp.experts.gate_up_proj"},
      {"Latent attention", "model.layers.0.self_attn.kv_a_layernorm.weight"},
      {"Mixtral", "model.layers.1.block_sparse_moe.experts.3.w2.weight"},
      {"Qwen 2 MoE", "model.layers.0.mlp.shared_expert_gate.weight"},
      {"GLM-4.5", "model.layers.1.mlp.gate.e_score_correction_bias"},
      {"LFM2", "model.layers.0.conv.conv.weight"},
      {"LFM2", "model.layers.2.conv.in_proj.weight"},
      {"Qwen 3.5", "model.layers.0.linear_attn.A_log"},
      {"DistilBERT", "distilbert.transformer.layer.0.sa_layer_norm.bias"}};
  for (const auto& [family, tensor] : missing) {
    CAPTURE(family);
    CHECK(refusal(family, without({tensor})).item == tensor);
  }
  const std::string attention = "model.layers.0.self_attn.", mlp = "model.layers.0.mlp.";
  CHECK(
      refusal("LLaMA", without({attention + "q_proj.weight", attention + "k_proj.weight"})).item ==
      attention + "q_proj.weight");
  CHECK(refusal("gpt-oss", without({mlp + "router.weight", "model.layers.1.mlp.router.weight"}))
            .item == mlp + "down_proj.weight");
  CHECK(refusal("gpt-oss", resized(mlp + "experts.down_proj", {3, 6, 16})).item ==
        mlp + "experts.down_proj");
  CHECK(refusal("gpt-oss", resized(mlp + "experts.gate_up_proj_bias", {4, 11})).item ==
        mlp + "experts.gate_up_proj_bias");
  const auto bias = resized(attention + "kv_b_proj.bias", {20});
  CHECK(refusal("MiniCPM3", bias).item == attention + "kv_b_proj.bias");
  CHECK(refusal("LLaMA", resized(attention + "q_norm.weight", {5})).item ==
        attention + "q_norm.weight");
  CHECK(refusal("Phi-3", resized(mlp + "gate_up_proj.weight", {19, 16})).item ==
        mlp + "gate_up_proj.weight");
  CHECK(refusal("Phi-3", [](TinyModel&, Json& c) { c["num_key_value_heads"] = 4; }).item ==
        attention + "qkv_proj.weight");

  CHECK(refusal("OPT", resized("model.decoder.project_in.weight", {16, 16})).item ==
        "model.decoder.project_in.weight");
  // The original passes over biases where the switch is missing.
  const auto as_llama = [](TinyModel&, Json& c) { c["model_type"] = "llama"; };
  CHECK(refusal("LLaMA", as_llama).item == "attention_bias");

  const auto sometimes = without({"model.layers.1.self_attn.k_proj.bias"});
  check_failure(refusal("LLaMA", sometimes), "model.layers.1.self_attn.k_proj.bias",
                "another layer has it");
  const auto periods = [](TinyModel&, Json& c) {
    c["attn_layer_period"] = 1;
    c["attn_layer_offset"] = 0;
  };
  check_failure(refusal("Jamba", periods), "attn_layer_period", "has heads, but the file has none");
  // Mistral does not read the list.
  const auto as_mistral = [](TinyModel&, Json& c) {
    c["model_type"] = "mistral";
    c["layer_types"] = {"sliding_attention", "full_attention"};
  };
  CHECK_THAT(refusal("LLaMA", as_mistral).message, ContainsSubstring("must be left out"));
  const auto crossed = [](TinyModel&, Json& c) {
    c["rope_scaling"] = {{"rope_type", "yarn"},
                         {"factor", 4},
                         {"original_max_position_embeddings", 8},
                         {"beta_fast", 1},
                         {"beta_slow", 32}};
  };
  check_failure(refusal("LLaMA", crossed), "rope_scaling.beta_fast", "'beta_slow'");
  check_failure(refusal("LLaMA", [](TinyModel&, Json& c) { c["without_epsilon"] = true; }),
                "config.json", "no epsilon");

  check_failure(refusal("RoBERTa",
                        [](TinyModel& m, Json& c) {
                          c["type_vocab_size"] = 1;
                          m.values.erase("roberta.embeddings.token_type_embeddings.weight");
                        }),
                "roberta.embeddings.token_type_embeddings.weight", "type_vocab_size");
  // Biases that the original's switch leaves out where it is missing.
  const auto expert_bias = [](TinyModel& m, Json& c) {
    c.erase("use_bias");
    m.add("model.layers.1.mlp.experts.0.up_proj.bias", {6}, 1);
  };
  check_failure(refusal("ERNIE 4.5", expert_bias), "use_bias", "it is missing, and so false");
  const auto no_shared = [](TinyModel& m, Json& c) {
    c["moe_num_shared_experts"] = 0;
    for (const char* const map : {"gate", "up", "down"}) {
      m.values.erase("model.layers.1.mlp.shared_experts." + std::string(map) + "_proj.weight");
    }
  };
  CHECK(refusal("ERNIE 4.5", no_shared).message.empty());

  const auto no_count = [](TinyModel&, Json& c) { c.erase("num_experts_per_tok"); };
  check_failure(refusal("OLMoE", no_count), "config.json", "num_experts_per_tok");
  for (const char* const key : {"routed_scaling_factor", "n_group", "topk_group"}) {
    const auto without_key = [&](TinyModel&, Json& c) { c.erase(key); };
    check_failure(refusal("GLM-4.5", without_key), "config.json", key);
  }
  const auto untold = [](TinyModel&, Json& c) { c.erase("attention_value_scale"); };
  check_failure(refusal("MiMo V2", untold), "config.json", "attention_value_scale");
  const auto unscaled = [](TinyModel&, Json& c) { c["attention_value_scale"] = nullptr; };
  CHECK(refusal("MiMo V2", unscaled).message.empty());
  const auto other_gate = [](TinyModel&, Json& c) { c["text_config"]["swiglu_alpha"] = 1.5; };
  check_failure(refusal("MiniMax M3", other_gate), "swiglu_alpha", "supported: 1.702");
  const auto no_experts = [](TinyModel&, Json& c) { c["moe_layer_freq"] = {0, 0}; };
  check_failure(refusal("MiMo V2", no_experts), "moe_layer_freq.1", "has no experts");
  CHECK(refusal("LLaMA", [](TinyModel&, Json& c) { c["head_dim"] = 3; }).item ==
        attention + "q_proj.weight");
  CHECK(refusal("GLM-4.5", [](TinyModel&, Json& c) { c["n_group"] = 3; }).item ==
        "model.layers.0.mlp.gate.weight");
  struct Setting {
    std::string family, key;
    Json value;
  };
  for (const Setting& it : {Setting{"Cohere", "use_qk_norm", false},
                            Setting{"Cohere", "logit_scale", 0},
                            Setting{"Gemma", "hidden_activation", "tanh"},
                            Setting{"Gemma 2", "attn_logit_softcapping", -1},
                            Setting{"Gemma 3", "attn_logit_softcapping", 1},
                            Setting{"LLaMA", "is_causal", false},
                            Setting{"LLaMA", "embedding_multiplier", 2},
                            Setting{"ERNIE 4.5", "moe_norm_min", 0.5},
                            Setting{"ERNIE 4.5", "moe_num_experts", 9},
                            Setting{"ERNIE 4.5", "moe_layer_start_index", 0},
                            Setting{"dots.llm1", "first_k_dense_replace", 1},
                            Setting{"Trinity", "num_dense_layers", 0},
                            Setting{"DeBERTa", "conv_kernel_size", 3},
                            Setting{"Hunyuan", "partial_rotary_factor", 0.5},
                            Setting{"Gemma", "final_logit_softcapping", 30},
                            Setting{"RoBERTa", "is_causal", true},
                            Setting{"Gemma", "use_bidirectional_attention", true},
                            Setting{"LLaMA", "num_hidden_layers", 5},
                            Setting{"GPT-NeoX", "attention_bias", false},
                            Setting{"GPT-NeoX", "use_parallel_residual", 1},
                            Setting{"RoBERTa", "position_embedding_type", "relative_key"},
                            Setting{"OPT", "layer_norm_elementwise_affine", false},
                            Setting{"Qwen 3 MoE", "use_sliding_window", true},
                            Setting{"MiniMax M2", "scoring_func", "softmax"},
                            Setting{"OLMoE", "routed_scaling_factor", 2.5},
                            Setting{"Mixtral", "n_group", 4},
                            Setting{"Latent attention", "scoring_func", "softmax"},
                            Setting{"Latent keys", "norm_topk_prob", true},
                            Setting{"Hy3", "route_norm", false},
                            Setting{"HyperCLOVA X", "use_post_norm", true},
                            Setting{"MiMo V2", "add_full_attention_sink_bias", true},
                            Setting{"MiMo V2", "routed_scaling_factor", 2.5},
                            Setting{"MiniMax M3", "index_topk_blocks", 4},
                            Setting{"RoBERTa", "is_decoder", true},
                            Setting{"ALBERT", "num_hidden_groups", 1},
                            Setting{"ALBERT", "num_hidden_layers", 5},
                            Setting{"ALBERT", "inner_group_num", 2}}) {
    CAPTURE(it.family, it.key);
    CHECK(refusal(it.family, [&](TinyModel&, Json& c) { c[it.key] = it.value; }).item == it.key);
  }
}

TEST_CASE("numbers of an xIELU are in the file, or in config.json", "[families]") {
  const std::string numbers = "model.layers.1.mlp.act_fn.";
  const auto lacking = [&](TinyModel& model, Json&) { model.values.erase(numbers + "alpha_p"); };
  CHECK(refusal("Apertus", lacking).item == numbers + "alpha_p");
  const auto told = [&](TinyModel& model, Json& config) {
    lacking(model, config);
    config["xielu"]["alpha_p"] = {0.5, 0.25};
  };
  CHECK(refusal("Apertus", told).kind == "none");
  const auto short_list = [&](TinyModel& model, Json& config) {
    lacking(model, config);
    config["xielu"]["alpha_p"] = Json::array({0.5});
  };
  CHECK(refusal("Apertus", short_list).item == "xielu.alpha_p");
  const auto pair = [&](TinyModel& model, Json&) { model.add(numbers + "alpha_n", {2}, 1); };
  CHECK(refusal("Apertus", pair).item == numbers + "alpha_n");
  const auto gated = [&](TinyModel& model, Json&) {
    model.add("model.layers.0.mlp.gate_proj.weight", {10, 16}, 1);
  };
  CHECK(refusal("Apertus", gated).item == "model.layers.0.mlp.gate_proj.weight");
  const std::vector<std::pair<std::string, Json>> others{
      {"hidden_act", "silu"}, {"mlp_bias", true}, {"post_norm", true}, {"rope_scaling", "none"}};
  for (const auto& other : others) {
    CAPTURE(other.first);
    const auto with = [&](TinyModel&, Json& c) { c[other.first] = other.second; };
    CHECK(refusal("Apertus", with).item == other.first);
  }
  CHECK(refusal("Apertus", [](TinyModel&, Json& c) { c.erase("rope_scaling"); }).kind != "none");
}

TEST_CASE("gains of the norms of queries and keys differ by the head where the family says so",
          "[families]") {
  const std::string attention = "model.layers.0.self_attn.";
  const auto shaped = [&](const char* norm, const std::vector<std::uint64_t>& shape) {
    return refusal("Cohere", [&](TinyModel& m, Json&) { m.add(attention + norm, shape, 1); });
  };
  CHECK(shaped("q_norm.weight", {4, 4}).kind == "none");
  check_failure(shaped("q_norm.weight", {16}), attention + "q_norm.weight", "4 heads of 4");
  check_failure(shaped("k_norm.weight", {4}), attention + "k_norm.weight", "2 heads of 4");
  check_failure(shaped("k_norm.bias", {2, 4}), attention + "k_norm.bias", "not supported");
  const Json& expected = models_of("Cohere").back();
  const auto model = open_model(wave_model(expected), expected.at("config"));
  const LayerWeights weights = model->read_heads(0);
  CHECK_FALSE(weights.normalizes_all_heads(model->rules(0)));
  CHECK(weights.key_norm.of_head(1).gain == weights.key_norm.gain.tail(4));
}

TEST_CASE("the epsilon of the norms of OLMo 1 is a constant of its code", "[families]") {
  const Json& expected = models_of("OLMo").back();
  Json config = expected.at("config");
  for (const char* const key : {"layer_norm_eps", "rms_norm_eps"}) config[key] = 0.5;
  CHECK(open_model(wave_model(expected), config)->read_heads(0).attention_norm.epsilon == 1e-5F);
}

TEST_CASE("config.json counts the rows of the token embeddings", "[families]") {
  const Json& expected = models_of("LLaMA").front();
  const Index rows = open_model(wave_model(expected), expected.at("config"))->vocabulary();
  const auto counted = [&](Index count) {
    return refusal("LLaMA", [&](TinyModel&, Json& c) { c["vocab_size"] = count; });
  };
  CHECK(counted(rows).kind == "none");
  for (const Index other : {rows - 1, rows + 1}) {
    check_failure(counted(other), "vocab_size", "but the file has " + std::to_string(rows));
  }
}

TEST_CASE("queries, keys and values are cut where config.json bounds them", "[families]") {
  const auto with = [](const Json& bound) {
    return refusal("OLMo", [=](TinyModel&, Json& c) { c["clip_qkv"] = bound; });
  };
  CHECK(with(8).kind == "none");
  CHECK(with(nullptr).kind == "none");
  for (const Json& bound : {Json(0), Json(-1), Json("none")}) CHECK(with(bound).item == "clip_qkv");
  const auto normed = [](TinyModel& model, Json&) { model.add("model.norm.weight", {16}, 1); };
  CHECK(refusal("OLMo", normed).item == "model.norm.weight");
  const auto gain = [](TinyModel& model, Json&) {
    model.add("model.layers.0.input_layernorm.weight", {16}, 1);
  };
  CHECK(refusal("OLMo", gain).item == "model.layers.0.input_layernorm.weight");
  const auto biased = [](TinyModel& model, Json&) {
    model.add("model.layers.0.self_attn.q_proj.bias", {16}, 1);
  };
  CHECK(refusal("OLMo", biased).item == "attention_bias");
  // Of another family, which does not read the key.
  CHECK(refusal("OLMo 2", [](TinyModel&, Json& c) { c["clip_qkv"] = 8; }).item == "clip_qkv");
  const Json& expected = models_of("OLMo").back();
  const auto model = open_model(wave_model(expected), expected.at("config"));
  CHECK_FALSE(model->has_plain_logits());
  CHECK_FALSE(model->read_heads(0).has_linear_heads());
}

TEST_CASE("a key that is null, missing or of another activation is what the original code has",
          "[families]") {
  /// Logits of the last token after `change`.
  const auto logits = [](const std::string& family, auto change) {
    const Json& expected = models_of(family).back();
    TinyModel model = wave_model(expected);
    Json config = expected.at("config");
    change(model, config);
    const auto opened = open_model(model, config);
    ForwardPass pass(opened, {{expected.at("ids").get<std::vector<int>>(), 0, 0}});
    while (!pass.done()) pass.advance();
    MatrixXf found = opened->read_output()(opened->output_states(pass.tokens(0)).rightCols(1));
    cap_logits<float>(opened->output_cap(), {found.data(), static_cast<std::size_t>(found.size())});
    return found;
  };
  const auto with = [&](const std::string& family, const Json& keys) {
    return logits(family, [&](TinyModel&, Json& c) { c.update(keys); });
  };
  const auto without = [&](const std::string& family, const std::string& key) {
    return logits(family, [&](TinyModel&, Json& c) { c.erase(key); });
  };
  // Null is no cap, and a missing one the default.
  const Json none{{"final_logit_softcapping", nullptr}};
  const Json large{{"final_logit_softcapping", 1e3}};
  CHECK(with("Gemma 2", none).isApprox(with("Gemma 2", large), 1e-4F));
  CHECK(without("Gemma 2", "final_logit_softcapping") ==
        with("Gemma 2", {{"final_logit_softcapping", 30}}));
  const auto with_bias = [](TinyModel& model, Json&) { model.add("lm_head.bias", {7}, 1); };
  CHECK(failure_of([&] { logits("LLaMA", with_bias); }).item == "lm_head.bias");
  CHECK_NOTHROW(logits("Phi", with_bias));
  // The head for masked tokens has an activation of its own.
  const auto masked = [&](const Json& keys) {
    return logits("ModernBERT", [&](TinyModel& model, Json& config) {
      constexpr std::uint64_t width = 16;
      model.add("head.dense.weight", {width, width}, 1);
      model.add("head.norm.weight", {width}, 1);
      config.update(keys);
    });
  };
  CHECK(masked({{"classifier_activation", "gelu"}}) == masked(Json::object()));
  CHECK(masked({{"classifier_activation", "relu"}}) != masked(Json::object()));
  // Keys that Mistral does not read.
  const Json window{{"model_type", "mistral"}, {"sliding_window", 2}};
  for (const Json& key : {Json{{"use_sliding_window", false}}, Json{{"max_window_layers", 28}}}) {
    Json both = window;
    both.update(key);
    CHECK(with("LLaMA", both) == with("LLaMA", window));
  }
  CHECK(with("LLaMA", window) != with("LLaMA", {{"model_type", "mistral"}}));
}

TEST_CASE("the heads of every family are predicted", "[families]") {
  for (const auto& [family, models] : all_models().items()) {
    for (const Json& expected : models) {
      CAPTURE(family, expected.at("config").dump());
      const auto model = open_model(wave_model(expected), expected.at("config"));
      std::vector<Passage> passages(8);
      for (std::uint64_t k = 0; k < passages.size(); ++k) {
        for (std::uint64_t t = 0; t < 8; ++t) {
          passages[k].ids.push_back(static_cast<int>(random_bits(7, k, t) % 7));
        }
      }
      if (!model->has_plain_logits()) {
        check_failure(failure_of([&] {
                        Prediction(model, {passages, passages, {}, true}, {20, 1});
                      }),
                      family, "needs logits of queries and keys alone");
        continue;
      }
      Prediction prediction(model, {passages, passages, {}, true}, {20, 1});
      CHECK(prediction.advance(prediction.steps_wanted()));
      for (HeadPrediction head : prediction.heads()) {
        const LayerRules& rules = model->rules(head.layer);
        // The sequences are the measured passages.
        const HeadMeasures& sequences = head.at(Level::sequences);
        CHECK(sequences.row.entropy == Approx(head.measured.row.entropy).epsilon(1e-4));
        CHECK(sequences.distance == Approx(head.measured.distance).epsilon(1e-4));
        CHECK((head.measured.learned_sink > 0) == rules.learned_sinks);
        CHECK(head.measured_logits.largest < head.in(Metric::weighted).logit_bound * 1.0001);
        const bool no_theory = rules.attention_cap > 0 || model->has_offset_bias() ||
                               model->key_layer(head.layer) != head.layer;
        if (no_theory) CHECK(std::isnan(head.at(Level::isotropic).row.entropy));
        for (std::size_t level = 0; level < head.levels.size(); ++level) {
          if (level == 0 && no_theory) continue;
          CHECK(std::isfinite(head.levels[level].row.entropy));
          CHECK_FALSE(head.levels[level].distance > static_cast<double>(rules.reach));
        }
      }
    }
  }
}

TEST_CASE("level 1 takes a norm of queries for its divisor's root mean square", "[families]") {
  // Isotropic tokens through the norms of Qwen 3, OLMo 2 (of all heads) and Gemma 3.
  for (const auto& [family, number] :
       {std::pair{"Qwen 3", 0}, std::pair{"OLMo 2", 0}, std::pair{"Gemma 3", 0}}) {
    CAPTURE(family);
    const Json& expected = models_of(family).at(static_cast<std::size_t>(number));
    const auto model = open_model(wave_model(expected), expected.at("config"));
    LayerWeights weights = model->read_heads(0);
    const LayerRules& rules = model->rules(0);
    constexpr Index kTokens = 4000;
    std::vector<float> normal(static_cast<std::size_t>(2 * model->width() * kTokens));
    NormalStream(3, 0).fill(normal);
    const Eigen::Map<MatrixXf> drawn(normal.data(), model->width(), 2 * kTokens);
    MatrixXf states = drawn;
    if (!weights.attention_norm.is_none())
      states = weights.attention_norm.gain.asDiagonal() * drawn;
    for (int head = 0; head < rules.heads; ++head) {
      const HeadTokens tokens = head_tokens(weights, rules, head, {&states, 1}).front();
      const double mean_square = tokens.queries.leftCols(kTokens)
                                     .cwiseProduct(tokens.keys.rightCols(kTokens))
                                     .colwise()
                                     .sum()
                                     .cast<double>()
                                     .squaredNorm() /
                                 kTokens;
      const HeadProjections linear = folded_projections(weights, rules, head);
      const double predicted = (linear.query.transpose() * linear.key).squaredNorm();
      CHECK(std::sqrt(predicted / mean_square) == Approx(1).epsilon(0.12));
    }
  }
}

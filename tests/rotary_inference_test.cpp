// LLaMA-like models on text: forward passes against an independent script and against training's own,
// predictions with rotary positions against the logits of plain formulas.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "advance_layer.h"
#include "catch.h"
#include "checkpoint/attention_window.h"
#include "checkpoint/family.h"
#include "checkpoint_failure.h"
#include "inference/forward_pass.h"
#include "inference/head_measures.h"
#include "inference_models.h"
#include "paths.h"
#include "prediction/levels.h"
#include "prediction/mean_field.h"
#include "prediction/prediction.h"
#include "safetensors_writer.h"
#include "test_head.h"
#include "test_matrices.h"
#include "training/export_file.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Json = nlohmann::json;

namespace {

const Json& expected() {
  static const Json read = reference("llama-forward.json");
  return read;
}

/// The model of the reference. Tensors whose name holds `without` are left out.
std::shared_ptr<const Safetensors> waves(const std::string& without = "-") {
  TinyModel model = wave_model(expected());
  std::erase_if(model.values,
                [&](const auto& it) { return it.first.find(without) != std::string::npos; });
  return open(model.writer().bytes());
}

std::shared_ptr<const Transformer> model_of(const Json& config, const std::string& without = "-") {
  return std::make_shared<const Transformer>(waves(without), Config::parse(config.dump()));
}

std::shared_ptr<const Transformer> reference_model() { return model_of(expected().at("config")); }

void check_numbers(const Json& expected, const Eigen::VectorXf& found) {
  REQUIRE(static_cast<Index>(expected.size()) == found.size());
  for (Index i = 0; i < found.size(); ++i) {
    CHECK_THAT(found[i], WithinAbs(expected[static_cast<std::size_t>(i)].get<double>(), 2e-5));
  }
}

/// R(position) by its definition.
MatrixXd turn_matrix(double base, Index width, double position) {
  MatrixXd turn = MatrixXd::Zero(width, width);
  const Index half = width / 2;
  for (Index i = 0; i < half; ++i) {
    const double angle =
        position * std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
    turn(i, i) = turn(i + half, i + half) = std::cos(angle);
    turn(i, i + half) = -std::sin(angle);
    turn(i + half, i) = std::sin(angle);
  }
  return turn;
}

}  // namespace

TEST_CASE("a LLaMA-like forward pass has the numbers of an independent script", "[rotary]") {
  const auto model = reference_model();
  CHECK(model->family().name == "LLaMA");
  CHECK(model->heads() == 4);
  CHECK(model->rules(0).head_width == 4);
  CHECK(model->positions() == 16);
  const auto ids = expected().at("ids").get<std::vector<int>>();
  ForwardPass pass(model, {{ids, 0, 0}});
  for (const Json& layer : expected().at("layers")) {
    const PassageTrace trace = advance_layer(pass).front();
    for (std::size_t head = 0; head < 4; ++head) {
      const Json& expected = layer.at("heads").at(head);
      const auto& [logits, weights] = trace.heads[head];
      check_numbers(expected.at("last_row"), weights.rightCols(1));
      HeadMeter meter;
      meter.add(logits, weights, {.causal = true}, {1, 0});
      const HeadMeasures found = meter.measures();
      CHECK_THAT(found.row.entropy, WithinAbs(expected.at("entropy").get<double>(), 1e-5));
      CHECK_THAT(found.row.participation,
                 WithinAbs(expected.at("participation").get<double>(), 1e-5));
      CHECK_THAT(found.row.sink(), WithinAbs(expected.at("sink").get<double>(), 1e-5));
      CHECK_THAT(found.distance, WithinAbs(expected.at("distance").get<double>(), 1e-4));
    }
    check_numbers(layer.at("last_token"), pass.tokens(0).rightCols(1));
  }
  CHECK(pass.done());
  check_numbers(expected().at("logits"),
                model->read_output()(model->finished(pass.tokens(0)).rightCols(1)));
}

TEST_CASE("what a LLaMA-like forward pass cannot read is refused by name", "[rotary]") {
  const auto failure = [](const char* key, const Json& value, const std::string& without = "-") {
    Json config = expected().at("config");
    if (value.is_discarded()) {
      config.erase(key);
    } else {
      config[key] = value;
    }
    return failure_of([&] {
      ForwardPass pass(model_of(config, without), {{{1, 2, 3}, 0, 0}});
      advance_layer(pass);
    });
  };
  const Json none(Json::value_t::discarded);
  check_failure(failure("model_type", "internlm3"), "test.safetensors",
                "LLaMA (llama mistral mistral3");
  check_failure(failure("model_type", none), "test.safetensors", "cannot be run on text");
  CHECK(failure("hidden_act", "tanh").item == "hidden_act");
  CHECK(failure("num_attention_heads", none).item == "config.json");
  CHECK(failure("num_attention_heads", 3).item == "num_attention_heads");
  CHECK(failure("num_key_value_heads", 3).item == "num_key_value_heads");
  CHECK(failure("num_key_value_heads", 4).item == "model.layers.0.self_attn.k_proj.weight");
  CHECK_THAT(failure("rope_scaling", {{"rope_type", "other"}}).message,
             ContainsSubstring("rope_scaling.rope_type"));
  CHECK(failure("rope_scaling", {{"rope_type", "linear"}, {"factor", 2}}).kind == "none");
  CHECK(failure("layer_types", {"chunked_attention"}).item == "layer_types.0");
  Json windowed = expected().at("config");
  windowed["model_type"] = "mistral";
  const auto window_failure = [&](const char* key, const Json& value) {
    Json config = windowed;
    config[key] = value;
    return failure_of([&] { model_of(config); });
  };
  CHECK(window_failure("sliding_window", 2).kind == "none");
  CHECK(window_failure("sliding_window", 0).item == "sliding_window");
  CHECK(window_failure("layer_types", {"sliding_attention"}).item == "sliding_window");
  CHECK(failure("max_position_embeddings", 2).item == "length");
  CHECK(failure("hidden_act", "silu", "gate_proj").item == "model.layers.0.mlp.gate_proj.weight");
  CHECK(failure("hidden_act", "silu", "bias").kind == "none");
  CHECK(failure("hidden_act", "silu", "model.norm").kind == "none");  // not needed for attention
}

TEST_CASE("a trained LLaMA-like model attends as in training", "[rotary]") {
  ModelSettings settings;
  settings.vocabulary = 9;
  settings.width = 16;
  settings.heads = 4;
  settings.key_heads = 2;
  settings.length = 12;
  settings.positions = Positions::rotary;
  settings.normalization = Normalization::rms;
  settings.mlp_kind = MlpKind::gated;
  settings.linear_bias = LinearBias::without;
  Model<float> trained(settings);
  initialize(trained, {}, 3);
  trained.parameters() *= 5;  // far from uniform attention
  const std::vector<TokenId> tokens{0, 8, 3, 1, 1, 7, 4, 2, 6, 0, 5, 3};
  trained.forward(tokens, 12);
  const auto model = std::make_shared<const Transformer>(
      open(export_model(trained, TensorFormat::f32)),
      Config::parse(export_config(settings, TensorFormat::f32)));
  CHECK(model->positions() == 12);
  ForwardPass pass(model, {{{tokens.begin(), tokens.end()}, 0, 0}});
  double farthest = 0;
  for (Index layer = 0; layer < settings.depth; ++layer) {
    const PassageTrace trace = advance_layer(pass).front();
    for (Index head = 0; head < 4; ++head) {
      const Eigen::MatrixXf expected = trained.attention(layer).middleCols(head * 12, 12);
      const Eigen::MatrixXf& found = trace.heads[static_cast<std::size_t>(head)].weights;
      CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-5f);
      farthest = std::max(farthest, found.col(11).maxCoeff() - 1.0 / 12);
    }
  }
  CHECK(farthest > 0.1);
}

TEST_CASE("queries as the keys see them give the logits of turned queries and keys", "[rotary]") {
  Rotary rotary{RotaryPairs::kHalves, 4, 30.0};
  const Index width = 6, length = 9;  // the last two coordinates are not turned
  const auto whole = [&](double position) {
    MatrixXd turn = MatrixXd::Identity(width, width);
    turn.topLeftCorner(4, 4) = turn_matrix(30.0, 4, position);
    return turn;
  };
  for (const double factor : {1.0, 1.5}) {
    rotary.logit_factor = factor;
    const RotaryTurns turns(rotary, length);
    const VectorXd query = random_matrix(width, 1, 1), key = random_matrix(width, 1, 2);
    VectorXd scaled = query;
    scaled.head(4) *= factor;
    const MatrixXd seen = turns.rotated_for_keys(query, 5, length);
    REQUIRE(seen.cols() == length);
    for (Index t = 0; t < length; ++t) {
      const double expected = (whole(5) * scaled).dot(whole(static_cast<double>(t)) * key);
      CHECK_THAT(seen.col(t).dot(key), WithinAbs(expected, 1e-12));
    }
  }
  CHECK(RotaryTurns().rotated_for_keys(VectorXd::Ones(3), 5, length).cols() == 1);
}

TEST_CASE("laws of logits with rotary positions are those of turned keys", "[rotary]") {
  constexpr Index kWidth = 5, kHead = 4, kLength = 12, kPassages = 30, kPlace = 8;
  const RotaryTurns turns({RotaryPairs::kHalves, kHead, 20.0}, kLength);
  constexpr SinkKeys kSinks{1, 0};
  std::vector<Eigen::MatrixXf> states;
  std::vector<MatrixXd> tokens;
  const MatrixXd mix = random_matrix(kWidth, kWidth, 1), mean = random_matrix(kWidth, 2, 2);
  for (std::uint64_t k = 0; k < kPassages; ++k) {
    MatrixXd x = (mix * random_matrix(kWidth, kLength, 100 + k)).colwise() + mean.col(0);
    x.col(0) += 2 * mean.col(1);
    states.push_back(x.cast<float>());
    tokens.push_back(states.back().cast<double>());
  }
  const TokenClouds clouds(tokens, kSinks);
  const TestHead head{random_matrix(kHead, kWidth, 50), random_matrix(kHead, 1, 51),
                      random_matrix(kHead, kWidth, 52), random_matrix(kHead, 1, 53)};
  const VectorXd correlations = correlations_of(states, kSinks);
  const HeadPredictor predictor(head.states_of(tokens), kSinks, correlations, turns,
                                {head.query, head.key});
  const VectorXd state = tokens[3].col(kPlace);
  const auto turned = [&](Index t) -> MatrixXd {
    return turn_matrix(20.0, kHead, static_cast<double>(t));
  };
  const VectorXd query = turned(kPlace) * head.query_of(state);
  const HeadQuery token = head.query_at(state, kPlace);
  const auto law_of = [&](Level level) { return predictor.law(level, token); };

  const RowLaw sink = law_of(Level::sink), position = law_of(Level::separator);
  for (Index t = 1; t <= kPlace; ++t) {
    const MatrixXd key = turned(t) * head.key;
    const VectorXd bias = turned(t) * head.key_bias;
    CHECK_THAT(sink.mean[t], WithinAbs(query.dot(key * clouds.but_first.mean + bias), 1e-9));
    CHECK_THAT(position.mean[t], WithinAbs(query.dot(key * clouds.smooth.col(t) + bias), 1e-9));
    const VectorXd along = key.transpose() * query;
    CHECK_THAT(sink.std[t],
               WithinAbs(std::sqrt(along.dot(clouds.but_first.covariance * along)), 1e-9));
    CHECK_THAT(position.std[t],
               WithinAbs(std::sqrt(along.dot(clouds.around_smooth * along)), 1e-9));
  }
  CHECK_THAT(sink.mean[0], WithinAbs(query.dot(head.key * clouds.leading + head.key_bias), 1e-9));
  CHECK(sink.std[0] == 0);

  // Its own key is known, and that of others by their correlation with it.
  const RowLaw neighbours = law_of(Level::neighbours);
  CHECK_THAT(neighbours.mean[kPlace],
             WithinAbs(query.dot(turned(kPlace) * (head.key * state + head.key_bias)), 1e-9));
  CHECK(neighbours.std[kPlace] == 0);

  // Levels without the query: means over queries of their own statistics.
  const RowLaw spectrum = law_of(Level::spectrum), covariance = law_of(Level::covariance),
               centred = law_of(Level::mean);
  for (const Index distance : {0, 1, 5}) {
    const MatrixXd w = head.query.transpose() * turned(distance).transpose() * head.key / 2;
    const Index key = kPlace - distance;
    CHECK_THAT(spectrum.std[key], WithinAbs(w.norm(), 1e-9));
    const double variance =
        (w * clouds.all.covariance * w.transpose() * clouds.all.covariance).trace();
    CHECK_THAT(covariance.std[key], WithinAbs(std::sqrt(variance), 1e-9));
    const VectorXd centre = turned(distance) * head.query_of(clouds.all.mean);
    const VectorXd along = head.key.transpose() * centre;
    CHECK_THAT(centred.mean[key],
               WithinAbs(centre.dot(head.key * clouds.all.mean + head.key_bias), 1e-9));
    CHECK_THAT(centred.std[key],
               WithinAbs(std::sqrt(variance + along.dot(clouds.all.covariance * along)), 1e-9));
  }
}

TEST_CASE("a model type decides whether and in which layers its windows are read", "[rotary]") {
  // Tokens of the windows of layers 27 and 28, and 0 for none.
  const auto windows = [](const std::string& text) {
    const Config config = Config::parse(text);
    const std::string name = text.find("qwen3") == std::string::npos ? "LLaMA" : "Qwen 3";
    const auto row = std::find_if(families().begin(), families().end(),
                                  [&](const Family& family) { return family.name == name; });
    const ConfigKeys keys(&config, {"", "text_config."});
    std::vector<std::uint64_t> found;
    for (const int layer : {27, 28}) {
      found.push_back(attention_window(keys, row->window, layer).value_or(0));
    }
    return found;
  };
  using Windows = std::vector<std::uint64_t>;
  const auto of = [](const std::string& type, const std::string& more = "") {
    return R"({"model_type":")" + type + R"(","sliding_window":3)" + more + "}";
  };
  CHECK(windows(of("llama")) == Windows{0, 0});
  CHECK(windows(of("mistral")) == Windows{3, 3});
  for (const std::string type : {"qwen2", "qwen3"}) {
    CHECK(windows(of(type)) == Windows{0, 0});
    CHECK(windows(of(type, R"(,"max_window_layers":0)")) == Windows{0, 0});
    const std::string on = R"(,"use_sliding_window":true)";
    CHECK(windows(of(type, on)) == Windows{0, 3});
    CHECK(windows(of(type, on + R"(,"max_window_layers":0)")) == Windows{3, 3});
  }
  CHECK(windows(of("llava", R"(,"text_config":{"model_type":"mistral"})")) == Windows{3, 3});
  CHECK(windows(of("llava", R"(,"text_config":{"model_type":"llama"})")) == Windows{0, 0});
}

TEST_CASE("real keys of one passage give the logits that the model has there", "[rotary]") {
  Json config = expected().at("config");
  config["model_type"] = "mistral";
  config["sliding_window"] = 3;
  const auto model = model_of(config);
  const auto ids = expected().at("ids").get<std::vector<int>>();
  ForwardPass pass(model, {{ids, 0, 0}});
  const auto length = static_cast<Index>(ids.size());
  const LayerRules& rules = model->rules(0);
  const RotaryTurns turns(rules.rotary, length);
  const LayerWeights weights = pass.weights();
  const PassageTrace trace = advance_layer(pass).front();
  for (int head = 0; head < model->heads(); ++head) {
    HeadStates own;
    own.add(head_tokens(weights, rules, head, {&trace.states, 1}).front());
    for (const Index place : {Index{1}, length - 1}) {
      const KeyRange seen = rules.seen(place, length);
      const std::vector<float> normal(static_cast<std::size_t>(seen.count));
      const HeadQuery query{own.queries[0].col(place), own.keys[0].col(place), place};
      const VectorXd found = real_logits(turns, own, query, 0, seen, normal);
      const Eigen::MatrixXf& logits = trace.heads[static_cast<std::size_t>(head)].logits;
      const VectorXd expected = logits.col(place).segment(seen.first, seen.count).cast<double>();
      CHECK(seen.count == std::min<Index>(3, place + 1));
      CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-4);
    }
  }
}

TEST_CASE("mean-field attention with keys of no variance is softmax over turned keys", "[rotary]") {
  constexpr Index kHead = 4, kLength = 10, kPlace = 6;
  const RotaryTurns turns({RotaryPairs::kHalves, kHead, 20.0}, kLength);
  const KeyValueLaw law{random_matrix(kHead, kLength, 1),
                        random_matrix(kHead, kLength, 2),
                        MatrixXd::Zero(kHead, kHead),
                        random_matrix(kHead, kHead, 3),
                        {1, 0}};
  const VectorXd query = random_matrix(kHead, 1, 4);
  const HeadStates tokens{{query.replicate(1, kLength)}, {law.key_means}, {law.value_means}};
  const VectorXd read = mean_field_reads(law, tokens, 0, turns, {.causal = true}).mean.col(kPlace);
  VectorXd weights(kPlace + 1), expected = VectorXd::Zero(kHead);
  for (Index t = 0; t <= kPlace; ++t) {
    weights[t] =
        std::exp((turn_matrix(20.0, kHead, static_cast<double>(kPlace)) * query)
                     .dot(turn_matrix(20.0, kHead, static_cast<double>(t)) * law.key_means.col(t)));
  }
  weights /= weights.sum();
  for (Index t = 0; t <= kPlace; ++t) expected += weights[t] * law.value_means.col(t);
  // Content keys pull the read along the covariance of values with keys.
  VectorXd pull = VectorXd::Zero(kHead);
  const MatrixXd seen = turns.rotated_for_keys(query, kPlace, kLength);
  for (Index t = 1; t < kPlace; ++t) pull += weights[t] * seen.col(t);
  CHECK((read - expected - law.cross_covariance * pull).norm() < 1e-12);
}

TEST_CASE("predictions of a LLaMA-like model know its positions, biases and shared keys",
          "[rotary]") {
  const auto model = reference_model();
  std::vector<Passage> passages;
  for (std::uint64_t k = 0; k < 24; ++k) {
    Passage& passage = passages.emplace_back();
    for (std::uint64_t t = 0; t < 12; ++t) {
      passage.ids.push_back(static_cast<int>(random_bits(5, k, t) % 7));
    }
  }
  Prediction prediction(model, {passages, passages, {}, true}, {400, 1});
  CHECK(prediction.advance(prediction.steps_wanted()));
  REQUIRE(prediction.heads().size() == 8);
  double error = 0, mean_field = 0, spread = 0;
  for (const HeadPrediction& head : prediction.heads()) {
    const auto entropy = [&](Level level) {
      return head.levels[static_cast<std::size_t>(level)].row.entropy;
    };
    for (const HeadMeasures& level : head.levels) CHECK(std::isfinite(level.row.entropy));
    CHECK(entropy(Level::sequences) == head.measured.row.entropy);
    error += std::abs(entropy(Level::keys) - head.measured.row.entropy) / 8;
    mean_field += std::abs(entropy(Level::mean_field) - head.measured.row.entropy) / 8;
    spread = std::max(spread, 1 - head.measured.row.entropy);
  }
  // The tokens are independent: real keys of other passages are as good as their own.
  CHECK(error < 0.03);
  CHECK(mean_field < 0.06);
  CHECK(spread > 0.3);  // attention is far from uniform
}

TEST_CASE("the decay by the rotary base falls from 1 to 0 as passages get longer", "[rotary]") {
  const Rotary rotary{RotaryPairs::kHalves, 8, 1e4};
  CHECK_THAT(rotary_decay(rotary, 128),
             WithinAbs((2e4 - 128 * std::sqrt(2)) / (2e4 + 128 * std::sqrt(2)), 1e-12));
  CHECK(rotary_decay(rotary, 2) > 0.999);
  CHECK(rotary_decay(rotary, 128) > rotary_decay(rotary, 2048));
  CHECK_THAT(rotary_decay(rotary, 14142), WithinAbs(0, 1e-4));  // T sqrt 2 = 2 theta
  CHECK(std::isnan(rotary_decay(rotary, 14143)));
  CHECK(std::isnan(rotary_decay({RotaryPairs::kNone}, 128)));
  CHECK(std::isnan(rotary_decay({RotaryPairs::kHalves, 8, 1e4, {1, 1, 0.5, 0.5}}, 128)));
}

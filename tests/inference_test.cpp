// Forward passes: MiniLM against numbers of an independent script, GPT-2 against plain loops; measures.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "advance_layer.h"
#include "catch.h"
#include "checkpoint_failure.h"
#include "inference/forward_pass.h"
#include "inference/head_measures.h"
#include "inference/text_attention.h"
#include "inference_models.h"
#include "llama_gguf.h"
#include "minilm.h"
#include "propagation/propagation.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;

namespace {

std::shared_ptr<const Transformer> tiny(const SafetensorsWriter& writer,
                                        const std::string& config) {
  return std::make_shared<const Transformer>(open(writer.bytes()), Config::parse(config));
}

double gelu_new(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

using Row = std::vector<double>;
using Rows = std::vector<Row>;

/// GPT-2 by the book, in loops over the numbers that were written.
class PlainGpt2 {
 public:
  explicit PlainGpt2(const TinyModel& model) : m_(model) {}

  /// Of every head: a unit vector that is removed from its keys, and a token whose value is 0.
  Row removed;
  std::optional<std::size_t> without_value;
  /// A token that only its own query sees.
  std::optional<std::size_t> dropped;

  Rows run(const std::vector<int>& ids) const {
    Rows x;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      Row row(kTinyWidth);
      for (std::size_t i = 0; i < kTinyWidth; ++i) {
        row[i] = at("wte.weight", static_cast<std::size_t>(ids[t]) * kTinyWidth + i) +
                 at("wpe.weight", t * kTinyWidth + i);
      }
      x.push_back(row);
    }
    for (int layer = 0; layer < kTinyLayers; ++layer) block(x, "h." + std::to_string(layer) + ".");
    return norm(x, "ln_f");
  }

 private:
  double at(const std::string& name, std::size_t i) const { return m_.values.at(name)[i]; }

  Rows norm(const Rows& x, const std::string& name) const {
    Rows out = x;
    for (Row& row : out) {
      double mean = 0, variance = 0;
      for (const double v : row) mean += v / static_cast<double>(row.size());
      for (const double v : row)
        variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) * at(name + ".weight", i) +
                 at(name + ".bias", i);
      }
    }
    return out;
  }

  /// Conv1D: weight is in x out.
  Rows linear(const Rows& x, const std::string& name) const {
    const std::size_t outputs = m_.values.at(name + ".bias").size();
    Rows out;
    for (const Row& row : x) {
      Row y(outputs);
      for (std::size_t o = 0; o < outputs; ++o) {
        y[o] = at(name + ".bias", o);
        for (std::size_t i = 0; i < row.size(); ++i)
          y[o] += row[i] * at(name + ".weight", i * outputs + o);
      }
      out.push_back(y);
    }
    return out;
  }

  void edit(Rows& fused) const {
    const std::size_t d = kTinyWidth, h = d / kTinyHeads;
    for (std::size_t t = 0; t < fused.size(); ++t) {
      for (std::size_t first = d; first < 2 * d && !removed.empty(); first += h) {
        double along = 0;
        for (std::size_t i = 0; i < h; ++i) along += removed[i] * fused[t][first + i];
        for (std::size_t i = 0; i < h; ++i) fused[t][first + i] -= along * removed[i];
      }
      for (std::size_t i = 2 * d; i < 3 * d && t == without_value; ++i) fused[t][i] = 0;
    }
  }

  Rows attend(Rows fused) const {
    edit(fused);
    const std::size_t d = kTinyWidth, h = d / kTinyHeads;
    Rows out(fused.size(), Row(d));
    for (std::size_t t = 0; t < fused.size(); ++t) {
      for (std::size_t head = 0; head < kTinyHeads; ++head) {
        Row weights;
        double total = 0;
        for (std::size_t s = 0; s <= t; ++s) {
          double dot = 0;
          for (std::size_t i = head * h; i < (head + 1) * h; ++i)
            dot += fused[t][i] * fused[s][d + i];
          const bool seen = s == t || s != dropped;
          weights.push_back(seen ? std::exp(dot / std::sqrt(static_cast<double>(h))) : 0);
          total += weights.back();
        }
        for (std::size_t s = 0; s <= t; ++s) {
          for (std::size_t i = head * h; i < (head + 1) * h; ++i) {
            out[t][i] += weights[s] / total * fused[s][2 * d + i];
          }
        }
      }
    }
    return out;
  }

  void block(Rows& x, const std::string& p) const {
    const auto add = [&](const Rows& y) {
      for (std::size_t t = 0; t < x.size(); ++t) {
        for (std::size_t i = 0; i < kTinyWidth; ++i) x[t][i] += y[t][i];
      }
    };
    add(linear(attend(linear(norm(x, p + "ln_1"), p + "attn.c_attn")), p + "attn.c_proj"));
    Rows hidden = linear(norm(x, p + "ln_2"), p + "mlp.c_fc");
    for (Row& row : hidden) {
      for (double& v : row) v = gelu_new(v);
    }
    add(linear(hidden, p + "mlp.c_proj"));
  }

  const TinyModel& m_;
};

void check_tokens(const Eigen::MatrixXf& found, const Rows& expected) {
  for (Index t = 0; t < found.cols(); ++t) {
    for (Index i = 0; i < found.rows(); ++i) {
      const double value = expected[static_cast<std::size_t>(t)][static_cast<std::size_t>(i)];
      CHECK_THAT(found(i, t), WithinAbs(value, 1e-4));
    }
  }
}

}  // namespace

TEST_CASE("MiniLM's forward pass has the numbers of an independent script", "[forward][sample]") {
  const nlohmann::json expected = reference("minilm-forward.json");
  const auto model = minilm_transformer();
  CHECK(model->layers() == 6);
  CHECK(model->heads() == 12);
  CHECK(model->positions() == 512);
  const auto passages =
      cut_passages(minilm_tokenizer(), expected.at("text").get<std::string>(), 128);
  REQUIRE(passages.size() == 1);
  CHECK(passages[0].ids == expected.at("ids").get<std::vector<int>>());

  ForwardPass pass(model, passages);
  const auto check_column = [&](const nlohmann::json& values, const Eigen::VectorXf& column) {
    REQUIRE_FALSE(values.empty());
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK_THAT(column[static_cast<Index>(i)], WithinAbs(values[i].get<double>(), 1e-4));
    }
  };
  check_column(expected.at("embedding").at("values"),
               pass.tokens(0).col(expected.at("embedding").at("token").get<Index>()));
  std::size_t rows = 0, tokens = 0;
  while (!pass.done()) {
    const int layer = pass.layer();
    const PassageTrace trace = advance_layer(pass).front();
    for (const auto& row : expected.at("rows")) {
      if (row.at("layer") != layer) continue;
      ++rows;
      REQUIRE(row.at("weights").size() == passages[0].ids.size());
      check_column(row.at("weights"),
                   trace.heads[row.at("head")].weights.col(row.at("query").get<Index>()));
    }
    for (const auto& token : expected.at("tokens")) {
      if (token.at("after_layers") != layer + 1) continue;
      ++tokens;
      check_column(token.at("values"), pass.tokens(0).col(token.at("token").get<Index>()));
    }
  }
  CHECK(pass.steps_done() == pass.steps_wanted());
  // Each number of the file was compared, and every layer has some.
  CHECK(rows == expected.at("rows").size());
  CHECK(tokens == expected.at("tokens").size());
  CHECK(rows >= static_cast<std::size_t>(model->layers()));
  CHECK(tokens >= static_cast<std::size_t>(model->layers()));
}

TEST_CASE("a LLaMA in GGUF has the forward pass of an independent script", "[forward]") {
  const CheckpointFiles files{
      {std::make_shared<MemorySource>("model.gguf", llama_gguf().bytes())}, nullptr, nullptr};
  const nlohmann::json expected = reference("llama-forward.json");
  ForwardPass pass(std::make_shared<const Transformer>(open_tensors(files), *read_config(files)),
                   {{expected.at("ids").get<std::vector<int>>(), 0, 0}});
  while (!pass.done()) pass.advance();
  const auto last = expected.at("layers").back().at("last_token").get<std::vector<double>>();
  const Eigen::VectorXf token = pass.tokens(0).rightCols(1);
  REQUIRE(static_cast<std::size_t>(token.size()) == last.size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    CHECK_THAT(token[static_cast<Index>(i)], WithinAbs(last[i], 2e-5));
  }
}

TEST_CASE("GPT-2's forward pass is that of plain loops, with any prefix", "[forward]") {
  for (const std::string prefix : {"", "transformer."}) {
    const TinyModel tiny_model = tiny_gpt2();
    const auto model = tiny(tiny_model.writer(prefix), kTinyGpt2Config);
    CHECK(model->family().name == "GPT-2");
    const std::vector<int> ids{3, 1, 4, 1, 5};
    const Rows expected = PlainGpt2(tiny_model).run(ids);
    ForwardPass pass(model, {{ids, 0, 0}, {{2, 6}, 0, 0}});
    while (!pass.done()) {
      for (const PassageTrace& trace : advance_layer(pass)) {
        for (const auto& [logits, weights] : trace.heads) {
          CHECK(weights.triangularView<Eigen::StrictlyLower>().toDenseMatrix().isZero());
          CHECK(weights.colwise().sum().isOnes(1e-5f));
        }
      }
    }
    check_tokens(model->finished(pass.tokens(0)), expected);
  }
}

TEST_CASE("Interventions in the attention have the numbers of plain loops", "[forward]") {
  const TinyModel tiny_model = tiny_gpt2();
  const auto model = transformer_of(tiny_model);
  const std::vector<int> ids{3, 1, 4, 1, 5};
  PlainGpt2 plain(tiny_model);
  plain.removed = {0.5, -0.5, 0.1, 0.7};
  plain.without_value = 1;
  plain.dropped = 2;
  const Rows expected = plain.run(ids), untouched = PlainGpt2(tiny_model).run(ids);

  const Eigen::Vector4f removed(0.5f, -0.5f, 0.1f, 0.7f);
  Index rows = 0;
  const AttentionEdit edit{[&](HeadTokens& tokens) {
                             rows = tokens.keys.rows();
                             for (Index first = 0; first < rows; first += 4) {
                               auto own = tokens.keys.middleRows(first, 4);
                               own -= (removed * (removed.transpose() * own)).eval();
                             }
                             tokens.values.col(1).setZero();
                           },
                           2};
  ForwardPass pass(model, {{ids, 0, 0}, {ids, 0, 0}});
  const auto edit_of = [&](std::size_t passage) { return passage == 0 ? edit : AttentionEdit{}; };
  while (!pass.done()) {
    const std::vector<PassageTrace> traces = advance_layer(pass, edit_of);
    for (std::size_t passage = 0; passage < traces.size(); ++passage) {
      CHECK(traces[passage].heads.size() == kTinyHeads);
      for (const auto& [logits, weights] : traces[passage].heads) {
        CHECK(weights.colwise().sum().isOnes(1e-5f));
        CHECK((weights(2, 2) > 0 && weights.row(2).tail(2).isZero()) == (passage == 0));
        CHECK(logits(2, 3) != 0);  // that before
      }
    }
  }
  CHECK(rows == kTinyWidth);
  check_tokens(model->finished(pass.tokens(0)), expected);
  check_tokens(model->finished(pass.tokens(1)), untouched);
}

TEST_CASE("What a visitor throws is thrown when no other passage runs", "[forward]") {
  const auto model = transformer_of(tiny_gpt2());
  ForwardPass pass(model, {{{3, 1, 4}, 0, 0}, {{1, 5, 2}, 0, 0}});
  std::atomic<int> running = 0;
  PassageVisitors visitors;
  visitors.states = [&](std::size_t passage, const Eigen::MatrixXf&) {
    if (passage == 0) throw std::runtime_error("seen");
    ++running;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --running;
  };
  CHECK_THROWS_WITH(pass.advance(visitors), "seen");
  CHECK(running == 0);
}

TEST_CASE("RoBERTa counts its positions from 2, BERT from 0", "[forward]") {
  constexpr std::size_t kWidth = 4, kTokens = 5, kPositions = 7;
  const auto value = [](std::size_t table, std::size_t i) {
    return std::sin(static_cast<double>(10 * table + i));
  };
  const auto file = [&](const std::string& prefix) {
    SafetensorsWriter writer;
    const auto add = [&](const std::string& name, std::size_t table, std::size_t rows) {
      std::vector<double> values;
      for (std::size_t i = 0; i < rows * kWidth; ++i) values.push_back(value(table, i));
      writer.add(prefix + name, "F32", {rows, kWidth}, values);
    };
    add("embeddings.word_embeddings.weight", 1, kTokens);
    add("embeddings.position_embeddings.weight", 2, kPositions);
    add("embeddings.token_type_embeddings.weight", 3, 1);
    add("encoder.layer.0.attention.self.query.weight", 4, kWidth);
    add("encoder.layer.0.attention.self.key.weight", 4, kWidth);
    add("encoder.layer.0.attention.output.dense.weight", 5, kWidth);
    writer.add(prefix + "embeddings.LayerNorm.weight", "F32", {kWidth}, {1, 1, 1, 1});
    writer.add(prefix + "embeddings.LayerNorm.bias", "F32", {kWidth}, {0, 0, 0, 0});
    return writer;
  };
  struct Kind {
    std::string type;
    std::size_t first;
  };
  for (const Kind& kind : {Kind{"bert", 0}, Kind{"roberta", 2}, Kind{"xlm-roberta", 2}}) {
    CAPTURE(kind.type);
    const auto model = tiny(file(kind.type + "."), R"({"num_attention_heads":2,"model_type":")" +
                                                       kind.type + R"(","layer_norm_eps":1e-5})");
    CHECK(model->positions() == static_cast<Index>(kPositions - kind.first));
    const std::vector<int> ids{3, 0, 4};
    const Eigen::MatrixXf tokens = model->embed(ids);
    for (std::size_t t = 0; t < ids.size(); ++t) {
      Eigen::Vector4d x;
      for (std::size_t i = 0; i < kWidth; ++i) {
        x[static_cast<Index>(i)] = value(1, static_cast<std::size_t>(ids[t]) * kWidth + i) +
                                   value(2, (kind.first + t) * kWidth + i) + value(3, i);
      }
      const Eigen::Vector4d centred = x.array() - x.mean();
      const Eigen::Vector4d normed = centred / std::sqrt(centred.squaredNorm() / 4 + 1e-5);
      CHECK((tokens.col(static_cast<Index>(t)).cast<double>() - normed).norm() < 1e-5);
    }
  }
}

TEST_CASE("models that do not fit together are refused by name", "[forward]") {
  const auto failure = [](const std::function<void(TinyModel&)>& change,
                          const std::string& config = kTinyGpt2Config) {
    TinyModel model = tiny_gpt2();
    change(model);
    return failure_of([&] {
             ForwardPass pass(transformer_of(model, config), {{{1, 2}, 0, 0}});
             advance_layer(pass);
           })
        .item;
  };
  const auto nothing = [](TinyModel&) {};
  CHECK(failure([](TinyModel& m) { m.values.erase("h.0.mlp.c_fc.bias"); }) == "h.0.mlp.c_fc.bias");
  CHECK(failure([](TinyModel& m) { m.values.erase("wpe.weight"); }) == "wpe.weight");
  CHECK(failure([](TinyModel& m) { m.values.erase("h.0.attn.c_proj.weight"); }) ==
        "h.0.attn.c_proj.weight");
  CHECK(failure([](TinyModel& m) { m.values.erase("wte.weight"); }) == "test.safetensors");
  CHECK(failure([](TinyModel& m) {
          m.shapes["h.0.attn.c_attn.weight"] = {24, 8};
        }) == "test.safetensors");  // not GPT-2's layout
  CHECK(failure([](TinyModel& m) { m.values["h.0.ln_1.bias"][2] = std::nan(""); }) ==
        "h.0.ln_1.bias");
  CHECK(failure([](TinyModel& m) {
          m.values["h.0.mlp.c_proj.bias"][0] = 3e38;
          m.values["h.0.attn.c_proj.bias"][0] = 3e38;
        }) != "");
  CHECK(failure(nothing, "{}") == "test.safetensors");
  CHECK(failure(nothing, R"({"model_type":"gpt2"})") == "config.json");
  CHECK(failure(nothing, R"({"model_type":"gpt2","n_head":3})") == "n_head");
  CHECK(failure(nothing, R"({"model_type":"gpt2","n_head":2,"activation_function":"mish"})") ==
        "activation_function");
  CHECK(failure(nothing, R"({"model_type":"gpt2","n_head":2,"layer_norm_epsilon":-1})") ==
        "layer_norm_epsilon");
  CHECK(failure(nothing, R"({"model_type":"gpt2","n_head":2,"layer_norm_epsilon":"x"})") ==
        "layer_norm_epsilon");

  const auto model = transformer_of(tiny_gpt2());
  const auto embed = [&](const std::vector<int>& ids) {
    return failure_of([&] { model->embed(ids); }).item;
  };
  CHECK(embed({}) == "length");
  CHECK(embed(std::vector<int>(kTinyPositions + 1)) == "length");
  CHECK(embed({-1}) == "token");
  CHECK(embed({kTinyTokens}) == "token");
  CHECK(failure_of([&] { ForwardPass(model, {}); }).item == "passages");
}

TEST_CASE("a layer that is not finite is named, and the heads of those before it stay",
          "[forward]") {
  const std::vector<Passage> passages = {{{3, 1, 4}, 0, 0}, {{1, 5, 2}, 0, 0}};
  TextAttention whole(transformer_of(tiny_gpt2()), passages, true);
  whole.advance(std::numeric_limits<double>::infinity());
  REQUIRE(whole.layers().size() == kTinyLayers);
  REQUIRE(whole.weights().size() == kTinyLayers * kTinyHeads * passages.size());

  TinyModel model = tiny_gpt2();
  model.values["h.1.attn.c_attn.weight"][5] = std::nan("");
  TextAttention attention(transformer_of(model), passages, true);
  const auto run = [&] { attention.advance(std::numeric_limits<double>::infinity()); };
  for (int tries = 0; tries < 2; ++tries) {  // the step is still to be done
    CHECK(failure_of(run).item == "h.1.attn.c_attn.weight");
    REQUIRE(attention.layers().size() == 1);
    REQUIRE(attention.heads().size() == kTinyHeads);
    REQUIRE(attention.weights().size() == kTinyHeads * passages.size());
  }
  for (std::size_t head = 0; head < kTinyHeads; ++head) {
    CHECK(attention.heads()[head].measures.row.entropy == whole.heads()[head].measures.row.entropy);
  }
  for (std::size_t i = 0; i < attention.weights().size(); ++i) {
    CHECK(attention.weights()[i].weights == whole.weights()[i].weights);
  }
}

TEST_CASE("each head lists the passages with its largest weight on a token that is no sink",
          "[forward]") {
  const std::vector<Passage> passages = {
      {{3, 1, 4, 1}, 1, 1}, {{1, 5, 2, 6}, 0, 0}, {{2, 6}, 1, 1}, {{3, 5, 5, 1}, 0, 1}};
  TextAttention attention(transformer_of(tiny_gpt2()), passages, true, 2);
  attention.advance(std::numeric_limits<double>::infinity());
  const std::vector<LargestWeight>& listed = attention.largest_weights();
  REQUIRE(listed.size() == kTinyLayers * kTinyHeads * 2);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const LargestWeight& it = listed[i];
    CHECK(static_cast<std::size_t>(it.layer) == i / (2 * kTinyHeads));
    CHECK(static_cast<std::size_t>(it.head) == i / 2 % kTinyHeads);
    std::vector<float> largest;  // of each passage, by a plain loop
    for (const HeadWeights& head : attention.weights()) {
      if (head.layer != it.layer || head.head != it.head) continue;
      const Passage& passage = passages[head.passage];
      float most = 0;
      for (Eigen::Index query = 0; query < head.weights.cols(); ++query) {
        for (Eigen::Index key = 1; key < head.weights.rows() - passage.trailing; ++key) {
          if (key != query) most = std::max(most, head.weights(key, query));
        }
      }
      if (head.passage == it.passage) {
        CHECK(it.weight == most);
        CHECK(it.weight == head.weights(it.key, it.query));
      }
      largest.push_back(most);
    }
    std::sort(largest.begin(), largest.end(), std::greater<>());
    CHECK(it.weight == largest[i % 2]);
    CHECK(it.passage != 2);  // all of its keys are sinks
  }
}

TEST_CASE("measures of a head are those of its rows", "[forward]") {
  // Query 0 looks at key 0 alone, query 1 at both keys it may see alike, query 2 at its neighbour.
  Eigen::MatrixXf weights(3, 3);
  weights << 1, 0.5, 0, 0, 0.5, 1, 0, 0, 0;
  const Eigen::MatrixXf logits = Eigen::MatrixXf::Zero(3, 3);
  HeadMeter causal;
  causal.add(logits, weights, {.causal = true}, {1, 1});
  const HeadMeasures seen = causal.measures();
  CHECK(seen.queries == 2);
  CHECK(seen.row.entropy == Approx(0.5));
  CHECK(seen.row.participation == Approx((1 + 1.0 / 3) / 2));
  CHECK(seen.row.sink_first == Approx(0.25));
  CHECK(seen.row.sink_separator == Approx(0).margin(1e-12));
  CHECK(seen.distance == Approx(0.75));
  CHECK(seen.localization == Approx(0).margin(1e-12));
  HeadMeter full;
  full.add(logits, weights.transpose(), {}, {1, 1});
  CHECK(full.measures().queries == 3);
  CHECK(std::isnan(HeadMeter().measures().localization));
}

TEST_CASE("weights that underflow beside a learned sink have the ratios of their logits",
          "[forward]") {
  const Eigen::MatrixXf logits = Eigen::MatrixXf::Zero(3, 3);
  HeadMeter meter;
  meter.add(logits, Eigen::MatrixXf::Zero(3, 3), {.causal = true, .learned_sinks = true}, {1, 1});
  const HeadMeasures measures = meter.measures();
  CHECK(measures.learned_sink == Approx(1));
  CHECK(measures.row.participation == Approx(1));
  CHECK(measures.row.entropy == Approx(1));
}

TEST_CASE("rows of a sliding window have the keys of the window alone", "[forward]") {
  // Each query looks alike at itself and its neighbours, or at the one before alone where it is causal.
  const Index length = 5;
  const LayerRules both{.reach = 1}, causal{.causal = true, .reach = 1};
  const auto measured = [&](const LayerRules& rules, const SinkKeys& sinks) {
    Eigen::MatrixXf weights = Eigen::MatrixXf::Zero(length, length);
    for (Index query = 0; query < length; ++query) {
      const KeyRange seen = rules.seen(query, length);
      weights.col(query)
          .segment(seen.first, seen.count)
          .setConstant(1 / static_cast<float>(seen.count));
    }
    HeadMeter meter;
    meter.add(Eigen::MatrixXf::Zero(length, length), weights, rules, sinks);
    return meter.measures();
  };
  CHECK(both.most_seen(length) == 3);
  CHECK(causal.most_seen(length) == 2);
  const HeadMeasures near = measured(both, {1, 1}), before = measured(causal, {2, 1});
  CHECK(near.queries == 5);
  CHECK(before.queries == 4);
  for (const HeadMeasures& found : {near, before}) {
    CHECK(found.row.entropy == Approx(1));
    CHECK(found.row.participation == Approx(1));
  }
  CHECK(near.distance == Approx((0.5 + 2.0 / 3 * 3 + 0.5) / 5));
  CHECK(before.distance == Approx(0.5));
  CHECK(near.row.sink_first == Approx((1.0 / 2 + 1.0 / 3) / 5));
  CHECK(near.row.sink_separator == Approx((1.0 / 2 + 1.0 / 3) / 5));
  CHECK(before.row.sink_first == Approx((1 + 0.5) / 4));
  CHECK(before.row.sink_separator == Approx(0.5 / 4));
}

TEST_CASE("the measured localization is the index of the keys in the linear range", "[forward]") {
  const Index keys = 6;
  Eigen::MatrixXf logits = Eigen::MatrixXf::Zero(keys, 2 * keys).leftCols(keys);
  logits.row(5).setConstant(-6);  // centred: -5, below -1; the others +1
  HeadMeter meter;
  meter.add(logits, Eigen::MatrixXf::Constant(keys, keys, 1.0f / keys), {}, {1, 0});
  Eigen::VectorXd rho = Eigen::VectorXd::Ones(keys);
  rho[5] = 0;
  CHECK(meter.measures().localization == Approx(localization_index(rho)));
}

TEST_CASE("mean weights by distance leave out the sinks", "[forward]") {
  // Each query looks at the token before it. Of content keys at distance 1 there are nine, four of them looked at.
  const Index length = 6;
  Eigen::MatrixXf weights = Eigen::MatrixXf::Zero(length, length);
  weights(0, 0) = 1;
  for (Index query = 1; query < length; ++query) weights(query - 1, query) = 1;
  HeadMeter meter;
  meter.add(Eigen::MatrixXf::Zero(length, length), weights, {}, {1, 0});
  const Eigen::ArrayXd found = meter.by_distance();
  REQUIRE(found.size() == 3);
  CHECK(found[0] == Approx(4.0 / 9));
  CHECK(found[1] == 0);
  CHECK(found[2] == 0);
  CHECK(HeadMeter().by_distance().size() == 0);
}

TEST_CASE("the self-attention excess is the diagonal against the other visible keys", "[forward]") {
  // Column = query. Causal: query 0 sees one key and does not count.
  Eigen::MatrixXf logits(3, 3), weights(3, 3);
  logits << 9, 1, 2, 0, 4, 5, 0, 0, 8;
  weights << 1, 0.25, 0.25, 0, 0.75, 0.25, 0, 0, 0.5;
  HeadMeter meter;
  meter.add(logits, weights, {.causal = true}, {1, 0});
  CHECK(meter.measures().self_logit == Approx(((4 - 1) + (8 - 3.5)) / 2));
  CHECK(meter.measures().self_weight == Approx((0.5 + 0.25) / 2));
  CHECK(std::isnan(HeadMeter().measures().self_logit));
}

TEST_CASE("an outlier is the largest coordinate against the median token", "[forward]") {
  Eigen::MatrixXf tokens = Eigen::MatrixXf::Ones(4, 5);
  tokens(2, 3) = -30;
  OutlierMeter meter;
  CHECK(std::isnan(meter.outlier().ratio));
  meter.add(tokens);
  CHECK(meter.outlier().ratio == Approx(30));
  CHECK(meter.outlier().coordinate == 2);
  CHECK(meter.outlier().position == 3);
}

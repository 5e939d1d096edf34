// The hot paths of the library, each as a call that is timed. The same source is built natively, as a program
// that prints "name seconds" lines, and as WASM, whose calls bench-wasm.mjs makes; run-bench.mjs compares both.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "attention/attention.h"
#include "checkpoint/write_safetensors.h"
#include "collapse/collapse.h"
#include "inference/text_attention.h"
#include "simulation/simulation.h"
#include "spectrum/eigenvalues.h"
#include "support/gemm.h"
#include "support/random.h"
#include "test_matrices.h"
#include "training/trainer.h"

using namespace eigenscope;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

SimulationSettings settings(EnsembleKind kind) {
  SimulationSettings settings;
  settings.ensemble = {kind, 64, 32, 1, {}};
  settings.tokens = token_process("random-walk", 64, 0);
  settings.samples = 1000;
  settings.points = {{0.25, 0.5}};
  return settings;
}

// 2 layers, width 64, 4 heads, length 64, batch 8, bytes.
Trainer trainer() {
  TrainSettings settings;
  settings.optimizer.steps = settings.log_every = 10000000;
  std::string text;
  for (std::uint64_t i = 0; i < 20000; ++i)
    text += static_cast<char>('a' + random_bits(1, 1, i) % 26);
  return {settings, std::make_shared<const Text>(byte_text(text))};
}

/// A token of `generate` at the full length T: a forward pass of the last T tokens. 2 layers, width 64, 4 heads.
std::function<void()> decoding(Retrieval retrieval, Eigen::Index length) {
  ModelSettings settings;
  settings.length = length;
  const auto model = std::make_shared<Model<float>>(settings);
  initialize(*model, {}, 1);
  std::vector<TokenId> tokens;
  for (Eigen::Index i = 0; i < length; ++i) tokens.push_back(static_cast<TokenId>(i % 256));
  Intervention<float> reading{model->readings()};
  for (HeadReading<float>& head : reading.readings) head.retrieval = retrieval;
  return [=] { model->forward(tokens, length, reading); };
}

/// Four passages of 128 tokens through an encoder of MiniLM's shape with two layers, all heads measured.
std::function<void()> encoding() {
  constexpr std::uint64_t kWidth = 384, kHidden = 4 * kWidth, kTokens = 256, kLength = 128;
  std::vector<std::unique_ptr<Eigen::MatrixXf>> numbers;
  std::vector<TensorToWrite> tensors;
  const auto add = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    const auto own = random_matrix(static_cast<Eigen::Index>(rows * columns), 1, tensors.size());
    numbers.push_back(std::make_unique<Eigen::MatrixXf>((0.05 * own).cast<float>()));
    std::vector<std::uint64_t> shape{rows};
    if (columns > 1) shape.push_back(columns);
    tensors.push_back(
        {name, shape, {numbers.back()->data(), static_cast<std::size_t>(rows * columns)}});
  };
  const auto linear = [&](const std::string& name, std::uint64_t out, std::uint64_t in) {
    add(name + ".weight", out, in);
    add(name + ".bias", out, 1);
  };
  const auto norm = [&](const std::string& name) { linear(name, kWidth, 1); };
  add("embeddings.word_embeddings.weight", kTokens, kWidth);
  add("embeddings.position_embeddings.weight", kLength, kWidth);
  norm("embeddings.LayerNorm");
  for (int layer = 0; layer < 2; ++layer) {
    const std::string at = "encoder.layer." + std::to_string(layer) + ".";
    for (const char* part : {"query", "key", "value"}) {
      linear(at + "attention.self." + part, kWidth, kWidth);
    }
    linear(at + "attention.output.dense", kWidth, kWidth);
    norm(at + "attention.output.LayerNorm");
    linear(at + "intermediate.dense", kHidden, kWidth);
    linear(at + "output.dense", kWidth, kHidden);
    norm(at + "output.LayerNorm");
  }
  const auto file = std::make_shared<const Safetensors>(std::make_shared<MemorySource>(
      "encoder.safetensors", write_safetensors(tensors, {}, TensorFormat::f16)));
  const Config config = Config::parse(R"({"model_type":"bert","num_attention_heads":12})");
  const auto model = std::make_shared<const Transformer>(file, config);
  std::vector<Passage> passages(4, {std::vector<int>(kLength), 1, 1});
  for (std::size_t k = 0; k < passages.size(); ++k) {
    for (std::size_t t = 0; t < kLength; ++t) {
      passages[k].ids[t] = static_cast<int>(random_bits(1, k, t) % kTokens);
    }
  }
  return [=] {
    TextAttention attention(model, passages, /*keep_weights=*/false);
    while (!attention.advance(1e6)) {
    }
  };
}

struct Row {
  const char* name;
  std::function<void()> call;
};

std::vector<Row> made_rows() {
  const auto square = std::make_shared<Eigen::MatrixXd>(random_matrix(64, 64, 1));
  const auto middle = std::make_shared<Eigen::MatrixXd>(random_matrix(128, 128, 1));
  const auto wide = std::make_shared<Eigen::MatrixXd>(random_matrix(256, 256, 1));
  const auto tokens = std::make_shared<Eigen::MatrixXd>(random_matrix(64, 128, 2));
  const auto large = std::make_shared<Eigen::MatrixXf>(random_matrix(512, 512, 3).cast<float>());
  StackSettings stack;
  stack.depth = 4;
  stack.weights.heads = 4;
  stack.tokens = token_process("random-walk", 128, 0);
  const auto run = std::make_shared<Trainer>(trainer());
  return {
      {"simulation-symmetric", [] { Simulation(settings(EnsembleKind::normal)).advance(1000); }},
      {"simulation-factored", [] { Simulation(settings(EnsembleKind::factored)).advance(1000); }},
      {"eigenvalues-64", [=] { eigenvalues_of_matrix(*square); }},
      {"eigenvalues-128", [=] { eigenvalues_of_matrix(*middle); }},
      {"eigenvalues-256", [=] { eigenvalues_of_matrix(*wide); }},
      {"attention-128",
       [=] {
         attention_weights(attention_logits(*tokens, *square), 64, SoftmaxKind::exact,
                           {MaskKind::causal});
       }},
      {"product-512",
       [=] {
         Eigen::MatrixXf out(512, 512);
         multiply(512, 512, 512, factor(large->data(), 512), factor(large->data(), 512), out.data(),
                  512);
       }},
      {"stack",
       [=] {
         Collapse(stack, {{0.25, 0.1}}, {1}).advance(4);
       }},
      {"train-step", [=] { run->advance(1); }},
      {"encoder", encoding()},
      {"decode-softmax-64", decoding(Retrieval::soft, 64)},
      {"decode-hard-64", decoding(Retrieval::hard, 64)},
      {"decode-softmax-512", decoding(Retrieval::soft, 512)},
      {"decode-hard-512", decoding(Retrieval::hard, 512)},
  };
}

const std::vector<Row>& rows() {
  static const std::vector<Row> made = made_rows();
  return made;
}

}  // namespace

extern "C" {
int bench_rows() { return static_cast<int>(rows().size()); }
const char* bench_name(int row) { return rows()[static_cast<std::size_t>(row)].name; }
/// Seconds of one call.
double bench_seconds(int row) {
  const auto start = Clock::now();
  rows()[static_cast<std::size_t>(row)].call();
  return seconds_since(start);
}
}

#ifndef __EMSCRIPTEN__
/// Of the rows whose names begin with the first argument; of all without one.
int main(int count, char** arguments) {
  // The fastest of as many calls as fill a third of a second.
  for (int row = 0; row < bench_rows(); ++row) {
    if (count > 1 && !std::string_view(bench_name(row)).starts_with(arguments[1])) continue;
    double least = bench_seconds(row);
    for (const auto start = Clock::now(); seconds_since(start) < 0.35;) {
      least = std::min(least, bench_seconds(row));
    }
    std::printf("%s %.9g\n", bench_name(row), least);
  }
}
#endif

// Tiny checkpoints with seeded random weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "safetensors_writer.h"
#include "support/random.h"

namespace eigenscope::testing {

inline constexpr int kTinyLayers = 2, kTinyTokens = 7, kTinyPositions = 16;
inline constexpr std::size_t kTinyWidth = 8, kTinyHeads = 2;
inline const std::string kTinyGpt2Config =
    R"({"model_type":"gpt2","n_head":2,"layer_norm_epsilon":1e-5})";

struct TinyModel {
  std::map<std::string, std::vector<std::uint64_t>> shapes;
  std::map<std::string, std::vector<double>> values;

  /// Normal numbers of standard deviation `scale` around `mean`.
  void add(const std::string& name, const std::vector<std::uint64_t>& shape, double scale,
           double mean = 0) {
    std::size_t count = 1;
    for (const std::uint64_t side : shape) count *= side;
    std::vector<float> normal(count);
    NormalStream(11, values.size()).fill(normal);
    shapes[name] = shape;
    values[name].clear();
    for (const float z : normal) values[name].push_back(static_cast<float>(mean + scale * z));
  }

  SafetensorsWriter writer(const std::string& prefix = "") const {
    SafetensorsWriter writer;
    for (const auto& [name, numbers] : values) {
      writer.add(prefix + name, "F32", shapes.at(name), numbers);
    }
    return writer;
  }
};

/// Names and layouts of GPT-2.
inline TinyModel tiny_gpt2() {
  constexpr std::uint64_t d = kTinyWidth, hidden = 4 * d;
  TinyModel model;
  const auto norm = [&](const std::string& name) {
    model.add(name + ".weight", {d}, 0.2, 1);
    model.add(name + ".bias", {d}, 0.2);
  };
  const auto linear = [&](const std::string& name, std::uint64_t in, std::uint64_t out) {
    model.add(name + ".weight", {in, out}, 0.5);
    model.add(name + ".bias", {out}, 0.2);
  };
  model.add("wte.weight", {kTinyTokens, d}, 1);
  model.add("wpe.weight", {kTinyPositions, d}, 0.3);
  for (int layer = 0; layer < kTinyLayers; ++layer) {
    const std::string p = "h." + std::to_string(layer) + ".";
    norm(p + "ln_1");
    linear(p + "attn.c_attn", d, 3 * d);
    linear(p + "attn.c_proj", d, d);
    norm(p + "ln_2");
    linear(p + "mlp.c_fc", d, hidden);
    linear(p + "mlp.c_proj", hidden, d);
  }
  norm("ln_f");
  return model;
}

/// A model of a reference file, such as llama-forward.json: its weights are waves.
inline TinyModel wave_model(const nlohmann::json& expected) {
  TinyModel model;
  double k = 0;
  for (const nlohmann::json& tensor : expected.at("tensors")) {
    const auto shape = tensor.at("shape").get<std::vector<std::uint64_t>>();
    std::uint64_t count = 1;
    for (const std::uint64_t side : shape) count *= side;
    const double mean = tensor.at("mean").get<double>(), scale = tensor.at("scale").get<double>();
    std::vector<double> values;
    for (std::uint64_t i = 0; i < count; ++i) {
      const double wave = std::sin(0.7 * static_cast<double>(i + 1) * (k + 1) + k);
      values.push_back(static_cast<float>(mean + scale * wave));
    }
    k += 1;
    const auto name = tensor.at("name").get<std::string>();
    model.shapes[name] = shape;
    model.values[name] = values;
  }
  return model;
}

}  // namespace eigenscope::testing

// A LLaMA-like model: its gradient, and the files that other programs read.
#include "training/export_file.h"

#include <cmath>

#include "catch.h"
#include "central_differences.h"
#include "checkpoint/config.h"
#include "checkpoint/heads.h"
#include "checkpoint_failure.h"
#include "nn/mlp.h"
#include "safetensors_writer.h"
#include "small_model.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;

TEST_CASE("RMSNorm and a gated MLP: the gradient equals central differences") {
  for (const auto norm : {BlockNorm::pre, BlockNorm::post}) {
    ModelSettings settings = small_llama();
    settings.norm = norm;
    settings.linear_bias = LinearBias::with;  // so that every parameter has a gradient
    Model<double> model = drawn(settings);
    loss_of(model, true);
    model.backward();
    const auto loss = [&] { return loss_of(model); };
    CHECK(gradient_error(loss, model.parameters(), model.gradient()) < 1e-6);
  }
}

TEST_CASE("silu by its definition, far from zero too") {
  Matrix<double> gate(1, 5), up = Matrix<double>::Ones(1, 5), out(1, 5);
  gate << -800, -2, 0, 2, 800;
  gated_forward(gate, up, out);
  for (Index i = 0; i < 5; ++i) {
    const double x = gate(0, i);
    CHECK_THAT(out(0, i), WithinAbs(x < -700 ? 0 : x / (1 + std::exp(-x)), 1e-12));
  }
}

TEST_CASE("without linear biases no bias ever moves") {
  Model<double> model(small_llama());
  initialize(model, {}, 5);
  loss_of(model, true);
  model.backward();
  int biases = 0;
  for (const Block& block : model.layout().blocks) {
    if (!block.name.ends_with(".bias")) continue;
    CHECK(model.gradient().segment(block.offset, block.size()).norm() == 0);
    ++biases;
  }
  CHECK(biases == 8);
}

TEST_CASE("an exported LLaMA has the heads of the model, rounded to 16 bits") {
  const ModelSettings settings = small_llama();
  Model<float> model(settings);
  initialize(model, {}, 5);
  for (const auto format : {TensorFormat::f32, TensorFormat::f16, TensorFormat::bf16}) {
    const auto file = std::make_shared<const Safetensors>(
        std::make_shared<MemorySource>("exported", export_model(model, format)));
    CHECK(file->tensor("model.layers.1.mlp.gate_proj.weight").shape ==
          std::vector<std::uint64_t>{12, 8});
    CHECK(file->tensor("model.layers.0.self_attn.k_proj.weight").shape ==
          std::vector<std::uint64_t>{4, 8});
    const double precision = format == TensorFormat::f32   ? 1e-12
                             : format == TensorFormat::f16 ? 0x1p-10
                                                           : 0x1p-7;
    std::vector<double> up(12 * 8);
    file->read_elements("model.layers.1.mlp.up_proj.weight", 0, up);
    const Index offset = model.layout().layers[1].up;
    for (Index i = 0; i < 12; ++i) {
      for (Index j = 0; j < 8; ++j) {
        const double own = static_cast<double>(model.parameters()[offset + i + 12 * j]);
        CHECK(std::abs(up[static_cast<std::size_t>(8 * i + j)] - own) <=
              precision * std::abs(own) + 1e-7);
      }
    }
  }
}

TEST_CASE("what is neither GPT-2's nor LLaMA's is not exported") {
  const auto check = [](const char* setting, auto change) {
    ModelSettings settings = small_llama();
    change(settings);
    CHECK_THAT(failure_of([&] { export_family(settings); }).message, ContainsSubstring(setting));
  };
  CHECK(export_family(small_llama()) == ExportFamily::llama);
  CHECK(export_family({}) == ExportFamily::gpt2);
  check("layer_norm", [](ModelSettings& s) { s.norm = BlockNorm::post; });
  check("mlp_kind", [](ModelSettings& s) { s.mlp_kind = MlpKind::gelu; });
  check("positions", [](ModelSettings& s) { s.positions = Positions::learned; });
  check("linear_bias", [](ModelSettings& s) { s.linear_bias = LinearBias::with; });
  check("query_key_norm", [](ModelSettings& s) { s.query_key_norm = QueryKeyNorm::rms; });
}

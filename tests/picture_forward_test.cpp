// Forward passes of every family that reads pictures, on small checkpoints, against an independent script.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "advance_layer.h"
#include "catch.h"
#include "checkpoint_failure.h"
#include "inference/text_attention.h"
#include "inference_models.h"
#include "paths.h"
#include "picture/preprocessor.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXf;
using Json = nlohmann::json;

namespace {

const Json& models_of(const std::string& family) {
  static const Json read = reference("picture-forward.json");
  return read.at(family);
}

std::shared_ptr<const Transformer> open_model(const TinyModel& model, const Json& config) {
  return transformer_of(model, config.dump(), ModelInput::pictures);
}

Passage passage_of(const Transformer& model, const Json& expected) {
  const PatchEmbedding& grid = *model.patches();
  const Config config = Config::parse(expected.at("preprocessor").dump());
  const Picture picture{grid.pixels(), grid.pixels(),
                        expected.at("rgb").get<std::vector<std::uint8_t>>()};
  Passage passage{std::vector<int>(static_cast<std::size_t>(grid.tokens())), grid.leading(), 0, {}};
  std::iota(passage.ids.begin(), passage.ids.end(), 0);
  passage.patches = std::make_shared<const MatrixXf>(
      Preprocessor(&config, grid.pixels()).patches(picture, grid.patch()));
  return passage;
}

template <class Change>
Failure refusal(const std::string& family, Change change) {
  const Json& expected = models_of(family).back();
  TinyModel model = wave_model(expected);
  Json config = expected.at("config");
  change(model, config);
  return failure_of([&] {
    const auto opened = open_model(model, config);
    ForwardPass pass(opened, {passage_of(*opened, expected)});
    while (!pass.done()) pass.advance();
  });
}

}  // namespace

TEST_CASE("forward passes on pictures have the numbers of an independent script", "[picture]") {
  for (const Family& family : families()) {
    if (!family.reads_pictures()) continue;
    for (const Json& expected : models_of(std::string(family.name))) {
      CAPTURE(family.name, expected.at("config").dump());
      const auto model = open_model(wave_model(expected), expected.at("config"));
      CHECK(model->family().name == family.name);
      CHECK(model->patches()->patch() == expected.at("patch").get<Index>());
      ForwardPass pass(model, {passage_of(*model, expected)});
      double worst = difference(pass.tokens(0), expected.at("embedded"));
      for (const Json& tokens : expected.at("layers")) {
        advance_layer(pass);
        worst = std::max(worst, difference(pass.tokens(0), tokens));
      }
      CHECK(pass.done());
      CAPTURE(worst);
      CHECK(worst < 1e-5);
      CHECK(worst > 0);
    }
  }
}

TEST_CASE("attention on pictures is measured as on text", "[picture]") {
  const Json& expected = models_of("ViT").back();
  const auto model = open_model(wave_model(expected), expected.at("config"));
  const Passage passage = passage_of(*model, expected);
  TextAttention attention(model, {passage, passage}, /*keep_weights=*/true);
  while (!attention.advance(1e6)) {
  }
  REQUIRE(attention.heads().size() == 8);
  REQUIRE(attention.weights().size() == 16);
  for (const HeadOnText& head : attention.heads()) {
    CHECK(head.measures.queries == 2 * passage.length());
    CHECK(head.measures.row.entropy > 0);
    CHECK(head.measures.row.entropy < 1);
    CHECK(std::isnan(head.patterns.induction));  // no patch occurs twice
  }
  for (const HeadWeights& head : attention.weights()) {
    CHECK((head.weights.colwise().sum().array() - 1).abs().maxCoeff() < 1e-5f);
  }
}

TEST_CASE("inconsistent vision models are refused by name", "[picture]") {
  const std::string patches = "vit.embeddings.patch_embeddings.projection.weight";
  const std::string positions = "vit.embeddings.position_embeddings";
  const auto reshaped = [](TinyModel& model, const std::string& name,
                           const std::vector<std::uint64_t>& shape) {
    model.shapes[name] = shape;
    std::size_t count = 1;
    for (const std::uint64_t side : shape) count *= side;
    model.values[name].resize(count);
  };
  CHECK(refusal("ViT", [&](TinyModel& m, Json&) { m.values.erase(patches); }).item == patches);
  CHECK(refusal("ViT", [&](TinyModel& m, Json&) {
          reshaped(m, patches, {16, 1, 2, 2});
        }).item == patches);
  CHECK(refusal("ViT", [&](TinyModel& m, Json&) {
          reshaped(m, patches, {16, 3, 2, 1});
        }).item == patches);
  CHECK(refusal("ViT", [&](TinyModel& m, Json&) {
          reshaped(m, positions, {1, 11, 16});
        }).item == positions);
  CHECK(refusal("ViT", [&](TinyModel& m, Json&) {
          reshaped(m, positions, {1, 10, 15});
        }).item == positions);
  CHECK(refusal("ViT", [&](TinyModel& m, Json&) {
          reshaped(m, "vit.embeddings.cls_token", {1, 2, 16});
        }).item == "vit.embeddings.cls_token");
  CHECK(refusal("ViT (timm)", [](TinyModel& m, Json&) {
          m.add("reg_token", {1, 4, 16}, 1);
        }).item == "reg_token");
  CHECK(refusal("DINOv2", [](TinyModel&, Json& c) { c["use_swiglu_ffn"] = true; }).item ==
        "use_swiglu_ffn");
  CHECK(refusal("DINOv2", [](TinyModel&, Json& c) {
          c["model_type"] = "dinov2_with_registers";
        }).item == "test.safetensors");
  CHECK(refusal("DINOv2", [](TinyModel& m, Json&) {
          m.add("dinov2.embeddings.register_tokens", {1, 4, 16}, 1);
        }).item == "dinov2.embeddings.register_tokens");
  CHECK(refusal("DINOv2", [&](TinyModel& m, Json&) {
          reshaped(m, "dinov2.encoder.layer.1.layer_scale2.lambda1", {15});
        }).item == "dinov2.encoder.layer.1.layer_scale2.lambda1");
  CHECK_THAT(refusal("ViT (timm)", [](TinyModel&, Json& c) { c.erase("num_heads"); }).message,
             ContainsSubstring("num_heads"));
  CHECK(refusal("CLIP", [](TinyModel& m, Json&) {
          m.values.erase("vision_model.pre_layrnorm.weight");
        }).item == "vision_model.pre_layrnorm.weight");
  check_failure(refusal("ViT", [](TinyModel&, Json& c) { c["model_type"] = "beit"; }),
                "test.safetensors", "pictures", "beit");
}

TEST_CASE("a picture of another size than the model's is refused", "[picture]") {
  const Json& expected = models_of("ViT").back();
  const auto model = open_model(wave_model(expected), expected.at("config"));
  Passage passage = passage_of(*model, expected);
  passage.patches = std::make_shared<const MatrixXf>(MatrixXf::Zero(12, 8));
  CHECK_THROWS_AS(ForwardPass(model, {passage}), InvalidArgument);
  passage.patches = nullptr;
  CHECK_THROWS_AS(ForwardPass(model, {passage}), InvalidArgument);
}

// LoRA adapters: the changed weights, and adapters that are refused.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/adapter.h"
#include "checkpoint_failure.h"
#include "safetensors_writer.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

constexpr std::size_t kOutputs = 3, kInputs = 4, kRank = 2, kTokens = 5;
const std::string kModule = "model.layers.1.self_attn.q_proj", kEmbeddings = "model.embed_tokens";
const std::string kWrapped = "base_model.model.";

/// Numbers that F32 has exactly.
std::vector<double> drawn(std::size_t count, int seed) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<double>((7 * static_cast<int>(i) + 3 * seed) % 11 - 5) / 8;
  return values;
}

const std::vector<double> kWeight = drawn(kOutputs * kInputs, 1), kA = drawn(kRank * kInputs, 2),
                          kB = drawn(kOutputs * kRank, 3);
const std::vector<double> kMagnitudes{1, 2.5, 0.5};

/// W + scale B A, outputs x inputs; with `magnitudes` each row has this norm.
std::vector<double> changed(double scale, const std::vector<double>& magnitudes = {}) {
  std::vector<double> values = kWeight;
  for (std::size_t row = 0; row < kOutputs; ++row) {
    double squares = 0;
    for (std::size_t column = 0; column < kInputs; ++column) {
      double& value = values[row * kInputs + column];
      for (std::size_t k = 0; k < kRank; ++k)
        value += scale * kB[row * kRank + k] * kA[k * kInputs + column];
      squares += value * value;
    }
    for (std::size_t column = 0; column < kInputs && !magnitudes.empty(); ++column)
      values[row * kInputs + column] *= magnitudes[row] / std::sqrt(squares);
  }
  return values;
}

std::vector<double> transposed(const std::vector<double>& values) {
  std::vector<double> turned;
  for (std::size_t column = 0; column < kInputs; ++column) {
    for (std::size_t row = 0; row < kOutputs; ++row)
      turned.push_back(values[row * kInputs + column]);
  }
  return turned;
}

struct Part {
  std::string ending;  ///< behind the name of the module
  std::vector<std::uint64_t> shape;
  std::vector<double> values;
};
const Part kInnerPart{".lora_A.weight", {kRank, kInputs}, kA},
    kOuterPart{".lora_B.weight", {kOutputs, kRank}, kB},
    kMagnitudePart{".lora_magnitude_vector", {kOutputs}, kMagnitudes};

/// The model under an adapter of its query projection and of its embeddings.
std::shared_ptr<const Safetensors> adapted(const std::string& rules,
                                           const std::vector<Part>& parts = {},
                                           const std::vector<Part>& embeddings = {},
                                           bool inputs_first = false) {
  SafetensorsWriter base, adapter;
  const std::vector<std::uint64_t> shape{kOutputs, kInputs};
  base.add(kModule + ".weight", "F32",
           inputs_first ? std::vector<std::uint64_t>{kInputs, kOutputs} : shape,
           inputs_first ? transposed(kWeight) : kWeight);
  base.add(kEmbeddings + ".weight", "F32", {kTokens, kInputs}, drawn(kTokens * kInputs, 4));
  for (const Part& part : {kInnerPart, kOuterPart})
    adapter.add(kWrapped + kModule + part.ending, "F32", part.shape, part.values);
  for (const Part& part : parts)
    adapter.add(kWrapped + kModule + part.ending, "F32", part.shape, part.values);
  for (const Part& part : embeddings)
    adapter.add(kWrapped + kEmbeddings + part.ending, "F32", part.shape, part.values);
  const std::string config =
      R"({"peft_type":"LORA","r":2,"lora_alpha":4)" + (rules.empty() ? "" : "," + rules) + "}";
  return with_adapter(open(base.bytes()), open(adapter.bytes()),
                      Config::parse(config, "adapter_config.json"));
}

std::vector<double> read(const Safetensors& file) {
  std::vector<double> values(kOutputs * kInputs);
  file.read_elements(kModule + ".weight", 0, values);
  return values;
}

void check_equal(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).margin(1e-12));
}

}  // namespace

TEST_CASE("alpha_pattern scales the modules that its keys name", "[adapter]") {
  const auto scaled = [](const std::string& pattern, const std::string& others = "") {
    return read(*adapted(R"("alpha_pattern":{)" + pattern + "}" + others));
  };
  check_equal(scaled(""), changed(2));
  for (const std::string key : {"q_proj", "self_attn.q_proj", "layers.1.self_attn.q_proj",
                                "model.layers.1.self_attn.q_proj",
                                "^model.layers.1.self_attn.q_proj", "layers...self_attn.q_proj"}) {
    CAPTURE(key);
    check_equal(scaled("\"" + key + "\":7"), changed(3.5));
  }
  for (const std::string key :
       {"k_proj", "_proj", "layers.11.self_attn.q_proj", "^q_proj", "1self_attn.q_proj",
        "base_model.model.layers.1.self_attn.q_proj"}) {
    CAPTURE(key);
    check_equal(scaled("\"" + key + "\":7"), changed(2));
  }
  check_equal(scaled(R"("q_proj":7.5)", R"(,"use_rslora":true)"), changed(7.5 / std::sqrt(2.0)));
  check_equal(scaled(R"("q_proj":7,"self_attn.q_proj":7,"v_proj":1)"), changed(3.5));
}

TEST_CASE("keys of alpha_pattern that PEFT may match in another way are refused", "[adapter]") {
  const auto failure = [](const std::string& pattern) {
    return failure_of([&] { adapted(R"("alpha_pattern":{)" + pattern + "}"); });
  };
  check_failure(failure(R"("q_proj":7,"self_attn.q_proj":6)"), "alpha_pattern",
                "'" + kModule + "' one alpha", "7 and 6");
  for (const std::string key : {".*q_proj", "(q|k)_proj", "layers.[12].self_attn.q_proj", "q_proj$",
                                "layers\\\\.1\\\\.self_attn.q_proj"}) {
    check_failure(failure("\"" + key + "\":7"), "alpha_pattern", "regular expression");
  }
  const std::string longest = "q_proj|" + std::string(Config::kLongestPath, 'k');
  check_failure(failure("\"" + longest + "\":7"), "alpha_pattern", "regular expression");
  const std::string plain(Config::kLongestPath, 'k');
  CHECK(failure("\"" + plain + "\":7").kind == "format");
  CHECK(failure(R"("model":{"layers":7})").item == "alpha_pattern.model");
}

TEST_CASE("a DoRA adapter gives each output the norm of its magnitude", "[adapter]") {
  const std::string dora = R"("use_dora":true)";
  check_equal(read(*adapted(dora, {kMagnitudePart})), changed(2, kMagnitudes));
  Part newer = kMagnitudePart;
  newer.ending += ".weight";
  check_equal(read(*adapted(dora, {newer})), changed(2, kMagnitudes));
  check_equal(read(*adapted(dora + R"(,"fan_in_fan_out":true)", {kMagnitudePart}, {},
                            /*inputs_first=*/true)),
              transposed(changed(2, kMagnitudes)));
  // From within a row.
  std::vector<double> values(5);
  adapted(dora, {kMagnitudePart})->read_elements(kModule + ".weight", 3, values);
  const std::vector<double> all = changed(2, kMagnitudes);
  check_equal(values, {all.begin() + 3, all.begin() + 8});

  const std::string own = kWrapped + kModule + kMagnitudePart.ending;
  check_failure(failure_of([&] { adapted(dora); }), own, "3 numbers");
  const Part inputs{kMagnitudePart.ending, {kInputs}, drawn(kInputs, 5)};
  check_failure(failure_of([&] { adapted(dora, {inputs}); }), own, "3 numbers");
  CHECK(failure_of([&] { adapted("", {kMagnitudePart}); }).item ==
        kWrapped + kModule + kMagnitudePart.ending);
  CHECK(failure_of([&] {
          adapted(dora, {kMagnitudePart, newer});
        }).item == kWrapped + kModule + newer.ending);
}

TEST_CASE("changed matrices of tokens are refused when they are read, and others are not",
          "[adapter]") {
  const Part inner{".lora_embedding_A", {1, kTokens}, drawn(kTokens, 6)},
      outer{".lora_embedding_B", {kInputs, 1}, drawn(kInputs, 7)},
      magnitude{".lora_magnitude_vector", {kInputs}, drawn(kInputs, 8)},
      whole{".base_layer.weight", {kTokens, kInputs}, drawn(kTokens * kInputs, 9)},
      rows{".token_adapter.trainable_tokens_delta", {1, kInputs}, drawn(kInputs, 6)};
  for (const auto& parts : {std::vector{inner, outer}, std::vector{inner, outer, magnitude, whole},
                            std::vector{rows}}) {
    const auto file = adapted("", {}, parts);
    check_equal(read(*file), changed(2));
    CHECK(file->tensors().size() == 2);
    std::vector<double> values(1);
    const Failure failure =
        failure_of([&] { file->read_elements(kEmbeddings + ".weight", 0, values); });
    CHECK(failure.item.starts_with(kWrapped + kEmbeddings));
    check_failure(failure, failure.item, "'" + kEmbeddings + ".weight' is not read",
                  "merge_and_unload()");
  }
  std::vector<double> values(1);
  adapted("")->read_elements(kEmbeddings + ".weight", 0, values);
  CHECK(values.front() == drawn(1, 4).front());
}

TEST_CASE("embeddings trained whole are read unless they may be the output too", "[adapter]") {
  const std::string trained = R"("modules_to_save":["embed_tokens"])",
                    tied = trained + R"(,"ensure_weight_tying":true)";
  const Part whole{".weight", {kTokens, kInputs}, drawn(kTokens * kInputs, 9)};
  const auto first = [&](const std::string& rules, const std::vector<Part>& others = {}) {
    std::vector<double> values(1);
    adapted(rules, others, {whole})->read_elements(kEmbeddings + ".weight", 0, values);
    return values.front();
  };
  check_failure(failure_of([&] { first(trained); }), kWrapped + kEmbeddings + ".weight",
                "is not read", "merge_and_unload()");
  CHECK(first(tied) == drawn(1, 9).front());
  CHECK(first("") == drawn(1, 9).front());  // PEFT saves embeddings with new rows
  check_equal(read(*adapted(trained, {}, {whole})), changed(2));
  Part output = whole;
  output.ending = ".lm_head.weight";
  const std::string own = R"("modules_to_save":["embed_tokens","lm_head"])";
  CHECK(first(own, {output}) == drawn(1, 9).front());
}

TEST_CASE("adapters that no merged weight stands for are refused", "[adapter]") {
  for (const std::string key : {"monteclora_config", "arrow_config"}) {
    CHECK(failure_of([&] { adapted("\"" + key + "\":{\"a\":1}"); }).item == key);
    CHECK(failure_of([&] { adapted("\"" + key + "\":null"); }).kind == "none");
  }
}

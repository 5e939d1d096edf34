// GGUF files: blocks against an independent decoder, checkpoints against those that they were converted from, and what
// is refused.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "catch.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/gguf.h"
#include "checkpoint/gguf_parts.h"
#include "checkpoint/heads.h"
#include "checkpoint_failure.h"
#include "gguf_writer.h"
#include "llama_gguf.h"
#include "paths.h"
#include "text/gguf_tokenizer.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

using Json = nlohmann::json;

CheckpointFiles files_of(const GgufWriter& writer) {
  return {{std::make_shared<MemorySource>("model.gguf", writer.bytes())}, nullptr, nullptr};
}

Bytes from_hex(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

GgufWriter one_tensor(std::uint32_t type, const std::vector<std::uint64_t>& shape,
                      const Bytes& data) {
  return GgufWriter()
      .text("general.architecture", "other")
      .tensor("some.weight", shape, type, data);
}

}  // namespace

TEST_CASE("blocks of GGUF decode as by an independent script", "[gguf]") {
  const Json blocks = reference("gguf-blocks.json");
  for (const Json& type : blocks.at("types")) {
    CAPTURE(type.at("name").get<std::string>());
    const auto expected = type.at("values").get<std::vector<double>>();
    const Bytes block = from_hex(type.at("bytes").get<std::string>());
    Bytes rows;
    for (int i = 0; i < 3; ++i) rows.insert(rows.end(), block.begin(), block.end());
    const auto tensors = open_tensors(
        files_of(one_tensor(type.at("number").get<std::uint32_t>(), {3, expected.size()}, rows)));
    REQUIRE(tensors->tensor("some.weight").shape == std::vector<std::uint64_t>{3, expected.size()});
    // Ranges that begin and end within blocks.
    for (const std::size_t first : {std::size_t{0}, std::size_t{5}, expected.size() - 1}) {
      std::vector<double> found(expected.size() + 7);
      tensors->read_elements("some.weight", first, found);
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK_THAT(found[i], WithinAbs(expected[(first + i) % expected.size()], 1e-5));
      }
    }
  }
}

TEST_CASE("a LLaMA in GGUF has the tensors of the checkpoint that it was converted from",
          "[gguf]") {
  const CheckpointFiles files = files_of(llama_gguf());
  const std::optional<Config> config = read_config(files);
  REQUIRE(config);
  CHECK(config->number("rms_norm_eps", 0, 1) == 0.001);
  const auto tensors = open_tensors(files);
  const TinyModel original = wave_model(reference("llama-forward.json"));
  for (const auto& [name, values] : original.values) {
    CAPTURE(name);
    std::vector<double> found(values.size());
    tensors->read_elements(name, 0, found);
    CHECK(found == values);
  }
}

TEST_CASE("gains of Gemma are stored whole in GGUF", "[gguf]") {
  GgufWriter writer;
  writer.text("general.architecture", "gemma2").integer("gemma2.attention.head_count", 1);
  writer.tensor("blk.0.attn_norm.weight", {4}, 0, encode("F32", {1, 1.5, 3, 0}));
  writer.tensor("blk.0.post_attention_norm.weight", {4}, 0, encode("F32", {2, 2, 2, 2}));
  writer.tensor("blk.0.ffn_norm.weight", {4}, 0, encode("F32", {2, 2, 2, 2}));
  const auto tensors = open_tensors(files_of(writer));
  CHECK(tensors->read_vector("model.layers.0.input_layernorm.weight") ==
        std::vector<double>{0, 0.5, 2, -1});
  CHECK(tensors->tensors().contains("model.layers.0.pre_feedforward_layernorm.weight"));
  CHECK(tensors->tensors().contains("model.layers.0.post_attention_layernorm.weight"));
}

TEST_CASE("logits of Gemma with 27 billion weights are scaled by the width over the heads",
          "[gguf]") {
  const auto scale = [](const std::string& architecture, std::uint32_t layers) {
    GgufWriter writer;
    writer.text("general.architecture", architecture);
    for (const auto& [key, value] : {std::pair("block_count", layers),
                                     {"embedding_length", 4608u},
                                     {"attention.head_count", 32u},
                                     {"attention.key_length", 128u}}) {
      writer.integer(architecture + "." + key, value);
    }
    writer.number(architecture + ".rope.freq_base", 1e6);
    writer.tensor("blk.0.attn_norm.weight", {4}, 0, encode("F32", {1, 1, 1, 1}));
    return read_config(files_of(writer))->number("query_pre_attn_scalar", 1, 1e6);
  };
  CHECK(scale("gemma2", 46) == 144.0);
  CHECK(scale("gemma2", 42) == 128.0);
  CHECK(scale("gemma3", 62) == 144.0);
  CHECK(scale("llama", 46) == std::nullopt);
}

TEST_CASE("divisors of rotary angles in GGUF are read as a scaling", "[gguf]") {
  GgufWriter writer = llama_gguf();
  writer.tensor("rope_freqs.weight", {2}, 0, encode("F32", {1, 8}));
  const CheckpointFiles files = files_of(writer);
  const std::optional<Config> config = read_config(files);
  HeadScan scan(open_tensors(files), &*config, {.offset = {3}});
  CHECK(scan.plan().front().rotary.angle_scale == std::vector<double>{1, 0.125});
  CHECK(scan.plan().front().rotary.logit_factor == 1);
}

TEST_CASE("what is no GGUF file of a known kind is refused by name", "[gguf]") {
  const auto failure = [](const GgufWriter& writer) {
    return failure_of([&] {
      const auto tensors = open_tensors(files_of(writer));
      std::vector<double> numbers(1);
      tensors->read_elements(tensors->tensors().begin()->first, 0, numbers);
    });
  };
  const Bytes block(200);
  CHECK(failure(one_tensor(2, {1, 32}, block)).kind == "none");
  CHECK(failure(one_tensor(2, {1, 33}, block)).message ==
        "some.weight: its rows of 33 elements must be whole blocks of 32, in model.gguf");
  CHECK_THAT(failure(one_tensor(22, {1, 256}, block)).message,
             ContainsSubstring("its type must be one of F32, F16") &&
                 ContainsSubstring("but it is IQ2_S"));
  CHECK_THAT(failure(one_tensor(99, {1, 256}, block)).message,
             ContainsSubstring("but it is type 99"));
  CHECK_THAT(failure(one_tensor(0, {1024, 1024}, block)).message,
             ContainsSubstring("is the file cut off?"));
  CHECK_THAT(failure(one_tensor(0, {0}, block)).message,
             ContainsSubstring("its sizes must be positive"));
  CHECK_THAT(failure(GgufWriter()).message, ContainsSubstring("at least one tensor"));
  CHECK_THAT(failure(GgufWriter().tensor("a", {1}, 0, block).tensor("a", {1}, 0, block)).message,
             ContainsSubstring("occurs twice"));
  for (const std::uint32_t alignment : {0, 1, 3, 12}) {
    CHECK(failure(GgufWriter().integer("general.alignment", alignment).tensor("a", {1}, 0, block))
              .message ==
          "model.gguf: general.alignment must be a multiple of 8 up to 1048576, but is " +
              std::to_string(alignment));
  }
  CHECK(failure(GgufWriter().integer("general.alignment", 8).tensor("a", {1}, 0, block)).kind ==
        "none");
  CHECK_THAT(
      failure(GgufWriter().integer("x", 1).text("x", "y").tensor("a", {1}, 0, block)).message,
      ContainsSubstring("model.gguf: the key 'x' must occur once, but occurs twice"));
  const auto source_of = [](Bytes bytes) {
    return std::vector<std::shared_ptr<ByteSource>>{
        std::make_shared<MemorySource>("model.gguf", std::move(bytes))};
  };
  const Failure version =
      failure_of([&] { safetensors_of_gguf(source_of(llama_gguf().bytes(0x03000000))); });
  CHECK_THAT(version.message, ContainsSubstring("version 2 or 3, little-endian"));
}

TEST_CASE("a GGUF tensor that is not at a place of its own is refused", "[gguf]") {
  const auto failure = [](const GgufWriter& writer) {
    return failure_of([&] { open_tensors(files_of(writer)); }).message;
  };
  const Bytes data(64);
  CHECK(failure(GgufWriter().tensor("a", {16}, 0, data).tensor_at(48, "b", {4}, 0, data)) ==
        "b: its offset must be a multiple of 32, the alignment, but is 48 in model.gguf");
  CHECK(failure(GgufWriter().tensor("a", {16}, 0, data).tensor_at(32, "b", {4}, 0, data)) ==
        "b: its data must not overlap those of 'a' in model.gguf");
  CHECK(failure(GgufWriter().tensor("a", {16}, 99, data).tensor_at(0, "b", {4}, 0, data)) ==
        "b: its data must not overlap those of 'a' in model.gguf");
  CHECK(failure(GgufWriter().tensor("a", {8}, 0, data).tensor_at(32, "b", {4}, 0, data)) == "");
}

TEST_CASE("GGUF numbers that are not finite are refused where they are used", "[gguf]") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto failure = [](const GgufWriter& writer) {
    return failure_of([&] { read_config(files_of(writer)); }).message;
  };
  CHECK(failure(llama_gguf().number("llama.rope.scaling.factor", kNan)) ==
        "llama.rope.scaling.factor: it must be finite in model.gguf, but is NaN or infinite");
  CHECK_THAT(failure(GgufWriter()
                         .text("general.architecture", "llama")
                         .number("llama.rope.freq_base", kNan)
                         .tensor("a", {1}, 0, Bytes(4))),
             ContainsSubstring("llama.rope.freq_base: it must be finite"));
  CHECK(failure(llama_gguf().number("llama.other", kNan)) == "");
  CHECK_THAT(failure(llama_gguf().tensor("rope_freqs.weight", {2}, 0, encode("F32", {1, kNan}))),
             ContainsSubstring("rope_freqs.weight: it must be finite"));
  CHECK_THAT(failure(llama_gguf().tensor("rope_freqs.weight", {2}, 1, encode("F16", {1, 8}))),
             ContainsSubstring("rope_freqs.weight: it must have at most 4096 elements of F32"));
}

TEST_CASE("a linear scaling of rotary angles in GGUF has three spellings", "[gguf]") {
  const auto angles = [](GgufWriter writer) {
    const CheckpointFiles files = files_of(writer);
    const std::optional<Config> config = read_config(files);
    return HeadScan(open_tensors(files), &*config, {.offset = {3}})
        .plan()
        .front()
        .rotary.angle_scale;
  };
  const std::vector<double> quarter{0.25, 0.25};
  CHECK(angles(llama_gguf().number("llama.rope.scale_linear", 4)) == quarter);
  CHECK(angles(llama_gguf().number("llama.rope.scaling.factor", 4)) == quarter);
  CHECK(angles(llama_gguf()
                   .text("llama.rope.scaling.type", "linear")
                   .number("llama.rope.scaling.factor", 4)
                   .number("llama.rope.scale_linear", 2)) == quarter);
  CHECK(angles(llama_gguf()
                   .text("llama.rope.scaling.type", "none")
                   .number("llama.rope.scaling.factor", 4))
            .empty());
  CHECK(angles(llama_gguf()
                   .text("llama.rope.scaling.type", "yarn")
                   .integer("llama.rope.scaling.original_context_length", 4)) ==
        std::vector<double>{1, 1});
}

TEST_CASE("the attention factor of a GGUF scaling multiplies yarn's own", "[gguf]") {
  GgufWriter writer = llama_gguf();
  writer.text("llama.rope.scaling.type", "yarn").number("llama.rope.scaling.factor", 4);
  writer.integer("llama.rope.scaling.original_context_length", 4);
  writer.number("llama.rope.scaling.attn_factor", 0.5);
  const CheckpointFiles files = files_of(writer);
  const std::optional<Config> config = read_config(files);
  const HeadScan scan(open_tensors(files), &*config, {.offset = {3}});
  CHECK_THAT(scan.plan().front().rotary.logit_factor,
             WithinRel(std::pow(0.5 * (1 + 0.1 * std::log(4)), 2), 1e-12));
  // The converter writes what is yarn's own factor, and it as one of all coordinates.
  const auto given = [](double attention, double extrapolation) {
    GgufWriter it = llama_gguf();
    it.text("llama.rope.scaling.type", "yarn").number("llama.rope.scaling.factor", 4);
    it.number("llama.rope.scaling.yarn_attn_factor", static_cast<float>(attention));
    it.number("llama.rope.scaling.yarn_ext_factor", static_cast<float>(extrapolation));
    const CheckpointFiles files = files_of(it);
    const std::optional<Config> config = read_config(files);
    return failure_of([&] { HeadScan(open_tensors(files), &*config); }).item;
  };
  CHECK(given(1 + 0.1 * std::log(4), 1) == "");
  CHECK(given(1, 1) == "llama.rope.scaling.yarn_attn_factor");
  CHECK(given(1 + 0.1 * std::log(4), 0.5) == "llama.rope.scaling.yarn_ext_factor");
  GgufWriter linear = llama_gguf();
  linear.number("llama.rope.scale_linear", 4).number("llama.rope.scaling.attn_factor", 0.5);
  CHECK(failure_of([&] { read_config(files_of(linear)); }).message ==
        "llama.rope.scaling.attn_factor: it must be 1 beside the scaling 'linear' in model.gguf");
}

TEST_CASE("a GGUF key of the attention that is not read is refused unless its value is 0",
          "[gguf]") {
  const auto failure = [](const GgufWriter& writer) {
    const CheckpointFiles files = files_of(writer);
    const std::optional<Config> config = read_config(files);
    return failure_of([&] { HeadScan(open_tensors(files), &*config); });
  };
  for (const std::string key : {"attention.clamp_kqv", "attention.max_alibi_bias",
                                "attention.temperature_scale", "attention.sliding_window_pattern",
                                "rope.freq_base_swa", "rope.other", "no_rope_layer_step"}) {
    CAPTURE(key);
    check_failure(failure(llama_gguf().number("llama." + key, 8)), "llama." + key,
                  "it must be 0, false or left out in model.gguf");
    CHECK(failure(llama_gguf().number("llama." + key, 0)).kind == "none");
  }
  for (const std::string key :
       {"attention.value_length", "attention.causal", "rope.scaling.finetuned",
        "expert_weights_scale", "final_logit_softcapping", "vocab_size"}) {
    CAPTURE(key);
    CHECK(failure(llama_gguf().number("llama." + key, 1)).kind == "none");
  }
  CHECK(failure(llama_gguf().number("llama.attn_logit_softcapping", 50)).item ==
        "attn_logit_softcapping");
  // Half of a head's coordinates, whose order the converter does not know, and two divisors of the angles.
  const auto refused = [](const GgufWriter& writer) {
    return failure_of([&] { read_config(files_of(writer)); }).item;
  };
  CHECK(refused(llama_gguf().integer("llama.rope.dimension_count", 2)) ==
        "llama.rope.dimension_count");
  CHECK(refused(llama_gguf()
                    .number("llama.rope.scaling.factor", 2)
                    .tensor("rope_freqs.weight", {2}, 0, encode("F32", {1, 2}))) ==
        "llama.rope.scaling.factor");
  CHECK(refused(llama_gguf()
                    .number("llama.rope.scaling.factor", 2)
                    .text("llama.rope.scaling.type", "longrope")
                    .tensor("rope_factors_long.weight", {2}, 0, encode("F32", {1, 2}))) ==
        "llama.rope.scaling.factor");
}

TEST_CASE("a tensor of a GGUF layer that has no name in the family is refused", "[gguf]") {
  for (const std::string name : {"attn_foo.weight", "attn_sub_norm.weight", "attn_gate.weight"}) {
    const CheckpointFiles files = files_of(llama_gguf().tensor("blk.0." + name, {8}, 0, Bytes(32)));
    const std::optional<Config> config = read_config(files);
    CHECK(failure_of([&] { HeadScan(open_tensors(files), &*config); }).item ==
          "model.layers.0." + name);
  }
}

TEST_CASE("the windows of a GGUF model have their own keys", "[gguf]") {
  const auto config_of = [](const GgufWriter& writer) { return *read_config(files_of(writer)); };
  GgufWriter gemma;
  gemma.text("general.architecture", "gemma3").tensor("a", {1}, 0, Bytes(4));
  // Ollama's files leave the base out.
  CHECK(failure_of([&] { config_of(gemma); }).item == "gemma3.rope.freq_base");
  gemma.number("gemma3.rope.freq_base", 1000);
  CHECK(config_of(gemma).positive_integer("sliding_window_pattern", 9) == 1u);  // no windows
  gemma.integer("gemma3.attention.sliding_window_pattern", 3)
      .integer("gemma3.attention.sliding_window", 8)
      .number("gemma3.rope.freq_base_swa", 500);
  const Config config = config_of(gemma);
  CHECK(config.positive_integer("sliding_window_pattern", 9) == 3u);
  CHECK(config.number("rope_local_base_freq", 1, 1e6) == 500);
  // llama.cpp writes 0 for a model without windows.
  CHECK(config_of(llama_gguf().integer("llama.attention.sliding_window", 4)).has("sliding_window"));
  CHECK_FALSE(
      config_of(llama_gguf().integer("llama.attention.sliding_window", 0)).has("sliding_window"));
}

TEST_CASE("OLMo 3, lists of one count, and switches of attention are read from GGUF", "[gguf]") {
  const auto olmo = [](std::uint32_t window) {
    GgufWriter writer;
    writer.text("general.architecture", "olmo2").tensor("a", {1}, 0, Bytes(4));
    writer.integer("olmo2.attention.sliding_window", window);
    return read_config(files_of(writer))->text("model_type");
  };
  CHECK(olmo(0) == "olmo2");
  CHECK(olmo(8) == "olmo3");
  const auto granite = [](const auto& add) {
    GgufWriter writer;
    writer.text("general.architecture", "granite").tensor("a", {1}, 0, Bytes(4));
    writer.number("granite.attention.scale", 0.5);
    add(writer);
    return failure_of([&] { read_config(files_of(writer)); }).item;
  };
  CHECK(granite([](GgufWriter& it) { it.flag("granite.rope.scaling.finetuned", true); }).empty());
  CHECK(granite([](GgufWriter& it) { it.flag("granite.rope.scaling.finetuned", false); }) ==
        "granite.rope.scaling.finetuned");
  CHECK(read_config(files_of(llama_gguf().flag("llama.attention.causal", false)))
            ->flag("is_causal") == false);
  // Granite 4 has a count of key heads for each layer.
  const auto by_layer = [](const std::vector<std::int32_t>& counts, std::size_t layer = 0) {
    GgufWriter writer;
    writer.text("general.architecture", "llama").integer("llama.attention.head_count", 1);
    writer.list("llama.attention.head_count_kv", counts);
    const std::string block = "blk." + std::to_string(layer) + ".";
    writer.tensor(block + "attn_k.weight", {4, 4}, 0, Bytes(64));
    return failure_of([&] { open_tensors(files_of(writer)); }).item;
  };
  CHECK(by_layer({1, 1}).empty());
  CHECK(by_layer({1, 3}).empty());
  CHECK(by_layer({1, 3}, 1) == "blk.1.attn_k.weight");
  for (const std::int32_t wrong : {0, -1, 4}) CHECK(by_layer({wrong, 1}) == "blk.0.attn_k.weight");
  CHECK(by_layer({1, 1}, 2) == "blk.2.attn_k.weight");
}

TEST_CASE("GGUF rows whose order depends on missing metadata are refused", "[gguf]") {
  GgufWriter writer;
  writer.text("general.architecture", "llama").tensor("blk.0.attn_q.weight", {4, 4}, 0, Bytes(64));
  CHECK_THAT(failure_of([&] { open_tensors(files_of(writer)); }).message,
             ContainsSubstring("blk.0.attn_q.weight: its 4 rows must be heads of an even width, as "
                               "many as the integer 'llama.attention.head_count'"));
  GgufWriter gain;
  gain.text("general.architecture", "gemma").tensor("blk.0.attn_norm.weight", {4}, 1, Bytes(8));
  CHECK_THAT(failure_of([&] { open_tensors(files_of(gain)); }).message,
             ContainsSubstring("blk.0.attn_norm.weight: its type must be F32"));
}

TEST_CASE("the tensors of a GGUF file of another architecture can be mapped", "[gguf]") {
  GgufWriter writer;
  writer.text("general.architecture", "brand-new").integer("brand-new.embedding_length", 2);
  writer.tensor("blk.0.attn_q.weight", {4, 2}, 0, encode("F32", {1, 2, 3, 4, 5, 6, 7, 8}));
  writer.tensor("blk.0.attn_k.weight", {4, 2}, 0, encode("F32", {1, 0, 0, 1, 1, 1, 1, 0}));
  const CheckpointFiles files = files_of(writer);
  const auto tensors = open_tensors(files);
  const std::optional<Config> config = read_config(files);
  CHECK(config->text("model_type") == "brand-new");
  HeadSettings settings{.heads = 2};
  settings.mapping = Mapping{"blk.{n}.attn_q.weight", "blk.{n}.attn_k.weight", ""};
  HeadScan scan(tensors, &*config, settings);
  const std::vector<ScannedHead> heads = scan.advance(0);
  REQUIRE(heads.size() == 2);
  const HeadFactors second = in_double(heads[1]);
  CHECK(second.query == (Eigen::MatrixXd(2, 2) << 5, 7, 6, 8).finished());
  CHECK(second.key == (Eigen::MatrixXd(2, 2) << 1, 1, 1, 0).finished());
}

TEST_CASE("the parts of a GGUF model are read together, and one that is missing is named",
          "[gguf]") {
  const auto part = [](std::uint32_t number) {
    GgufWriter writer;
    writer.integer("split.no", number).integer("split.count", 3).integer("split.tensors.count", 2);
    return writer;
  };
  GgufWriter first = part(0), second = part(1), third = part(2);
  // Only the first part has the metadata that are not of its own.
  first.text("general.architecture", "llama").integer("llama.attention.head_count", 1);
  const std::vector<double> rows{1, 2, 3, 4, 5, 6, 7, 8};
  second.tensor("blk.0.attn_q.weight", {4, 2}, 0, encode("F32", rows));
  third.tensor("output.weight", {4, 2}, 0, encode("F32", rows));
  const auto source = [](const std::string& name, const GgufWriter& writer) {
    return std::make_shared<MemorySource>("folder/m-0000" + name + "-of-00003.gguf",
                                          writer.bytes());
  };
  const auto a = source("1", first), b = source("2", second), c = source("3", third);
  CheckpointFiles files;
  files.model = {c, a, b};
  const auto tensors = open_tensors(files);
  std::vector<double> found(rows.size());
  tensors->read_elements("model.layers.0.self_attn.q_proj.weight", 0, found);
  CHECK(found == std::vector<double>{1, 2, 5, 6, 3, 4, 7, 8});  // neighbours as halves
  CHECK(tensors->tensors().contains("lm_head.weight"));
  const std::optional<Config> config = read_config(files);
  CHECK(config->positive_integer("num_attention_heads", 100) == 1);
  CHECK(config->positive_integer("num_key_value_heads", 100) == 1);  // left out

  const auto failure = [](std::vector<std::shared_ptr<ByteSource>> given) {
    return failure_of([&] { open_tensors({std::move(given), nullptr, nullptr}); }).message;
  };
  CHECK(failure({a, c}) ==
        "m-00002-of-00003.gguf: it is missing; folder/m-00001-of-00003.gguf is one of 3 parts of a "
        "model");
  CHECK_THAT(failure({a, b}), ContainsSubstring("m-00003-of-00003.gguf: it is missing"));
  CHECK_THAT(failure({std::make_shared<MemorySource>("renamed.gguf", second.bytes())}),
             ContainsSubstring("part 1 of 3: it is missing; renamed.gguf is one"));
  CHECK_THAT(failure({a, b, b, c}), ContainsSubstring("but it is part 2 of 3"));
  third.tensor("more", {1}, 0, encode("F32", {1}));
  CHECK_THAT(failure({a, b, source("3", third)}),
             ContainsSubstring("must have 2 tensors together (split.tensors.count), but have 3"));
  CHECK_THAT(failure({source("1", part(0)), source("2", part(1)), source("3", part(2))}),
             ContainsSubstring("must have 2 tensors together"));
}

TEST_CASE("the names of the parts of a GGUF model follow from one of them", "[gguf]") {
  CHECK(gguf_part_names("m-q4-00002-of-00002.gguf") ==
        std::vector<std::string>{"m-q4-00001-of-00002.gguf", "m-q4-00002-of-00002.gguf"});
  for (const std::string name : {"m.gguf", "m-00003-of-00002.gguf", "m-1-of-2.gguf",
                                 "-00001-of-00002.gguf", "m-00001-of-00000.gguf"}) {
    CHECK(gguf_part_names(name) == std::vector{name});
  }
}

TEST_CASE("a GGUF file that is cut off anywhere is refused", "[gguf]") {
  GgufWriter writer;
  writer.text("general.architecture", "llama").integer("llama.attention.head_count", 2);
  writer.texts("tokenizer.ggml.tokens", 3, "a").tensor("blk.0.attn_q.weight", {4, 4}, 0, Bytes(64));
  const Bytes whole = writer.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const CheckpointFiles cut{
        {std::make_shared<MemorySource>(
            "cut.gguf", Bytes(whole.begin(), whole.begin() + static_cast<long>(size)))},
        nullptr,
        nullptr};
    CHECK(failure_of([&] { open_tensors(cut); }).kind == "format");
  }
  CHECK_NOTHROW(
      open_tensors({{std::make_shared<MemorySource>("whole.gguf", whole)}, nullptr, nullptr}));
}

TEST_CASE("heads of an architecture in GGUF have the conventions of its model type", "[gguf]") {
  struct Architecture {
    std::string name, type;
    bool neighbours;  // rows of rotary pairs are put back into halves
  };
  const std::vector<Architecture> known{{"qwen2moe", "qwen2_moe", false},
                                        {"qwen3moe", "qwen3_moe", false},
                                        {"olmoe", "olmoe", false},
                                        {"seed_oss", "seed_oss", false},
                                        {"starcoder2", "starcoder2", false},
                                        {"stablelm", "stablelm", false},
                                        {"arcee", "arcee", true},
                                        {"granite", "granite", true},
                                        {"granitemoe", "granitemoe", true},
                                        {"gpt-oss", "gpt_oss", false},
                                        {"command-r", "cohere", false},
                                        {"glm4", "glm4", false}};
  std::vector<double> rows, gains(8, 1.0);
  for (int row = 0; row < 8; ++row) rows.insert(rows.end(), 8, row);
  for (const auto& [name, type, neighbours] : known) {
    CAPTURE(name);
    GgufWriter writer;
    writer.text("general.architecture", name);
    for (const auto& [key, value] : {std::pair("embedding_length", 8u),
                                     {"block_count", 1u},
                                     {"attention.head_count", 2u},
                                     {"attention.head_count_kv", 2u}}) {
      writer.integer(name + "." + key, value);
    }
    writer.number(name + ".rope.freq_base", 50);
    if (name.starts_with("granite")) writer.number(name + ".attention.scale", 0.25F);
    if (name == "command-r") writer.number(name + ".logit_scale", 0.25F);
    writer.tensor("blk.0.ffn_up.weight", {16, 8}, 0, encode("F32", std::vector<double>(128, 1.0)));
    writer.tensor("blk.0.attn_norm.weight", {8}, 0, encode("F32", gains));
    for (const std::string kind : {"q", "k"})
      writer.tensor("blk.0.attn_" + kind + ".weight", {8, 8}, 0, encode("F32", rows));
    for (const std::string kind : {"q", "k"}) {
      if (name != "qwen3moe" && name != "olmoe") break;
      const std::size_t count = name == "olmoe" ? 8 : 4;  // those of all heads, or of each
      writer.tensor("blk.0.attn_" + kind + "_norm.weight", {count}, 0,
                    encode("F32", std::vector<double>(count, 1)));
    }
    const CheckpointFiles files = files_of(writer);
    const std::optional<Config> config = read_config(files);
    CHECK(config->text("model_type") == type);
    CHECK(config->number("logit_scale", 0, 1).has_value() == (name == "command-r"));
    const auto tensors = open_tensors(files);
    CHECK(tensors->tensors().contains("model.layers.0.mlp.gate_up_proj.weight") ==
          (name == "glm4"));
    std::vector<double> first(8 * 4);
    tensors->read_elements("model.layers.0.self_attn.q_proj.weight", 0, first);
    CHECK(first[8] == (neighbours ? 2 : 1));
    CHECK(HeadScan(tensors, &*config, {}).total_heads() == 2);
  }
}

namespace {

/// What a converter makes of the queries and keys of a checkpoint with two layers, and of its config.json.
struct ConvertedHeads {
  std::string architecture, model_type;
  std::string config = {};  ///< keys beside the counts of heads
  std::function<void(GgufWriter&, const std::string&)> metadata = [](GgufWriter&,
                                                                     const std::string&) {};
  /// By the name in the file, behind the layer; {n} is the number of the layer.
  std::map<std::string, std::string> names = {};
  bool neighbours = false, whole_gains = false;
  bool gated = false;  ///< queries have rows that gate after those of each head
  bool fused = false, transposed = false;
  std::size_t key_heads = 2;  ///< of fused keys
  bool head_norms = false, all_head_norms = false;
  std::vector<std::string> others = {};  ///< vectors of the file that leave the heads as they are
  std::string heads_key = "num_attention_heads", layers_key = "num_hidden_layers";
  int offset = 3;
  float base = 50;  ///< in the file
  bool folded = true;
};

const std::string kOfLayer = "model.layers.{n}.";

std::map<std::string, std::string> llama_like(const std::map<std::string, std::string>& own) {
  std::map<std::string, std::string> names{{"attn_norm", kOfLayer + "input_layernorm"},
                                           {"attn_q", kOfLayer + "self_attn.q_proj"},
                                           {"attn_k", kOfLayer + "self_attn.k_proj"},
                                           {"attn_q_norm", kOfLayer + "self_attn.q_norm"},
                                           {"attn_k_norm", kOfLayer + "self_attn.k_norm"}};
  for (const auto& [from, to] : own) names[from] = kOfLayer + to;
  return names;
}

CheckpointFiles safetensors_of(const SafetensorsWriter& writer, const std::string& config) {
  CheckpointFiles files{
      {std::make_shared<MemorySource>("model.safetensors", writer.bytes())}, nullptr, nullptr};
  Bytes text;
  for (const char c : config) text.push_back(static_cast<std::byte>(c));
  files.config = std::make_shared<MemorySource>("config.json", text);
  return files;
}

std::vector<Eigen::MatrixXd> logit_matrices(const CheckpointFiles& files, int offset,
                                            bool folded = true) {
  const std::optional<Config> config = read_config(files);
  REQUIRE(config);
  HeadScan scan(open_tensors(files), &*config,
                {.fold_gains = folded, .offset = {static_cast<double>(offset)}});
  std::vector<Eigen::MatrixXd> found;
  while (static_cast<int>(found.size()) < scan.total_heads()) {
    for (const ScannedHead& head : scan.advance(0)) {
      const HeadFactors factors = in_double(head);
      found.push_back(factors.query * factors.key.transpose());
    }
  }
  return found;
}

/// The heads of `file` have the matrices of logits of those of `original`, and none of these is 0.
void check_same_heads(const GgufWriter& file, const CheckpointFiles& original, std::size_t count,
                      int offset, bool folded = true) {
  CAPTURE(offset);
  const auto expected = logit_matrices(original, offset, folded),
             found = logit_matrices(files_of(file), offset, folded);
  REQUIRE(found.size() == count);
  REQUIRE(expected.size() == count);
  for (std::size_t head = 0; head < count; ++head) {
    CAPTURE(head);
    CHECK(expected[head].norm() > 0.01);
    CHECK((found[head] - expected[head]).norm() <= 1e-6 * expected[head].norm());
  }
}

/// Rows of values that repeat nowhere.
std::vector<double> wave(std::size_t count, double phase, double mean = 0) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double number = std::sin(phase + 1.7 * static_cast<double>(i));
    values.push_back(mean + std::round(64 * number) / 128);
  }
  return values;
}

void check_heads(const ConvertedHeads& kind) {
  CAPTURE(kind.architecture);
  constexpr std::size_t kWidth = 8, kHeads = 2, kHeadWidth = 4;
  GgufWriter file;
  SafetensorsWriter original;
  file.text("general.architecture", kind.architecture);
  const std::string prefix = kind.architecture + ".";
  file.integer(prefix + "embedding_length", kWidth).integer(prefix + "block_count", 2);
  file.integer(prefix + "attention.head_count", kHeads);
  file.integer(prefix + "context_length", 64);
  file.number(prefix + "rope.freq_base", kind.base);
  kind.metadata(file, prefix);
  // Every file has it: its name in Hugging Face's checkpoints must be one that the row knows.
  file.tensor("token_embd.weight", {3, kWidth}, 0, encode("F32", wave(3 * kWidth, 0.9)));
  const auto shift = [&](std::vector<double> values) {
    for (double& value : values) value += kind.whole_gains ? 1 : 0;
    return values;
  };
  for (int layer = 0; layer < 2; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    const auto add = [&](const std::string& from, std::vector<std::uint64_t> shape,
                         const std::vector<double>& values, const std::vector<double>& stored) {
      std::string to = kind.names.at(from);
      const std::size_t mark = to.find("{n}");
      to.replace(mark, 3, std::to_string(layer));
      file.tensor(block + from + ".weight", shape, 0, encode("F32", stored));
      if (kind.transposed && shape.size() == 2) std::swap(shape[0], shape[1]);
      if (!to.ends_with(".original")) to += ".weight";
      original.add_raw(to, "F32", shape, encode("F32", values));
    };
    const double phase = layer;
    const std::vector<double> gains = wave(kWidth, phase + 0.1, kind.whole_gains ? 0.25 : 1.25);
    if (kind.names.contains("attn_norm")) add("attn_norm", {kWidth}, gains, shift(gains));
    if (kind.names.contains("ffn_down")) add("ffn_down", {1, kWidth}, gains, gains);
    if (kind.fused) {
      const std::size_t all = (kHeads + 2 * kind.key_heads) * kHeadWidth;
      const std::vector<double> rows = wave(all * kWidth, phase + 0.7);
      std::vector<double> own = rows;
      for (std::size_t i = 0; kind.transposed && i < own.size(); ++i)
        own[i] = rows[i % all * kWidth + i / all];
      add("attn_qkv", {all, kWidth}, own, rows);
    } else {
      for (const std::string projection : {"attn_q", "attn_k"}) {
        const std::uint64_t count = kWidth * (kind.gated && projection == "attn_q" ? 2 : 1);
        const std::vector<double> rows =
            wave(count * kWidth, phase + (projection == "attn_q" ? 0.3 : 0.5));
        add(projection, {count, kWidth}, rows,
            kind.neighbours ? with_neighbours(rows, kHeads, count) : rows);
      }
    }
    for (const std::string norm : {"attn_q_norm", "attn_k_norm"}) {
      if (!kind.head_norms && !kind.all_head_norms) break;
      const std::vector<double> own =
          wave(kind.all_head_norms ? kWidth : kHeadWidth, phase + 0.9, kind.whole_gains ? 0 : 1);
      add(norm, {own.size()}, own, shift(own));
    }
    for (const std::string& other : kind.others)
      file.tensor(block + other, {kWidth}, 0, encode("F32", std::vector<double>(kWidth, 1)));
  }
  const std::string config = R"({"model_type":")" + kind.model_type + R"(",")" + kind.heads_key +
                             R"(":2,")" + kind.layers_key + R"(":2,"rope_theta":50)" + kind.config +
                             "}";
  for (const int offset : {0, kind.offset})
    check_same_heads(file, safetensors_of(original, config), 2 * kHeads, offset, kind.folded);
}

}  // namespace

// By the rules of llama.cpp's conversion scripts. `npm run test:gguf` has the architectures whose text is read.
TEST_CASE("heads of GGUF files are those of the checkpoints that they were converted from",
          "[gguf]") {
  const auto windows = [](GgufWriter& it, const std::string& prefix) {
    it.integer(prefix + "attention.sliding_window", 8);
  };
  const auto half = [](GgufWriter& it, const std::string& prefix) {
    it.integer(prefix + "rope.dimension_count", 2);
  };
  // A layer of another kind, which these files do not have, has 0 key heads.
  const auto by_layer = [](GgufWriter& it, const std::string& prefix) {
    it.list(prefix + "attention.head_count_kv", std::vector<std::int32_t>{2, 2, 0});
  };
  const auto axes = [](GgufWriter& it, const std::string& prefix) {
    it.integer(prefix + "rope.dimension_count", 2);
    it.list(prefix + "rope.dimension_sections", std::vector<std::int32_t>{1, 0, 0, 0});
  };
  const auto unscaled = [](GgufWriter& it, const std::string& prefix) {
    it.text(prefix + "rope.scaling.type", "none").number(prefix + "rope.scaling.factor", 1);
    it.integer(prefix + "rope.scaling.original_context_length", 262144);
  };
  const std::map<std::string, std::string> hunyuan{{"attn_q_norm", "self_attn.query_layernorm"},
                                                   {"attn_k_norm", "self_attn.key_layernorm"}};
  const std::string turned = R"(,"partial_rotary_factor":0.5)";
  const std::vector<std::string> experts{"exp_probs_b.bias", "ffn_gate_inp.weight"};
  const std::vector<ConvertedHeads> kinds{
      {.architecture = "qwen3next",
       .model_type = "qwen3_next",
       .config = turned,
       .metadata = half,
       .names = llama_like({}),
       .whole_gains = true,
       .gated = true,
       .head_norms = true,
       .others = {"post_attention_norm.weight", "ffn_gate_inp_shexp.weight"}},
      {.architecture = "qwen35",
       .model_type = "qwen3_5_text",
       .config = turned,
       .metadata = axes,
       .names = llama_like({}),
       .whole_gains = true,
       .gated = true,
       .head_norms = true,
       .others = {"post_attention_norm.weight"}},
      {.architecture = "qwen35moe",
       .model_type = "qwen3_5_moe_text",
       .config = turned,
       .metadata = axes,
       .names = llama_like({}),
       .whole_gains = true,
       .gated = true,
       .head_norms = true},
      {.architecture = "llama4",
       .model_type = "llama4_text",
       .config = R"(,"use_qk_norm":true)",
       .names = llama_like({}),
       .others = {"ffn_gate_inp.weight"}},
      {.architecture = "nemotron",
       .model_type = "nemotron",
       .config = turned,
       .metadata = half,
       .names = llama_like({}),
       .whole_gains = true},
      {.architecture = "nemotron_h",
       .model_type = "nemotron_h",
       .metadata = by_layer,
       .names = {{"attn_norm", "model.layers.{n}.norm"},
                 {"attn_q", "model.layers.{n}.mixer.q_proj"},
                 {"attn_k", "model.layers.{n}.mixer.k_proj"}},
       .neighbours = true},
      {.architecture = "nemotron_h_moe",
       .model_type = "nemotron_h",
       .metadata = by_layer,
       .names = {{"attn_norm", "model.layers.{n}.norm"},
                 {"attn_q", "model.layers.{n}.mixer.q_proj"},
                 {"attn_k", "model.layers.{n}.mixer.k_proj"}},
       .neighbours = true},
      // The other scales leave queries and keys as they are.
      {.architecture = "minicpm",
       .model_type = "llama",
       .metadata =
           [](GgufWriter& it, const std::string& prefix) {
             for (const std::string key : {"embedding_scale", "residual_scale", "logit_scale"})
               it.number(prefix + key, 12);
           },
       .names = llama_like({}),
       .neighbours = true},
      {.architecture = "deci",
       .model_type = "nemotron-nas",
       .metadata = by_layer,
       .names = llama_like({}),
       .neighbours = true},
      {.architecture = "llama-embed",
       .model_type = "llama",
       .metadata = [](GgufWriter& it,
                      const std::string& prefix) { it.flag(prefix + "attention.causal", false); },
       .names = llama_like({}),
       .neighbours = true},
      {.architecture = "olmo",
       .model_type = "olmo",
       .names = {{"attn_q", kOfLayer + "self_attn.q_proj"},
                 {"attn_k", kOfLayer + "self_attn.k_proj"}},
       .neighbours = true,
       .others = {"attn_v.weight", "attn_output.weight"}},
      {.architecture = "phimoe",
       .model_type = "phimoe",
       .metadata = windows,
       .names = llama_like({}),
       .others = {"ffn_norm.weight", "ffn_gate_inp.weight"}},
      // Its converter multiplies the base by alpha^(d_h/(d_h - 2)).
      {.architecture = "hunyuan-dense",
       .model_type = "hunyuan_v1_dense",
       .config = R"(,"rope_scaling":{"type":"dynamic","alpha":9,"factor":1})",
       .metadata = unscaled,
       .names = llama_like({}),
       .others = {"ffn_norm.weight"},
       .base = 50 * 81},
      {.architecture = "hunyuan-dense",
       .model_type = "hunyuan_v1_dense",
       .metadata = unscaled,
       .names = llama_like(hunyuan),
       .head_norms = true,
       .folded = false},
      {.architecture = "hunyuan-moe",
       .model_type = "hunyuan_v1_moe",
       .config = R"(,"rope_scaling":{"type":"dynamic","alpha":9,"factor":1})",
       .metadata = unscaled,
       .names = llama_like(hunyuan),
       .head_norms = true,
       .others = {"ffn_gate_inp.weight", "ffn_gate_shexp.weight"},
       .base = 50 * 81,
       .folded = false},
      {.architecture = "minimax-m3",
       .model_type = "minimax_m3",
       .config = R"(,"rotary_dim":2)",
       .metadata =
           [&](GgufWriter& it, const std::string& prefix) {
             half(it, prefix);
             it.integer(prefix + "attention.indexer.top_k", 16);
           },
       .names = llama_like({}),
       .whole_gains = true,
       .head_norms = true,
       .others = {"indexer.q_norm.weight", "indexer.k_proj.weight", "ffn_norm.weight"}},
      {.architecture = "mimo2",
       .model_type = "mimo_v2_flash",
       .config = R"(,"sliding_window":8,"hybrid_layer_pattern":[0,1],"swa_rope_theta":7,
                   "partial_rotary_factor":0.5)",
       .metadata =
           [&](GgufWriter& it, const std::string& prefix) {
             windows(it, prefix);
             half(it, prefix);
             it.list(prefix + "attention.sliding_window_pattern", std::vector<std::int32_t>{0, 1});
             it.number(prefix + "attention.value_scale", 0.707F);
             it.number(prefix + "rope.freq_base_swa", 7);
           },
       .names = llama_like({})},
      {.architecture = "eurobert", .model_type = "eurobert", .names = llama_like({})},
      {.architecture = "paddleocr",
       .model_type = "paddleocr_vl_text",
       .metadata =
           [](GgufWriter& it, const std::string& prefix) {
             it.list(prefix + "rope.dimension_sections", std::vector<std::int32_t>{1, 1, 0, 0});
           },
       .names = llama_like({})},
      {.architecture = "deepseek2-ocr",
       .model_type = "deepseek_vl_v2",
       .names = llama_like({}),
       .others = {"ffn_norm.weight", "ffn_gate_inp.weight", "ffn_gate_shexp.weight"}},
      // The first layer turns as it has no experts.
      {.architecture = "cohere2moe",
       .model_type = "cohere2_moe",
       .config = R"(,"sliding_window":8,"layer_types":["full_attention","full_attention"],
                   "mlp_layer_types":["dense","sparse"])",
       .metadata =
           [&](GgufWriter& it, const std::string& prefix) {
             windows(it, prefix);
             it.list(prefix + "attention.sliding_window_pattern", std::vector<std::int32_t>{0, 0});
             it.integer(prefix + "leading_dense_block_count", 1);
           },
       .names = llama_like({}),
       .others = {"ffn_gate_inp.weight"}},
      {.architecture = "bailingmoe2",
       .model_type = "bailing_moe",
       .config = turned,
       .metadata = half,
       .names = {{"attn_norm", kOfLayer + "input_layernorm"},
                 {"attn_qkv", kOfLayer + "attention.query_key_value"},
                 {"attn_q_norm", kOfLayer + "attention.query_layernorm"},
                 {"attn_k_norm", kOfLayer + "attention.key_layernorm"}},
       .fused = true,
       .head_norms = true,
       .others = {"ffn_norm.weight", "exp_probs_b.bias"}},
      {.architecture = "starcoder",
       .model_type = "gpt_bigcode",
       .metadata =
           [](GgufWriter& it, const std::string& prefix) {
             it.integer(prefix + "attention.head_count_kv", 1);
           },
       .names = {{"attn_norm", "h.{n}.ln_1"}, {"attn_qkv", "h.{n}.attn.c_attn"}},
       .fused = true,
       .key_heads = 1,
       .others = {"ffn_norm.weight"},
       .heads_key = "n_head",
       .layers_key = "n_layer",
       .offset = 0},
      {.architecture = "mpt",
       .model_type = "mpt",
       .config = R"(,"kv_n_heads":1)",
       .metadata =
           [](GgufWriter& it, const std::string& prefix) {
             it.integer(prefix + "attention.head_count_kv", 1);
             it.number(prefix + "attention.max_alibi_bias", 8);
             it.number(prefix + "attention.clamp_kqv", 0);
           },
       .names = {{"attn_norm", "blocks.{n}.norm_1"}, {"attn_qkv", "blocks.{n}.attn.Wqkv"}},
       .fused = true,
       .key_heads = 1,
       .others = {"ffn_norm.weight"},
       .heads_key = "n_heads",
       .layers_key = "n_layers",
       .offset = 0},
      {.architecture = "chatglm",
       .model_type = "chatglm",
       .config = R"(,"multi_query_attention":true,"multi_query_group_num":1)",
       .metadata =
           [&](GgufWriter& it, const std::string& prefix) {
             half(it, prefix);
             it.integer(prefix + "attention.head_count_kv", 1);
           },
       .names = {{"attn_norm", "encoder.layers.{n}.input_layernorm"},
                 {"attn_qkv", "encoder.layers.{n}.self_attention.query_key_value"}},
       .fused = true,
       .key_heads = 1,
       .layers_key = "num_layers"},
      {.architecture = "falcon-h1",
       .model_type = "falcon_h1",
       .names = llama_like({}),
       .others = {"ffn_norm.weight", "ssm_in.weight", "ssm_dt.bias", "ssm_norm.weight"}},
      {.architecture = "jamba",
       .model_type = "jamba",
       .metadata = by_layer,
       .names = llama_like({}),
       .others = {"ffn_norm.weight"}},
      {.architecture = "lfm2",
       .model_type = "lfm2",
       .metadata = by_layer,
       .names = llama_like({{"attn_norm", "operator_norm"},
                            {"attn_q_norm", "self_attn.q_layernorm"},
                            {"attn_k_norm", "self_attn.k_layernorm"}}),
       .head_norms = true,
       .others = {"ffn_norm.weight", "attn_output.weight"}},
      {.architecture = "lfm2moe",
       .model_type = "lfm2_moe",
       .metadata = by_layer,
       .names = llama_like({{"attn_norm", "operator_norm"},
                            {"attn_q_norm", "self_attn.q_layernorm"},
                            {"attn_k_norm", "self_attn.k_layernorm"}}),
       .head_norms = true,
       .others = experts},
      {.architecture = "granitehybrid",
       .model_type = "granitemoehybrid",
       .config = R"(,"attention_multiplier":0.25)",
       .metadata =
           [](GgufWriter& it, const std::string& prefix) {
             it.number(prefix + "attention.scale", 0.25F);
             it.flag(prefix + "rope.scaling.finetuned", false);
             it.list(prefix + "attention.head_count_kv", std::vector<std::int32_t>{2, 2, 0});
           },
       .names = llama_like({}),
       .neighbours = true},
      {.architecture = "granitehybrid",
       .model_type = "granitemoehybrid",
       .config = R"(,"attention_multiplier":0.25,"position_embedding_type":"rope")",
       .metadata = [](GgufWriter& it,
                      const std::string& prefix) { it.number(prefix + "attention.scale", 0.25F); },
       .names = llama_like({}),
       .neighbours = true},
      {.architecture = "apertus",
       .model_type = "apertus",
       .config = R"(,"rope_scaling":null)",
       .names = llama_like({{"attn_norm", "attention_layernorm"}}),
       .head_norms = true,
       .others = {"ffn_norm.weight"}},
      {.architecture = "afmoe",
       .model_type = "afmoe",
       .config = R"(,"sliding_window":8)",
       .metadata = windows,
       .names = llama_like({}),
       .head_norms = true,
       .others = {"attn_gate.weight", "ffn_norm.weight", "post_attention_norm.weight",
                  "post_ffw_norm.weight"}},
      {.architecture = "afmoe",
       .model_type = "afmoe",
       .config = R"(,"sliding_window":8,"global_attn_every_n_layers":2)",
       .metadata =
           [&](GgufWriter& it, const std::string& prefix) {
             windows(it, prefix);
             it.list(prefix + "attention.sliding_window_pattern", std::vector<std::int32_t>{1, 0});
           },
       .names = llama_like({}),
       .head_norms = true},
      {.architecture = "exaone-moe",
       .model_type = "exaone_moe",
       .config = R"(,"sliding_window":8,"sliding_window_pattern":2)",
       .metadata =
           [&](GgufWriter& it, const std::string& prefix) {
             windows(it, prefix);
             it.integer(prefix + "attention.sliding_window_pattern", 2);
           },
       .names = llama_like({}),
       .head_norms = true,
       .others = experts},
      {.architecture = "ernie4_5", .model_type = "ernie4_5", .names = llama_like({})},
      {.architecture = "ernie4_5-moe",
       .model_type = "ernie4_5_moe",
       .names = llama_like({}),
       .others = experts},
      {.architecture = "dots1",
       .model_type = "dots1",
       .names = llama_like({}),
       .head_norms = true,
       .others = experts},
      {.architecture = "hy_v3",
       .model_type = "hy_v3",
       .names = llama_like({}),
       .head_norms = true,
       .others = {"exp_probs_b", "ffn_gate_inp.weight", "ffn_gate_shexp.weight"}},
      {.architecture = "pangu-embedded", .model_type = "PanguEmbedded", .names = llama_like({})},
      {.architecture = "gemma-embedding",
       .model_type = "gemma3_text",
       .config = R"(,"query_pre_attn_scalar":4,"sliding_window":8)",
       .metadata = windows,
       .names = llama_like({}),
       .whole_gains = true,
       .head_norms = true},
      {.architecture = "gemma3n",
       .model_type = "gemma3n_text",
       .config = R"(,"sliding_window":8,"num_kv_shared_layers":1,
                   "layer_types":["full_attention","full_attention"])",
       .metadata =
           [&](GgufWriter& it, const std::string& prefix) {
             windows(it, prefix);
             it.integer(prefix + "attention.shared_kv_layers", 1);
             it.list(prefix + "activation_sparsity_scale", std::vector<float>{1.6F, 1.6F});
             it.list(prefix + "attention.sliding_window_pattern", std::vector<std::int32_t>{0, 0});
           },
       .names = llama_like({}),
       .head_norms = true,
       .others = {"altup_correct_coef.weight", "altup_router_norm.weight", "laurel_l.weight",
                  "post_norm.weight", "inp_gate.weight", "proj.weight"}},
      {.architecture = "gemma3n",
       .model_type = "gemma3n_text",
       .config = R"(,"sliding_window":8,"rope_local_base_freq":7)",
       .metadata =
           [&](GgufWriter& it, const std::string& prefix) {
             windows(it, prefix);
             it.number(prefix + "rope.freq_base_swa", 7);
           },
       .names = llama_like({}),
       .head_norms = true},
      {.architecture = "gpt2",
       .model_type = "gpt2",
       .metadata =
           [](GgufWriter& it, const std::string&) {
             it.tensor("position_embd.weight", {64, 8}, 0, Bytes(64 * 8 * 4));
           },
       .names = {{"attn_norm", "h.{n}.ln_1"}, {"attn_qkv", "h.{n}.attn.c_attn"}},
       .fused = true,
       .transposed = true,
       .heads_key = "n_head",
       .layers_key = "n_layer",
       .offset = 0},
      {.architecture = "jina-bert-v2",
       .model_type = "bert",
       .config = R"(,"position_embedding_type":"alibi")",
       .metadata = [](GgufWriter& it,
                      const std::string& prefix) { it.flag(prefix + "attention.causal", false); },
       .names = {{"attn_q", "encoder.layer.{n}.attention.self.query"},
                 {"attn_k", "encoder.layer.{n}.attention.self.key"},
                 {"ffn_down", "encoder.layer.{n}.mlp.wo"}},
       .others = {"attn_output_norm.weight", "layer_output_norm.weight", "ffn_up.weight"}},
      {.architecture = "jina-bert-v3",
       .model_type = "xlm-roberta",
       .config = R"(,"position_embedding_type":"rotary","rotary_emb_base":50)",
       .names = {{"attn_qkv", "encoder.layers.{n}.mixer.Wqkv.parametrizations.weight.original"}},
       .fused = true,
       .others = {"attn_output_norm.weight", "layer_output_norm.weight"}},
      {.architecture = "nomic-bert",
       .model_type = "nomic_bert",
       .config = R"(,"prenorm":false,"rotary_emb_base":50)",
       .names = {{"attn_qkv", "encoder.layers.{n}.attn.Wqkv"}},
       .fused = true,
       .heads_key = "n_head",
       .layers_key = "n_layer"},
      {.architecture = "nomic-bert-moe",
       .model_type = "nomic_bert",
       .config = R"(,"prenorm":false,"rotary_emb_base":50)",
       .metadata = [](GgufWriter& it,
                      const std::string& prefix) { it.integer(prefix + "moe_every_n_layers", 2); },
       .names = {{"attn_qkv", "encoder.layers.{n}.attn.Wqkv"}},
       .fused = true,
       .others = {"ffn_gate_inp.weight", "ffn_up_exps.weight", "ffn_down_exps.weight"},
       .heads_key = "n_head",
       .layers_key = "n_layer"},
      {.architecture = "modern-bert",
       .model_type = "modernbert",
       .config = R"(,"global_rope_theta":50,"local_rope_theta":7,"local_attention":8,
                   "global_attn_every_n_layers":2)",
       .metadata =
           [&](GgufWriter& it, const std::string& prefix) {
             windows(it, prefix);
             it.integer(prefix + "attention.sliding_window_pattern", 2);
             it.number(prefix + "rope.freq_base_swa", 7);
           },
       .names = {{"attn_norm", "layers.{n}.attn_norm"}, {"attn_qkv", "layers.{n}.attn.Wqkv"}},
       .fused = true},
  };
  for (const ConvertedHeads& kind : kinds) check_heads(kind);
}

namespace {

std::vector<HeadFactors> factors_of(const CheckpointFiles& files, double offset) {
  const std::optional<Config> config = read_config(files);
  REQUIRE(config);
  HeadScan scan(open_tensors(files), &*config, {.offset = {offset}});
  std::vector<HeadFactors> found;
  while (static_cast<int>(found.size()) < scan.total_heads())
    for (const ScannedHead& head : scan.advance(0)) found.push_back(in_double(head));
  return found;
}

/// A layer of two heads of width 4 that share `key_heads`, whose queries, keys and values are one tensor of the checkpoint
/// and several of the file.
void check_split(const std::string& architecture, const std::string& whole, std::size_t key_heads,
                 std::size_t width, const std::string& config) {
  CAPTURE(architecture);
  constexpr std::size_t kQueries = 8;
  const std::size_t keys = 4 * key_heads;
  GgufWriter file;
  SafetensorsWriter original;
  file.text("general.architecture", architecture);
  for (const auto& [key, value] : {std::pair("embedding_length", width),
                                   {"block_count", std::size_t{1}},
                                   {"attention.head_count", std::size_t{2}},
                                   {"attention.head_count_kv", key_heads},
                                   {"attention.key_length", std::size_t{4}},
                                   {"rope.dimension_count", std::size_t{4}}})
    file.integer(architecture + "." + key, static_cast<std::uint32_t>(value));
  const std::vector<double> rows = wave((kQueries + 2 * keys) * width, 0.7),
                            gains = wave(width, 0.1, 1.25);
  const auto part = [&](std::size_t first, std::size_t count) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first * width);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count * width));
  };
  file.tensor("blk.0.attn_norm.weight", {width}, 0, encode("F32", gains));
  file.tensor("blk.0.attn_q.weight", {kQueries, width}, 0,
              encode("F32", with_neighbours(part(0, kQueries), 2, kQueries)));
  file.tensor("blk.0.attn_k.weight", {keys, width}, 0,
              encode("F32", with_neighbours(part(kQueries, keys), key_heads, keys)));
  file.tensor("blk.0.attn_v.weight", {keys, width}, 0, encode("F32", part(kQueries + keys, keys)));
  original.add_raw("model.layers.0.input_layernorm.weight", "F32", {width}, encode("F32", gains));
  original.add_raw("model.layers.0." + whole, "F32", {kQueries + 2 * keys, width},
                   encode("F32", rows));
  for (const int offset : {0, 3}) {
    CAPTURE(offset);
    const auto expected = factors_of(safetensors_of(original, config), offset),
               found = factors_of(files_of(file), offset);
    REQUIRE(found.size() == 2);
    REQUIRE(expected.size() == 2);
    for (std::size_t head = 0; head < 2; ++head) {
      CHECK(found[head].query.isApprox(expected[head].query, 1e-6));
      CHECK(found[head].key.isApprox(expected[head].key, 1e-6));
    }
  }
}

}  // namespace

TEST_CASE("queries, keys and values that are one tensor of the checkpoint may be several in GGUF",
          "[gguf]") {
  check_split("bailingmoe", "attention.query_key_value.weight", 1, 8,
              R"({"model_type":"bailing_moe","num_attention_heads":2,"num_key_value_heads":1,
              "num_hidden_layers":1,"hidden_size":8,"head_dim":4})");
  // Only the narrower one turns.
  for (const std::size_t width : {4096, 5120})
    check_split("baichuan", "self_attn.W_pack.weight", 2, width,
                R"({"model_type":"baichuan","num_attention_heads":2,"num_hidden_layers":1,
                "head_dim":4,"hidden_size":)" +
                    std::to_string(width) + "}");
}

TEST_CASE("rotary pairs of GLM-V are halves of the turned part of a head in GGUF", "[gguf]") {
  constexpr std::size_t kWidth = 12, kHeadWidth = 6;
  GgufWriter file;
  SafetensorsWriter original;
  file.text("general.architecture", "glm4");
  for (const auto& [key, value] : {std::pair("embedding_length", 12u),
                                   {"block_count", 2u},
                                   {"nextn_predict_layers", 1u},
                                   {"attention.head_count", 2u},
                                   {"attention.head_count_kv", 1u},
                                   {"rope.dimension_count", 4u}})
    file.integer("glm4." + std::string(key), value);
  file.number("glm4.rope.freq_base", 50);
  file.list("glm4.rope.dimension_sections", std::vector<std::int32_t>{1, 1, 0, 0});
  const auto stored = [](const std::vector<double>& values, std::size_t columns) {
    std::vector<double> rows;
    for (std::size_t row = 0; row < values.size() / columns; ++row) {
      constexpr std::array<std::size_t, kHeadWidth> kOrder{0, 2, 1, 3, 4, 5};
      const std::size_t from = row / kHeadWidth * kHeadWidth + kOrder[row % kHeadWidth];
      for (std::size_t i = 0; i < columns; ++i) rows.push_back(values[from * columns + i]);
    }
    return rows;
  };
  const auto add = [&](const std::string& from, const std::string& to,
                       const std::vector<std::uint64_t>& shape, bool ordered) {
    const std::size_t columns = shape.size() > 1 ? shape[1] : 1;
    const std::vector<double> values =
        wave(shape[0] * columns, 0.1 * static_cast<double>(to.size()), 1);
    file.tensor("blk.0." + from, shape, 0,
                encode("F32", ordered ? stored(values, columns) : values));
    original.add_raw("model.language_model.layers.0." + to, "F32", shape, encode("F32", values));
  };
  add("attn_norm.weight", "input_layernorm.weight", {kWidth}, false);
  add("post_attention_norm.weight", "post_self_attn_layernorm.weight", {kWidth}, false);
  add("post_ffw_norm.weight", "post_mlp_layernorm.weight", {kWidth}, false);
  add("attn_q.weight", "self_attn.q_proj.weight", {12, kWidth}, true);
  add("attn_k.weight", "self_attn.k_proj.weight", {6, kWidth}, true);
  add("attn_q.bias", "self_attn.q_proj.bias", {12}, true);
  add("attn_k.bias", "self_attn.k_proj.bias", {6}, true);
  const auto tensors = open_tensors(files_of(file));
  CHECK(tensors->read_vector("model.layers.0.self_attn.q_proj.bias") ==
        wave(12, 0.1 * static_cast<double>(std::strlen("self_attn.q_proj.bias")), 1));
  const CheckpointFiles files =
      safetensors_of(original, R"({"model_type":"glm4v","text_config":{"model_type":"glm4v_text",
      "num_attention_heads":2,"num_key_value_heads":1,"num_hidden_layers":1,"hidden_size":12,
      "rope_theta":50,"partial_rotary_factor":0.67}})");
  for (const int offset : {0, 3}) check_same_heads(file, files, 2, offset);
  GgufWriter odd;
  odd.text("general.architecture", "glm4").integer("glm4.attention.head_count", 2);
  odd.list("glm4.rope.dimension_sections", std::vector<std::int32_t>{1, 1, 0, 0});
  odd.integer("glm4.rope.dimension_count", 3).tensor("blk.0.attn_q.weight", {8, 4}, 0, Bytes(128));
  CHECK(failure_of([&] { open_tensors(files_of(odd)); }).item == "glm4.rope.dimension_count");
}

TEST_CASE("layers of a GGUF file may have other numbers of key heads", "[gguf]") {
  GgufWriter file;
  SafetensorsWriter original;
  file.text("general.architecture", "deci").integer("deci.embedding_length", 16);
  file.integer("deci.block_count", 4).integer("deci.attention.key_length", 4);
  file.list("deci.attention.head_count", std::vector<std::int32_t>{4, 0, 4, 4});
  file.list("deci.attention.head_count_kv", std::vector<std::int32_t>{4, 0, 2, 1});
  file.number("deci.rope.freq_base", 50);
  for (const auto& [layer, key_heads] : {std::pair<int, std::size_t>{0, 4}, {2, 2}, {3, 1}}) {
    const std::string block = "blk." + std::to_string(layer) + ".",
                      to = "model.layers." + std::to_string(layer) + ".";
    const std::vector<double> gains = wave(16, layer + 0.1, 1.25);
    file.tensor(block + "attn_norm.weight", {16}, 0, encode("F32", gains));
    original.add_raw(to + "input_layernorm.weight", "F32", {16}, encode("F32", gains));
    for (const auto& [from, name, heads] :
         {std::tuple("attn_q", "q_proj", std::size_t{4}), {"attn_k", "k_proj", key_heads}}) {
      const std::vector<double> rows = wave(4 * heads * 16, layer + 0.3 * std::strlen(from));
      file.tensor(block + from + ".weight", {4 * heads, 16}, 0,
                  encode("F32", with_neighbours(rows, heads, 4 * heads)));
      original.add_raw(to + "self_attn." + name + ".weight", "F32", {4 * heads, 16},
                       encode("F32", rows));
    }
  }
  const CheckpointFiles files = safetensors_of(
      original, R"({"model_type":"nemotron-nas","num_attention_heads":4,"num_key_value_heads":null,
      "num_hidden_layers":4,"hidden_size":16,"rope_theta":50})");
  for (const int offset : {0, 3}) check_same_heads(file, files, 12, offset);
}

TEST_CASE("norms of Hunyuan's queries and keys, which come after the rotation, are refused in GGUF",
          "[gguf]") {
  for (const std::string name : {"hunyuan-dense", "hunyuan-moe"}) {
    GgufWriter file;
    file.text("general.architecture", name).integer(name + ".attention.head_count", 2);
    for (const std::string kind : {"q", "k"}) {
      file.tensor("blk.0.attn_" + kind + ".weight", {8, 8}, 0, Bytes(256));
      file.tensor("blk.0.attn_" + kind + "_norm.weight", {4}, 0, Bytes(16));
    }
    file.tensor("blk.0.attn_norm.weight", {8}, 0, Bytes(32));
    check_failure(failure_of([&] { logit_matrices(files_of(file), 0); }),
                  "model.layers.0.self_attn.query_layernorm.weight", "must not turn before");
  }
}

namespace {

/// A layer of four query heads of width 2 that share `key_heads`, whose fused rows are by group in Hugging Face's order
/// and one part after another in the file.
void check_groups(const std::string& architecture, std::size_t key_heads, bool biased,
                  const std::map<std::string, std::string>& names, const std::string& config) {
  CAPTURE(architecture, key_heads);
  constexpr std::size_t kHeads = 4, kHeadWidth = 2, kWidth = kHeads * kHeadWidth;
  const std::size_t group = kHeads / key_heads, all = kHeads + 2 * key_heads;
  std::vector<std::size_t> order;  // the file's heads by their places in the checkpoint
  for (std::size_t head = 0; head < kHeads; ++head)
    order.push_back(head / group * (group + 2) + head % group);
  for (const std::size_t part : {group, group + 1})
    for (std::size_t each = 0; each < key_heads; ++each) order.push_back(each * (group + 2) + part);
  const auto reordered = [&](const std::vector<double>& values) {
    const std::size_t size = values.size() / all;
    std::vector<double> stored;
    for (const std::size_t head : order)
      for (std::size_t i = 0; i < size; ++i) stored.push_back(values[head * size + i]);
    return stored;
  };
  GgufWriter file;
  SafetensorsWriter original;
  file.text("general.architecture", architecture);
  for (const auto& [key, value] : {std::pair("embedding_length", kWidth),
                                   {"block_count", std::size_t{1}},
                                   {"attention.head_count", kHeads},
                                   {"attention.head_count_kv", key_heads},
                                   {"rope.dimension_count", kHeadWidth}}) {
    file.integer(architecture + "." + key, static_cast<std::uint32_t>(value));
  }
  file.number(architecture + ".rope.freq_base", 50);
  double phase = 0.1;
  for (const auto& [from, to] : names) {
    const std::vector<double> gains = wave(kWidth, phase += 0.2, 1.25);
    file.tensor("blk.0." + from + ".weight", {kWidth}, 0, encode("F32", gains));
    original.add_raw(to + ".weight", "F32", {kWidth}, encode("F32", gains));
  }
  const std::string whole = config.substr(0, config.find(' '));
  const std::vector<double> rows = wave(all * kHeadWidth * kWidth, 0.7),
                            bias = wave(all * kHeadWidth, 0.9);
  const std::vector<std::uint64_t> shape{all * kHeadWidth, kWidth};
  file.tensor("blk.0.attn_qkv.weight", shape, 0, encode("F32", reordered(rows)));
  original.add_raw(whole + ".weight", "F32", shape, encode("F32", rows));
  if (biased) {
    file.tensor("blk.0.attn_qkv.bias", {shape[0]}, 0, encode("F32", reordered(bias)));
    original.add_raw(whole + ".bias", "F32", {shape[0]}, encode("F32", bias));
  }
  const auto tensors = open_tensors(files_of(file));
  std::vector<double> found(rows.size());
  tensors->read_elements(whole + ".weight", 0, found);
  CHECK(found == rows);
  if (biased) CHECK(tensors->read_vector(whole + ".bias") == bias);
  check_same_heads(file, safetensors_of(original, config.substr(whole.size())), kHeads,
                   architecture == "bloom" ? 0 : 3);
}

}  // namespace

TEST_CASE("fused queries, keys and values by group follow one another in GGUF", "[gguf]") {
  const std::string falcon =
      R"(h.0.self_attention.query_key_value {"model_type":"falcon","num_attention_heads":4,
      "num_hidden_layers":1,"new_decoder_architecture":true,"rope_theta":50,"num_kv_heads":)";
  check_groups("falcon", 1, false, {{"attn_norm", "h.0.input_layernorm"}}, falcon + "1}");
  check_groups("falcon", 2, false, {{"attn_norm", "h.0.ln_mlp"}, {"attn_norm_2", "h.0.ln_attn"}},
               falcon + "2}");
  check_groups("bloom", 4, true, {{"attn_norm", "h.0.input_layernorm"}},
               R"(h.0.self_attention.query_key_value {"model_type":"bloom","num_attention_heads":4,
               "n_layer":1})");
  check_groups("gptneox", 4, true, {{"attn_norm", "layers.0.input_layernorm"}},
               R"(layers.0.attention.query_key_value {"model_type":"gpt_neox","rotary_pct":1,
               "num_attention_heads":4,"num_hidden_layers":1,"rotary_emb_base":50})");
  const auto failure = [](std::uint32_t heads, std::uint32_t key_heads) {
    GgufWriter file;
    file.text("general.architecture", "falcon").integer("falcon.attention.head_count", heads);
    file.integer("falcon.attention.head_count_kv", key_heads);
    file.tensor("blk.0.attn_qkv.weight", {16, 8}, 0, Bytes(16 * 8 * 4));
    return failure_of([&] { open_tensors(files_of(file)); }).message;
  };
  CHECK(failure(4, 2) == "");
  for (const auto& [heads, key_heads] : {std::pair(4u, 0u), {0u, 0u}, {4u, 3u}, {5u, 5u}, {2u, 4u}})
    CHECK_THAT(failure(heads, key_heads),
               ContainsSubstring("blk.0.attn_qkv.weight: its rows must be queries"));
}

TEST_CASE("heads of T5 in GGUF are those of encoder, decoder and what joins them", "[gguf]") {
  GgufWriter file;
  SafetensorsWriter original;
  file.text("general.architecture", "t5");
  for (const auto& [key, value] : {std::pair("embedding_length", 8u),
                                   {"block_count", 2u},
                                   {"decoder_block_count", 1u},
                                   {"attention.head_count", 2u},
                                   {"attention.key_length", 3u},
                                   {"attention.relative_buckets_count", 32u}}) {
    file.integer("t5." + std::string(key), value);
  }
  double phase = 0;
  const auto add = [&](const std::string& from, const std::string& to,
                       const std::vector<std::uint64_t>& shape) {
    const Bytes data = encode("F32", wave(shape[0] * (shape.size() > 1 ? 8 : 1), phase += 0.3, 1));
    file.tensor(from + ".weight", shape, 0, data);
    original.add_raw(to + ".weight", "F32", shape, data);
  };
  const auto add_layer = [&](const std::string& from, const std::string& to) {
    add(from + "attn_norm", to + "0.layer_norm", {8});
    add(from + "attn_q", to + "0.SelfAttention.q", {6, 8});
    add(from + "attn_k", to + "0.SelfAttention.k", {6, 8});
    for (const std::string other : {"attn_rel_b", "ffn_norm", "ffn_gate", "ffn_up", "attn_o"})
      file.tensor(from + other + ".weight", {2}, 0, Bytes(8));
  };
  add_layer("enc.blk.0.", "encoder.block.0.layer.");
  add_layer("enc.blk.1.", "encoder.block.1.layer.");
  add_layer("dec.blk.0.", "decoder.block.0.layer.");
  add("dec.blk.0.cross_attn_norm", "decoder.block.0.layer.1.layer_norm", {8});
  add("dec.blk.0.cross_attn_q", "decoder.block.0.layer.1.EncDecAttention.q", {6, 8});
  add("dec.blk.0.cross_attn_k", "decoder.block.0.layer.1.EncDecAttention.k", {6, 8});
  add("enc.output_norm", "encoder.final_layer_norm", {8});
  const auto tensors = open_tensors(files_of(file));
  for (const std::string name : {"encoder.block.1.layer.1.", "decoder.block.0.layer.2."}) {
    CHECK(tensors->tensors().contains(name + "layer_norm.weight"));
    CHECK(tensors->tensors().contains(name + "DenseReluDense.wi_0.weight"));
  }
  const std::string config = R"({"model_type":"t5","num_layers":2,"num_decoder_layers":1,
      "num_heads":2,"d_kv":3,"d_model":8})";
  check_same_heads(file, safetensors_of(original, config), 8, 0);
}

TEST_CASE("heads of latent attention in GGUF are those of the checkpoint", "[gguf]") {
  // Two heads of 2 coordinates without positions and 4 with them, and values of 3.
  const auto check = [](const std::string& architecture, bool joined, const auto& metadata,
                        const std::string& config) {
    CAPTURE(architecture);
    GgufWriter file;
    SafetensorsWriter original;
    const std::string prefix = architecture + ".";
    file.text("general.architecture", architecture);
    for (const auto& [key, value] : {std::pair("embedding_length", 8u),
                                     {"block_count", 1u},
                                     {"attention.head_count", 2u},
                                     {"attention.head_count_kv", joined ? 2u : 1u},
                                     {"attention.q_lora_rank", 5u},
                                     {"attention.kv_lora_rank", 4u},
                                     {"attention.key_length", joined ? 6u : 8u},
                                     {"rope.dimension_count", 4u},
                                     {"context_length", 64u}}) {
      file.integer(prefix + key, value);
    }
    file.number(prefix + "rope.freq_base", 50);
    metadata(file, prefix);
    double phase = 0;
    const auto add = [&](const std::string& from, const std::string& to,
                         const std::vector<std::uint64_t>& shape) {
      const std::size_t count = shape[0] * (shape.size() > 1 ? shape[1] : 1);
      const Bytes data = encode("F32", wave(count, phase += 0.3, shape.size() > 1 ? 0 : 1.25));
      file.tensor("blk.0." + from + ".weight", shape, 0, data);
      original.add_raw("model.layers.0." + to + ".weight", "F32", shape, data);
    };
    add("attn_norm", "input_layernorm", {8});
    add("attn_q_a", "self_attn.q_a_proj", {5, 8});
    add("attn_q_a_norm", "self_attn.q_a_layernorm", {5});
    add("attn_q_b", "self_attn.q_b_proj", {12, 5});
    add("attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa", {8, 8});
    add("attn_kv_a_norm", "self_attn.kv_a_layernorm", {4});
    if (joined) {
      add("attn_kv_b", "self_attn.kv_b_proj", {10, 4});
    } else {
      const std::vector<double> rows = wave(40, 0.2);
      std::vector<double> keys, values;
      for (std::size_t head = 0; head < 2; ++head) {
        const double* const its = rows.data() + 20 * head;
        for (std::size_t i = 0; i < 8; ++i) keys.push_back(its[i % 2 * 4 + i / 2]);
        values.insert(values.end(), its + 8, its + 20);
      }
      file.tensor("blk.0.attn_k_b.weight", {2, 4, 2}, 0, encode("F32", keys));
      file.tensor("blk.0.attn_v_b.weight", {2, 3, 4}, 0, encode("F32", values));
      original.add_raw("model.layers.0.self_attn.kv_b_proj.weight", "F32", {10, 4},
                       encode("F32", rows));
    }
    check_same_heads(file, safetensors_of(original, config), 2, 3);
  };
  check(
      "mistral4", false,
      [](GgufWriter& it, const std::string& prefix) {
        it.integer(prefix + "attention.key_length_mla", 6);
        it.integer(prefix + "attention.value_length_mla", 3);
        it.text(prefix + "rope.scaling.type", "yarn");
        it.number(prefix + "rope.scaling.factor", 4);
        it.integer(prefix + "rope.scaling.original_context_length", 16);
        it.number(prefix + "rope.scaling.yarn_log_multiplier", 0.1F);
      },
      R"({"model_type":"mistral4","num_attention_heads":2,"num_hidden_layers":1,"qk_head_dim":6,
      "rope_theta":50,"rope_parameters":{"rope_type":"yarn","factor":4,"mscale":1,
      "mscale_all_dim":1,"original_max_position_embeddings":16}})");
  check(
      "minicpm3", true,
      [](GgufWriter& it, const std::string& prefix) {
        it.text(prefix + "rope.scaling.type", "longrope");
        it.tensor("rope_factors_short.weight", {2}, 0, encode("F32", {1, 2}));
        it.tensor("rope_factors_long.weight", {2}, 0, encode("F32", {3, 4}));
      },
      R"({"model_type":"minicpm3","num_attention_heads":2,"num_hidden_layers":1,"qk_head_dim":6,
      "rope_theta":50,"max_position_embeddings":64,"rope_scaling":{"rope_type":"longrope",
      "short_factor":[1,2],"long_factor":[3,4],"original_max_position_embeddings":64}})");
}

TEST_CASE("layers of Gemma 4 in GGUF have their own widths, key heads and angles", "[gguf]") {
  const auto model = [](const std::vector<float>& divisors, std::uint32_t turned) {
    GgufWriter file;
    file.text("general.architecture", "gemma4").integer("gemma4.embedding_length", 8);
    for (const auto& [key, value] : {std::pair("block_count", 2u),
                                     {"attention.head_count", 2u},
                                     {"attention.key_length", 8u},
                                     {"attention.key_length_swa", 4u},
                                     {"attention.value_length_swa", 4u},
                                     {"attention.sliding_window", 8u},
                                     {"attention.shared_kv_layers", 0u},
                                     {"rope.dimension_count", 8u},
                                     {"rope.dimension_count_swa", turned}}) {
      file.integer("gemma4." + std::string(key), value);
    }
    file.number("gemma4.rope.freq_base", 50).number("gemma4.rope.freq_base_swa", 7);
    file.list("gemma4.attention.head_count_kv", std::vector<std::int32_t>{2, 1});
    file.list("gemma4.attention.sliding_window_pattern", std::vector<std::int32_t>{1, 0});
    Bytes list;
    for (const float divisor : divisors) append(list, divisor);
    if (!divisors.empty()) file.tensor("rope_freqs.weight", {divisors.size()}, 0, list);
    return file;
  };
  GgufWriter file = model({1, 1, 1e30F, 1e30F}, 4);
  SafetensorsWriter original;
  for (std::uint64_t layer = 0; layer < 2; ++layer) {
    const std::uint64_t width = layer == 0 ? 4 : 8;
    const auto add = [&](const std::string& from, const std::string& to,
                         const std::vector<std::uint64_t>& shape, std::size_t count) {
      const Bytes data = encode("F32", wave(count, static_cast<double>(layer + from.size()), 1));
      file.tensor("blk." + std::to_string(layer) + "." + from + ".weight", shape, 0, data);
      original.add_raw("model.layers." + std::to_string(layer) + "." + to + ".weight", "F32", shape,
                       data);
    };
    add("attn_norm", "input_layernorm", {8}, 8);
    add("attn_q", "self_attn.q_proj", {2 * width, 8}, 16 * width);
    add("attn_k", "self_attn.k_proj", {8, 8}, 64);
    add("attn_q_norm", "self_attn.q_norm", {width}, width);
    add("attn_k_norm", "self_attn.k_norm", {width}, width);
    for (const std::string other : {"layer_output_scale", "pre_ffw_norm_2", "post_ffw_norm_1",
                                    "post_ffw_norm_2", "post_norm", "inp_gate", "proj"}) {
      file.tensor("blk." + std::to_string(layer) + "." + other + ".weight", {1}, 0, Bytes(4));
    }
  }
  const std::string config = R"({"model_type":"gemma4_text","num_hidden_layers":2,
    "num_attention_heads":2,"num_key_value_heads":2,"num_global_key_value_heads":1,"head_dim":4,
    "global_head_dim":8,"sliding_window":8,"layer_types":["sliding_attention","full_attention"],
    "rope_parameters":{"sliding_attention":{"rope_type":"default","rope_theta":7},
    "full_attention":{"rope_type":"proportional","partial_rotary_factor":0.5,"rope_theta":50}}})";
  check_same_heads(file, safetensors_of(original, config), 4, 3);
  const auto refused = [&](const std::vector<float>& divisors, std::uint32_t turned) {
    GgufWriter other = model(divisors, turned);
    other.tensor("a", {1}, 0, Bytes(4));
    return failure_of([&] { read_config(files_of(other)); }).item;
  };
  CHECK(refused({1, 1e30F}, 4).empty());
  CHECK(refused({}, 4) == "rope_freqs.weight");
  CHECK(refused({1, 8}, 4) == "rope_freqs.weight");
  CHECK(refused({1e30F, 1}, 4) == "rope_freqs.weight");
  CHECK(refused({1, 1e30F}, 2) == "gemma4.rope.dimension_count_swa");
  GgufWriter scaled = model({1, 1e30F}, 4);
  scaled.number("gemma4.rope.scaling.factor", 4).tensor("a", {1}, 0, Bytes(4));
  CHECK(failure_of([&] { read_config(files_of(scaled)); }).item == "gemma4.rope.scaling.factor");
  const auto read = read_config(files_of(file));
  CHECK(read->number("final_logit_softcapping", 0, 99) == 30);  // of llama.cpp
  CHECK(read->flag("attention_k_eq_v") == true);
  CHECK(read->flag("enable_moe_block") == false);
}

TEST_CASE("metadata of GGUF that change what a family computes are read or refused", "[gguf]") {
  const auto model = [](const std::string& architecture, const std::string& key, double value) {
    GgufWriter writer;
    writer.text("general.architecture", architecture).tensor("a", {1}, 0, Bytes(4));
    writer.integer(architecture + ".block_count", 9);
    writer.number(architecture + ".rope.freq_base", 50);
    writer.number(architecture + "." + key, static_cast<float>(value));
    return writer;
  };
  const auto refused = [](const GgufWriter& writer) {
    return failure_of([&] { read_config(files_of(writer)); }).item;
  };
  const auto late = [&](std::uint32_t length) {
    GgufWriter writer = model("mistral3", "attention.temperature_scale", 0.5);
    writer.integer("mistral3.rope.scaling.original_context_length", length);
    return writer;
  };
  CHECK(refused(late(16384)).empty());
  CHECK(refused(late(4096)) == "mistral3.attention.temperature_scale");
  CHECK(read_config(files_of(late(16384)))->text("model_type") == "ministral3");
  CHECK(refused(model("llama4", "attention.sliding_window", 0)) ==
        "llama4.attention.sliding_window");
  const auto normed = [&](double experts) {
    return read_config(files_of(model("llama4", "expert_count", experts)))->flag("use_qk_norm");
  };
  CHECK(normed(16) == true);
  CHECK(normed(128) == false);
  // Granite divides by the scale of the next token's logits, Cohere multiplies by it.
  for (const char* const architecture : {"command-r", "granite"}) {
    GgufWriter scaled = model(architecture, "logit_scale", 0.25);
    scaled.number(std::string(architecture) + ".attention.scale", 0.5F);
    const auto config = read_config(files_of(scaled));
    const bool divides = std::string_view(architecture) == "granite";
    CHECK(config->number("logits_scaling", 0, 1).has_value() == divides);
    CHECK(config->number("logit_scale", 0, 1).has_value() != divides);
  }
  // Blocks for the prediction of further tokens are no layers.
  // llama.cpp applies the norms of queries and keys that a file has.
  for (const char* const architecture : {"command-r", "glm4moe"}) {
    GgufWriter headed = model(architecture, "attention.layer_norm_epsilon", 0.25);
    CHECK(read_config(files_of(headed))->flag("use_qk_norm") == false);
    headed.tensor("blk.0.attn_q_norm.weight", {4}, 0, encode("F32", {1, 1, 1, 1}));
    CHECK(read_config(files_of(headed))->flag("use_qk_norm") == true);
  }
  CHECK(read_config(files_of(model("glm4moe", "nextn_predict_layers", 1)))
            ->number("num_hidden_layers", 0, 99) == 8);
  CHECK(refused(model("glm4moe", "expert_gating_func", 3)) == "glm4moe.expert_gating_func");
  CHECK(read_config(files_of(model("minimax-m2", "expert_gating_func", 1)))->text("scoring_func") ==
        "softmax");
  GgufWriter window;
  window.text("general.architecture", "gemma4").tensor("a", {1}, 0, Bytes(4));
  window.tensor("rope_freqs.weight", {2}, 0, encode("F32", {1, 1}));
  CHECK(refused(window) == "gemma4.rope.freq_base");
  // The norms' epsilon has other names in three families.
  for (const auto& [architecture, key] : {std::pair("starcoder2", "norm_epsilon"),
                                          {"modern-bert", "norm_eps"},
                                          {"olmo", "norm_epsilon_in_gguf"}}) {
    CHECK(read_config(files_of(model(architecture, "attention.layer_norm_epsilon", 0.25)))
              ->number(key, 0, 1) == 0.25);
  }
  CHECK(read_config(files_of(model("deepseek2", "expert_weights_scale", 0)))
            ->number("routed_scaling_factor", 0, 9) == 1);
  const auto activated = [](const std::string& name) {
    GgufWriter writer;
    writer.text("general.architecture", "modern-bert").tensor("a", {1}, 0, Bytes(4));
    writer.number("modern-bert.rope.freq_base", 50);
    return read_config(files_of(writer.text("modern-bert.hidden_activation", name)))
        ->text("hidden_activation");
  };
  CHECK(activated("silu") == "silu");
  // The part that turns is a whole head where the metadata do not say, whatever the family's default.
  const auto share = [&](const std::string& architecture, std::uint32_t turned) {
    GgufWriter writer = model(architecture, "attention.key_length", 0);
    writer.integer(architecture + ".embedding_length", 64);
    writer.integer(architecture + ".attention.head_count", 4);
    if (turned > 0) writer.integer(architecture + ".rope.dimension_count", turned);
    return read_config(files_of(writer))->number("partial_rotary_factor", 0, 1);
  };
  for (const std::string architecture : {"stablelm", "nemotron", "phi2", "glm4", "gptneox"}) {
    CAPTURE(architecture);
    CHECK(share(architecture, 0) == 1);
    CHECK(share(architecture, 16) == 1);
    CHECK(share(architecture, 4) == 0.25);
  }
  CHECK(refused(model("stablelm", "rope.dimension_count", 4)) == "stablelm.embedding_length");
  // MiniCPM's scales, which are those of the first models where files leave them out.
  GgufWriter minicpm = model("minicpm", "embedding_scale", 12);
  CHECK(refused(minicpm) == "minicpm.embedding_length");
  minicpm.integer("minicpm.embedding_length", 64).integer("minicpm.attention.head_count", 4);
  minicpm.number("minicpm.residual_scale", 0.25).number("minicpm.logit_scale", 9);
  const Config scaled = *read_config(files_of(minicpm));
  CHECK(scaled.number("attention_multiplier", 0, 1) == 0.25);
  CHECK(scaled.number("residual_multiplier", 0, 1) == 0.25);
  CHECK(scaled.number("logits_scaling", 0, 99) == 9);
  GgufWriter first = model("minicpm", "attention.head_count", 4);
  const Config usual = *read_config(files_of(first.integer("minicpm.embedding_length", 2304)));
  CHECK(usual.number("embedding_multiplier", 0, 99) == 12);
  CHECK_THAT(*usual.number("residual_multiplier", 0, 1), WithinRel(1.4 / 3, 1e-12));
  CHECK(usual.number("logits_scaling", 0, 99) == 9);
  GgufWriter layerless;
  layerless.text("general.architecture", "minicpm").tensor("a", {1}, 0, Bytes(4));
  layerless.integer("minicpm.embedding_length", 64).integer("minicpm.attention.head_count", 4);
  CHECK(refused(layerless) == "minicpm.block_count");
  CHECK(refused(model("deepseek2-ocr", "attention.sliding_window", 0)).empty());
  CHECK(refused(model("deepseek2-ocr", "attention.sliding_window", 128)) ==
        "deepseek2-ocr.attention.sliding_window");
  CHECK(refused(model("cohere2moe", "logit_scale", 1)) == "cohere2moe.leading_dense_block_count");
  // Its files do not have the factors of queries and keys that its original has beside LongRoPE's.
  GgufWriter phi = model("phimoe", "rope.scaling.attn_factor", 1.19);
  phi.integer("phimoe.attention.head_count", 1).integer("phimoe.rope.dimension_count", 4);
  phi.integer("phimoe.context_length", 131072).integer("phimoe.embedding_length", 4);
  phi.integer("phimoe.rope.scaling.original_context_length", 4096);
  for (const std::string reach : {"short", "long"})
    phi.tensor("rope_factors_" + reach + ".weight", {2}, 0, encode("F32", {1, 2}));
  for (const std::string kind : {"q", "k"})
    phi.tensor("blk.0.attn_" + kind + ".weight", {4, 4}, 0, Bytes(64));
  phi.tensor("blk.0.attn_norm.weight", {4}, 0, Bytes(16));
  check_failure(failure_of([&] { logit_matrices(files_of(phi), 0); }), "rope_scaling.short_mscale",
                "it is missing in model.gguf");
  GgufWriter listed = model("stablelm", "attention.key_length", 16);
  listed.list("stablelm.rope.dimension_count", std::vector<std::int32_t>{4, 16});
  CHECK(refused(listed) == "stablelm.rope.dimension_count");
  // Scales of the output of one weight.
  for (const auto& [name, item] : {std::pair("output.scale", "output.scale"),
                                   {"blk.0.attn_q.scale", "model.layers.0.attn_q.scale"}}) {
    const CheckpointFiles files = files_of(llama_gguf().tensor(name, {1}, 0, encode("F32", {2})));
    const std::optional<Config> config = read_config(files);
    CHECK(failure_of([&] { HeadScan(open_tensors(files), &*config); }).item == item);
  }
  for (const std::string architecture : {"deepseek2", "deepseek32", "mistral4"}) {
    const auto multiplied = [&](double by) {
      GgufWriter it = model(architecture, "rope.scaling.yarn_log_multiplier", by);
      it.text(architecture + ".rope.scaling.type", "yarn");
      return refused(it.number(architecture + ".rope.scaling.factor", 4));
    };
    CHECK(multiplied(0.1).empty());
    CHECK(multiplied(0.0707).empty() == (architecture == "deepseek2"));
  }
  const auto scored = [&](const std::string& architecture, double layers) {
    return read_config(files_of(model(architecture, "unused", layers)))->text("scoring_func");
  };
  CHECK(scored("deepseek2", 1) == "softmax");
  CHECK(scored("deepseek32", 1) == std::nullopt);
  GgufWriter factor = model("deepseek2", "rope.scaling.attn_factor", 0.5);
  factor.text("deepseek2.rope.scaling.type", "yarn").number("deepseek2.rope.scaling.factor", 4);
  CHECK(refused(factor) == "deepseek2.rope.scaling.attn_factor");
  const auto large = [&](double length) {
    GgufWriter writer = model("deepseek2", "attention.temperature_scale", 0.1);
    return writer.number("deepseek2.attention.temperature_length", static_cast<float>(length));
  };
  CHECK(refused(large(16384)).empty());
  CHECK(refused(large(4096)) == "deepseek2.attention.temperature_scale");
  // EXAONE 4 without windows turns in all layers.
  const Config config = *read_config(files_of(model("exaone4", "attention.sliding_window", 0)));
  CHECK(config.is_null("sliding_window"));
}

TEST_CASE("the experts that a tensor of GGUF stacks are tensors of their own", "[gguf]") {
  std::vector<double> numbers(4 * 2 * 32);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto opened = [&](std::uint32_t type, const Bytes& data) {
    return open_tensors(files_of(GgufWriter()
                                     .text("general.architecture", "qwen2moe")
                                     .tensor("blk.0.ffn_up_exps.weight", {4, 2, 32}, type, data)
                                     .tensor("blk.0.ffn_gate_inp_shexp.weight", {8}, 0,
                                             encode("F32", std::vector<double>(8, 1.0)))));
  };
  const std::string expert = "model.layers.0.mlp.experts.3.up_proj.weight";
  const auto plain = opened(0, encode("F32", numbers));
  CHECK(plain->tensors().size() == 5);
  CHECK(plain->tensor(expert).shape == std::vector<std::uint64_t>{2, 32});
  CHECK(plain->tensor("model.layers.0.mlp.shared_expert_gate.weight").shape ==
        std::vector<std::uint64_t>{1, 8});
  std::vector<double> read(64);
  plain->read_elements(expert, 0, read);
  CHECK(std::equal(read.begin(), read.end(), numbers.end() - 64));
  constexpr std::uint32_t kQ8 = 8, kUnknown = 34;  // blocks of 34 bytes with 32 numbers; TQ1_0
  Bytes blocks(8 * 34);
  blocks[6 * 34 + 1] = std::byte{0x3c};  // the scale 1 of the first block of the last expert
  blocks[6 * 34 + 2] = std::byte{5};
  opened(kQ8, blocks)->read_elements(expert, 0, read);
  CHECK(read[0] == 5);
  CHECK(opened(kUnknown, blocks)->tensors().contains("blk.0.ffn_up_exps.weight"));
}

TEST_CASE("two tensors of GGUF that are one tensor of Hugging Face take turns in it", "[gguf]") {
  const auto numbers = [](double first, std::size_t count) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
  };
  using Shape = std::vector<std::uint64_t>;
  const auto check = [&](const std::string& architecture, const std::string& name,
                         const std::vector<std::pair<std::string, Shape>>& stored,
                         const Shape& shape, const std::vector<double>& expected) {
    CAPTURE(name);
    for (const std::string type : {"F32", "F16"}) {
      GgufWriter writer;
      writer.text("general.architecture", architecture);
      for (std::size_t k = stored.size(); k-- > 0;) {  // the second before the first
        const auto& [from, sides] = stored[k];
        const std::uint64_t count =
            std::accumulate(sides.begin(), sides.end(), std::uint64_t{1}, std::multiplies<>());
        writer.tensor("blk.7." + from, sides, type == "F32" ? 0 : 1,
                      encode(type, numbers(100.0 * static_cast<double>(k), count)));
      }
      const auto tensors = open_tensors(files_of(writer));
      const std::string whole = "model.layers.7." + name;
      CHECK(tensors->tensors().size() == 1);
      REQUIRE(tensors->tensors().contains(whole));
      CHECK(tensors->tensor(whole).shape == shape);
      std::vector<double> found(expected.size());
      tensors->read_elements(whole, 0, found);
      CHECK(found == expected);
      found.resize(3);
      tensors->read_elements(whole, expected.size() - 3, found);
      CHECK(std::equal(found.begin(), found.end(), expected.end() - 3));
    }
  };
  check("gpt-oss", "mlp.experts.gate_up_proj_blocks",
        {{"ffn_gate_exps.weight", {2, 2, 2}}, {"ffn_up_exps.weight", {2, 2, 2}}}, {2, 4, 2},
        {0, 1, 100, 101, 2, 3, 102, 103, 4, 5, 104, 105, 6, 7, 106, 107});
  check("gpt-oss", "mlp.experts.gate_up_proj_bias",
        {{"ffn_gate_exps.bias", {2, 2}}, {"ffn_up_exps.bias", {2, 2}}}, {2, 4},
        {0, 100, 1, 101, 2, 102, 3, 103});
  check("granitemoe", "block_sparse_moe.input_linear.weight",
        {{"ffn_gate_exps.weight", {2, 1, 2}}, {"ffn_up_exps.weight", {2, 1, 2}}}, {2, 2, 2},
        {0, 1, 100, 101, 2, 3, 102, 103});
  check("granitemoe", "shared_mlp.input_linear.weight",
        {{"ffn_gate_shexp.weight", {1, 2}}, {"ffn_up_shexp.weight", {1, 2}}}, {2, 2},
        {0, 1, 100, 101});
  // Two heads of two keys, transposed in the file, and a value of width 3.
  check("deepseek2", "self_attn.kv_b_proj.weight",
        {{"attn_k_b.weight", {2, 3, 2}}, {"attn_v_b.weight", {2, 1, 3}}}, {6, 3},
        {0, 2, 4, 1, 3, 5, 100, 101, 102, 6, 8, 10, 7, 9, 11, 103, 104, 105});
}

TEST_CASE("a GGUF tensor is joined with one of another part, and one without it is refused",
          "[gguf]") {
  const auto part = [](std::uint32_t number, const std::string& name, const Bytes& data) {
    GgufWriter writer;
    writer.integer("split.no", number).integer("split.count", 2).integer("split.tensors.count", 2);
    writer.text("general.architecture", "deepseek2");
    writer.tensor("blk.0." + name, {1, 2, 2}, 0, data);
    return std::make_shared<MemorySource>("m-0000" + std::to_string(number + 1) + "-of-00002.gguf",
                                          writer.bytes());
  };
  const Bytes four = encode("F32", {1, 2, 3, 4});
  const auto open = [](std::vector<std::shared_ptr<ByteSource>> files) {
    return open_tensors({std::move(files), nullptr, nullptr});
  };
  const auto keys = part(0, "attn_k_b.weight", four);
  const auto tensors = open({keys, part(1, "attn_v_b.weight", four)});
  std::vector<double> found(8);
  tensors->read_elements("model.layers.0.self_attn.kv_b_proj.weight", 0, found);
  CHECK(found == std::vector<double>{1, 3, 2, 4, 1, 2, 3, 4});
  const auto failure = [&](const std::shared_ptr<ByteSource>& second) {
    return failure_of([&] { open({keys, second}); }).message;
  };
  CHECK_THAT(failure(part(1, "attn_q_b.weight", four)),
             ContainsSubstring("blk.0.attn_k_b.weight: the file must also have the other part of "
                               "'model.layers.0.self_attn.kv_b_proj.weight'"));
  GgufWriter other;
  other.integer("split.no", 1).integer("split.count", 2).integer("split.tensors.count", 2);
  other.tensor("blk.0.attn_v_b.weight", {1, 1, 4}, 0, four);
  CHECK_THAT(failure(std::make_shared<MemorySource>("m-00002-of-00002.gguf", other.bytes())),
             ContainsSubstring("blk.0.attn_v_b.weight: its sizes must fit those of "
                               "'blk.0.attn_k_b.weight'"));
}

TEST_CASE("Kimi Linear in GGUF has the heads of its layers of latent attention", "[gguf]") {
  GgufWriter file;
  SafetensorsWriter original;
  file.text("general.architecture", "kimi-linear");
  for (const auto& [key, value] : {std::pair("embedding_length", 8u),
                                   {"block_count", 2u},
                                   {"attention.head_count", 2u},
                                   {"attention.kv_lora_rank", 3u},
                                   {"attention.key_length", 5u},
                                   {"attention.value_length", 3u},
                                   {"attention.key_length_mla", 4u},
                                   {"attention.value_length_mla", 3u},
                                   {"rope.dimension_count", 2u},
                                   {"kda.head_dim", 3u},
                                   {"ssm.conv_kernel", 4u}}) {
    file.integer(std::string("kimi-linear.") + key, value);
  }
  // 0 is the layer of linear attention.
  file.list("kimi-linear.attention.head_count_kv", std::vector<std::int32_t>{0, 1});
  file.number("kimi-linear.rope.freq_base", 1e4F);
  const auto add = [&](int layer, const std::string& from, const std::string& to,
                       const std::vector<std::uint64_t>& shape, double phase) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    const Bytes data = encode("F32", wave(count, phase, shape.size() == 1 ? 1 : 0));
    file.tensor("blk." + std::to_string(layer) + "." + from + ".weight", shape, 0, data);
    original.add_raw("model.layers." + std::to_string(layer) + "." + to + ".weight", "F32", shape,
                     data);
  };
  for (const int layer : {0, 1}) {
    add(layer, "attn_norm", "input_layernorm", {8}, 0.1 + layer);
  }
  for (const std::string part : {"q", "k", "v"}) {
    add(0, "attn_" + part, "self_attn." + part + "_proj", {6, 8}, 0.2);
    file.tensor("blk.0.ssm_conv1d_" + part + ".weight", {1, 6, 1, 4}, 0,
                encode("F32", wave(24, 0.3)));
  }
  add(1, "attn_q", "self_attn.q_proj", {8, 8}, 0.4);
  add(1, "attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa", {5, 8}, 0.5);
  add(1, "attn_kv_a_norm", "self_attn.kv_a_layernorm", {3}, 0.6);
  // Two heads of two keys and three values over a rank of three; keys are transposed in the file.
  const std::vector<double> decompression = wave(2 * 5 * 3, 0.7);
  std::vector<double> keys, values;
  for (std::size_t head = 0; head < 2; ++head) {
    const auto at = [&](std::size_t row, std::size_t rank) {
      return decompression[(head * 5 + row) * 3 + rank];
    };
    for (std::size_t rank = 0; rank < 3; ++rank) {
      for (std::size_t row = 0; row < 2; ++row) keys.push_back(at(row, rank));
    }
    for (std::size_t row = 2; row < 5; ++row) {
      for (std::size_t rank = 0; rank < 3; ++rank) values.push_back(at(row, rank));
    }
  }
  file.tensor("blk.1.attn_k_b.weight", {2, 3, 2}, 0, encode("F32", keys));
  file.tensor("blk.1.attn_v_b.weight", {2, 3, 3}, 0, encode("F32", values));
  original.add_raw("model.layers.1.self_attn.kv_b_proj.weight", "F32", {10, 3},
                   encode("F32", decompression));
  const CheckpointFiles files = safetensors_of(
      original,
      R"({"model_type":"kimi_linear","num_attention_heads":2,"hidden_size":8,"mla_use_nope":true})");
  for (const int offset : {0, 5}) check_same_heads(file, files, 2, offset);  // nothing turns
}

TEST_CASE("latent attention in GGUF has the widths of its heads in config.json", "[gguf]") {
  const auto config_of = [](bool joined) {
    GgufWriter writer;
    writer.text("general.architecture", "deepseek2").tensor("a", {1}, 0, Bytes(4));
    const auto integer = [&](const std::string& key, std::uint32_t value) {
      writer.integer("deepseek2." + key, value);
    };
    integer("attention.head_count", 4);
    integer("attention.head_count_kv", joined ? 4 : 1);
    integer("attention.kv_lora_rank", 64);
    integer("attention.key_length", joined ? 96 : 64 + 32);
    integer("attention.value_length", joined ? 48 : 64);
    integer("rope.dimension_count", 32);
    integer("block_count", 9);
    integer("nextn_predict_layers", 1);
    integer("expert_gating_func", 2);
    if (!joined) {
      integer("attention.key_length_mla", 96);
      integer("attention.value_length_mla", 48);
    }
    writer.text("deepseek2.rope.scaling.type", "yarn")
        .number("deepseek2.rope.scaling.factor", 40)
        .number("deepseek2.rope.scaling.yarn_log_multiplier", 0.1F);
    return *read_config(files_of(writer));
  };
  for (const bool joined : {true, false}) {
    const Config config = config_of(joined);
    CHECK(config.text("model_type") == "deepseek_v3");
    for (const auto& [key, value] : {std::pair("qk_head_dim", 96),
                                     {"qk_nope_head_dim", 64},
                                     {"qk_rope_head_dim", 32},
                                     {"v_head_dim", 48},
                                     {"kv_lora_rank", 64},
                                     {"num_key_value_heads", 4},
                                     {"num_hidden_layers", 8}}) {
      CAPTURE(key);
      CHECK(config.number(key, 0, 1e6) == value);
    }
    CHECK(config.number("rope_scaling.mscale_all_dim", 0, 10) == 1.0);
    CHECK(config.flag("norm_topk_prob") == false);
    CHECK(config.text("scoring_func") == "sigmoid");
    CHECK_FALSE(config.has("head_dim"));
    CHECK_FALSE(config.has("partial_rotary_factor"));
  }
}

namespace {

TextTokenizer tokenizer_in(const GgufWriter& writer) {
  return tokenizer_of_gguf({std::make_shared<MemorySource>("model.gguf", writer.bytes())}).value();
}

std::vector<int> ids_in(const GgufWriter& writer, std::string_view text) {
  const TextTokenizer tokenizer = tokenizer_in(writer);
  return tokenizer.wrapped(tokenizer.encode(text));
}

GgufWriter with_tokens(const std::string& model, const std::vector<std::string>& tokens,
                       const std::vector<std::int32_t>& types) {
  return GgufWriter()
      .text("tokenizer.ggml.model", model)
      .list("tokenizer.ggml.tokens", tokens)
      .list("tokenizer.ggml.token_type", types);
}

/// SentencePiece's byte pairs; bytes C3 and A9 are "é".
GgufWriter scored_pairs() {
  return with_tokens("llama",
                     {"<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "\u2581", "a", "b", "ab", "ba",
                      "\u2581a"},
                     {2, 3, 3, 6, 6, 1, 1, 1, 1, 1, 1})
      .list("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, 0, 0, -9, -8, -7, -3, -1, -2})
      .integer("tokenizer.ggml.bos_token_id", 1)
      .integer("tokenizer.ggml.eos_token_id", 2);
}

GgufWriter listed_pairs(const std::string& name) {
  return with_tokens("gpt2", {"a", "b", "\u0120", "1", "ab", "\u0120ab", "11", "<|end|>"},
                     {1, 1, 1, 1, 1, 1, 1, 3})
      .text("tokenizer.ggml.pre", name)
      .list("tokenizer.ggml.merges", std::vector<std::string>{"a b", "\u0120 ab", "1 1"});
}

GgufWriter word_pieces() {
  return with_tokens(
      "bert", {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581un", "able", "\u2581able", "\u2581!"},
      {3, 3, 3, 3, 1, 1, 1, 1});
}

GgufWriter unigrams() {
  return with_tokens("t5", {"<pad>", "</s>", "<unk>", "\u2581", "\u2581a", "b", "ab", "\u2581ab"},
                     {3, 3, 2, 1, 1, 1, 1, 1})
      .list("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, -2, -3, -4, -3, -8})
      .integer("tokenizer.ggml.eos_token_id", 1)
      .flag("tokenizer.ggml.add_space_prefix", true)
      .flag("tokenizer.ggml.remove_extra_whitespaces", true);
}

}  // namespace

// Ids by hand; `npm run test:gguf` compares genuine vocabularies with llama.cpp.
TEST_CASE("the tokenizer inside a GGUF file encodes texts as llama.cpp does", "[gguf]") {
  using Ids = std::vector<int>;
  // "ba" has the largest score, then "_a".
  CHECK(ids_in(scored_pairs(), "abab") == Ids{1, 10, 9, 7});
  CHECK(ids_in(scored_pairs(), "a\u00e9") == Ids{1, 10, 3, 4});
  CHECK(ids_in(scored_pairs(), "b</s>a") == Ids{1, 5, 7, 2, 10});
  CHECK(ids_in(scored_pairs().flag("tokenizer.ggml.add_space_prefix", false), "ab a") ==
        Ids{1, 8, 10});
  CHECK(ids_in(scored_pairs()
                   .flag("tokenizer.ggml.add_bos_token", false)
                   .flag("tokenizer.ggml.add_eos_token", true),
               "b") == Ids{5, 7, 2});
  CHECK(ids_in(listed_pairs("gpt-2"), "ab ab11<|end|>") == Ids{4, 5, 6, 7});
  CHECK(ids_in(listed_pairs("starcoder"), "ab ab11") == Ids{4, 5, 3, 3});
  CHECK(ids_in(word_pieces(), "Unable able!") == Ids{2, 4, 5, 6, 7, 3});
  CHECK(ids_in(word_pieces(), "unx") == Ids{2, 1, 3});
  CHECK(tokenizer_in(word_pieces()).vocabulary().token(5) == "##able");
  CHECK(ids_in(unigrams(), "  ab  ab ") == Ids{3, 6, 3, 6, 1});
  CHECK(ids_in(unigrams(), "a?b") == Ids{4, 2, 5, 1});
}

TEST_CASE("a tokenizer in GGUF that cannot be read is refused with the name of its key", "[gguf]") {
  const auto message = [](const GgufWriter& writer) {
    return failure_of([&] { tokenizer_in(writer); }).message;
  };
  CHECK(!tokenizer_of_gguf({std::make_shared<MemorySource>("model.gguf", GgufWriter().bytes())}));
  CHECK_THAT(message(with_tokens("rwkv", {"a"}, {1})),
             ContainsSubstring("model.gguf: tokenizer.ggml.model: it must be bert, gemma4, gpt2"));
  CHECK_THAT(
      message(listed_pairs("brand-new")),
      ContainsSubstring("tokenizer.ggml.pre: the pre-tokenizer 'brand-new' is not supported"));
  CHECK_THAT(message(GgufWriter().text("tokenizer.ggml.model", "llama")),
             ContainsSubstring("tokenizer.ggml.tokens: it must be a list of at least one"));
  CHECK_THAT(message(with_tokens("llama", {"a", "b"}, {1, 1})),
             ContainsSubstring("tokenizer.ggml.scores: it must have an entry for each of the 2"));
  CHECK_THAT(message(with_tokens("llama", {"a", "b"}, {1})),
             ContainsSubstring("tokenizer.ggml.token_type: it must have an entry for each"));
  CHECK_THAT(message(with_tokens("llama", {"a"}, {1})
                         .list("tokenizer.ggml.scores",
                               std::vector<float>{std::numeric_limits<float>::infinity()})),
             ContainsSubstring("tokenizer.ggml.scores: its numbers must be finite"));
  CHECK_THAT(message(with_tokens("llama", {"a"}, {1})
                         .list("tokenizer.ggml.scores", std::vector<float>{0})
                         .integer("tokenizer.ggml.bos_token_id", 1)),
             ContainsSubstring("tokenizer.ggml.bos_token_id: it must be below the 1 tokens"));
  CHECK_THAT(message(with_tokens("gpt2", {"a"}, {1})
                         .text("tokenizer.ggml.pre", "gpt-2")
                         .list("tokenizer.ggml.merges", std::vector<std::string>{"a a"})),
             ContainsSubstring("tokenizer.ggml.merges: 'aa' must be one of the tokens"));
  CHECK_THAT(
      message(
          with_tokens("t5", {"<unk>"}, {2}).list("tokenizer.ggml.scores", std::vector<float>{0})),
      ContainsSubstring("it must have at least one normal token"));
  CHECK_THAT(
      message(GgufWriter()
                  .text("tokenizer.ggml.model", "llama")
                  .list("tokenizer.ggml.tokens", std::vector<std::int32_t>{1})),
      ContainsSubstring("tokenizer.ggml.tokens: it must be a list of at most 4194304 strings"));
  CHECK_THAT(message(with_tokens("llama", {std::string(10'001, 'a')}, {1})),
             ContainsSubstring("tokenizer.ggml.tokens: its strings must have at most 10000 bytes"));
}

// Quantized weights of .safetensors files: each decoding against numpy, and layers that cannot be decoded.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/dequantized.h"
#include "checkpoint_failure.h"
#include "paths.h"
#include "safetensors_writer.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

using Json = nlohmann::json;

const std::string kLayer = "model.layers.0.self_attn.q_proj.";

Bytes stored_bytes(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

CheckpointFiles quantized_files(const Json& example, const std::string& without = "none") {
  SafetensorsWriter writer;
  for (const Json& tensor : example.at("tensors")) {
    if (tensor.at("name") == kLayer + without) continue;
    writer.add_raw(tensor.at("name"), tensor.at("dtype"), tensor.at("shape"),
                   stored_bytes(tensor.at("bytes")));
  }
  writer.add("model.norm.weight", "F32", {2}, {1, 2});
  const auto config = example.at("config").get<std::string>();
  const auto text = std::as_bytes(std::span(config));
  return {{std::make_shared<MemorySource>("model.safetensors", writer.bytes())},
          nullptr,
          std::make_shared<MemorySource>("config.json", Bytes(text.begin(), text.end()))};
}

const Json& example_of(const std::string& name) {
  static const Json cases = reference("quantized-weights.json").at("cases");
  return *std::find_if(cases.begin(), cases.end(),
                       [&](const Json& it) { return it.at("name") == name; });
}

}  // namespace

TEST_CASE("quantized weights decode as by an independent script", "[quantized]") {
  const Json cases = reference("quantized-weights.json").at("cases");  // outlives the loop
  for (const Json& example : cases) {
    CAPTURE(example.at("name").get<std::string>());
    const auto tensors = open_tensors(quantized_files(example));
    const auto shape = example.at("shape").get<std::vector<std::uint64_t>>();
    REQUIRE(tensors->tensor(kLayer + "weight").shape == shape);
    // The weight, perhaps a bias, and the norm: what decodes the weight is no tensor of the model.
    const std::size_t kept = tensors->tensors().contains(kLayer + "bias") ? 3 : 2;
    CHECK(tensors->tensors().size() == kept);
    CHECK(tensors->read_vector("model.norm.weight") == std::vector<double>{1, 2});
    const auto expected = example.at("values").get<std::vector<double>>();
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::fabs(value));
    // Ranges that begin and end within blocks, rows and bytes.
    for (const std::size_t first : {std::size_t{0}, std::size_t{3}, expected.size() - 9}) {
      std::vector<double> values(expected.size() - first);
      tensors->read_elements(kLayer + "weight", first, values);
      double worst = 0;
      for (std::size_t i = 0; i < values.size(); ++i)
        worst = std::max(worst, std::fabs(values[i] - expected[first + i]));
      CHECK(worst <= 1e-6 * largest);
    }
  }
}

TEST_CASE("stacked matrices in MXFP4 decode as by an independent script", "[quantized]") {
  const Json example = reference("quantized-weights.json").at("stacked_blocks");
  const std::string codes = "mlp.experts.up_proj_blocks", scales = "mlp.experts.up_proj_scales";
  const auto opened = [&](const std::vector<std::uint64_t>& groups) {
    SafetensorsWriter writer;
    writer.add_raw(codes, "U8", {2, 3, 2, 16}, stored_bytes(example.at("blocks")));
    writer.add_raw(scales, "U8", groups, stored_bytes(example.at("scales")));
    return open_tensors(
        {{std::make_shared<MemorySource>("model.safetensors", writer.bytes())}, nullptr, nullptr});
  };
  const auto tensors = opened({2, 3, 2});
  CHECK(tensors->tensors().size() == 1);
  CHECK(tensors->tensor(codes).shape == std::vector<std::uint64_t>{2, 3, 64});
  const auto expected = example.at("values").get<std::vector<double>>();
  for (const std::size_t first : {std::size_t{0}, std::size_t{37}, expected.size() - 1}) {
    std::vector<double> values(expected.size() - first);
    tensors->read_elements(codes, first, values);
    CHECK(std::equal(values.begin(), values.end(),
                     expected.begin() + static_cast<std::ptrdiff_t>(first)));
  }
  CHECK(opened({2, 2, 3})->tensor(codes).dtype == Dtype::kU8);
}

TEST_CASE("a quantized layer that lacks a tensor is left to be refused", "[quantized]") {
  const auto is_decoded = [](const std::string& name, const std::string& without) {
    const auto tensors = open_tensors(quantized_files(example_of(name), without));
    const auto entry = tensors->tensors().find(kLayer + "weight");
    return entry != tensors->tensors().end() && entry->second.dtype == Dtype::kF32;
  };
  CHECK(is_decoded("FP8 tensor", "input_scale"));
  CHECK_FALSE(is_decoded("FP8 tensor", "weight_scale"));
  CHECK_FALSE(is_decoded("FP8 blocks", "weight_scale_inv"));
  CHECK_FALSE(is_decoded("AWQ", "qzeros"));
  CHECK_FALSE(is_decoded("AWQ", "scales"));
  CHECK_FALSE(is_decoded("compressed-tensors integers", "weight_shape"));
  CHECK_FALSE(is_decoded("MLX 4 bits", "scales"));
  CHECK_FALSE(is_decoded("bitsandbytes FP4", "weight.quant_map"));
  CHECK_FALSE(is_decoded("bitsandbytes NF4 with nested scales", "weight.nested_absmax"));
  CHECK_FALSE(is_decoded("bitsandbytes NF4 in numbers of 16 bits", "weight.quant_map"));
  CHECK_FALSE(is_decoded("compressed-tensors integers in an order", "weight_g_idx"));
  CHECK_FALSE(is_decoded("MXFP4 of compressed-tensors", "weight_scale"));
  // Without config.json it is not known how MLX groups and GPTQ zeros are stored.
  for (const std::string name : {"MLX 8 bits", "GPTQ 4 bits, gptq"}) {
    CheckpointFiles files = quantized_files(example_of(name));
    files.config = nullptr;
    CHECK(open_tensors(files)->tensors().size() > 2);
  }
}

TEST_CASE("a tensor beside quantized codes that does not belong to them stays", "[quantized]") {
  const auto kept = [](const std::string& ending, const std::vector<std::uint64_t>& shape) {
    SafetensorsWriter writer;
    writer.add_raw(kLayer + "weight", "F8_E4M3", {2, 4}, Bytes(8));
    writer.add_raw(kLayer + "weight_scale", "F32", {1}, Bytes(4));
    std::size_t bytes = 4;
    for (const std::uint64_t side : shape) bytes *= static_cast<std::size_t>(side);
    writer.add_raw(ending, "F32", shape, Bytes(bytes));
    return dequantized(open(writer.bytes()), nullptr)->tensors().contains(ending);
  };
  for (const std::string ending : {"pre_quant_scale", "smooth_factor", "lora_A.weight", "bias"})
    CHECK(kept(kLayer + ending, {4}));
  CHECK_FALSE(kept(kLayer + "input_scale", {1}));
  // Scales of the cache of keys, and not ones of its coordinates.
  CHECK_FALSE(kept("model.layers.0.self_attn.k_scale", {1}));
  CHECK(kept("model.layers.0.self_attn.k_scale", {4}));
  CHECK_FALSE(kept("model.layers.0.self_attn.v_scale", {4, 1, 1}));
  CHECK_FALSE(kept("model.layers.0.self_attn.q_scale", {1}));
}

TEST_CASE(
    "a cache of FP8 beside weights that are not quantized is passed over where config.json has it",
    "[quantized]") {
  const std::string scale = "model.layers.0.self_attn.k_scale";
  SafetensorsWriter writer;
  writer.add(kLayer + "weight", "F32", {2, 2}, {1, 2, 3, 4});
  writer.add(scale, "F32", {1}, {2});
  const auto kept = [&](const std::string& config) {
    const auto text = std::as_bytes(std::span(config));
    MemorySource source("config.json", Bytes(text.begin(), text.end()));
    return dequantized(open(writer.bytes()), &source)->tensors().contains(scale);
  };
  CHECK(kept("{}"));
  CHECK_FALSE(kept(R"({"quantization_config":{"kv_cache_scheme":{"num_bits":8}}})"));
  check_failure(failure_of([&] { kept(R"({"quantization_config":{"quant_method":"bitnet"}})"); }),
                "quantization_config.quant_method", "other weights");
}

TEST_CASE("config.json says how quantized weights are stored, or nothing is decoded",
          "[quantized]") {
  /// The weight of an example with another config.json; empty where it is not decoded.
  const auto weight_of = [](const std::string& name, const std::string& quantization) {
    Json example = example_of(name);
    example["config"] = R"({"quantization_config":{)" + quantization + "}}";
    const auto tensors = open_tensors(quantized_files(example));
    const auto entry = tensors->tensors().find(kLayer + "weight");
    std::vector<double> values;
    if (entry == tensors->tensors().end() || entry->second.dtype != Dtype::kF32) return values;
    values.resize(static_cast<std::size_t>(entry->second.shape[0] * entry->second.shape[1]));
    tensors->read_elements(kLayer + "weight", 0, values);
    return values;
  };
  const std::string bits = R"("bits":4,)", gptq = "GPTQ 4 bits, gptq";
  const auto first = weight_of(gptq, bits + R"("quant_method":"gptq")");
  const auto second = weight_of(gptq, bits + R"("checkpoint_format":"gptq_v2")");
  CHECK(first.size() == 16 * 32);
  CHECK(first != second);
  CHECK(weight_of(gptq, bits + R"("format":"gptq_v2")") == second);
  CHECK(weight_of(gptq, bits + R"("checkpoint_format":"marlin")").empty());
  const std::string round = bits + R"("quant_method":"auto-round")";
  CHECK(weight_of(gptq, round).empty());
  CHECK(weight_of(gptq, round + R"(,"packing_format":"auto_round:auto_gptq")") == first);
  CHECK(weight_of(gptq, round + R"(,"packing_format":"auto_round:exllamav2")") == second);
  const std::string packing = R"(,"packing_format":"auto_round:exllamav2")";
  CHECK(weight_of(gptq, bits + R"("quant_method":"autoround")" + packing) == second);
  CHECK(weight_of(gptq, bits + R"("quant_method":"autoround")").empty());
  CHECK(weight_of(gptq, bits + R"("quant_method":"awq")").empty());
  CHECK(weight_of(gptq, bits + R"("group_size":8)") == first);
  CHECK(weight_of(gptq, bits + R"("group_size":-1)") == first);
  CHECK(weight_of(gptq, bits + R"("group_size":16)").empty());
  const std::string short_group = "AutoRound with a short group";
  CHECK(weight_of(short_group, round + packing).size() == 16 * 32);  // in halves
  CHECK(weight_of(short_group, round + packing + R"(,"group_size":24)") !=
        weight_of(short_group, round + packing));
  CHECK(weight_of(short_group, round + packing + R"(,"desc_act":true)").empty());
  // A layer of its own may have another size, and other bits are refused.
  const std::string by_layer = R"(,"extra_config":{"model.layers.0.self_attn.q_proj":{"bits":8}})";
  CHECK(weight_of(short_group, round + packing + R"(,"group_size":24)" + by_layer).empty());
  CHECK(weight_of(gptq, bits + R"("group_size":8)" + by_layer) == first);
  CHECK(weight_of("GPTQ 8 bits, gptq", bits + R"("dynamic":{"+:.*q_proj.*":{"bits":8}})").empty());
  // 130 rows and 6 columns in blocks of 128, or of 65 x 6.
  CHECK_FALSE(weight_of("FP8 blocks", R"("weight_block_size":[128,128])").empty());
  CHECK(weight_of("FP8 blocks", R"("weight_block_size":[65,6])") !=
        weight_of("FP8 blocks", R"("weight_block_size":[128,128])"));
  CHECK(weight_of("FP8 blocks", R"("weight_block_size":[64,64])").empty());
  CHECK(weight_of("FP8 blocks", R"("quant_method":"fp8")").empty());
  const auto structure = [](const std::string& block) {
    return R"("config_groups":{"group_0":{"weights":{"block_structure":)" + block + "}}}";
  };
  CHECK(weight_of("FP8 blocks", structure("[65,6]")) ==
        weight_of("FP8 blocks", R"("weight_block_size":[65,6])"));
  CHECK(weight_of("FP8 blocks", structure("[64,64]")).empty());
  const auto groups = [](int count) {
    return R"("config_groups":{"group_0":{"weights":{"num_bits":)" + std::to_string(count) + "}}}";
  };
  const auto sorted = [](const std::string& rule) {
    return R"("config_groups":{"group_0":{"weights":{"num_bits":4,)" + rule + "}}}";
  };
  for (const char* const rule :
       {R"("actorder":"group")", R"("actorder":true)", R"("symmetric":false)"}) {
    CHECK(weight_of("compressed-tensors integers", sorted(rule)).empty());
  }
  for (const char* const rule : {R"("actorder":"static")", R"("symmetric":true)"}) {
    CHECK_FALSE(weight_of("compressed-tensors integers", sorted(rule)).empty());
  }
  CHECK(weight_of("INT8 rows", sorted(R"("symmetric":false)")).empty());
  CHECK(weight_of("INT8 rows", sorted(R"("actorder":"group")")).empty());
  const auto grouped = [&](const std::string& size) {
    return weight_of("FP8 groups", sorted(R"("group_size":)" + size));
  };
  CHECK_FALSE(grouped("96").empty());
  CHECK(grouped("128") != grouped("96"));
  CHECK(grouped("64").empty());
  CHECK(grouped("null").empty());
  CHECK(weight_of("FP8 groups", R"("weight_block_size":[128,96])").empty());
  CHECK(weight_of("FP8 groups", structure("[128,96]")).empty());
  CHECK_FALSE(weight_of("FP8 groups", structure("[1,96]")).empty());
  CHECK_FALSE(weight_of("INT8 rows with zero points", sorted(R"("symmetric":false)")).empty());
  CHECK_FALSE(weight_of("compressed-tensors integers", groups(4)).empty());
  CHECK(weight_of("compressed-tensors integers", groups(7)).empty());
  for (const std::string key :
       {"transform_config", "rotation_config", "hadamard_config", "spinquant_config"}) {
    const std::string of_key = "quantization_config." + key;
    CHECK(failure_of([&] {
            weight_of("FP8 tensor", "\"" + key + "\":{\"config_groups\":{}}");
          }).item == of_key);
    CHECK_FALSE(weight_of("FP8 tensor", "\"" + key + "\":{}").empty());
    CHECK_FALSE(weight_of("FP8 tensor", "\"" + key + "\":null").empty());
  }
}

TEST_CASE("codes of a quantized layer that have more than one meaning are refused", "[quantized]") {
  const auto refused = [](const std::string& name, const std::string& tensor,
                          const std::string& bytes, bool in_order = false) {
    Json example = example_of(name);
    if (in_order) example["config"] = R"({"quantization_config":{"bits":4,"desc_act":false}})";
    for (Json& each : example["tensors"]) {
      if (each["name"] != kLayer + tensor) continue;
      std::string all;
      while (all.size() < each["bytes"].get<std::string>().size()) all += bytes;
      each["bytes"] = all;
    }
    const auto tensors = open_tensors(quantized_files(example));
    if (tensors->tensor(kLayer + "weight").dtype != Dtype::kF32) return std::string("undecoded");
    std::vector<double> values(1);
    return failure_of([&] { tensors->read_elements(kLayer + "weight", 0, values); }).item;
  };
  CHECK(refused("GPTQ 4 bits, gptq", "qzeros", "77f77777") == kLayer + "qzeros");
  CHECK(refused("GPTQ 4 bits, gptq", "qzeros", "77777777").empty());
  CHECK(refused("GPTQ 4 bits, gptq_v2", "qzeros", "77f77777").empty());
  CHECK(refused("GPTQ 4 bits, gptq", "g_idx", "00000000") == kLayer + "g_idx");
  CHECK(refused("GPTQ 4 bits, gptq", "g_idx", "00000000", true).empty());
  const std::string order = "weight_g_idx", sorted = "compressed-tensors integers in an order";
  CHECK(refused(sorted, order, "03000000") == kLayer + order);
  CHECK(refused(sorted, order, "00000000") == kLayer + order);
  CHECK(refused(sorted, order, "000000000100000002000000").empty());
  CHECK(refused("bitsandbytes INT8", "weight_format", "00").empty());
  CHECK(refused("bitsandbytes INT8", "weight_format", "03") == "undecoded");
}

TEST_CASE("nested scales of bitsandbytes need their offset", "[quantized]") {
  const std::string name = kLayer + "weight.quant_state.bitsandbytes__nf4";
  Json example = example_of("bitsandbytes NF4 with nested scales");
  for (Json& each : example["tensors"]) {
    if (each["name"] != name) continue;
    const Bytes stored = stored_bytes(each["bytes"]);
    Json state =
        Json::parse(std::string(reinterpret_cast<const char*>(stored.data()), stored.size()));
    state.erase("nested_offset");
    std::string hex;
    for (const char c : state.dump()) {
      hex += "0123456789abcdef"[c >> 4];
      hex += "0123456789abcdef"[c & 15];
    }
    each["shape"] = {hex.size() / 2};
    each["bytes"] = hex;
  }
  const auto tensors = open_tensors(quantized_files(example));
  std::vector<double> values(1);
  check_failure(failure_of([&] { tensors->read_elements(kLayer + "weight", 0, values); }), name,
                "nested_offset");
}

TEST_CASE("quantized weights of GPT-2, which quantizers transpose, are refused", "[quantized]") {
  Json example = example_of("bitsandbytes INT8");
  const std::string layer = "transformer.h.0.attn.c_proj.";
  for (Json& each : example["tensors"]) {
    each["name"] = layer + each["name"].get<std::string>().substr(kLayer.size());
  }
  const auto item = [&](const std::string& type) {
    example["config"] = R"({"model_type":")" + type + "\"}";
    return failure_of([&] { open_tensors(quantized_files(example)); }).item;
  };
  CHECK(item("gpt2") == layer + "SCB");
  CHECK(item("starcoder2").empty());
}

TEST_CASE("tensors of a quantized layer that do not fit each other are not decoded",
          "[quantized]") {
  const auto weight_of = [](const std::vector<std::uint64_t>& codes,
                            const std::vector<std::uint64_t>& scales) {
    const auto bytes_of = [](const std::vector<std::uint64_t>& shape, std::uint64_t each) {
      for (const std::uint64_t side : shape) each *= side;
      return Bytes(static_cast<std::size_t>(each));
    };
    SafetensorsWriter writer;
    writer.add_raw(kLayer + "weight", "F8_E4M3", codes, bytes_of(codes, 1));
    writer.add_raw(kLayer + "weight_scale_inv", "F32", scales, bytes_of(scales, 4));
    const auto file = open(writer.bytes());
    return dequantized(file, nullptr)->tensor(kLayer + "weight").dtype;
  };
  CHECK(weight_of({256, 256}, {2, 2}) == Dtype::kF32);
  CHECK(weight_of({320, 100}, {3, 1}) == Dtype::kF32);
  // Blocks of 128 or equal ones, and blocks of other sides, unless config.json has them.
  CHECK(weight_of({192, 128}, {2, 1}) == Dtype::kF8E4M3);
  CHECK(weight_of({250, 130}, {2, 2}) == Dtype::kF8E4M3);
  CHECK(weight_of({96, 96}, {3, 2}) == Dtype::kF8E4M3);
  CHECK(weight_of({6, 192}, {6, 2}) == Dtype::kF8E4M3);
  CHECK(weight_of({250, 250}, {3, 3}) == Dtype::kF8E4M3);
  CHECK(weight_of({4, 4}, {0, 4}) == Dtype::kF8E4M3);
  CHECK(weight_of({0, 4}, {0, 1}) == Dtype::kF8E4M3);
  CHECK(weight_of({4, 4}, {2, 2, 1}) == Dtype::kF8E4M3);
  CHECK(weight_of({2, 4, 4}, {1}) == Dtype::kF8E4M3);
}

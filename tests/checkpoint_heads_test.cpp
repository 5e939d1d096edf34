// Families and heads: the factors that come out are the numbers that went into the file.
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "catch.h"
#include "checkpoint/heads.h"
#include "checkpoint/latent_factors.h"
#include "checkpoint/open_checkpoint.h"
#include "checkpoint_failure.h"
#include "paths.h"
#include "safetensors_writer.h"
#include "test_matrices.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

constexpr int kBertWidth = 6;
constexpr int kBertHeads = 3;
constexpr int kBertHeadWidth = 2;
const std::vector<std::uint64_t> kSquare{kBertWidth, kBertWidth};

/// A value that identifies where it was written: exact in every type but BF16 and F16 beyond 2048.
double entry(int layer, bool key, int row, int column) {
  return layer * 100 + (key ? 50 : 0) + row * kBertWidth + column;
}

std::vector<double> weight(int layer, bool key) {
  std::vector<double> values;
  for (int r = 0; r < kBertWidth; ++r) {
    for (int c = 0; c < kBertWidth; ++c) values.push_back(entry(layer, key, r, c));
  }
  return values;
}

std::string name(int layer, const std::string& what, const std::string& prefix = "bert.") {
  return prefix + "encoder.layer." + std::to_string(layer) + ".attention.self." + what;
}

void add_layer(SafetensorsWriter& writer, int layer, const std::string& prefix = "bert.",
               const std::string& dtype = "F32") {
  writer.add(name(layer, "key.weight", prefix), dtype, kSquare, weight(layer, true));
  writer.add(name(layer, "query.weight", prefix), dtype, kSquare, weight(layer, false));
}

std::vector<HeadFactors> all_heads(HeadScan& scan, int most = 0) {
  std::vector<HeadFactors> heads;
  while (!scan.done()) {
    for (ScannedHead& head : scan.advance(most)) heads.push_back(in_double(std::move(head)));
  }
  return heads;
}

/// W_Q of a head is the transpose of the rows h d_h to (h + 1) d_h of torch's out x in.
void check_factors(const HeadFactors& head) {
  REQUIRE(head.query.rows() == kBertWidth);
  REQUIRE(head.query.cols() == kBertHeadWidth);
  for (int i = 0; i < kBertWidth; ++i) {
    for (int j = 0; j < kBertHeadWidth; ++j) {
      CHECK(head.query(i, j) == entry(head.layer, false, head.head * kBertHeadWidth + j, i));
      CHECK(head.key(i, j) == entry(head.layer, true, head.head * kBertHeadWidth + j, i));
    }
  }
}

Failure scan_failure(const SafetensorsWriter& writer, std::optional<int> heads = kBertHeads,
                     const std::string& config = "") {
  return failure_of([&] {
    const Config parsed = Config::parse(config.empty() ? "{}" : config);
    HeadScan(open(writer.bytes()), config.empty() ? nullptr : &parsed, {.heads = heads});
  });
}

}  // namespace

TEST_CASE("heads have the entries of their rows, for every prefix and type", "[checkpoint]") {
  for (const std::string prefix : {"", "bert.", "encoder.", "a.b.encoder.model."}) {
    for (const std::string dtype : {"F16", "F32", "F64"}) {
      CAPTURE(prefix, dtype);
      SafetensorsWriter writer;
      for (const int layer : {10, 2, 0}) add_layer(writer, layer, prefix, dtype);
      HeadScan scan(open(writer.bytes(1)), nullptr, {.heads = kBertHeads});
      CHECK(scan.plan()[0].family->name == "BERT");
      CHECK(scan.total_heads() == 9);
      const std::vector<HeadFactors> heads = all_heads(scan);
      REQUIRE(heads.size() == 9);
      for (const HeadFactors& head : heads) check_factors(head);
    }
  }
}

TEST_CASE("layers come in the order of their numbers, and a step is as large as asked for",
          "[checkpoint]") {
  SafetensorsWriter writer;
  for (const int layer : {10, 9, 100, 1}) add_layer(writer, layer);
  const auto file = open(writer.bytes());
  const std::uint64_t header = file->bytes_read();
  const std::uint64_t head_bytes = 2 * kBertWidth * kBertHeadWidth * sizeof(float);
  HeadScan scan(file, nullptr, {.heads = kBertHeads});
  CHECK(scan.bytes_read() == header);
  CHECK(scan.advance(1).size() == 1);
  CHECK(scan.heads_read() == 1);
  CHECK(scan.bytes_read() == header + head_bytes);
  CHECK(scan.advance(100).size() == 2);  // not past the layer
  std::vector<int> layers;
  while (!scan.done()) layers.push_back(in_double(scan.advance().front()).layer);
  CHECK(layers == std::vector<int>{9, 10, 100});
  CHECK(scan.heads_read() == scan.total_heads());
  CHECK(scan.bytes_read() == header + 12 * head_bytes);
  CHECK(scan.advance().empty());
}

TEST_CASE("the parts of a checkpoint are its layers, of which each part has as many",
          "[checkpoint]") {
  SafetensorsWriter writer;
  for (const int layer : {0, 1, 2, 3, 4}) add_layer(writer, layer);
  const auto layers_of = [&](int number, int parts) {
    HeadScan scan(open(writer.bytes()), nullptr, {.heads = kBertHeads});
    scan.keep_part(number, parts);
    std::vector<int> layers;
    while (!scan.done()) layers.push_back(in_double(scan.advance().front()).layer);
    CHECK(scan.heads_read() == scan.total_heads());
    return layers;
  };
  CHECK(layers_of(0, 2) == std::vector<int>{0, 1});
  CHECK(layers_of(1, 2) == std::vector<int>{2, 3, 4});
  CHECK(layers_of(0, 1) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(layers_of(1, 1).empty());
}

TEST_CASE("weights need not be square", "[checkpoint]") {
  SafetensorsWriter writer;
  writer.add(name(0, "query.weight"), "F32", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  writer.add(name(0, "key.weight"), "F32", {4, 2}, {8, 7, 6, 5, 4, 3, 2, 1});
  HeadScan scan(open(writer.bytes()), nullptr, {.heads = 2});
  const HeadFactors second = in_double(scan.advance().at(1));
  CHECK(scan.plan()[0].width == 2);
  CHECK(scan.plan()[0].head_width == 2);
  CHECK(second.query == (Eigen::MatrixXd(2, 2) << 5, 7, 6, 8).finished());
  CHECK(second.key == (Eigen::MatrixXd(2, 2) << 4, 2, 3, 1).finished());
}

TEST_CASE("the head count comes from the config unless one is given", "[checkpoint]") {
  SafetensorsWriter writer;
  add_layer(writer, 0);
  const auto file = open(writer.bytes());
  const Config config = Config::parse(R"({"num_attention_heads":2,"hidden_size":6})");
  CHECK(HeadScan(file, &config).plan()[0].heads == 2);
  CHECK(HeadScan(file, &config, {.heads = 2}).plan()[0].heads == 2);
  CHECK(scan_failure(writer, 6, R"({"num_attention_heads":2})").item == "heads");

  CHECK(scan_failure(writer, std::nullopt).item == "heads");
  CHECK(scan_failure(writer, std::nullopt, R"({"hidden_size":6})").item == "heads");
  for (const int heads : {0, -1, 4, 5, 7, 5000}) {
    const Failure failure = scan_failure(writer, heads);
    CHECK(failure.kind == "argument");
    CHECK(failure.item == "heads");
  }
  CHECK_THAT(scan_failure(writer, 4).message, ContainsSubstring(name(0, "query.weight")));
  check_failure(scan_failure(writer, std::nullopt, R"({"num_attention_heads":4})"),
                name(0, "query.weight"), "6 rows do not divide into 4 heads");
  const Failure width =
      scan_failure(writer, std::nullopt, R"({"num_attention_heads":2,"hidden_size":8})");
  CHECK(width.item == name(0, "query.weight"));
  for (const std::string bad : {"0", "-2", "2.5", "1e300", "\"2\"", "[]", "4097"}) {
    CHECK(scan_failure(writer, std::nullopt, R"({"num_attention_heads":)" + bad + "}").item ==
          "num_attention_heads");
  }
}

TEST_CASE("weights that do not fit together are refused by name", "[checkpoint]") {
  const std::vector<double> six(6, 1.0);
  {
    SafetensorsWriter writer;
    writer.add(name(0, "query.weight"), "F32", {3, 2}, six);
    writer.add(name(0, "key.weight"), "F32", {2, 3}, six);
    check_failure(scan_failure(writer, 1), name(0, "key.weight"), "[2, 3] differs from [3, 2]");
  }
  {
    SafetensorsWriter writer;
    add_layer(writer, 0);
    writer.add(name(1, "query.weight"), "F32", {3, 2}, six);
    writer.add(name(1, "key.weight"), "F32", {3, 2}, six);
    CHECK(scan_failure(writer, std::nullopt, R"({"num_attention_heads":1})").item ==
          name(1, "query.weight"));
    check_failure(scan_failure(writer, 2), "heads", name(1, "query.weight"));
  }
  for (const std::string missing : {"query", "key"}) {
    SafetensorsWriter writer;
    add_layer(writer, 0);
    const std::string there = missing == "query" ? "key" : "query";
    writer.add(name(3, there + ".weight"), "F32", kSquare, weight(3, false));
    check_failure(scan_failure(writer), name(3, missing + ".weight"),
                  name(3, there + ".weight") + " is there");
  }
  const auto weights_of = [](const std::string& dtype, const std::vector<std::uint64_t>& shape,
                             std::size_t size) {
    SafetensorsWriter writer;
    writer.add_raw(name(0, "query.weight"), dtype, shape, Bytes(size));
    writer.add_raw(name(0, "key.weight"), dtype, shape, Bytes(size));
    return scan_failure(writer, 1);
  };
  CHECK_THAT(weights_of("I8", {2, 2}, 4).message, ContainsSubstring("I8"));
  CHECK_THAT(weights_of("F32", {4}, 16).message, ContainsSubstring("not a matrix"));
  CHECK_THAT(weights_of("F32", {1, 2, 2}, 16).message, ContainsSubstring("not a matrix"));
  for (const std::vector<std::uint64_t>& empty :
       {std::vector<std::uint64_t>{0, 4}, {4, 0}, {0, ~std::uint64_t{0}}}) {
    CHECK(weights_of("F32", empty, 0).item == name(0, "query.weight"));
  }
}

TEST_CASE("biases are found, may be absent, and must fit", "[checkpoint]") {
  SafetensorsWriter writer;
  add_layer(writer, 0);
  writer.add(name(0, "query.bias"), "F32", {6}, std::vector<double>(6, 0.5));
  const HeadScan scan(open(writer.bytes()), nullptr, {.heads = kBertHeads});
  CHECK(scan.plan()[0].tensors.query.bias == name(0, "query.bias"));
  CHECK(scan.plan()[0].tensors.key.bias.empty());
  writer.add(name(0, "key.bias"), "F32", {3}, std::vector<double>(3, 0.5));
  CHECK(scan_failure(writer).item == name(0, "key.bias"));
}

TEST_CASE(
    "a file of an unrecognized architecture is refused with names of its attention in few lines",
    "[checkpoint]") {
  SafetensorsWriter writer;
  for (int i = 0; i < 8; ++i)
    writer.add_raw("h." + std::to_string(i) + ".attn", "U8", {1}, Bytes(1));
  check_failure(scan_failure(writer), "test.safetensors",
                "unrecognized architecture; it has 'h.0.attn', 'h.1.attn', 'h.2.attn' and 5 more; "
                "name those of its queries and keys with --map-query and --map-key");
  SafetensorsWriter long_names;
  for (const std::string part : {"a.embedding", "x.attention", "y.attention", "z.attention"})
    long_names.add_raw(std::string(200, 'p') + part, "U8", {1}, Bytes(1));
  long_names.add_raw("h.0.attn", "U8", {1}, Bytes(1));
  CHECK(scan_failure(long_names).message.size() <= 400);
  const Config config = Config::parse(R"({"model_type":"own"})");
  CHECK_THAT(failure_of([&] { HeadScan(open(writer.bytes()), &config, {}); }).message,
             ContainsSubstring("unrecognized architecture 'own'; it has"));
  CHECK_THAT(scan_failure(SafetensorsWriter()).message, ContainsSubstring("no tensors"));
  for (const std::string near : {"xencoder.layer.0.attention.self.query.weight",
                                 "encoder.layer..attention.self.query.weight",
                                 "encoder.layer.01.attention.self.query.weight",
                                 "encoder.layer.1x.attention.self.query.weight",
                                 "encoder.layer.99999999999999999999.attention.self.query.weight",
                                 "0.attention.self.query.weight", ".attention.self.query.weight",
                                 "encoder.layer.0.attention.self.query.weight.x"}) {
    CAPTURE(near);
    CHECK_THAT(scan_failure(SafetensorsWriter().add(near, "F32", {1, 1}, {1.0})).message,
               ContainsSubstring("unrecognized architecture"));
  }
  SafetensorsWriter two;
  add_layer(two, 0, "question.");
  add_layer(two, 0, "passage.");
  CHECK_THAT(scan_failure(two).message, ContainsSubstring("--stack, one of 'passage', 'question'"));
}

TEST_CASE("adapters without their model are refused by name", "[checkpoint]") {
  const std::string layer = "base_model.model.model.layers.0.self_attn.q_proj.";
  for (const std::string part : {"lora_A.weight", "lora_A.default.weight", "base_layer.weight"}) {
    const Failure failure = scan_failure(SafetensorsWriter().add(layer + part, "F32", {1, 1}, {1}));
    check_failure(failure, "test.safetensors", "unsupported: an adapter ('" + layer + part + "')",
                  "peft's merge_and_unload()");
    CHECK(failure.message.size() <= 500);
  }
}

TEST_CASE("adapters of MLX and llama.cpp are named", "[checkpoint]") {
  const std::string layer = "model.layers.0.self_attn.q_proj.";
  check_failure(scan_failure(SafetensorsWriter().add(layer + "lora_a", "F32", {1, 1}, {1})),
                "test.safetensors", "an adapter of MLX ('" + layer + "lora_a')", "mlx_lm.fuse");
  const std::string block = "blk.0.attn_q.weight.lora_a";
  check_failure(scan_failure(SafetensorsWriter().add(block, "F32", {1, 1}, {1})),
                "test.safetensors", "an adapter of llama.cpp ('" + block + "')",
                "llama-export-lora");
}

TEST_CASE("a quantized weight is refused with the name of its quantization", "[checkpoint]") {
  struct Tensor {
    std::string ending, dtype;
    std::vector<std::uint64_t> shape;
  };
  const auto message = [](const std::vector<Tensor>& tensors) {
    SafetensorsWriter writer;
    for (const std::string projection : {"q_proj.", "k_proj."}) {
      for (const auto& [ending, dtype, shape] : tensors) {
        std::uint64_t bits = 8;
        if (dtype == "F16" || dtype == "BF16") bits = 16;
        if (dtype == "F32" || dtype == "I32" || dtype == "U32") bits = 32;
        for (const std::uint64_t side : shape) bits *= side;
        writer.add_raw("model.layers.0.self_attn." + projection + ending, dtype, shape,
                       Bytes(bits / 8));
      }
    }
    return scan_failure(writer).message;
  };
  const Tensor codes{"weight", "U8", {4, 4}}, fp8{"weight", "F8_E4M3", {8, 8}};
  const std::vector<std::pair<std::string, std::vector<Tensor>>> expected{
      {"GPTQ weights", {{"qweight", "I32", {1, 8}}, {"scales", "F16", {1, 8}}}},
      {"GPTQ weights",
       {{"qweight", "I32", {1, 8}}, {"scales", "F16", {1, 8}}, {"g_idx", "I32", {8}}}},
      {"AWQ weights", {{"qweight", "I32", {8, 1}}, {"scales", "F16", {1, 8}}}},
      {"NVFP4 (compressed-tensors) weights",
       {{"weight_packed", "U8", {8, 4}}, {"weight_global_scale", "F32", {1}}}},
      {"packed (compressed-tensors) weights", {{"weight_packed", "I32", {8, 1}}}},
      {"NF4 (bitsandbytes) weights",
       {{"weight", "U8", {32, 1}}, {"weight.quant_state.bitsandbytes__nf4", "U8", {9}}}},
      {"INT8 (bitsandbytes) weights", {{"weight", "I8", {8, 8}}, {"SCB", "F32", {8}}}},
      {"NVFP4 (ModelOpt) weights", {codes, {"weight_scale_2", "F32", {}}}},
      {"MLX weights", {{"weight", "U32", {8, 1}}, {"scales", "BF16", {8, 1}}}},
      {"FP8 weights ('model.layers.0.self_attn.q_proj.weight_scale_inv')",
       {fp8, {"weight_scale_inv", "BF16", {1, 1}}}},
      {"FP8 weights", {fp8}},
      {"INT8 weights", {{"weight", "I8", {8, 8}}, {"weight_scale", "F32", {8, 1}}}},
      {"torchao weights", {{"_weight_qdata", "I8", {4, 8}}, {"_weight_scale", "F32", {4, 1}}}},
      {"EETQ weights", {{"weight", "I8", {4, 8}}, {"weight_scales", "F16", {8}}}},
      {"HQQ weights", {{"W_q", "U8", {4, 8}}, {"scale", "F16", {8, 1}}, {"zero", "F16", {8, 1}}}},
      {"Quanto weights", {{"weight._data", "I8", {8, 8}}, {"weight._scale", "F32", {8, 1}}}},
      {"AQLM weights", {{"codes", "I8", {8, 1, 1}}, {"codebooks", "F16", {1, 16, 1, 8}}}},
      {"GPTQ (Marlin) weights", {{"B", "I32", {1, 16}}, {"s", "F16", {1, 8}}}},
      {"scaled weights", {{"weight", "F16", {8, 8}}, {"weight_scale", "F32", {1}}}},
  };
  for (const auto& [name, tensors] : expected) {
    CAPTURE(name);
    CHECK_THAT(message(tensors), ContainsSubstring(name) && ContainsSubstring("; open "));
    CHECK(message(tensors).size() <= 400);
  }
  CHECK_THAT(message({{"weight", "I32", {8, 8}}}),
             ContainsSubstring("its type must be F16, BF16, F32 or F64 to be read as numbers, but "
                               "it is I32"));
}

TEST_CASE("heads with NaN or infinite weights are left out, counted and named", "[checkpoint]") {
  std::vector<double> query = weight(1, false);
  std::vector<double> key = weight(1, true);
  query[2 * kBertWidth + 1] = std::numeric_limits<double>::quiet_NaN();  // head 1
  query[3 * kBertWidth + 5] = -std::numeric_limits<double>::infinity();  // head 1
  key[3 * kBertWidth] = std::numeric_limits<double>::quiet_NaN();        // head 1
  key[5 * kBertWidth + 5] = std::numeric_limits<double>::infinity();     // head 2
  for (const auto& [most, dtype] : {std::pair{0, "F32"}, {1, "F32"}, {0, "BF16"}}) {
    SafetensorsWriter writer;
    writer.add(name(1, "query.weight"), dtype, kSquare, query);
    writer.add(name(1, "key.weight"), dtype, kSquare, key);
    HeadScan scan(open(writer.bytes()), nullptr, {.heads = kBertHeads});
    const std::vector<HeadFactors> heads = all_heads(scan, most);
    REQUIRE(heads.size() == 1);
    check_factors(heads[0]);
    CHECK(scan.heads_read() == 3);
    REQUIRE(scan.excluded().size() == 2);
    CHECK(scan.excluded()[0].text() == "layer 1 head 1: 2 NaN and 1 infinite weights");
    CHECK(scan.excluded()[1].text() == "layer 1 head 2: 0 NaN and 1 infinite weights");
  }
}

TEST_CASE("heads are in single precision where the file has BF16 and their range allows it",
          "[checkpoint]") {
  const auto is_single = [](const ScannedHead& head) {
    return std::holds_alternative<FactorsOf<float>>(head);
  };
  for (const auto& [query, key, single] :
       {std::tuple{"BF16", "BF16", true}, {"BF16", "F32", false}, {"F16", "F16", false}}) {
    SafetensorsWriter writer;
    writer.add(name(1, "query.weight"), query, kSquare, weight(1, false));
    writer.add(name(1, "key.weight"), key, kSquare, weight(1, true));
    HeadScan scan(open(writer.bytes()), nullptr, {.heads = kBertHeads});
    const std::vector<ScannedHead> found = scan.advance();
    REQUIRE(found.size() == kBertHeads);
    for (const ScannedHead& head : found) {
      CHECK(is_single(head) == single);
      check_factors(in_double(head));
    }
  }
  // A gain that takes one entry of head 1 out of the range of floats.
  std::vector<double> large(3 * kBertWidth * kBertWidth, 1);
  large[3 * kBertWidth + 2] = 0x1p127;  // input 1, output 2
  SafetensorsWriter writer;
  writer.add("h.0.attn.c_attn.weight", "BF16", {kBertWidth, 3 * kBertWidth}, large);
  writer.add("h.0.ln_1.weight", "BF16", {kBertWidth}, {4, 4, 4, 4, 4, 4});
  const Config config = Config::parse(R"({"model_type":"gpt2"})");
  HeadScan scan(open(writer.bytes()), &config, {.heads = kBertHeads});
  const std::vector<ScannedHead> heads = scan.advance();
  REQUIRE(heads.size() == 3);
  CHECK(is_single(heads[0]));
  CHECK_FALSE(is_single(heads[1]));
  CHECK(in_double(heads[1]).query(1, 0) == 0x1p129);
  CHECK(scan.excluded().empty());
}

namespace {

/// Fails one read, as a disk or a file that shrinks would.
class FailingSource final : public ByteSource {
 public:
  explicit FailingSource(Bytes bytes) : ByteSource("failing", bytes.size()), bytes_(bytes) {}
  int reads_until_failure = -1;

 private:
  void read_exactly(std::uint64_t offset, std::span<std::byte> out) override {
    if (reads_until_failure-- == 0) throw FormatError(name(), "it cannot be read");
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }
  Bytes bytes_;
};

}  // namespace

TEST_CASE("a read that fails loses no head and repeats none", "[checkpoint]") {
  SafetensorsWriter writer;
  add_layer(writer, 0);
  const auto source = std::make_shared<FailingSource>(writer.bytes());
  HeadScan scan(std::make_shared<const Safetensors>(source), nullptr, {.heads = kBertHeads});
  source->reads_until_failure = 3;
  CHECK(failure_of([&] { scan.advance(); }).item == "failing");
  CHECK(scan.heads_read() == 0);
  const std::vector<HeadFactors> heads = all_heads(scan);
  REQUIRE(heads.size() == 3);
  for (const HeadFactors& head : heads) check_factors(head);
}

TEST_CASE("the 72 heads of MiniLM are read without reading the file", "[checkpoint][sample]") {
  const Checkpoint minilm = open_checkpoint(minilm_folder());
  REQUIRE(minilm.config.has_value());
  HeadScan scan(minilm.tensors, &*minilm.config);
  const std::vector<HeadFactors> heads = all_heads(scan);
  REQUIRE(heads.size() == 72);
  CHECK(scan.excluded().empty());
  CHECK(scan.bytes_read() < 4'000'000);  // of 45 MB
}

namespace {

/// GPT-2's c_attn of a layer, in x out: input i, output j of queries, keys and values together.
void add_fused(SafetensorsWriter& writer, int layer, int outputs = 3 * kBertWidth,
               const std::string& prefix = "") {
  std::vector<double> values;
  for (int i = 0; i < kBertWidth; ++i) {
    for (int j = 0; j < outputs; ++j) {
      const bool key = j >= kBertWidth;
      values.push_back(j < 2 * kBertWidth ? entry(layer, key, j % kBertWidth, i) : -1);
    }
  }
  const auto side = static_cast<std::uint64_t>(outputs);
  const std::string base = prefix + "h." + std::to_string(layer) + ".attn.c_attn.";
  writer.add(base + "weight", "F32", {kBertWidth, side}, values);
  writer.add(base + "bias", "F32", {side}, std::vector<double>(side));
}

}  // namespace

TEST_CASE("GPT-2's fused queries and keys come apart") {
  for (const std::string prefix : {"", "transformer."}) {
    SafetensorsWriter writer;
    add_fused(writer, 0, 3 * kBertWidth, prefix);
    add_fused(writer, 1, 3 * kBertWidth, prefix);
    const Config config = Config::parse(R"({"n_head":3,"n_embd":6})");
    HeadScan scan(open(writer.bytes()), &config);
    CHECK(scan.plan()[0].family->name == "GPT-2");
    CHECK(scan.total_heads() == 2 * kBertHeads);
    const std::vector<HeadFactors> heads = all_heads(scan, 1);
    REQUIRE(heads.size() == 2 * kBertHeads);
    for (const HeadFactors& head : heads) check_factors(head);
  }
}

TEST_CASE("fused weights that are not three equal parts are refused") {
  SafetensorsWriter grouped;
  add_fused(grouped, 0, 2 * kBertWidth + 2);
  CHECK(scan_failure(grouped).item == "key_heads");
  CHECK_THAT(scan_failure(grouped).message, ContainsSubstring("h.0.attn.c_attn.weight"));
  CHECK_THAT(scan_failure(grouped).message, ContainsSubstring("grouped"));
  CHECK(scan_failure(grouped, std::nullopt).item == "heads");
  SafetensorsWriter biased;
  biased.add("h.0.attn.c_attn.weight", "F32", {6, 18}, std::vector<double>(108));
  biased.add("h.0.attn.c_attn.bias", "F32", {6}, std::vector<double>(6));
  CHECK(scan_failure(biased).item == "h.0.attn.c_attn.bias");
  SafetensorsWriter uneven;
  add_fused(uneven, 0);
  add_fused(uneven, 1, 3 * kBertWidth + 3);
  CHECK(scan_failure(uneven).item == "key_heads");
  CHECK_THAT(scan_failure(uneven).message, ContainsSubstring("h.1.attn.c_attn.weight"));
  SafetensorsWriter good;
  add_fused(good, 0);
  CHECK(scan_failure(good, std::nullopt, R"({"n_head":4})").item == "h.0.attn.c_attn.weight");
  CHECK(scan_failure(good, std::nullopt, R"({"n_head":3,"n_embd":7})").item ==
        "h.0.attn.c_attn.weight");
}

TEST_CASE("products of latent heads are those of their factors, with pruned coordinates too") {
  // Compressions wider than a block of the triangles.
  Eigen::MatrixXd query = random_matrix(120, 70, 1), key = random_matrix(120, 66, 2);
  const Eigen::MatrixXd of_query = random_matrix(70, 5, 3), of_key = random_matrix(66, 5, 4);
  const auto check = [&] {
    const auto latents = latent_factors<double>(query, key);
    REQUIRE(latents);
    const FactorProducts products = products_of_latents(*latents, of_query, of_key);
    const FactorProducts expected =
        products_of_factors(Eigen::MatrixXd(query * of_query), Eigen::MatrixXd(key * of_key));
    CHECK(products.width == expected.width);
    CHECK(largest(products.core - expected.core) < 1e-10 * largest(expected.core));
    CHECK(largest(products.query - expected.query) < 1e-10 * largest(expected.query));
    CHECK(largest(products.key - expected.key) < 1e-10 * largest(expected.key));
  };
  check();
  query.col(3).setZero();
  query.col(69).setZero();
  key.col(0).setZero();
  check();
  key.col(5) = 2 * key.col(4);
  CHECK(!latent_factors<double>(query, key));
  key.col(5).setConstant(std::numeric_limits<double>::quiet_NaN());
  CHECK(!latent_factors<double>(query, key));
}

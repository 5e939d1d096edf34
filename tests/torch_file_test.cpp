// Files that PyTorch wrote (tests/torch), and what is refused.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "catch.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/heads.h"
#include "checkpoint/pickle.h"
#include "checkpoint/torch_file.h"
#include "checkpoint_failure.h"
#include "paths.h"
#include "safetensors_writer.h"
#include "torch_writer.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

Bytes torch_file(const std::string& name) { return test_file("torch/" + name); }

CheckpointFiles files_of(const std::string& name, Bytes bytes) {
  return {{std::make_shared<MemorySource>(name, std::move(bytes))}, nullptr, nullptr};
}

std::vector<double> numbers(const Safetensors& tensors, const std::string& name,
                            std::size_t count) {
  std::vector<double> found(count);
  tensors.read_elements(name, 0, found);
  return found;
}

void check_waves(const std::vector<double>& found, double error, std::size_t first = 0) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK_THAT(found[i], WithinAbs(std::sin(static_cast<double>(first + i + 1)), error));
  }
}

Failure failure_of_pickle(const std::string& pickle) {
  return failure_of([&] { read_pickle(pickle, "data.pkl"); });
}

}  // namespace

TEST_CASE("tensors of torch.save have their names, types, shapes and numbers", "[torch]") {
  for (const std::string name : {"state_dict.bin", "nested.pt"}) {
    CAPTURE(name);
    const auto tensors = open_tensors(files_of(name, torch_file(name)));
    CHECK(tensors->tensors().size() == 9);
    CHECK(tensors->tensor("embed_tokens.weight").shape == std::vector<std::uint64_t>{5, 4});
    check_waves(numbers(*tensors, "embed_tokens.weight", 20), 1e-7);
    check_waves(numbers(*tensors, "lm_head.weight", 20), 1e-7);
    check_waves(numbers(*tensors, "layers.1.self_attn.q_proj.weight", 16), 1e-3);
    check_waves(numbers(*tensors, "layers.0.self_attn.k_proj.weight", 16), 1e-2);
    check_waves(numbers(*tensors, "rows.weight", 6), 1e-7, 6);
    check_waves(numbers(*tensors, "parameter", 3), 1e-15);
    CHECK(tensors->tensor("steps").shape.empty());
    CHECK(tensors->tensor("steps").dtype == Dtype::kI64);
    const Config config = Config::parse(R"({"num_attention_heads":2})");
    HeadScan scan(tensors, &config, {});
    std::size_t heads = 0;
    while (!scan.done()) heads += scan.advance(1).size();
    CHECK(heads == 4);
  }
}

TEST_CASE("what torch.save writes beside tensors is refused by name", "[torch]") {
  const auto failure = [](const std::string& name, const std::string& tensor = "") {
    return failure_of([&] {
             const auto tensors = open_tensors(files_of(name, torch_file(name)));
             if (!tensor.empty()) numbers(*tensors, tensor, 1);
           })
        .message;
  };
  CHECK_THAT(failure("turned.pt", "turned"), ContainsSubstring("it must be stored row by row"));
  CHECK_THAT(
      failure("module.pt"),
      ContainsSubstring(
          "it must have tensors alone (state_dict): the name 'torch.nn.modules.linear Linear'"));
}

TEST_CASE("tensors of torch.save that cannot be read are refused where they are read", "[torch]") {
  const std::string plain = pickled_matrix("0", 2, 2);
  const auto complex = [](const std::string& type) {
    return PickledTensor{type, "1", {2}, {1}, 2}.code();
  };
  const Bytes file = torch_bytes(
      pickled_dict(
          {{"w", plain},
           {"freqs_cis", complex("ComplexFloatStorage")},
           {"double_cis", complex("ComplexDoubleStorage")},
           {"mask", PickledTensor{"FloatStorage", "0", {8, 8}, {0, 0}, 1}.code()},
           {"turned", PickledTensor{"FloatStorage", "0", {2, 2}, {1, 2}, 4}.code()},
           {"short", pickled_matrix("0", 4, 4)},
           {"f8", PickledTensor{"UntypedStorage", "0", {16}, {1}, 16, "float8_e4m3fn"}.code()}}),
      {{"data/0", encode("F32", {1, 2, 3, 4})}, {"data/1", encode("F64", {5, 6, 7, 8})}});
  const auto tensors = open_tensors(files_of("m.pt", file));
  CHECK(numbers(*tensors, "w", 4) == std::vector<double>{1, 2, 3, 4});
  CHECK(tensors->tensor("freqs_cis").dtype == Dtype::kC64);
  CHECK(tensors->tensor("double_cis").shape == std::vector<std::uint64_t>{2, 2});
  CHECK(numbers(*tensors, "double_cis", 4) == std::vector<double>{5, 6, 7, 8});
  CHECK(tensors->tensor("f8").dtype == Dtype::kF8E4M3);
  const auto failure = [&](const std::string& name) {
    return failure_of([&] { numbers(*tensors, name, 1); }).message;
  };
  CHECK_THAT(failure("freqs_cis"), ContainsSubstring("but it is C64 in m.pt"));
  CHECK(failure("mask") ==
        "mask: it must be stored row by row, but its strides are (0, 0) for the shape (8, 8); save "
        "tensor.contiguous()");
  CHECK_THAT(failure("turned"), ContainsSubstring("its strides are (1, 2) for the shape (2, 2)"));
  CHECK(failure("short") == "short: it must lie inside its storage of 4 elements");
}

TEST_CASE("the order of bytes of torch.save is that of its record", "[torch]") {
  const auto reversed = [](Bytes bytes, std::ptrdiff_t width) {
    for (auto at = bytes.begin(); at != bytes.end(); at += width) std::reverse(at, at + width);
    return bytes;
  };
  const std::vector<double> values{1, -2.5, 0.125, 1024, 3, -7};
  const std::string saved =
      pickled_dict({{"single", pickled_matrix("0", 2, 3)},
                    {"brain", PickledTensor{"BFloat16Storage", "1", {6}, {1}, 6}.code()},
                    {"double", PickledTensor{"DoubleStorage", "2", {6}, {1}, 6}.code()},
                    {"cis", PickledTensor{"ComplexDoubleStorage", "2", {3}, {1}, 3}.code()}});
  const auto file = [&](const std::string& order, bool big) {
    TorchFiles files;
    for (const auto& [name, dtype, width] :
         {std::tuple{"data/0", "F32", 4}, {"data/1", "BF16", 2}, {"data/2", "F64", 8}}) {
      const Bytes bytes = encode(dtype, values);
      files.emplace_back(name, big ? reversed(bytes, width) : bytes);
    }
    if (!order.empty()) files.emplace_back("byteorder", as_bytes(order));
    return files_of("m.pt", torch_bytes(saved, files));
  };
  for (const std::string order : {"", "little", "big"}) {
    CAPTURE(order);
    const auto tensors = open_tensors(file(order, order == "big"));
    for (const std::string name : {"single", "brain", "double", "cis"}) {
      CHECK(numbers(*tensors, name, 6) == values);
      std::vector<double> part(2);
      tensors->read_elements(name, 3, part);
      CHECK(part == std::vector<double>{1024, 3});
    }
  }
  CHECK(failure_of([&] { open_tensors(file("middle", false)); }).message ==
        "archive/byteorder: it must be little or big, but is 'middle', in m.pt");
}

TEST_CASE("the dict of tensors of torch.save is found under its usual names", "[torch]") {
  const std::string loss = PickledTensor{"FloatStorage", "1", {}, {}, 1}.code();
  const std::string tensors = pickled_dict({{"w", pickled_matrix("0", 1, 2)}});
  const TorchFiles files{{"data/0", encode("F32", {1, 2})}, {"data/1", encode("F32", {1.5})}};
  const auto names = [&](const std::string& saved) {
    std::vector<std::string> found;
    const auto opened = open_tensors(files_of("m.pt", torch_bytes(saved, files)));
    for (const auto& [name, info] : opened->tensors()) found.push_back(name);
    return found;
  };
  const std::vector<std::string> only{"w"};
  for (const std::string entry : {"state_dict", "model_state_dict", "model", "module"}) {
    CHECK(names(pickled_dict({{"best_val_loss", loss}, {entry, tensors}})) == only);
    CHECK(names(pickled_dict({{"state_dict", pickled_dict({{entry, tensors}})}})) == only);
  }
  CHECK(names(pickled_dict({{"other", tensors}, {"x", loss}})) == std::vector<std::string>{"x"});
  CHECK_THAT(failure_of([&] {
               names(pickled_dict({{"optimizer", tensors}}));
             }).message,
             ContainsSubstring("m.pt: it must hold a dict of tensors"));
}

TEST_CASE("encrypted files of an archive are refused", "[torch]") {
  const Bytes file = torch_bytes(pickled_dict({{"w", pickled_matrix("0", 1, 2)}}),
                                 {{"data/0", encode("F32", {1, 2})}}, /*flags=*/1);
  CHECK(failure_of([&] { open_tensors(files_of("m.pt", file)); }).message ==
        "archive/data.pkl: it must not be encrypted in m.pt");
}

TEST_CASE("a checkpoint of nanoGPT has torch's linear layers and its own configuration",
          "[torch]") {
  // Width 4, two heads of width 2: rows 2 h and 2 h + 1 are the queries of head h, rows 4 on the keys.
  std::vector<double> rows(48);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<double>(i);
  const std::string prefix = "_orig_mod.transformer.";
  const std::string loss = PickledTensor{"FloatStorage", "1", {}, {}, 1}.code();
  const std::string model = pickled_dict(
      {{prefix + "wpe.weight", pickled_matrix("2", 1, 4)},
       {prefix + "h.0.attn.c_attn.weight", pickled_matrix("0", 12, 4)},
       {prefix + "h.0.ln_1.weight", PickledTensor{"FloatStorage", "2", {4}, {1}, 4}.code()}});
  const std::string arguments = pickled_dict({{"n_layer", pickled(1)},
                                              {"n_head", pickled(2)},
                                              {"n_embd", pickled(4)},
                                              {"block_size", pickled(8)},
                                              {"bias", "\x89"}});
  const TorchFiles storages{{"data/0", encode("F32", rows)},
                            {"data/1", encode("F32", {1.5})},
                            {"data/2", encode("F32", {1, 10, 100, 1000})}};
  const auto check = [](const CheckpointFiles& files, const HeadSettings& settings) {
    const std::optional<Config> config = read_config(files);
    HeadScan scan(open_tensors(files), config ? &*config : nullptr, settings);
    const std::vector<ScannedHead> heads = scan.advance(0);
    REQUIRE(heads.size() == 2);
    const HeadFactors second = in_double(heads[1]);
    CHECK(second.folded == "ln_1");
    CHECK(second.query ==
          (Eigen::MatrixXd(4, 2) << 8, 12, 90, 130, 1000, 1400, 11000, 15000).finished());
    CHECK(second.key ==
          (Eigen::MatrixXd(4, 2) << 24, 28, 250, 290, 2600, 3000, 27000, 31000).finished());
  };
  const CheckpointFiles whole = files_of(
      "ckpt.pt",
      torch_bytes(
          pickled_dict({{"model", model}, {"model_args", arguments}, {"best_val_loss", loss}}),
          storages));
  CHECK(read_config(whole)->text("model_type") == "nanogpt");
  check(whole, {});
  CheckpointFiles weights = files_of("weights.pt", torch_bytes(model, storages));
  weights.model_type = "nanogpt";
  check(weights, {.heads = 2});
}

TEST_CASE("the arguments of llama2.c are its configuration", "[torch]") {
  const std::string saved =
      pickled_dict({{"model", pickled_dict({{"w", pickled_matrix("0", 1, 2)}})},
                    {"model_args", pickled_dict({{"dim", pickled(288)},
                                                 {"n_heads", pickled(6)},
                                                 {"n_kv_heads", "N"},
                                                 {"multiple_of", pickled(32)}})}});
  const std::optional<Config> config =
      read_config(files_of("ckpt.pt", torch_bytes(saved, {{"data/0", Bytes(8)}})));
  CHECK(config->text("model_type") == "llama2.c");
  CHECK(config->positive_integer("n_heads", 100) == 6);
  CHECK_FALSE(config->has("n_kv_heads"));
}

TEST_CASE("a pickle runs nothing and is refused where it is damaged", "[torch]") {
  CHECK_THAT(failure_of_pickle("\x80\x02"
                               "cos\nsystem\nX\x02\x00\x00\x00ls\x85R.")
                 .message,
             ContainsSubstring("it must have tensors alone (state_dict): the name 'os system'"));
  const auto pickle = [](std::initializer_list<int> codes) {
    std::string text;
    for (const int code : codes) text += static_cast<char>(code);
    return text;
  };
  CHECK(read_pickle(pickle({0x80, 2, '}', '.'}), "data.pkl")->kind == PickleValue::Kind::dict);
  CHECK_THAT(failure_of_pickle(pickle({0x80, 9, '.'})).message,
             ContainsSubstring("the protocol must be 2 to 5"));
  CHECK_THAT(failure_of_pickle(pickle({0x80, 2, 'P'})).message,
             ContainsSubstring("it must have tensors alone (state_dict): opcode 80"));
  CHECK_THAT(failure_of_pickle(pickle({0x80, 2, '.'})).message,
             ContainsSubstring("an opcode must find the values that it takes"));
  CHECK_THAT(failure_of_pickle(pickle({0x80, 2, 'h', 3, '.'})).message,
             ContainsSubstring("before it is recalled"));
  CHECK_THAT(failure_of_pickle(pickle({0x80, 2, 't', '.'})).message,
             ContainsSubstring("an opcode must find the mark that it ends at"));
  // A list that would hold itself.
  CHECK_THAT(failure_of_pickle(pickle({0x80, 2, ']', 'q', 0, 'h', 0, 'a', '.'})).message,
             ContainsSubstring("not yet inside another"));
  CHECK_THAT(failure_of_pickle(pickle({0x80, 2}) + std::string(2'000'001, 'N') + ".").message,
             ContainsSubstring("more than 2000000 values"));
  // (storage, offset, sizes, strides, requires_grad, hooks, metadata)
  std::string negated = pickled_matrix("0", 1, 2);
  negated.replace(negated.size() - 2, 2, "}" + pickled("neg") + "\x88" + "stR");
  CHECK_THAT(failure_of_pickle(pickle({0x80, 2}) + negated + ".").message,
             ContainsSubstring("a tensor must not have metadata, such as 'neg'"));
  std::string deep = pickle({0x80, 2, 'N'});
  for (int i = 0; i < 100'000; ++i) deep += '\x85';
  CHECK_THAT(failure_of_pickle(deep + ".").message,
             ContainsSubstring("must not nest deeper than 64"));
}

TEST_CASE("a file of torch.save that is cut off anywhere is refused", "[torch]") {
  const Bytes whole = torch_file("state_dict.bin");
  for (std::size_t size = 64; size < whole.size(); size += 7) {
    CAPTURE(size);
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(failure_of([&] { open_tensors(files_of("cut.bin", cut)); }).kind == "format");
  }
}

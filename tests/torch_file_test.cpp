// Files that PyTorch wrote (tests/torch), and what is refused.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/heads.h"
#include "checkpoint/pickle.h"
#include "checkpoint/torch_file.h"
#include "checkpoint_failure.h"
#include "paths.h"
#include "safetensors_writer.h"

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
  const auto failure = [](const std::string& name) {
    return failure_of([&] { open_tensors(files_of(name, torch_file(name))); }).message;
  };
  CHECK(failure("turned.pt") == "turned: it must be stored row by row; save tensor.contiguous()");
  CHECK_THAT(
      failure("module.pt"),
      ContainsSubstring(
          "it must have tensors alone (state_dict): the name 'torch.nn.modules.linear Linear'"));
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

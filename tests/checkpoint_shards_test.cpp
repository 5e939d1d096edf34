// Checkpoints of several files: what they hold together, and the errors for those that do not fit.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/heads.h"
#include "checkpoint/open_checkpoint.h"
#include "checkpoint/shard_index.h"
#include "checkpoint_failure.h"
#include "gguf_writer.h"
#include "paths.h"
#include "safetensors_writer.h"
#include "temporary_folder.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

constexpr const char* kQuery = "encoder.layer.0.attention.self.query.weight";
constexpr const char* kKey = "encoder.layer.0.attention.self.key.weight";

SafetensorsWriter with(const std::string& name, const std::vector<double>& values) {
  SafetensorsWriter writer;
  writer.add(name, "F32", {2, 2}, values);
  return writer;
}

std::shared_ptr<ByteSource> shard(const std::string& name, const SafetensorsWriter& writer) {
  return std::make_shared<MemorySource>(name, writer.bytes());
}

std::string index_text(const std::string& map) {
  return R"({"metadata":{"total_size":32},"weight_map":{)" + map + "}}";
}

std::string mapped(const std::string& tensor, const std::string& file) {
  return "\"" + tensor + "\":\"" + file + "\"";
}

const std::string kMap = mapped(kQuery, "a.safetensors") + "," + mapped(kKey, "b.safetensors");

}  // namespace

TEST_CASE("several files are one checkpoint, in any order") {
  const auto a = shard("x/a.safetensors", with(kQuery, {1, 2, 3, 4}));
  const auto b = shard("x/b.safetensors", with(kKey, {5, 6, 7, 8}));
  const ShardIndex index = ShardIndex::parse(index_text(kMap), "index");
  CHECK(index.files() == std::set<std::string>{"a.safetensors", "b.safetensors"});
  for (const ShardIndex* known : {&index, static_cast<const ShardIndex*>(nullptr)}) {
    for (const bool turned : {false, true}) {
      const auto file = open_shards(turned ? std::vector{b, a} : std::vector{a, b}, known);
      HeadScan scan(file, nullptr, {.heads = 2});
      const std::vector<ScannedHead> heads = scan.advance();
      REQUIRE(heads.size() == 2);
      CHECK(in_double(heads[1]).query == Eigen::Vector2d(3, 4));
      CHECK(in_double(heads[0]).key == Eigen::Vector2d(5, 6));
      CHECK(file->bytes_read() == a->bytes_read() + b->bytes_read());
    }
  }
}

TEST_CASE("shards that do not fit together are refused by name") {
  const auto a = shard("a.safetensors", with(kQuery, {1, 2, 3, 4}));
  const auto b = shard("b.safetensors", with(kKey, {5, 6, 7, 8}));
  const auto again = shard("c.safetensors", with(kQuery, {1, 2, 3, 4}));
  const ShardIndex index = ShardIndex::parse(index_text(kMap), "index");
  const Failure twice = failure_of([&] { open_shards({a, b, again}, nullptr); });
  check_failure(twice, kQuery, "a.safetensors and in c.safetensors");
  check_failure(failure_of([&] { open_shards({a}, &index); }), "b.safetensors", "missing");
  // The index decides where the copies differ.
  const auto old = shard("b.safetensors", [] {
    SafetensorsWriter both = with(kKey, {5, 6, 7, 8});
    return both.add(kQuery, "F32", {2, 2}, {0, 0, 0, 0});
  }());
  for (const std::vector<std::shared_ptr<ByteSource>>& shards :
       {std::vector{a, old}, std::vector{old, a}}) {
    const auto file = open_shards(shards, &index);
    CHECK(file->read_rows(kQuery, 0, 1) == Eigen::RowVector2d(1, 2));
    CHECK(failure_of([&] { open_shards(shards, nullptr); }).item == kQuery);
  }
  const auto swapped = shard("b.safetensors", with("other", {5, 6, 7, 8}));
  check_failure(failure_of([&] { open_shards({a, swapped}, &index); }), kKey, "b.safetensors");
  CHECK(failure_of([] { open_shards({}, nullptr); }).item == "shards");
}

TEST_CASE("hostile indices are refused") {
  const auto failure = [](const std::string& text) {
    return failure_of([&] { ShardIndex::parse(text, "index"); });
  };
  for (const std::string path :
       {"../x.safetensors", "/etc/x.safetensors", "a/b.safetensors", "a\\\\b.safetensors",
        "C:x.safetensors", "passwd", "", "x.safetensors\\u0000", "\\u001b[31m.safetensors"}) {
    CAPTURE(path);
    check_failure(failure(index_text(mapped("t", path))), "t",
                  "is not the name of a .safetensors or .bin file");
  }
  const std::string endless = mapped("t", std::string(100'000, 'x') + ".safetensors");
  CHECK(failure(index_text(endless)).message.size() < 300);
  const std::string twice = mapped("t", "a.safetensors");
  CHECK(failure(index_text(twice + "," + twice)).item == "t");
  CHECK(failure(index_text(R"("t":{"a":"b"})")).item == "t");
  CHECK(failure(index_text(R"("t":["b"])")).item == "t");
  CHECK(failure(index_text(R"("t":3)")).item == "t");
  CHECK(failure(index_text(R"("t":null)")).item == "t");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += '[';
  for (const std::string& text :
       {std::string("[]"), std::string("3"), std::string("{}"), index_text(""),
        std::string(R"({"weight_map":"x"})"), std::string(R"({"weight_map":{)"),
        std::string(R"({"weight_map":{"t":"a.safetensors"},"weight_map":{"u":"a.safetensors"}})"),
        R"({"metadata":)" + deep}) {
    CAPTURE(text.substr(0, 60));
    CHECK(failure(text).item == "index");
  }
  CHECK(failure(R"({"a":{"weight_map":{"t":3}},"weight_map":{"t":"a.safetensors"}})").kind ==
        "none");
}

TEST_CASE("a folder with an index is opened with its shards; folders of folders are found") {
  const TemporaryFolder folder;
  folder.write("one/a.safetensors", with(kQuery, {1, 2, 3, 4}).bytes());
  folder.write("one/b.safetensors", with(kKey, {5, 6, 7, 8}).bytes());
  const std::string several = folder.path() + "/one";
  CHECK_THAT(failure_of([&] { open_checkpoint(several); }).message,
             ContainsSubstring("2 .safetensors files"));
  const std::string index = folder.write("one/model.safetensors.index.json", index_text(kMap));
  for (const std::string& path : {several, index}) {
    CHECK(open_checkpoint(path).tensors->tensors().size() == 2);
  }
  folder.write("two/model.safetensors", with(kKey, {5, 6, 7, 8}).bytes());
  folder.write("empty/readme", std::string("x"));
  CHECK(find_checkpoints(folder.path()) ==
        std::vector<std::string>{folder.path() + "/one", folder.path() + "/two"});
  CHECK(find_checkpoints(several) == std::vector{several});
  CHECK(find_checkpoints(folder.path() + "/empty").size() == 1);
  // Root lists every folder.
  const bool root = geteuid() == 0;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::create_directory(folder.path() + "/closed");
  std::filesystem::permissions(folder.path() + "/closed", std::filesystem::perms::none);
  if (root) REQUIRE(seteuid(65534) == 0);
  std::vector<std::string> skipped;
  const auto skip = [&](const FormatError& failure) { skipped.push_back(failure.item()); };
  const auto found = failure_of([&] {
    CHECK(find_checkpoints(folder.path(), false, skip) ==
          std::vector{folder.path() + "/one", folder.path() + "/two"});
  });
  const Failure refused = failure_of([&] { find_checkpoints(folder.path()); });
  if (root) REQUIRE(seteuid(0) == 0);
  std::filesystem::permissions(folder.path() + "/closed", std::filesystem::perms::all);
  CHECK(found.kind == "none");
  CHECK(skipped == std::vector{folder.path() + "/closed"});
  CHECK(refused.item == folder.path() + "/closed");
  std::filesystem::remove(several + "/b.safetensors");
  CHECK_THAT(failure_of([&] { open_checkpoint(index); }).item, ContainsSubstring("b.safetensors"));
}

TEST_CASE(
    "shards of torch.save and parts of GGUF are opened from a folder, and a missing one is named") {
  const TemporaryFolder folder;
  const std::vector<std::string> shards{"pytorch_model-00001-of-00002.bin",
                                        "pytorch_model-00002-of-00002.bin"};
  const std::string torch = folder.path() + "/torch";
  folder.write("torch/" + shards[0], test_file("torch/state_dict.bin"));
  folder.write("torch/" + shards[1], test_file("fuzz/corpus/torch/small"));
  folder.write("torch/training_args.bin", std::string("another file"));
  folder.write(
      "torch/pytorch_model.bin.index.json",
      index_text(mapped("embed_tokens.weight", shards[0]) + "," + mapped("a.weight", shards[1])));
  CHECK(find_checkpoints(folder.path()) == std::vector{torch});
  for (const std::string& path : {torch, torch + "/pytorch_model.bin.index.json"}) {
    const Checkpoint opened = open_checkpoint(path);
    CHECK(opened.tensors->tensor("a.weight").shape == std::vector<std::uint64_t>{2, 3});
    CHECK(opened.tensors->tensors().contains("layers.1.self_attn.q_proj.weight"));
  }
  std::filesystem::remove(torch + "/" + shards[1]);
  CHECK_THAT(failure_of([&] { open_checkpoint(torch); }).item, ContainsSubstring(shards[1]));

  const auto part = [](std::uint32_t number) {
    GgufWriter writer;
    writer.integer("split.no", number).integer("split.count", 2);
    writer.integer("split.tensors.count", 2);
    if (number == 0) writer.text("general.architecture", "bert");
    return writer.tensor("tensor." + std::to_string(number), {1}, 0, encode("F32", {1})).bytes();
  };
  const std::string first = folder.write("gguf/m-00001-of-00002.gguf", part(0));
  const std::string second = folder.write("gguf/m-00002-of-00002.gguf", part(1));
  for (const std::string& path : {folder.path() + "/gguf", first, second}) {
    const Checkpoint opened = open_checkpoint(path);
    CHECK(opened.tensors->tensors().size() == 2);
    CHECK(opened.config->text("model_type") == "bert");
  }
  folder.write("gguf/other.gguf", part(0));
  CHECK_THAT(failure_of([&] { open_checkpoint(folder.path() + "/gguf"); }).message,
             ContainsSubstring("3 .gguf files"));
  std::filesystem::remove(second);
  CHECK_THAT(failure_of([&] { open_checkpoint(first); }).item,
             ContainsSubstring("m-00002-of-00002.gguf"));
}

TEST_CASE("a folder with one file of torch.save is opened, whatever its name") {
  const TemporaryFolder folder;
  const Bytes saved = test_file("torch/nested.pt");
  const std::string path = folder.path() + "/run";
  folder.write("run/ckpt.pt", saved);
  for (const char* const state : {"optimizer.pt", "lr_scheduler.pt", "rng_state_0.pth", "scaler.pt",
                                  "zero_pp_rank_0_mp_rank_00_optim_states.pt"}) {
    folder.write(std::string("run/") + state, saved);
  }
  CHECK(find_checkpoints(folder.path()) == std::vector{path});
  CHECK(open_checkpoint(path).tensors->tensors().size() == 9);
  folder.write("run/ema.ckpt", saved);
  CHECK_THAT(failure_of([&] { open_checkpoint(path); }).message,
             ContainsSubstring("it holds 2 PyTorch files (ckpt.pt, ema.ckpt); name one of them"));
  folder.write("state/optimizer.bin", saved);
  CHECK_THAT(failure_of([&] { open_checkpoint(folder.path() + "/state"); }).message,
             ContainsSubstring("the largest file, optimizer.bin, is the state of a training"));
  folder.write("own/weights.bin", saved);
  CHECK_THAT(failure_of([&] { open_checkpoint(folder.path() + "/own"); }).message,
             ContainsSubstring("weights.bin: name it as the model instead of the folder"));
}

TEST_CASE("a file that is not as its name promises is refused in the words of its format") {
  const auto failure = [](const std::string& name, std::size_t bytes) {
    return failure_of([&] {
             open_tensors({{std::make_shared<MemorySource>(name, Bytes(bytes))}, nullptr, nullptr});
           })
        .message;
  };
  for (const std::string name : {"m.gguf", "m.safetensors", "m.pt"}) {
    CHECK(failure(name, 0) == name + ": it must have the weights of a model, but it is empty");
  }
  CHECK(failure("m.gguf", 99) == "m.gguf: it must begin as GGUF files do, with the letters GGUF");
  CHECK(failure("m.pt", 99) == "m.pt: it must begin as files of torch.save do, as a ZIP archive");
}

TEST_CASE("an index of 25 MB is read") {
  constexpr std::size_t kTensors = 280'000;
  std::string map;
  for (std::size_t i = 0; i < kTensors; ++i) {
    map +=
        (i == 0 ? "" : ",") +
        mapped("model.layers." + std::to_string(i) + ".mlp.experts.17.down_proj.weight_scale_inv",
               "model-" + std::to_string(i % 163) + "-of-00163.safetensors");
  }
  const std::string text = index_text(map);
  CHECK(text.size() > 25'000'000);
  const ShardIndex index = ShardIndex::parse(text, "index");
  CHECK(index.files().size() == 163);
}

TEST_CASE("a file that changes while it is read is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.write("m.safetensors", with(kKey, {5, 6, 7, 8}).bytes());
  const Safetensors file(std::make_shared<FileSource>(path));
  CHECK(file.read_rows(kKey, 0, 1)(0, 1) == 6);
  // As long as before, and written to.
  folder.write("m.safetensors", with(kKey, {1, 2, 3, 4}).bytes());
  std::filesystem::last_write_time(
      path, std::filesystem::last_write_time(path) + std::chrono::seconds(2));
  check_failure(failure_of([&] { file.read_rows(kKey, 0, 1); }), path, "changed while it was read");
}

// Sources of bytes, configurations, and finding both from a path.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "catch.h"
#include "checkpoint/config.h"
#include "checkpoint/open_checkpoint.h"
#include "checkpoint_failure.h"
#include "safetensors_writer.h"
#include "temporary_folder.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

Bytes read(ByteSource& source, std::uint64_t offset, std::size_t size) {
  Bytes bytes(size);
  source.read(offset, bytes);
  return bytes;
}

Bytes small_checkpoint() {
  return SafetensorsWriter().add("w", "F32", {2, 2}, {1, 2, 3, 4}).bytes();
}

}  // namespace

TEST_CASE("a source delivers ranges, counts them and refuses others", "[checkpoint]") {
  const Bytes bytes{std::byte{10}, std::byte{11}, std::byte{12}, std::byte{13}, std::byte{14}};
  const TemporaryFolder folder;
  FileSource file(folder.write("five", bytes));
  MemorySource memory("memory", bytes);
  for (ByteSource* source : {static_cast<ByteSource*>(&file), static_cast<ByteSource*>(&memory)}) {
    CAPTURE(source->name());
    CHECK(source->size() == 5);
    CHECK(read(*source, 3, 2) == Bytes{std::byte{13}, std::byte{14}});
    CHECK(read(*source, 0, 5) == bytes);
    CHECK(read(*source, 5, 0).empty());
    CHECK(source->bytes_read() == 7);
    for (const std::uint64_t offset : {std::uint64_t{4}, std::uint64_t{6}, ~std::uint64_t{0}}) {
      const Failure failure = failure_of([&] { read(*source, offset, 2); });
      CHECK(failure.kind == "format");
      CHECK(failure.item == source->name());
    }
    CHECK(source->bytes_read() == 7);
  }
}

TEST_CASE("a file that is no longer the one that was opened is refused", "[checkpoint]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("changing", Bytes(100));
  FileSource source(path);
  CHECK(read(source, 50, 50).size() == 50);
  std::filesystem::resize_file(path, 60);
  CHECK_THAT(failure_of([&] { read(source, 50, 50); }).message, ContainsSubstring("changed"));
  CHECK_THAT(failure_of([&] { read(source, 0, 10); }).message,
             ContainsSubstring("from 100 to 60 bytes"));
  std::filesystem::resize_file(path, 200);
  CHECK(failure_of([&] { read(source, 0, 10); }).kind == "format");
  std::filesystem::resize_file(path, 100);  // as long as before, but half of it is lost
  std::filesystem::last_write_time(
      path, std::filesystem::last_write_time(path) + std::chrono::seconds(2));
  CHECK_THAT(failure_of([&] { read(source, 0, 10); }).message, ContainsSubstring("written to"));
}

TEST_CASE("what is not a file is not opened", "[checkpoint]") {
  const TemporaryFolder folder;
  CHECK_THAT(failure_of([&] { FileSource(folder.path("absent")); }).message,
             ContainsSubstring("no such file"));
  CHECK_THAT(failure_of([&] { FileSource(folder.path()); }).message,
             ContainsSubstring("it must be a file, but it is a folder"));
}

#ifndef __EMSCRIPTEN__  // a sparse file is not to be had through node's file system
TEST_CASE("offsets beyond 4 GiB are read right", "[checkpoint]") {
  constexpr std::uint64_t kFar = (std::uint64_t{5} << 30) + 3;
  const TemporaryFolder folder;
  const std::string path = folder.write("sparse", Bytes(1));
  std::filesystem::resize_file(path, kFar);
  std::ofstream(path, std::ios::binary | std::ios::app) << "end";
  FileSource source(path);
  CHECK(source.size() == kFar + 3);
  CHECK(read(source, kFar, 3) == Bytes{std::byte{'e'}, std::byte{'n'}, std::byte{'d'}});
}
#endif

TEST_CASE("a configuration gives its plain values by their paths", "[checkpoint]") {
  const Config config = Config::parse(
      R"({"model_type":"bert","num_attention_heads":12,"hidden_size":384,"kv":null,"eps":1e-12,)"
      R"("text_config":{"num_attention_heads":99,"hidden_size":[{"num_attention_heads":1}]},)"
      R"("architectures":["BertModel",7,{"x":[]}],"zero":0,"text":"12","cache":true,"minus":-3,)"
      R"("half":1.5,"float":12.0,"huge":99999999999999999999,"long":4097})");
  CHECK(config.positive_integer("num_attention_heads", 4096) == 12u);
  CHECK(config.positive_integer("hidden_size", 4096) == 384u);
  CHECK(config.text("model_type") == "bert");
  CHECK_FALSE(config.positive_integer("absent", 4096).has_value());
  CHECK_FALSE(config.positive_integer("kv", 4096).has_value());
  CHECK_FALSE(config.text("kv").has_value());
  for (const std::string key : {"zero", "text", "cache", "minus", "half", "float", "huge", "long",
                                "eps", "architectures", "text_config"}) {
    check_failure(failure_of([&] { config.positive_integer(key, 4096); }), key,
                  "be an integer from 1 to 4096");
  }
  CHECK_THAT(failure_of([&] { config.positive_integer("minus", 9); }).message,
             ContainsSubstring("in config.json, but is -3"));
  CHECK(failure_of([&] { config.text("zero"); }).item == "zero");
  CHECK(config.positive_integer("text_config.num_attention_heads", 4096) == 99u);
  CHECK(config.positive_integer("text_config.hidden_size.0.num_attention_heads", 9) == 1u);
  CHECK(config.text("architectures.0") == "BertModel");
  CHECK(config.number("architectures.1", 0, 9) == 7.0);
  CHECK(config.has("architectures.2.x"));
  CHECK_FALSE(config.has("architectures.3"));
  CHECK_FALSE(config.has("architectures.2.x.0"));
  CHECK_FALSE(config.has("kv"));
}

TEST_CASE("numbers that only Python's JSON has are refused where they are asked for",
          "[checkpoint]") {
  const Config config =
      Config::parse(R"({"a":1,"limit":[0.5,Infinity,-Infinity,-2],"b":"a\\\"NaN",)"
                    R"("gap":NaN,"c":3,"on":true,"d":"Infinity"})",
                    "c.json");
  CHECK(config.positive_integer("a", 9) == 1u);
  CHECK(config.number("limit.0", 0, 1) == 0.5);
  CHECK(config.number("limit.3", -9, 0) == -2);
  CHECK(config.text("b") == "a\\\"NaN");
  CHECK(config.positive_integer("c", 9) == 3u);
  CHECK(config.flag("on") == true);
  CHECK(config.text("d") == "Infinity");
  for (const auto& [key, shown] :
       {std::pair{"gap", "NaN"}, {"limit.1", "Infinity"}, {"limit.2", "-Infinity"}}) {
    CHECK(failure_of([&, key = key] { config.number(key, -1e9, 1e9); }).message ==
          std::string(key) + ": it must be a number from -1e+09 to 1e+09 in c.json, but is " +
              shown);
    CHECK(failure_of([&, key = key] { config.positive_integer(key, 9); }).item == key);
  }
  CHECK_THAT(failure_of([] { Config::parse("{\"a\":Infinity,\n \"b\":x}"); }).message,
             ContainsSubstring("at line 2, column 6"));
}

TEST_CASE("a configuration takes no more memory than its share", "[checkpoint]") {
  const auto list = [](std::size_t count) {
    std::string text = R"({"a":[0)";
    for (std::size_t i = 1; i < count; ++i) text += ",0";
    return text + "]}";
  };
  CHECK(Config::parse(list(Config::kMostValues - 1))
            .has("a." + std::to_string(Config::kMostValues - 2)));
  CHECK_THAT(failure_of([&] { Config::parse(list(Config::kMostValues)); }).message,
             ContainsSubstring("more than 250000 values"));
  const std::string key(Config::kLongestPath - 2, 'k');
  const Config long_keys = Config::parse(R"({")" + key + R"(":{"a":1,"bb":2,"c":3}})");
  CHECK(long_keys.has(key + ".a"));
  CHECK_FALSE(long_keys.has(key + ".bb"));
  CHECK(long_keys.has(key + ".c"));
}

TEST_CASE("a configuration that is not a JSON object is refused", "[checkpoint]") {
  const std::string deep(33, '[');
  const std::string allowed = R"({"a":)" + std::string(31, '[') + std::string(31, ']') + "}";
  CHECK(failure_of([&] { Config::parse(allowed); }).kind == "none");
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("12"), std::string("null"),
        std::string("\"x\""), std::string("true"), std::string(R"({"a":1,"a":1})"),
        std::string(R"({"b":{"a":1,"a":1}})"), std::string(R"({"b":[{"a":1,"a":1}]})"),
        std::string("{\"a\":\"\xff\"}"), std::string("{}\0", 3), R"({"a":)" + deep,
        R"({"a":)" + std::string(100000, '['), std::string(R"({"a":NaN5})"),
        std::string(R"({"a":nan})"), std::string(R"({NaN:1})"), std::string("{} {}")}) {
    CAPTURE(text.substr(0, 50));
    const Failure failure = failure_of([&] { Config::parse(text, "c.json"); });
    CHECK(failure.kind == "format");
    CHECK(failure.item == "c.json");
  }
  // The same key in two objects is no duplicate.
  CHECK(failure_of([&] {
          Config::parse(R"({"a":{"k":1},"b":{"k":1},"k":[{"k":1},{"k":2}]})");
        }).kind == "none");
  MemorySource large("large.json", Bytes(Config::kLargestFile + 1));
  CHECK_THAT(failure_of([&] { Config::read(large); }).message, ContainsSubstring("at most"));
  CHECK(large.bytes_read() == 0);
}

TEST_CASE("a checkpoint is found from its file or its folder", "[checkpoint]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("weights.safetensors", small_checkpoint());
  CHECK_FALSE(open_checkpoint(file).config.has_value());
  CHECK_FALSE(open_checkpoint(folder.path()).config.has_value());
  folder.write("config.json", std::string(R"({"num_attention_heads":2})"));
  for (const std::string& path : {file, folder.path(), folder.path() + "/"}) {
    const Checkpoint checkpoint = open_checkpoint(path);
    CHECK(checkpoint.tensors->read_rows("w", 1, 2)(0, 1) == 4);
    REQUIRE(checkpoint.config.has_value());
    CHECK(checkpoint.config->positive_integer("num_attention_heads", 9) == 2u);
  }
  const std::string other = folder.write("other.json", std::string(R"({"num_attention_heads":5})"));
  CHECK(open_checkpoint(file, other).config->positive_integer("num_attention_heads", 9) == 5u);

  folder.write("second.safetensors", small_checkpoint());
  const Failure several = failure_of([&] { open_checkpoint(folder.path()); });
  CHECK_THAT(several.message, ContainsSubstring("second.safetensors, weights.safetensors"));
  folder.write("model.safetensors", small_checkpoint());
  CHECK_THAT(open_checkpoint(folder.path()).tensors->name(), EndsWith("model.safetensors"));
}

TEST_CASE("a path without a checkpoint is told what is missing", "[checkpoint]") {
  const TemporaryFolder folder;
  CHECK_THAT(failure_of([&] { open_checkpoint(folder.path("absent")); }).message,
             ContainsSubstring("no such file or folder"));
  CHECK_THAT(
      failure_of([&] { open_checkpoint(folder.path()); }).message,
      ContainsSubstring("no .safetensors, .gguf, pytorch_model.bin, .pt, .pth or .ckpt file"));
  CHECK(failure_of([&] { open_checkpoint(""); }).kind == "format");
  folder.write("config.json", std::string(R"({"num_attention_heads":2})"));
  const std::string gguf = "GGUF" + std::string(60, '\3');
  CHECK_THAT(failure_of([&] { open_checkpoint(folder.write("model.gguf", gguf)); }).message,
             ContainsSubstring("must be GGUF of version 2 or 3"));
  CHECK(find_files(folder.path()).model.front()->name() == folder.path("model.gguf"));
  std::filesystem::remove(folder.path("model.gguf"));
  const std::string zip = folder.write("model.bin", "PK\x03\x04" + std::string(60, '\3'));
  CHECK_THAT(failure_of([&] { open_checkpoint(folder.path()); }).message,
             ContainsSubstring("of a model in it; the largest file is " + zip + ": it is a ZIP"));
  const std::string file = folder.write("m.safetensors", small_checkpoint());
  const Failure failure = failure_of([&] { open_checkpoint(file, folder.path("c.json")); });
  CHECK(failure.item == folder.path("c.json"));
  folder.write("config.json", std::string("{"));
  CHECK(failure_of([&] { open_checkpoint(file); }).item == folder.path("config.json"));
}

// Files that are not .safetensors are named by their first bytes, with what to do about them.
#include <string>
#include <string_view>
#include <vector>

#include "catch.h"
#include "checkpoint/config.h"
#include "checkpoint/shard_index.h"
#include "checkpoint_failure.h"
#include "io/file_format.h"
#include "safetensors_writer.h"
#include "text/tokenizer.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using std::literals::operator""sv;

namespace {

Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

/// The beginning of a ZIP archive whose first file has this name.
std::string zip(const std::string& name) {
  std::string text = "PK\x03\x04" + std::string(26, '\0') + name + std::string(600, '\x01');
  text[26] = static_cast<char>(name.size());
  return text;
}

struct Sample {
  std::string_view what;
  std::string bytes;
  std::string_view words;
  std::string_view advice;
};

std::vector<Sample> samples() {
  const std::string tar = "weights/" + std::string(249, '\0') + "ustar" + std::string(300, '\0');
  return {
      // A low byte of 123, '{', in the count of tensors stands where a header would begin.
      {"GGUF", std::string("GGUF\3\0\0\0{\0\0\0\0\0\0\0"sv), "GGUF file", "gguf_file="},
      {"GGML", std::string("tjgg\3\0\0\0\0\0\0\0"sv), "GGML file", "original model"},
      {"torch.save", zip("pytorch_model/data.pkl"), "PyTorch file", "torch.load(FILE"},
      {"early torch.save", std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02"sv),
       "Python pickle", "torch.load(FILE"},
      {"npz", zip("w.npy"), "NumPy archive", "safetensors.numpy.save_file"},
      {"npy", std::string("\x93NUMPY\1\0v\0{'descr': '<f4'"sv), "NumPy array", "save_file"},
      {"another zip", zip("notes.txt"), "ZIP archive", "unpack"},
      {"HDF5", std::string("\x89HDF\r\n\x1a\n\0\0\0\0"sv), "HDF5", "from_tf=True"},
      {"ONNX",
       std::string("\x08\x08\x12\x07pytorch\x1a\x05"
                   "2.1.0:\xff"sv),
       "ONNX", "original model"},
      {"TensorFlow Lite", std::string("\x1c\0\0\0TFL3\x14\0\0\0"sv), "TensorFlow Lite", "original"},
      // Its first eight bytes are a length that a large file has room for.
      {"gzip", "\x1f\x8b\x08" + std::string(600000, '\0'), "gzip", "unpack"},
      {"xz",
       std::string("\xfd"
                   "7zXZ\0\0\4"sv),
       "xz archive", "unpack"},
      {"Zstandard", std::string("\x28\xb5\x2f\xfd\x04\x58\0\0"sv), "Zstandard", "unpack"},
      {"tar", tar, "tar archive", "unpack"},
      // Eight bytes that would be the length of a header of any size.
      {"JPEG", std::string("\xff\xd8\xff\xe0\0\x10JFIF\0\1\1"sv), "JPEG picture", "weights"},
      {"PNG", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv), "PNG picture", "weights"},
      {"GIF", "GIF89a\1\1\1\1\1", "GIF picture", "weights"},
      {"WebP", std::string("RIFF\x24\0\0\0WEBPVP8 "sv), "WebP picture", "weights"},
      {"PDF", "%PDF-1.7\n%\xe2\xe3\xcf\xd3", "PDF document", "weights"},
      {"MP4",
       std::string("\0\0\0\x20"
                   "ftypisom\0\0\2\0"sv),
       "video", "weights"},
      {"ELF",
       std::string("\x7f"
                   "ELF\2\1\1\0\0\0"sv),
       "program", "weights"},
      {"Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 548105171\n",
       "Git LFS pointer", "git lfs pull"},
      {"HTML", "<!DOCTYPE html>\n<html lang=\"en\"><title>404</title>", "web page", "/resolve/"},
      {"XML", "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code>", "XML", "download"},
      {"JSON", "{\"error\": \"Repository not found\"}", "JSON text", "weights"},
      {"text", "Call me Ishmael. Some years ago", "plain text", "weights"},
      {"a few letters", "no", "plain text", "weights"},
  };
}

}  // namespace

TEST_CASE("weights in another format are named, with a way to convert them", "[checkpoint]") {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.what);
    MemorySource source("a file", bytes_of(sample.bytes));
    const Failure failure = failure_of([&] { refuse_foreign_format(source); });
    CHECK(failure.kind == "format");
    check_failure(failure, "a file", sample.words, sample.advice);
    CHECK_THAT(failure.message, !ContainsSubstring("header"));
  }
}

TEST_CASE("a format is told from the first 512 bytes, cut anywhere", "[checkpoint]") {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.what);
    const Bytes all = bytes_of(sample.bytes);
    const auto first = std::span(all).first(std::min(all.size(), kFormatBytes));
    CHECK_THAT(foreign_format(first), ContainsSubstring(std::string(sample.words)));
    for (std::size_t size = 0; size <= first.size(); ++size) {
      foreign_format(first.first(size));  // no read beyond it, which the sanitizers see
    }
  }
}

TEST_CASE(".safetensors and unknown bytes have no other format", "[checkpoint]") {
  const Bytes good = SafetensorsWriter().add("w", "F32", {1}, {1.0}).bytes();
  CHECK(foreign_format(good) == "");
  // The length of this header has the first bytes of gzip.
  CHECK(foreign_format(frame("{" + std::string(0x8b1f - 1, ' '))) == "");
  CHECK(foreign_format(Bytes()) == "");
  CHECK(foreign_format(bytes_of("\x01\x02\x03\xfe\xff\x00\x01\x02\x03"sv)) == "");
  CHECK(foreign_format(bytes_of("\x08\x01\x12\x05\x01\x02\x03\x04\x05"sv)) == "");
}

TEST_CASE("JSON files that were not downloaded say so", "[checkpoint]") {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\nsize 9\n";
  const auto check = [&](auto read) {
    MemorySource source("some.json", bytes_of(pointer));
    check_failure(failure_of([&] { read(source); }), "some.json", "Git LFS pointer");
  };
  check([](ByteSource& source) { Config::read(source); });
  check([](ByteSource& source) { ShardIndex::read(source); });
  check([](ByteSource& source) { TextTokenizer::read(source); });
}

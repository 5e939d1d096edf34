// Fuzzes the .safetensors reader, the decoding of quantized weights, the families and the heads:
// whatever the bytes, the outcome is numbers or one of the library's two exceptions.
//
// Byte 0 of an input chooses the head count (low seven bits; 0 leaves it to an embedded config)
// and the framing (high bit). Without the high bit the rest is the file as it is. With it the rest
// up to the first NUL is a header, whose length is put in front, and what follows is the data; so
// that changes to the header need not find its new length. Seeds are in corpus/safetensors, the
// words of the format in safetensors.dict.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "checkpoint/dequantized.h"
#include "checkpoint/heads.h"
#include "support/error.h"

namespace {

using namespace eigenscope;

constexpr std::size_t kMostElements = 1 << 14;  // of a tensor, so that one input stays quick
constexpr std::size_t kMostHeads = 64;

std::vector<std::byte> framed(const std::uint8_t* data, std::size_t size) {
  const std::uint64_t header = std::find(data, data + size, 0) - data;
  const std::size_t rest = std::min<std::size_t>(size, header + 1);
  std::vector<std::byte> bytes(sizeof header + header + (size - rest));
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, data, header);
  std::copy(reinterpret_cast<const std::byte*>(data) + rest,
            reinterpret_cast<const std::byte*>(data) + size,
            bytes.begin() + static_cast<std::ptrdiff_t>(sizeof header + header));
  return bytes;
}

void read_tensor(const Safetensors& file, const std::string& name, const TensorInfo& info) {
  if ((info.end - info.begin) > kMostElements) return;
  try {
    if (info.shape.size() == 1) {
      file.read_vector(name);
    } else {
      file.read_rows(name, 0, info.shape.empty() ? 0 : info.shape[0]);
    }
  } catch (const FormatError&) {
  }
}

void scan_heads(const std::shared_ptr<const Safetensors>& file, int heads) {
  const Config config = Config::parse(R"({"num_attention_heads":2,"n_head":2,"n_heads":2,"nhead":2,
      "num_heads":2,"encoder_attention_heads":2,"decoder_attention_heads":2,
      "encoder_num_attention_heads":2,"decoder_num_attention_heads":2})");
  HeadScan scan(file, &config,
                {.heads = heads == 0 ? std::nullopt : std::optional(heads), .offset = {3}});
  std::size_t met = 0;
  while (!scan.done() && met < kMostHeads) {
    for (ScannedHead& scanned : scan.advance(1)) {
      const HeadFactors head = in_double(std::move(scanned));
      ++met;
      // What comes out as a head is finite and of one shape; anything else is a finding.
      if (!head.query.allFinite() || !head.key.allFinite()) std::abort();
      if (head.query.rows() != head.key.rows() || head.query.cols() != head.key.cols())
        std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  std::vector<std::byte> bytes;
  if (choice & 0x80) {
    bytes = framed(data + 1, size - 1);
  } else {
    bytes.resize(size - 1);
    std::copy(data + 1, data + size, reinterpret_cast<std::uint8_t*>(bytes.data()));
  }
  try {
    const auto file = std::make_shared<const Safetensors>(
        std::make_shared<MemorySource>("fuzz.safetensors", std::move(bytes)));
    for (const auto& [name, info] : file->tensors()) read_tensor(*file, name, info);
    constexpr std::string_view kConfig =
        R"({"quantization":{"bits":4,"group_size":8},"quantization_config":{"bits":4}})";
    const auto text = std::as_bytes(std::span(kConfig));
    MemorySource config("config.json", {text.begin(), text.end()});
    const auto decoded = dequantized(file, &config);
    for (const auto& [name, info] : decoded->tensors()) read_tensor(*decoded, name, info);
    scan_heads(decoded, choice & 0x7f);
  } catch (const FormatError&) {
  } catch (const InvalidArgument&) {
  }
  return 0;
}

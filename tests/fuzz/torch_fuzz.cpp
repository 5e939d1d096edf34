// Fuzzes the ZIP directory and the view of a file of torch.save as .safetensors: whatever the bytes, the outcome is
// numbers or a FormatError. Seeds are in corpus/torch, words in torch.dict.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "checkpoint/safetensors.h"
#include "checkpoint/torch_file.h"
#include "checkpoint/zip_directory.h"
#include "support/error.h"

using namespace eigenscope;

namespace {

constexpr std::uint64_t kMostElements = 1 << 14;  // of a tensor, so that one input stays quick

void read_places(const std::shared_ptr<ByteSource>& source) {
  const ZipDirectory archive(source);
  for (const auto& [name, file] : archive.files()) {
    try {
      std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(file.size, kMostElements)));
      archive.read(archive.begin_of(name), bytes);
    } catch (const FormatError&) {
    }
  }
}

void read_tensors(const std::shared_ptr<ByteSource>& source) {
  const Safetensors tensors(safetensors_of_torch(source));
  for (const auto& [name, info] : tensors.tensors()) {
    std::uint64_t count = 1;
    for (const std::uint64_t side : info.shape) count *= side;
    if (count > kMostElements) continue;
    std::vector<double> numbers(static_cast<std::size_t>(count));
    try {
      tensors.read_elements(name, 0, numbers);
    } catch (const FormatError&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::copy(data, data + size, reinterpret_cast<std::uint8_t*>(bytes.data()));
  const auto source = std::make_shared<MemorySource>("fuzz.bin", std::move(bytes));
  is_torch_file(*source);
  for (const auto read : {read_places, read_tensors}) {
    try {
      read(source);
    } catch (const FormatError&) {
    }
  }
  return 0;
}

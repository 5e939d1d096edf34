// Fuzzes the GGUF reader and its view as .safetensors: whatever the bytes, the outcome is numbers or one of the
// library's two exceptions.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/gguf.h"
#include "support/error.h"

using namespace eigenscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kMostElements = 1 << 14;  // of a tensor, so that one input stays quick
  std::vector<std::byte> bytes(size);
  std::copy(data, data + size, reinterpret_cast<std::uint8_t*>(bytes.data()));
  const auto source = std::make_shared<MemorySource>("fuzz.gguf", std::move(bytes));
  try {
    const Safetensors tensors(safetensors_of_gguf({source}), "fuzz.gguf");
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
  } catch (const FormatError&) {
  }
  try {
    config_of_gguf({source});
  } catch (const FormatError&) {
  }
  return 0;
}

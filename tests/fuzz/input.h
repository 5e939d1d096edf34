// What fuzz targets of checkpoint formats share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "checkpoint/safetensors.h"
#include "io/byte_source.h"
#include "support/error.h"

namespace eigenscope {

inline constexpr std::uint64_t kMostElements = 1
                                               << 14;  // of a tensor, so that one input stays quick

/// The input as a file of this name.
inline std::shared_ptr<ByteSource> source_of(const char* name, const std::uint8_t* data,
                                             std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::copy(data, data + size, reinterpret_cast<std::uint8_t*>(bytes.data()));
  return std::make_shared<MemorySource>(name, std::move(bytes));
}

/// Reads every tensor that is small enough; one that cannot be read is left out.
inline void read_tensors(const Safetensors& file) {
  for (const auto& [name, info] : file.tensors()) {
    std::uint64_t count = 1;
    for (const std::uint64_t side : info.shape) count *= side;
    if (count > kMostElements) continue;
    std::vector<double> numbers(static_cast<std::size_t>(count));
    try {
      file.read_elements(name, 0, numbers);
    } catch (const FormatError&) {
    }
  }
}

}  // namespace eigenscope

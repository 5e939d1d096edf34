#include "checkpoint/write_safetensors.h"

#include <Eigen/Core>

#include "checkpoint/safetensors_header.h"
#include "io/json.h"

namespace eigenscope {
namespace {

void append(std::vector<std::byte>& bytes, const void* data, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

// Codes of 16 bits, rounded to the nearest, ties to even.
template <class Code>
void append_rounded(std::vector<std::byte>& bytes, std::span<const float> values) {
  for (const float value : values) {
    const Code code(value);
    append(bytes, &code, sizeof code);
  }
}

}  // namespace

std::vector<std::byte> write_safetensors(const std::vector<TensorToWrite>& tensors,
                                         const std::map<std::string, std::string>& metadata,
                                         TensorFormat format) {
  const char* const dtype = format == TensorFormat::f32   ? "F32"
                            : format == TensorFormat::f16 ? "F16"
                                                          : "BF16";
  const std::size_t size = format == TensorFormat::f32 ? 4 : 2;
  std::string header = "{\"__metadata__\":" + write_json(metadata);
  std::uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    const std::uint64_t end = offset + size * tensor.values.size();
    header += "," + header_entry(tensor.name, dtype, tensor.shape, offset, end);
    offset = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');  // aligns the data, as the format recommends
  std::vector<std::byte> bytes;
  bytes.reserve(8 + header.size() + static_cast<std::size_t>(offset));
  const std::uint64_t length = header.size();
  append(bytes, &length, sizeof length);
  append(bytes, header.data(), header.size());
  for (const TensorToWrite& tensor : tensors) {
    if (format == TensorFormat::f16) {
      append_rounded<Eigen::half>(bytes, tensor.values);
    } else if (format == TensorFormat::bf16) {
      append_rounded<Eigen::bfloat16>(bytes, tensor.values);
    } else {
      append(bytes, tensor.values.data(), tensor.values.size_bytes());
    }
  }
  return bytes;
}

}  // namespace eigenscope

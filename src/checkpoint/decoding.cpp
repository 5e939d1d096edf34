#include "checkpoint/decoding.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace eigenscope {
namespace {

void decode_inputs_first(const QuantizedWeight& weight, const DecodingTables& tables,
                         std::uint64_t first, std::span<float> out) {
  const std::uint64_t each = 32 / weight.bits;
  const std::uint32_t mask = (1u << weight.bits) - 1;
  const bool is_awq = weight.packing == Packing::awq;
  std::uint64_t output = first / weight.columns, input = first % weight.columns;
  for (float& value : out) {
    const std::uint64_t word =
        is_awq ? input * (weight.rows / each) + output / each : input / each * weight.rows + output;
    const std::uint64_t place =
        is_awq ? kAwqPlaces[static_cast<std::size_t>(output % each)] : input % each;
    const std::uint32_t code =
        tables.words[static_cast<std::size_t>(word)] >> (place * weight.bits) & mask;
    const auto block = static_cast<std::size_t>(
        tables.groups[static_cast<std::size_t>(input)] * weight.rows + output);
    value = static_cast<float>(code) * tables.scales[block] + tables.offsets[block];
    if (++input < weight.columns) continue;
    input = 0;
    ++output;
  }
}

}  // namespace

void decode_weight(const Safetensors& file, const QuantizedWeight& weight,
                   const DecodingTables& tables, std::uint64_t first, std::span<float> out) {
  if (weight.inputs_first()) return decode_inputs_first(weight, tables, first, out);
  const std::uint64_t begin = first * weight.bits / 8,
                      end = ((first + out.size()) * weight.bits + 7) / 8;
  const auto count = static_cast<std::size_t>(end - begin);
  std::vector<std::byte> codes(count + 1);  // a code may lie in two bytes
  file.read_bytes(weight.codes, begin, std::span(codes).first(count));
  const unsigned mask = (1u << weight.bits) - 1;
  const std::uint64_t length = weight.row_length();
  const bool is_sorted = !tables.groups.empty();
  for (std::size_t i = 0; i < out.size();) {
    const std::uint64_t element = first + i, row = element / length, column = element % length;
    const auto block =
        static_cast<std::size_t>(row / weight.block_rows * weight.scale_columns() +
                                 (is_sorted ? tables.groups[static_cast<std::size_t>(column)]
                                            : column / weight.block_columns));
    const float scale = tables.scales[block];
    const float offset = tables.offsets.empty() ? 0 : tables.offsets[block];
    const std::uint64_t same = is_sorted
                                   ? 1
                                   : std::min({weight.block_columns - column % weight.block_columns,
                                               length - column, std::uint64_t{out.size() - i}});
    for (const std::size_t stop = i + static_cast<std::size_t>(same); i < stop; ++i) {
      const std::uint64_t bit = (first + i) * weight.bits - begin * 8;
      const auto byte = static_cast<std::size_t>(bit / 8);
      const unsigned pair =
          std::to_integer<unsigned>(codes[byte]) | std::to_integer<unsigned>(codes[byte + 1]) << 8;
      const auto place = static_cast<unsigned>(bit % 8);
      const unsigned shift = weight.high_first ? 8 - weight.bits - place : place;
      out[i] = tables.values[pair >> shift & mask] * scale + offset;
    }
  }
}

void decode_stacked_blocks(const Safetensors& file, const QuantizedWeight& weight,
                           std::uint64_t first, std::span<float> out) {
  static const CodeTable values = fp4_table(), powers = byte_table(Dtype::kF8E8M0);
  const std::uint64_t size = weight.block_columns, begin = first / size,
                      end = (first + out.size() + size - 1) / size;
  std::vector<std::byte> scales(static_cast<std::size_t>(end - begin));
  std::vector<std::byte> codes(scales.size() * static_cast<std::size_t>(size / 2));
  file.read_bytes(weight.scales, begin, scales);
  file.read_bytes(weight.codes, begin * size / 2, codes);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<std::size_t>(first + i - begin * size);
    const auto pair = std::to_integer<unsigned>(codes[at / 2]);
    const auto scale = std::to_integer<unsigned>(scales[at / static_cast<std::size_t>(size)]);
    out[i] = values[at % 2 == 0 ? pair & 15 : pair >> 4] * powers[scale];
  }
}

}  // namespace eigenscope

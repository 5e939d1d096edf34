#include "checkpoint/decoding_tables.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/config.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

/// The value of a small float with a sign bit, `exponent_bits` and `mantissa_bits`; without infinities or NaN.
float small_float(unsigned code, unsigned exponent_bits, unsigned mantissa_bits) {
  const unsigned sign = code >> (exponent_bits + mantissa_bits) & 1;
  const unsigned exponent = code >> mantissa_bits & ((1u << exponent_bits) - 1);
  const unsigned mantissa = code & ((1u << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned whole = exponent == 0 ? mantissa : mantissa | 1u << mantissa_bits;
  const int power =
      static_cast<int>(std::max(exponent, 1u)) - bias - static_cast<int>(mantissa_bits);
  const float magnitude = std::ldexp(static_cast<float>(whole), power);
  return sign == 1 ? -magnitude : magnitude;
}

template <class ValueOf>
CodeTable table_of(ValueOf value_of) {
  CodeTable table;
  for (unsigned code = 0; code < table.size(); ++code) table[code] = value_of(code);
  return table;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The integers code - middle.
CodeTable integers(float middle) {
  return table_of([=](unsigned code) { return static_cast<float>(code) - middle; });
}

}  // namespace

CodeTable byte_table(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF8E4M3:
      return table_of(
          [](unsigned code) { return (code & 127) == 127 ? kNan : small_float(code, 4, 3); });
    case Dtype::kF8E5M2:
      return table_of(
          [](unsigned code) { return half_to_float(static_cast<std::uint16_t>(code << 8)); });
    case Dtype::kI8:
      return table_of(
          [](unsigned code) { return static_cast<float>(static_cast<std::int8_t>(code)); });
    default:  // F8_E8M0
      return table_of([](unsigned code) {
        return code == 255 ? kNan : std::ldexp(1.0F, static_cast<int>(code) - 127);
      });
  }
}

CodeTable fp4_table() {
  return table_of([](unsigned code) { return small_float(code & 15, 2, 1); });
}

namespace {

/// Reads the decoding tables of one weight.
class TableReader {
 public:
  TableReader(const Safetensors& file, const QuantizedWeight& weight)
      : file_(file), weight_(weight) {}

  DecodingTables read() const {
    DecodingTables tables;
    tables.scales = numbers(weight_.scales);
    switch (weight_.packing) {
      case Packing::scaled:
      case Packing::bitsandbytes8:
        tables.values = byte_table(file_.tensor(weight_.codes).dtype);
        if (weight_.packing == Packing::bitsandbytes8) scale(tables, 1.0F / 127);
        if (weight_.packing == Packing::scaled && has("weight_zero_point")) {
          tables.offsets = numbers(name("weight_zero_point"));
          for (std::size_t k = 0; k < tables.offsets.size(); ++k)
            tables.offsets[k] *= -tables.scales[k];
        }
        break;
      case Packing::nvfp4:
        tables.values = fp4_table();
        if (std::any_of(tables.scales.begin(), tables.scales.end(),
                        [](float scale) { return std::signbit(scale); })) {
          refuse_item(weight_.scales, "its numbers must have no sign, as those of NVFP4");
        }
        if (has("weight_global_scale")) {
          const float whole = only_number("weight_global_scale");
          if (!(whole > 0)) refuse_item(name("weight_global_scale"), "it must be above 0");
          scale(tables, 1 / whole);
        } else if (has("weight_scale_2")) {
          scale(tables, only_number("weight_scale_2"));
        }
        break;
      case Packing::compressed:
        tables.values = integers(static_cast<float>(1u << (weight_.bits - 1)));
        if (has("weight_zero_point")) add_zero_points(tables);
        break;
      case Packing::mlx:
        tables.values = has("biases") ? integers(0) : fp4_table();
        if (has("biases")) tables.offsets = numbers(name("biases"));
        break;
      case Packing::bitsandbytes4:
        read_four_bits(tables);
        break;
      case Packing::awq:
      case Packing::gptq:
        read_inputs_first(tables);
        break;
      case Packing::stacked_blocks:  // decoded without tables of a whole tensor
      case Packing::unknown:
        break;
    }
    if (weight_.has_order) read_order(tables);
    return tables;
  }

 private:
  std::string name(std::string_view ending) const { return weight_.base + std::string(ending); }
  bool has(std::string_view ending) const { return file_.tensors().contains(name(ending)); }

  static void scale(DecodingTables& tables, float by) {
    for (float& value : tables.scales) value *= by;
  }

  std::vector<std::byte> bytes(const std::string& tensor) const {
    const TensorInfo& info = file_.tensor(tensor);
    std::vector<std::byte> bytes(static_cast<std::size_t>(info.end - info.begin));
    file_.read_bytes(tensor, 0, bytes);
    return bytes;
  }

  std::vector<std::uint32_t> words(const std::string& tensor) const {
    const std::vector<std::byte> raw = bytes(tensor);
    std::vector<std::uint32_t> words(raw.size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), raw.data(), words.size() * sizeof(std::uint32_t));
    return words;
  }

  /// All elements of a tensor; codes of one byte are decoded by byte_table().
  std::vector<float> numbers(const std::string& tensor) const {
    const TensorInfo& info = file_.tensor(tensor);
    if (is_decodable(info.dtype)) {
      std::vector<float> values(
          static_cast<std::size_t>((info.end - info.begin) * 8 / dtype_bits(info.dtype)));
      file_.read_elements(tensor, 0, std::span<float>(values));
      return values;
    }
    if (dtype_bits(info.dtype) != 8)
      refuse_item(tensor, "its type must be F32, F16, BF16 or one of 8 bits, but it is " +
                              std::string(dtype_name(info.dtype)));
    const CodeTable table = byte_table(info.dtype);
    std::vector<float> values;
    for (const std::byte code : bytes(tensor))
      values.push_back(table[std::to_integer<unsigned>(code)]);
    return values;
  }

  float only_number(std::string_view ending) const {
    const std::vector<float> values = numbers(name(ending));
    if (values.size() == 1) return values.front();
    refuse_item(name(ending), "it must have one element, but has " + std::to_string(values.size()));
  }

  /// Zeros are packed along the rows.
  void add_zero_points(DecodingTables& tables) const {
    const std::vector<std::uint32_t> zeros = words(name("weight_zero_point"));
    const std::uint64_t groups = weight_.scale_columns(), each = 32 / weight_.bits;
    const std::uint32_t mask = (1u << weight_.bits) - 1;
    for (std::uint64_t row = 0; row < weight_.rows; ++row) {
      for (std::uint64_t group = 0; group < groups; ++group) {
        const std::uint32_t word = zeros[static_cast<std::size_t>(row / each * groups + group)];
        const std::uint32_t zero = word >> (row % each * weight_.bits) & mask;
        const float scale = tables.scales[static_cast<std::size_t>(row * groups + group)];
        const auto middle = static_cast<float>(1u << (weight_.bits - 1));
        tables.offsets.push_back((middle - static_cast<float>(zero)) * scale);
      }
    }
  }

  /// The groups of the columns, unless one of them is -1, which compressed-tensors takes for blocks in their order.
  void read_order(DecodingTables& tables) const {
    tables.groups = words(name("weight_g_idx"));
    if (std::count(tables.groups.begin(), tables.groups.end(), ~std::uint32_t{0}) > 0)
      return tables.groups.clear();
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(weight_.scale_columns()));
    for (const std::uint32_t group : tables.groups) {
      if (group >= sizes.size() || ++sizes[group] > weight_.block_columns)
        refuse_item(name("weight_g_idx"),
                    {"it must have ", std::to_string(sizes.size()), " groups of ",
                     std::to_string(weight_.block_columns), " columns"});
    }
  }

  void read_four_bits(DecodingTables& tables) const {
    const std::vector<float> map = numbers(name("weight.quant_map"));
    std::copy_n(map.begin(), 16, tables.values.begin());
    if (file_.tensor(weight_.scales).dtype != Dtype::kU8) return;
    // Scales are codes themselves, with scales of blocks of 256 and a common offset.
    const std::vector<float> outer = numbers(name("weight.nested_absmax"));
    const std::vector<float> nested = numbers(name("weight.nested_quant_map"));
    const std::vector<std::byte> text = bytes(weight_.state);
    const Config facts = Config::parse(
        std::string_view(reinterpret_cast<const char*>(text.data()), text.size()), weight_.state);
    const auto block = facts.positive_integer("nested_blocksize", 1 << 20);
    const auto offset = facts.number("nested_offset", -1e6, 1e6);
    const std::vector<std::byte> codes = bytes(weight_.scales);
    if (!block || !offset || nested.size() != 256 ||
        outer.size() < (codes.size() + *block - 1) / *block) {
      refuse_item(weight_.state,
                  "it must have the size of the blocks of 'weight.nested_absmax', which must "
                  "cover 'weight.absmax', with a table of 256 numbers, and 'nested_offset'");
    }
    for (std::size_t k = 0; k < codes.size(); ++k) {
      tables.scales[k] = nested[std::to_integer<std::size_t>(codes[k])] *
                             outer[k / static_cast<std::size_t>(*block)] +
                         static_cast<float>(*offset);
    }
  }

  void read_inputs_first(DecodingTables& tables) const {
    tables.values = integers(0);
    tables.words = words(weight_.codes);
    const std::vector<std::uint32_t> zeros = words(name("qzeros"));
    const std::uint32_t mask = (1u << weight_.bits) - 1;
    const std::uint64_t each = 32 / weight_.bits;
    const bool is_awq = weight_.packing == Packing::awq;
    for (std::size_t k = 0; k < tables.scales.size(); ++k) {
      const std::uint64_t output = k % weight_.rows, group = k / weight_.rows;
      const std::uint32_t word =
          zeros[static_cast<std::size_t>(group * (weight_.rows / each) + output / each)];
      const std::uint64_t place =
          is_awq ? kAwqPlaces[static_cast<std::size_t>(output % each)] : output % each;
      const std::uint32_t zero = (word >> (place * weight_.bits) & mask) + weight_.zero_step;
      if (zero > mask) {
        refuse_item(name("qzeros"), {"it must have zeros below ", std::to_string(mask),
                                     ", as programs read one of ", std::to_string(mask),
                                     ", stored less 1, in several ways; save the model in the "
                                     "format gptq_v2"});
      }
      tables.offsets.push_back(-static_cast<float>(zero) * tables.scales[k]);
    }
    const std::uint64_t count = weight_.scale_columns();
    if (!is_awq && has("g_idx")) {
      tables.groups = words(name("g_idx"));
      for (const std::uint32_t group : tables.groups) {
        if (group >= count)
          refuse_item(name("g_idx"), {"it must have groups below ", std::to_string(count),
                                      ", but has ", std::to_string(group)});
      }
      // Programs that read g_idx at all take zeros alone for columns in their order.
      const auto is_first = [](std::uint32_t group) { return group == 0; };
      if (count == 1 || !std::all_of(tables.groups.begin(), tables.groups.end(), is_first)) return;
      if (!weight_.in_order) {
        refuse_item(name("g_idx"), {"it must not be 0 alone beside ", std::to_string(count),
                                    " groups, unless 'desc_act' in config.json is false"});
      }
      tables.groups.clear();
    }
    for (std::uint64_t input = 0; input < weight_.columns; ++input)
      tables.groups.push_back(static_cast<std::uint32_t>(input / weight_.block_columns));
  }

  const Safetensors& file_;
  const QuantizedWeight& weight_;
};

}  // namespace

DecodingTables decoding_tables(const Safetensors& file, const QuantizedWeight& weight) {
  return TableReader(file, weight).read();
}

}  // namespace eigenscope

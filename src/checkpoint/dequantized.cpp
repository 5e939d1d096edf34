#include "checkpoint/dequantized.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/config.h"
#include "checkpoint/quantization.h"
#include "checkpoint/quantized_weight.h"
#include "checkpoint/safetensors_view.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

using Table = std::array<float, 256>;

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
Table table_of(ValueOf value_of) {
  Table table;
  for (unsigned code = 0; code < table.size(); ++code) table[code] = value_of(code);
  return table;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The values of one byte: of FP8, of a signed integer, and of a power of two (the scales of MX formats).
Table byte_table(Dtype dtype) {
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

/// Whole numbers, less `middle`.
Table integers(float middle) {
  return table_of([=](unsigned code) { return static_cast<float>(code) - middle; });
}

Table fp4() {
  return table_of([](unsigned code) { return small_float(code & 15, 2, 1); });
}

/// What is read once for a weight.
struct DecodingTables {
  Table values{};
  std::vector<float>
      scales;  ///< rows of blocks x columns of blocks; of `inputs_first` groups x outputs
  std::vector<float> offsets;         ///< in the same order; empty for none
  std::vector<std::uint32_t> words;   ///< of `inputs_first`: all codes
  std::vector<std::uint32_t> groups;  ///< of `inputs_first`: of each input
};

/// The place of output k of eight in a number of AWQ.
constexpr std::array<unsigned, 8> kAwqPlaces{0, 4, 1, 5, 2, 6, 3, 7};

/// Reads what decodes a weight.
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
        tables.values = fp4();
        if (std::any_of(tables.scales.begin(), tables.scales.end(),
                        [](float scale) { return std::signbit(scale); })) {
          refuse_item(weight_.scales, "its numbers must have no sign, as those of NVFP4");
        }
        if (has("weight_global_scale")) {
          const float whole = only_number("weight_global_scale");
          if (!(whole > 0)) refuse_item(name("weight_global_scale"), "it must be above 0");
          scale(tables, 1 / whole);
        } else {
          scale(tables, only_number("weight_scale_2"));
        }
        break;
      case Packing::compressed:
        tables.values = integers(static_cast<float>(1u << (weight_.bits - 1)));
        if (has("weight_zero_point")) add_zero_points(tables);
        break;
      case Packing::mlx:
        tables.values = has("biases") ? integers(0) : fp4();
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

  /// All elements of a tensor; those of one byte that are no integers as FP8 or powers of two.
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
    const Table table = byte_table(info.dtype);
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
      // Programs take 0 alone for no order where they look at it at all.
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

class DequantizedView final : public SafetensorsView {
 public:
  DequantizedView(std::shared_ptr<const Safetensors> file, const std::vector<ViewedTensor>& tensors,
                  std::vector<QuantizedWeight> weights)
      : SafetensorsView(file->name(), tensors),
        file_(std::move(file)),
        tensors_(tensors),
        weights_(std::move(weights)) {}

 private:
  /// The decoded weights come first.
  void read_tensor(std::size_t place, std::uint64_t offset, std::span<std::byte> out) override {
    if (place >= weights_.size()) return file_->read_bytes(tensors_[place].name, offset, out);
    const QuantizedWeight& weight = weights_[place];
    if (weight.packing == Packing::stacked_blocks) {
      return read_computed<float>(offset, out, [&](std::uint64_t first, std::span<float> values) {
        decode_blocks(weight, first, values);
      });
    }
    const DecodingTables& tables = tables_of(place);
    read_computed<float>(offset, out, [&](std::uint64_t first, std::span<float> values) {
      decode(weight, tables, first, values);
    });
  }

  /// Reads no scales but those of these elements: the stacked experts of a layer have many.
  void decode_blocks(const QuantizedWeight& weight, std::uint64_t first,
                     std::span<float> out) const {
    static const Table values = fp4(), powers = byte_table(Dtype::kF8E8M0);
    const std::uint64_t size = weight.block_columns, begin = first / size,
                        end = (first + out.size() + size - 1) / size;
    std::vector<std::byte> scales(static_cast<std::size_t>(end - begin));
    std::vector<std::byte> codes(scales.size() * static_cast<std::size_t>(size / 2));
    file_->read_bytes(weight.scales, begin, scales);
    file_->read_bytes(weight.codes, begin * size / 2, codes);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto at = static_cast<std::size_t>(first + i - begin * size);
      const auto pair = std::to_integer<unsigned>(codes[at / 2]);
      const auto scale = std::to_integer<unsigned>(scales[at / static_cast<std::size_t>(size)]);
      out[i] = values[at % 2 == 0 ? pair & 15 : pair >> 4] * powers[scale];
    }
  }

  const DecodingTables& tables_of(std::size_t place) {
    return tables_.get(place, [&] {
      DecodingTables tables = TableReader(*file_, weights_[place]).read();
      check(weights_[place], tables);
      return tables;
    });
  }

  static void check(const QuantizedWeight& weight, const DecodingTables& tables) {
    const std::uint64_t scales = weight.scale_rows() * weight.scale_columns();
    if (tables.scales.size() == scales &&
        (tables.offsets.empty() || tables.offsets.size() == scales))
      return;
    refuse_item(weight.scales,
                {"it must have ", std::to_string(scales), " elements for '",
                 shown_name(weight.codes), "', but has ", std::to_string(tables.scales.size())});
  }

  void decode(const QuantizedWeight& weight, const DecodingTables& tables, std::uint64_t first,
              std::span<float> out) const {
    if (weight.inputs_first()) return decode_inputs_first(weight, tables, first, out);
    const std::uint64_t begin = first * weight.bits / 8,
                        end = ((first + out.size()) * weight.bits + 7) / 8;
    std::vector<std::byte> codes(static_cast<std::size_t>(end - begin));
    file_->read_bytes(weight.codes, begin, codes);
    const unsigned each = 8 / weight.bits, mask = (1u << weight.bits) - 1;
    const unsigned log_each = each == 4 ? 2 : each - 1;
    for (std::size_t i = 0; i < out.size();) {
      const std::uint64_t element = first + i, row = element / weight.columns,
                          column = element % weight.columns;
      const auto block = static_cast<std::size_t>(row / weight.block_rows * weight.scale_columns() +
                                                  column / weight.block_columns);
      const float scale = tables.scales[block];
      const float offset = tables.offsets.empty() ? 0 : tables.offsets[block];
      const std::uint64_t same = std::min({weight.block_columns - column % weight.block_columns,
                                           weight.columns - column, std::uint64_t{out.size() - i}});
      for (const std::size_t stop = i + static_cast<std::size_t>(same); i < stop; ++i) {
        const std::uint64_t at = first + i;
        const auto byte =
            std::to_integer<unsigned>(codes[static_cast<std::size_t>((at >> log_each) - begin)]);
        const unsigned place = static_cast<unsigned>(at) & (each - 1);
        const unsigned shift = (weight.high_first ? each - 1 - place : place) * weight.bits;
        out[i] = tables.values[byte >> shift & mask] * scale + offset;
      }
    }
  }

  static void decode_inputs_first(const QuantizedWeight& weight, const DecodingTables& tables,
                                  std::uint64_t first, std::span<float> out) {
    const std::uint64_t each = 32 / weight.bits;
    const std::uint32_t mask = (1u << weight.bits) - 1;
    const bool is_awq = weight.packing == Packing::awq;
    std::uint64_t output = first / weight.columns, input = first % weight.columns;
    for (float& value : out) {
      const std::uint64_t word = is_awq ? input * (weight.rows / each) + output / each
                                        : input / each * weight.rows + output;
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

  std::shared_ptr<const Safetensors> file_;
  std::vector<ViewedTensor> tensors_;
  std::vector<QuantizedWeight> weights_;
  LastParts<DecodingTables> tables_;
};

/// Endings of the tensors of a quantized layer that are read with its codes, or that belong to the activations, between
/// spaces.
constexpr std::string_view kOfQuantization =
    " weight qweight weight_packed weight_scale weight_scale_inv weight_scale_2 "
    "weight_global_scale weight_zero_point weight_shape scale scales biases qzeros g_idx SCB "
    "weight_format weight.absmax weight.quant_map weight.nested_absmax "
    "weight.nested_quant_map weight.quant_state.bitsandbytes__nf4 "
    "weight.quant_state.bitsandbytes__fp4 input_scale input_global_scale "
    "input_zero_point input_scale_ub activation_scale output_scale output_zero_point k_scale "
    "v_scale "
    "q_scale ";

constexpr std::array<std::string_view, 3> kCacheScales{".q_scale", ".k_scale", ".v_scale"};

/// What the names of the tensors of a layer begin with, its dot included, for a tensor that may be its codes.
std::optional<std::string> base_of(const std::string& name) {
  constexpr std::array<std::string_view, 3> kCodes{".weight", kPackedWeights[0], kPackedWeights[1]};
  for (const std::string_view ending : kCodes) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size() + 1);
  }
  return std::nullopt;
}

/// Whether a tensor beside the weights scales queries, or keys and values in the cache: as one number, or one a head.
bool is_scale_of_cache(const std::string& name, const TensorInfo& info) {
  const bool is_named = std::any_of(kCacheScales.begin(), kCacheScales.end(),
                                    [&](std::string_view it) { return name.ends_with(it); });
  const std::size_t first = info.shape.size() == 3 ? 1 : 0;
  return is_named && std::all_of(info.shape.begin() + static_cast<std::ptrdiff_t>(first),
                                 info.shape.end(), [](std::uint64_t side) { return side == 1; });
}

}  // namespace

std::shared_ptr<const Safetensors> dequantized(std::shared_ptr<const Safetensors> file,
                                               ByteSource* config) {
  const std::map<std::string, TensorInfo>& tensors = file->tensors();
  std::optional<Config> own;
  if (config != nullptr) own = Config::read(*config);
  if (own) refuse_quantized_online(*own);
  std::vector<QuantizedWeight> weights;
  std::vector<ViewedTensor> viewed;
  std::set<std::string> bases, stacked;
  for (const auto& [name, info] : tensors) {
    if (name.ends_with(kStackedBlocks)) {
      std::optional<QuantizedWeight> weight = stacked_blocks(tensors, name, info);
      if (!weight) continue;
      const std::uint64_t bytes = (info.end - info.begin) * 2 * sizeof(float);
      viewed.push_back({name, "F32", {weight->matrices, weight->rows, weight->columns}, bytes});
      stacked.insert({name, weight->scales});
      weights.push_back(std::move(*weight));
      continue;
    }
    const std::optional<std::string> base = base_of(name);
    if (!base || is_decodable(info.dtype) || bases.contains(*base)) continue;
    std::optional<QuantizedWeight> weight =
        quantized_weight(*file, own ? &*own : nullptr, {tensors, *base});
    if (!weight) continue;
    bases.insert(*base);
    constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;
    if (weight->columns > kMostElements / weight->rows)
      refuse_item(name, "its weight must have less than 2^40 elements");
    viewed.push_back({*base + "weight",
                      "F32",
                      {weight->rows, weight->columns},
                      weight->rows * weight->columns * sizeof(float)});
    weights.push_back(std::move(*weight));
  }
  const bool is_told = own && own->has_keys("quantization_config");
  if (weights.empty() && !is_told) return file;
  for (const auto& [name, info] : tensors) {
    // The base of a layer is the longest that ends with a dot, such as "q_proj." of "q_proj.weight.absmax".
    bool belongs = stacked.contains(name);
    for (std::size_t dot = name.find('.'); dot != std::string::npos && !belongs;
         dot = name.find('.', dot + 1)) {
      belongs =
          bases.contains(name.substr(0, dot + 1)) && lists(kOfQuantization, name.substr(dot + 1));
    }
    if (!belongs && !is_scale_of_cache(name, info))
      viewed.push_back({name, dtype_name(info.dtype), info.shape, info.end - info.begin});
  }
  return std::make_shared<const Safetensors>(
      std::make_shared<DequantizedView>(std::move(file), viewed, std::move(weights)));
}

}  // namespace eigenscope

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

/// A weight to decode: weight[row, column] = table[code] * scale + offset, where blocks of elements share scale and
/// offset.
struct QuantizedWeight {
  std::string base;  ///< what the names of its tensors begin with, its dot included
  std::string codes;
  Packing packing = Packing::unknown;
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t matrices = 0;  ///< of `stacked_blocks`
  unsigned bits = 8;           ///< of a code
  bool high_first = false;     ///< the first of two codes in a byte is the high half
  std::uint64_t block_rows = 1, block_columns = 1;  ///< elements that share a scale
  std::string scales;
  std::string state;  ///< of bitsandbytes with 4 bits: the JSON text with shape and sizes of blocks
  unsigned zero_step = 0;  ///< of GPTQ: what is added to a stored zero
  bool in_order = false;   ///< of GPTQ: config.json says that groups are those of the inputs' order

  std::uint64_t scale_columns() const { return (columns + block_columns - 1) / block_columns; }
  std::uint64_t scale_rows() const { return (rows + block_rows - 1) / block_rows; }
  /// Whether the codes of an input, for all outputs, lie together.
  bool inputs_first() const { return packing == Packing::awq || packing == Packing::gptq; }
};

/// What is read once for a weight.
struct DecodingTables {
  Table values{};
  std::vector<float>
      scales;  ///< rows of blocks x columns of blocks; of `inputs_first` groups x outputs
  std::vector<float> offsets;         ///< in the same order; empty for none
  std::vector<std::uint32_t> words;   ///< of `inputs_first`: all codes
  std::vector<std::uint32_t> groups;  ///< of `inputs_first`: of each input
};

/// Decides which weights can be decoded.
class QuantizedLayers {
 public:
  QuantizedLayers(const Safetensors& file, ByteSource* config) : file_(file), source_(config) {}

  std::optional<QuantizedWeight> weight_of(const LinearTensors& layer) {
    const Quantization* const kind = quantization_of(layer);
    if (kind == nullptr) return std::nullopt;
    if (is_transposed(layer)) {
      refuse_item(layer.name(kind->mark),
                  {"it must not be quantized in ", file_.name(),
                   ", as quantizers transpose weights of GPT-2; open the original model"});
    }
    if (kind->packing == Packing::unknown) return std::nullopt;
    QuantizedWeight weight;
    weight.base = layer.base();
    weight.packing = kind->packing;
    weight.codes = layer.name(codes_ending(*kind));
    const bool known = plan(layer, *kind, weight);
    if (!known || weight.rows == 0 || weight.columns == 0) return std::nullopt;
    return weight;
  }

  /// Whether config.json says that something is quantized.
  bool is_told() { return config() != nullptr && config_->has_keys("quantization_config"); }

  /// Refuses weights that are quantized, or whose inputs are transformed, when the model runs.
  void refuse_online() {
    if (config() == nullptr) return;
    const std::string before = "quantization_config.";
    if (config_->value(before + "quant_method") == "bitnet") {
      refuse_item(before + "quant_method",
                  {"it must not be bitnet in ", config_->name(),
                   ", whose model runs with other weights than those of the file"});
    }
    for (const char* const key :
         {"transform_config", "rotation_config", "hadamard_config", "spinquant_config"}) {
      const std::string value = config_->value(before + key);
      const bool is_on = value == "an object" ? config_->has_keys(before + key)
                                              : !value.empty() && value != "false";
      if (!is_on) continue;
      refuse_item(before + key, {"it must be null or empty in ", config_->name(),
                                 ", as transforms of weights are not supported"});
    }
  }

 private:
  /// Whether the weight is one of GPT-2's, stored with its inputs as rows, which quantizers transpose.
  bool is_transposed(const LinearTensors& layer) {
    return config() != nullptr && is_conv1d(layer.name("weight")) &&
           lists(" gpt2 openai-gpt ", config_->value("model_type"));
  }

  static std::string_view codes_ending(const Quantization& kind) {
    const bool instead = kind.mark == "qweight" || kind.mark == "weight_packed";
    return instead ? kind.mark : "weight";
  }

  bool plan(const LinearTensors& layer, const Quantization& kind, QuantizedWeight& weight) {
    const TensorInfo& codes = *layer.find(codes_ending(kind));
    if (codes.shape.size() != 2) return false;
    weight.rows = codes.shape[0];
    weight.columns = codes.shape[1];
    switch (kind.packing) {
      case Packing::scaled:
        return has_readable_codes(codes) && scaled_by(layer, kind.mark, weight) &&
               has_readable_zeros(layer, codes, weight);
      case Packing::bitsandbytes8:
        return codes.dtype == Dtype::kI8 && is_row_by_row(layer) &&
               scaled_by(layer, "SCB", weight) && weight.block_rows == 1;
      case Packing::nvfp4:
        weight.bits = 4;
        weight.columns *= 2;
        return codes.dtype == Dtype::kU8 && layer.is("weight_scale", {Dtype::kF8E4M3}) &&
               grouped_by(layer, "weight_scale", 16, weight);
      case Packing::compressed:
        return compressed(layer, codes, weight);
      case Packing::mlx:
        return mlx(layer, codes, weight);
      case Packing::bitsandbytes4:
        return four_bits(layer, codes, weight);
      case Packing::awq:
      case Packing::gptq:
        return inputs_first(layer, codes, weight);
      case Packing::stacked_blocks:  // in no linear layer
      case Packing::unknown:
        break;
    }
    return false;
  }

  static bool has_readable_codes(const TensorInfo& codes) {
    return codes.dtype == Dtype::kF8E4M3 || codes.dtype == Dtype::kF8E5M2 ||
           codes.dtype == Dtype::kI8;
  }

  /// Whether there are no zero points, or as many as scales, of the type of the codes.
  bool has_readable_zeros(const LinearTensors& layer, const TensorInfo& codes,
                          const QuantizedWeight& weight) {
    const TensorInfo* const zeros = layer.find("weight_zero_point");
    if (zeros == nullptr)
      return codes.dtype != Dtype::kI8 || !all_groups("weights.symmetric", "false");
    return (zeros->dtype == Dtype::kI8 && codes.dtype == Dtype::kI8 &&
            zeros->shape == file_.tensor(weight.scales).shape);
  }

  /// Whether config.json has groups of weights, and this value of each.
  bool all_groups(const std::string& key, std::string_view value) {
    const std::vector<std::string> paths = groups();
    return !paths.empty() && std::all_of(paths.begin(), paths.end(), [&](const std::string& path) {
      return config_->value(path + key) == value;
    });
  }

  static std::uint64_t elements(const TensorInfo& tensor) {
    return (tensor.end - tensor.begin) * 8 / dtype_bits(tensor.dtype);
  }

  /// Rows or columns that share a scale, for `count` scales along a dimension; 0 where it is not clear.
  static std::uint64_t block_of(std::uint64_t size, std::uint64_t count) {
    constexpr std::uint64_t kUsual = 128;
    if (count == 0) return 0;
    if ((size + kUsual - 1) / kUsual == count) return kUsual;
    return size % count == 0 ? size / count : 0;
  }

  /// Whether bitsandbytes' codes are in the order of the weight, which other formats than 0 are not.
  bool is_row_by_row(const LinearTensors& layer) const {
    const TensorInfo* const format = layer.find("weight_format");
    if (format == nullptr) return true;
    if (format->dtype != Dtype::kU8 || elements(*format) != 1) return false;
    std::array<std::byte, 1> code{};
    file_.read_bytes(layer.name("weight_format"), 0, code);
    return code[0] == std::byte{0};
  }

  /// The block along a dimension that config.json has for all weights, or else by the count of scales; 0 where the
  /// count is another one or leaves it open.
  std::uint64_t told_block(const char* place, std::uint64_t size, std::uint64_t count) {
    std::uint64_t told = configured("", std::string("weight_block_size.") + place);
    for (const std::string& group : groups()) {  // of compressed-tensors
      const auto own =
          config_->positive_integer(group + "weights.block_structure." + place, 1 << 20);
      if (own && told != 0 && told != *own) return 0;
      told = own.value_or(told);
    }
    if (told == 0) return block_of(size, count);
    return (size + told - 1) / told == count ? told : 0;
  }

  /// A scale of the tensor, of each row, or of blocks.
  bool scaled_by(const LinearTensors& layer, std::string_view ending, QuantizedWeight& weight) {
    const TensorInfo* const scales = layer.find(ending);
    if (scales == nullptr) return false;
    weight.scales = layer.name(ending);
    const std::vector<std::uint64_t>& shape = scales->shape;
    if (elements(*scales) == 1) {
      weight.block_rows = weight.rows;
      weight.block_columns = weight.columns;
      return true;
    }
    if (elements(*scales) == weight.rows &&
        (shape.size() == 1 || (shape.size() == 2 && shape[1] == 1))) {
      weight.block_columns = weight.columns;
      return true;
    }
    // A scale for each input would be one row of them: no format has it.
    if (shape.size() != 2 || (shape[0] == 1 && shape[1] == weight.columns)) return false;
    weight.block_rows = told_block("0", weight.rows, shape[0]);
    weight.block_columns = told_block("1", weight.columns, shape[1]);
    return weight.block_rows > 0 && weight.block_columns > 0;
  }

  /// A scale for every `size` columns of a row; 0: as many as the scales leave.
  static bool grouped_by(const LinearTensors& layer, std::string_view ending, std::uint64_t size,
                         QuantizedWeight& weight) {
    const TensorInfo* const scales = layer.find(ending);
    if (scales == nullptr || scales->shape.size() != 2 || scales->shape[0] != weight.rows)
      return false;
    const std::uint64_t groups = scales->shape[1];
    if (groups == 0 || weight.columns % groups != 0) return false;
    weight.scales = layer.name(ending);
    weight.block_columns = weight.columns / groups;
    return size == 0 || weight.block_columns == size;
  }

  bool compressed(const LinearTensors& layer, const TensorInfo& codes, QuantizedWeight& weight) {
    const TensorInfo* const shape = layer.find("weight_shape");
    if (codes.dtype != Dtype::kI32 || shape == nullptr || shape->dtype != Dtype::kI64 ||
        shape->shape != std::vector<std::uint64_t>{2} || all_groups("weights.actorder", "group") ||
        all_groups("weights.actorder", "true")) {
      return false;
    }
    std::array<std::uint64_t, 2> sizes{};
    file_.read_bytes(layer.name("weight_shape"), 0, std::as_writable_bytes(std::span(sizes)));
    for (const unsigned bits : {4u, 8u}) {
      if (sizes[0] != weight.rows || sizes[1] / 32 > weight.columns ||
          sizes[1] * bits != weight.columns * 32) {
        continue;
      }
      weight.columns = sizes[1];
      weight.bits = bits;
      if (!has_bits(bits)) return false;
      const TensorInfo* const zeros = layer.find("weight_zero_point");
      return grouped_by(layer, "weight_scale", 0, weight) &&
             (zeros == nullptr
                  ? !all_groups("weights.symmetric", "false")
                  : (zeros->dtype == Dtype::kI32 &&
                     zeros->shape == std::vector<std::uint64_t>{(weight.rows * bits + 31) / 32,
                                                                weight.scale_columns()}));
    }
    return false;
  }

  /// Null without a config.json.
  const Config* config() {
    if (!config_ && source_ != nullptr) config_ = Config::read(*source_);
    return config_ ? &*config_ : nullptr;
  }

  /// The paths of the groups of weights that config.json has, which end with '.'.
  std::vector<std::string> groups() {
    const std::string before = "quantization_config.config_groups.";
    if (config() == nullptr) return {};
    std::vector<std::string> paths = config_->names(before);
    for (std::string& path : paths) path = before + path + ".";
    return paths;
  }

  /// Whether codes of so many bits are those of a group of config.json, if it has groups.
  bool has_bits(std::uint64_t bits) {
    const std::vector<std::string> paths = groups();
    return paths.empty() || std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
             return config_->positive_integer(path + "weights.num_bits", 64) == bits;
           });
  }

  /// The number of the configuration called `key`, that of the layer first.
  std::uint64_t configured(const std::string& base, const std::string& key) {
    if (config() == nullptr) return 0;
    for (const std::string object :
         {"quantization.", "quantization_config.", "text_config.quantization_config."}) {
      for (const std::string& path : {object + base + key, object + key}) {
        if (const auto number = config_->positive_integer(path, 1 << 20)) return *number;
      }
    }
    return 0;
  }

  bool mlx(const LinearTensors& layer, const TensorInfo& codes, QuantizedWeight& weight) {
    const std::uint64_t words = weight.columns;
    if (codes.dtype != Dtype::kU32 || words > std::uint64_t{1} << 32) return false;
    const TensorInfo* const biases = layer.find("biases");
    if (biases == nullptr) {  // MXFP4
      weight.bits = 4;
      weight.columns = words * 8;
      return layer.is("scales", {Dtype::kU8}) && grouped_by(layer, "scales", 32, weight);
    }
    const std::uint64_t bits = configured(weight.base, "bits");
    if (bits != 2 && bits != 4 && bits != 8) return false;
    weight.bits = static_cast<unsigned>(bits);
    weight.columns = words * 32 / bits;
    const std::uint64_t group = configured(weight.base, "group_size");
    return group > 0 && grouped_by(layer, "scales", group, weight) &&
           biases->shape == layer.find("scales")->shape;
  }

  /// Codes of two elements in a byte, and a JSON text with the shape.
  bool four_bits(const LinearTensors& layer, const TensorInfo& codes, QuantizedWeight& weight) {
    const bool is_nf4 = layer.has("weight.quant_state.bitsandbytes__nf4");
    weight.state = layer.name(is_nf4 ? "weight.quant_state.bitsandbytes__nf4"
                                     : "weight.quant_state.bitsandbytes__fp4");
    const TensorInfo& text = file_.tensor(weight.state);
    const TensorInfo* const table = layer.find("weight.quant_map");
    constexpr std::uint64_t kLongestState = 10'000;
    if (codes.dtype != Dtype::kU8 || text.dtype != Dtype::kU8 ||
        text.end - text.begin > kLongestState || table == nullptr || elements(*table) != 16 ||
        !layer.has("weight.absmax")) {
      return false;
    }
    std::string json(static_cast<std::size_t>(text.end - text.begin), '\0');
    file_.read_bytes(weight.state, 0, std::as_writable_bytes(std::span(json)));
    const Config facts = Config::parse(json, weight.state);
    constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
    const auto rows = facts.positive_integer("shape.0", kMost);
    const auto columns = facts.positive_integer("shape.1", kMost);
    const auto block = facts.positive_integer("blocksize", kMost);
    if (!rows || !columns || !block || facts.has("shape.2")) return false;
    if ((*rows * *columns + 1) / 2 != elements(codes) || *columns % *block != 0) return false;
    weight.rows = *rows;
    weight.columns = *columns;
    weight.bits = 4;
    weight.high_first = true;
    weight.block_columns = *block;
    weight.scales = layer.name("weight.absmax");
    const TensorInfo& absmax = *layer.find("weight.absmax");
    const bool nested = absmax.dtype == Dtype::kU8 && layer.has("weight.nested_absmax") &&
                        layer.has("weight.nested_quant_map");
    return (nested || is_decodable(absmax.dtype)) &&
           elements(absmax) == *rows * (*columns / *block);
  }

  /// What GPTQ's stored zeros lack: 1, but for files of the second format and those of AutoRound whose zeros are stored
  /// as they are (auto_round/export of github.com/intel/auto-round); nothing for a format that is not known.
  std::optional<unsigned> zero_step() const {
    const auto text = [&](const std::string& key) {
      return config_->text("quantization_config." + key).value_or("");
    };
    std::string format = text("checkpoint_format");
    if (format.empty()) format = text("format");
    const std::string method = text("quant_method");
    const bool is_renamed = format.empty() && lists(" auto_round autoround ", method);
    if (is_renamed || method.find("auto-round") != std::string::npos) {
      format = text("packing_format");
      if (format == "auto_round:exllamav2" || format == "auto_round:gptqmodel") return 0;
      return format == "auto_round:auto_gptq" ? std::optional(1u) : std::nullopt;
    }
    if (!method.empty() && !lists(" gptq auto_round ", method)) return std::nullopt;
    if (format == "gptq_v2") return 0;
    return format.empty() || format == "gptq" ? std::optional(1u) : std::nullopt;
  }

  bool inputs_first(const LinearTensors& layer, const TensorInfo& codes, QuantizedWeight& weight) {
    const TensorInfo *const scales = layer.find("scales"), *const zeros = layer.find("qzeros");
    if (codes.dtype != Dtype::kI32 || scales == nullptr || scales->shape.size() != 2 ||
        zeros == nullptr || zeros->dtype != Dtype::kI32 || zeros->shape.size() != 2) {
      return false;
    }
    const std::uint64_t groups = scales->shape[0], outputs = scales->shape[1];
    if (groups == 0 || outputs == 0 || zeros->shape[0] != groups ||
        (zeros->shape[1] * 32) % outputs != 0) {
      return false;
    }
    const std::uint64_t bits = zeros->shape[1] * 32 / outputs;
    if (bits != 4 && (weight.packing == Packing::awq || (bits != 2 && bits != 8))) return false;
    weight.bits = static_cast<unsigned>(bits);
    const std::uint64_t each = 32 / bits;  // codes in a number
    if (weight.packing == Packing::awq) {
      if (codes.shape[1] * each != outputs) return false;
      weight.columns = codes.shape[0];
    } else {
      if (codes.shape[1] != outputs || codes.shape[0] > std::uint64_t{1} << 32) return false;
      weight.columns = codes.shape[0] * each;
      const TensorInfo* const order = layer.find("g_idx");
      if (order != nullptr && (order->dtype != Dtype::kI32 ||
                               order->shape != std::vector<std::uint64_t>{weight.columns})) {
        return false;
      }
      if (configured("", "bits") != bits) return false;
      const bool by_activation = config_->flag("quantization_config.desc_act").value_or(false);
      if (by_activation && order == nullptr && groups > 1) return false;
      const std::optional<unsigned> step = zero_step();
      if (!step) return false;
      weight.zero_step = *step;
      weight.in_order = config_->flag("quantization_config.desc_act") == false;
    }
    weight.rows = outputs;
    weight.scales = layer.name("scales");
    // The last group may be a shorter one.
    const std::uint64_t told = group_size();
    if (told > 0) {
      weight.block_columns = told;
      return weight.scale_columns() == groups;
    }
    weight.block_columns = weight.columns / groups;
    return weight.columns % groups == 0;
  }

  /// That of config.json, where it has one that is not -1, for whole rows; or else 0.
  std::uint64_t group_size() {
    if (config() == nullptr) return 0;
    const auto size = config_->number("quantization_config.group_size", -1, 1 << 20);
    return static_cast<std::uint64_t>(std::max(0.0, size.value_or(0)));
  }

  const Safetensors& file_;
  ByteSource* source_;
  std::optional<Config> config_;
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

constexpr std::string_view kBlocks = "_blocks";

constexpr std::array<std::string_view, 3> kCacheScales{".q_scale", ".k_scale", ".v_scale"};

/// What the names of the tensors of a layer begin with, its dot included, for a tensor that may be its codes.
std::optional<std::string> base_of(const std::string& name) {
  constexpr std::array<std::string_view, 3> kCodes{".weight", kPackedWeights[0], kPackedWeights[1]};
  for (const std::string_view ending : kCodes) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size() + 1);
  }
  return std::nullopt;
}

/// A tensor of stacked matrices in MXFP4 (`name` ends with "_blocks"): a byte has two codes, the first in the low half, and
/// a scale is that of 32.
std::optional<QuantizedWeight> stacked_blocks(const std::map<std::string, TensorInfo>& tensors,
                                              const std::string& name, const TensorInfo& codes) {
  constexpr std::uint64_t kBytes = 16;
  const std::string_view stem = std::string_view(name).substr(0, name.size() - kBlocks.size());
  const auto scales = tensors.find(std::string(stem) + "_scales");
  if (codes.dtype != Dtype::kU8 || codes.shape.size() != 4 || codes.shape[3] != kBytes ||
      scales == tensors.end() || scales->second.dtype != Dtype::kU8 ||
      !std::equal(scales->second.shape.begin(), scales->second.shape.end(), codes.shape.begin(),
                  codes.shape.end() - 1)) {
    return std::nullopt;
  }
  QuantizedWeight weight;
  weight.codes = name;
  weight.scales = scales->first;
  weight.packing = Packing::stacked_blocks;
  weight.matrices = codes.shape[0];
  weight.rows = codes.shape[1];
  weight.columns = 2 * kBytes * codes.shape[2];
  weight.block_columns = 2 * kBytes;
  return weight;
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
  QuantizedLayers layers(*file, config);
  layers.refuse_online();
  std::vector<QuantizedWeight> weights;
  std::vector<ViewedTensor> viewed;
  std::set<std::string> bases, stacked;
  for (const auto& [name, info] : tensors) {
    if (name.ends_with(kBlocks)) {
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
    std::optional<QuantizedWeight> weight = layers.weight_of({tensors, *base});
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
  if (weights.empty() && !layers.is_told()) return file;
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

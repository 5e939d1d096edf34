#include "checkpoint/quantized_weight.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "io/json_events.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

/// Decides how a layer is decoded, if it can be.
class Planner {
 public:
  Planner(const Safetensors& file, const Config* config) : file_(file), config_(config) {}

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
    const bool known = plan(layer, *kind, weight) && has_readable_order(layer, weight);
    if (!known || weight.rows == 0 || weight.columns == 0) return std::nullopt;
    return weight;
  }

 private:
  /// Whether the weight is one of GPT-2's, stored with its inputs as rows, which quantizers transpose.
  bool is_transposed(const LinearTensors& layer) {
    return config_ != nullptr && is_conv1d(layer.name("weight")) &&
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
        return has_readable_codes(codes) && !lacks_order(layer) &&
               scaled_by(layer, kind.mark, weight) && has_readable_zeros(layer, codes, weight);
      case Packing::bitsandbytes8:
        return codes.dtype == Dtype::kI8 && is_row_by_row(layer) &&
               scaled_by(layer, "SCB", weight) && weight.block_rows == 1;
      case Packing::nvfp4:
        weight.bits = 4;
        weight.columns *= 2;
        if (codes.dtype != Dtype::kU8) return false;
        if (kind.mark == "weight_packed" && !layer.has("weight_global_scale")) {
          return layer.is("weight_scale", {Dtype::kU8, Dtype::kF8E8M0}) &&
                 grouped_by(layer, "weight_scale", 32, weight);
        }
        return layer.is("weight_scale", {Dtype::kF8E4M3}) &&
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

  /// Whether there is no order of compressed-tensors' columns (weight_g_idx), or one that can be decoded.
  static bool has_readable_order(const LinearTensors& layer, QuantizedWeight& weight) {
    const TensorInfo* const order = layer.find("weight_g_idx");
    if (order == nullptr) return true;
    weight.has_order = true;
    return (weight.packing == Packing::scaled || weight.packing == Packing::compressed) &&
           weight.block_rows == 1 && order->dtype == Dtype::kI32 &&
           order->shape == std::vector{weight.columns};
  }

  /// Whether config.json says that the groups of all weights are sorted, and the layer lacks their order.
  bool lacks_order(const LinearTensors& layer) {
    return !layer.has("weight_g_idx") &&
           (all_groups("weights.actorder", "group") || all_groups("weights.actorder", "true"));
  }

  /// Whether config.json has groups of weights, and this value of each.
  bool all_groups(const std::string& key, std::string_view value) {
    const std::vector<std::string> paths = groups();
    return !paths.empty() && std::all_of(paths.begin(), paths.end(), [&](const std::string& path) {
      return config_->value(path + key) == value;
    });
  }

  /// Rows or columns that share a scale, for `count` scales along a dimension; 0 where it is not clear. Without a size
  /// programs take 128, or equal blocks.
  static std::uint64_t block_of(std::uint64_t size, std::uint64_t count) {
    constexpr std::uint64_t kUsual = 128;
    if (count == 1) return size;
    const bool is_usual = (size + kUsual - 1) / kUsual == count;
    return is_usual && (size % count != 0 || size / count == kUsual) ? kUsual : 0;
  }

  /// Whether bitsandbytes' codes are in the order of the weight, which other formats than 0 are not.
  bool is_row_by_row(const LinearTensors& layer) const {
    const TensorInfo* const format = layer.find("weight_format");
    if (format == nullptr) return true;
    if (format->dtype != Dtype::kU8 || element_count(*format) != 1) return false;
    std::array<std::byte, 1> code{};
    file_.read_bytes(layer.name("weight_format"), 0, code);
    return code[0] == std::byte{0};
  }

  /// The side of a block along a dimension that config.json has for all weights, under `key` of compressed-tensors or
  /// else as `weight_block_size`; 0 for none, and nothing where it has several.
  std::optional<std::uint64_t> told_side(const std::string& key, const std::string& place) {
    std::uint64_t told = configured("", "weight_block_size." + place);
    for (const std::string& group : groups()) {
      const auto number = config_->number(group + "weights." + key, -1, 1 << 20);
      if (!number || *number < 1) continue;
      const auto side = static_cast<std::uint64_t>(*number);
      if (told != 0 && told != side) return std::nullopt;
      told = side;
    }
    return told;
  }

  /// The side `told`, or else the one by the count of scales; 0 where the count contradicts it or is ambiguous.
  static std::uint64_t side_of(std::optional<std::uint64_t> told, std::uint64_t size,
                               std::uint64_t count) {
    if (told == 0u) return block_of(size, count);
    return told && (size + *told - 1) / *told == count ? *told : 0;
  }

  /// A scale of the tensor, of each row, or of blocks.
  bool scaled_by(const LinearTensors& layer, std::string_view ending, QuantizedWeight& weight) {
    const TensorInfo* const scales = layer.find(ending);
    if (scales == nullptr) return false;
    weight.scales = layer.name(ending);
    const std::vector<std::uint64_t>& shape = scales->shape;
    if (element_count(*scales) == 1) {
      weight.block_rows = weight.rows;
      weight.block_columns = weight.columns;
      return true;
    }
    if (element_count(*scales) == weight.rows &&
        (shape.size() == 1 || (shape.size() == 2 && shape[1] == 1))) {
      weight.block_columns = weight.columns;
      return true;
    }
    // A scale for each input would be one row of them: no format has it.
    if (shape.size() != 2 || (shape[0] == 1 && shape[1] == weight.columns)) return false;
    auto rows = told_side("block_structure.0", "0");
    const bool is_grouped = shape[0] == weight.rows && rows == 0u;
    if (is_grouped) rows = 1;
    weight.block_rows = side_of(rows, weight.rows, shape[0]);
    weight.block_columns = side_of(told_side(is_grouped ? "group_size" : "block_structure.1", "1"),
                                   weight.columns, shape[1]);
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
        shape->shape != std::vector<std::uint64_t>{2} || lacks_order(layer)) {
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

  /// The paths of the groups of weights that config.json has, which end with '.'.
  std::vector<std::string> groups() {
    const std::string before = "quantization_config.config_groups.";
    if (config_ == nullptr) return {};
    std::vector<std::string> paths = config_->names(before);
    for (std::string& path : paths) path = before + path + ".";
    return paths;
  }

  /// Whether a group of config.json has codes of `bits` bits; true without groups.
  bool has_bits(std::uint64_t bits) {
    const std::vector<std::string> paths = groups();
    return paths.empty() || std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
             return config_->positive_integer(path + "weights.num_bits", 64) == bits;
           });
  }

  /// The positive integer `key` of the quantization's config, the layer's first; 0 for none.
  std::uint64_t configured(const std::string& base, const std::string& key) {
    if (config_ == nullptr) return 0;
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
    if (bits < 2 || bits == 7 || bits > 8 || words * 32 % bits != 0) return false;
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
    if (text.dtype != Dtype::kU8 || text.end - text.begin > kLongestState || table == nullptr ||
        element_count(*table) != 16 || !layer.has("weight.absmax")) {
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
    // The type of the codes is that of their storage alone.
    if ((*rows * *columns + 1) / 2 != codes.end - codes.begin) return false;
    weight.rows = *rows;
    weight.columns = *columns;
    weight.in_one_row = true;
    weight.bits = 4;
    weight.high_first = true;
    weight.block_columns = *block;
    weight.scales = layer.name("weight.absmax");
    const TensorInfo& absmax = *layer.find("weight.absmax");
    const bool nested = absmax.dtype == Dtype::kU8 && layer.has("weight.nested_absmax") &&
                        layer.has("weight.nested_quant_map");
    return (nested || is_decodable(absmax.dtype)) &&
           element_count(absmax) == weight.scale_columns();
  }

  /// The number to add to GPTQ's stored zeros: 1, or 0 for files of the second format and those of AutoRound whose
  /// zeros are stored as they are (auto_round/export of github.com/intel/auto-round); nothing for an unknown format.
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
    // The last group may be a shorter one, but where other layers may have groups of another size.
    const std::uint64_t told = group_size();
    if (told > 0) {
      weight.block_columns = told;
      return weight.scale_columns() == groups && (weight.columns % told == 0 || !has_sizes());
    }
    weight.block_columns = weight.columns / groups;
    return weight.columns % groups == 0;
  }

  /// Whether config.json may have other sizes of groups for some layers.
  bool has_sizes() const {
    return config_->has_keys("quantization_config.dynamic") ||
           config_->has_keys("quantization_config.extra_config");
  }

  /// The group size in config.json; 0 where it is missing or -1, which stands for whole rows.
  std::uint64_t group_size() {
    if (config_ == nullptr) return 0;
    const auto size = config_->number("quantization_config.group_size", -1, 1 << 20);
    return static_cast<std::uint64_t>(std::max(0.0, size.value_or(0)));
  }

  const Safetensors& file_;
  const Config* config_;
};

}  // namespace

std::optional<QuantizedWeight> quantized_weight(const Safetensors& file, const Config* config,
                                                const LinearTensors& layer) {
  return Planner(file, config).weight_of(layer);
}

std::optional<QuantizedWeight> stacked_blocks(const std::map<std::string, TensorInfo>& tensors,
                                              const std::string& name, const TensorInfo& codes) {
  constexpr std::uint64_t kBytes = 16;
  const std::string_view stem =
      std::string_view(name).substr(0, name.size() - kStackedBlocks.size());
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

void refuse_quantized_online(const Config& config) {
  const std::string before = "quantization_config.";
  if (config.value(before + "quant_method") == "bitnet") {
    refuse_item(before + "quant_method",
                {"it must not be bitnet in ", config.name(),
                 ", whose model runs with other weights than those of the file"});
  }
  for (const char* const key :
       {"transform_config", "rotation_config", "hadamard_config", "spinquant_config"}) {
    const std::string value = config.value(before + key);
    const bool is_on =
        value == "an object" ? config.has_keys(before + key) : !value.empty() && value != "false";
    if (!is_on) continue;
    refuse_item(before + key, {"it must be null or empty in ", config.name(),
                               ", as transforms of weights are not supported"});
  }
}

}  // namespace eigenscope

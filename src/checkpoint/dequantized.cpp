#include "checkpoint/dequantized.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/config.h"
#include "checkpoint/decoding.h"
#include "checkpoint/decoding_tables.h"
#include "checkpoint/quantization.h"
#include "checkpoint/quantized_weight.h"
#include "checkpoint/safetensors_view.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

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
        decode_stacked_blocks(*file_, weight, first, values);
      });
    }
    const DecodingTables& tables = tables_of(place);
    read_computed<float>(offset, out, [&](std::uint64_t first, std::span<float> values) {
      decode_weight(*file_, weight, tables, first, values);
    });
  }

  const DecodingTables& tables_of(std::size_t place) {
    return tables_.get(place, [&] {
      DecodingTables tables = decoding_tables(*file_, weights_[place]);
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

  std::shared_ptr<const Safetensors> file_;
  std::vector<ViewedTensor> tensors_;
  std::vector<QuantizedWeight> weights_;
  LastParts<DecodingTables> tables_;
};

/// Endings of the tensors of a quantized layer that are read with its codes, or that belong to the activations, between
/// spaces.
constexpr std::string_view kOfQuantization =
    " weight qweight weight_packed weight_scale weight_scale_inv weight_scale_2 "
    "weight_global_scale weight_zero_point weight_shape weight_g_idx scale scales biases qzeros "
    "g_idx SCB "
    "weight_format weight.absmax weight.quant_map weight.nested_absmax "
    "weight.nested_quant_map weight.quant_state.bitsandbytes__nf4 "
    "weight.quant_state.bitsandbytes__fp4 input_scale input_global_scale "
    "input_zero_point input_scale_ub activation_scale output_scale output_zero_point k_scale "
    "v_scale "
    "q_scale ";

constexpr std::array<std::string_view, 3> kCacheScales{".q_scale", ".k_scale", ".v_scale"};

/// The prefix of the names of a layer's tensors, its dot included, if the tensor `name` may hold the layer's codes.
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
  std::optional<Config> settings;
  if (config != nullptr) settings = Config::read(*config);
  if (settings) refuse_quantized_online(*settings);
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
    if (!base || bases.contains(*base)) continue;
    // Codes of bitsandbytes may be stored as numbers of any type.
    if (is_decodable(info.dtype) && !tensors.contains(*base + "weight.absmax")) continue;
    std::optional<QuantizedWeight> weight =
        quantized_weight(*file, settings ? &*settings : nullptr, {tensors, *base});
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
  const bool is_told = settings && settings->has_keys("quantization_config");
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

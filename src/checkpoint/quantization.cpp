#include "checkpoint/quantization.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "io/json_events.h"

namespace eigenscope {
namespace {

using Tensors = std::map<std::string, TensorInfo>;
using std::literals::operator""sv;

constexpr auto kWeight = "weight"sv;
constexpr auto kOriginal = "open the original model in BF16 or F16"sv;
constexpr auto kBitsandbytes =
    "open the original model, or save what transformers' model.dequantize() returns"sv;
constexpr auto kCompressed =
    "open the original model, or load it with transformers' "
    "CompressedTensorsConfig(run_compressed=False) and save it"sv;
constexpr auto kFp8 =
    "open a version in BF16, or load it with transformers' FineGrainedFP8Config(dequantize=True) "
    "and save it"sv;
constexpr auto kMlx = "open the original model, or convert it with mlx_lm.convert --dequantize"sv;

/// The tensors of one linear layer.
class LinearTensors {
 public:
  /// `base` is what their names begin with, its dot included.
  LinearTensors(const Tensors& tensors, std::string base)
      : tensors_(tensors), base_(std::move(base)) {}

  std::string name(std::string_view ending) const { return base_ + std::string(ending); }
  bool has(std::string_view ending) const { return tensors_.contains(name(ending)); }
  /// Whether a tensor is of one of these types.
  bool is(std::string_view ending, std::initializer_list<Dtype> types) const {
    const auto found = tensors_.find(name(ending));
    return found != tensors_.end() &&
           std::find(types.begin(), types.end(), found->second.dtype) != types.end();
  }
  /// Of a matrix; 0 for other tensors.
  std::uint64_t columns(std::string_view ending) const {
    const auto found = tensors_.find(name(ending));
    return found == tensors_.end() || found->second.shape.size() != 2 ? 0 : found->second.shape[1];
  }

 private:
  const Tensors& tensors_;
  std::string base_;
};

bool is_fp8(const LinearTensors& layer) {
  return layer.is(kWeight,
                  {Dtype::kF8E4M3, Dtype::kF8E5M2, Dtype::kF8E4M3Fnuz, Dtype::kF8E5M2Fnuz});
}

/// One way to quantize, shown by a tensor of the layer.
struct Quantization {
  std::string_view name, mark, advice;
  bool (*fits)(const LinearTensors&) = [](const LinearTensors&) { return true; };
};
/// The more particular ones first.
constexpr std::array kQuantizations{
    // AWQ packs eight outputs into a number, GPTQ eight inputs.
    Quantization{"AWQ", "qweight", kOriginal,
                 [](const LinearTensors& layer) {
                   return !layer.has("g_idx") && layer.columns("qweight") < layer.columns("scales");
                 }},
    Quantization{"GPTQ", "qweight", kOriginal},
    Quantization{"NVFP4 (compressed-tensors)", "weight_packed", kCompressed,
                 [](const LinearTensors& layer) { return layer.has("weight_global_scale"); }},
    Quantization{"packed (compressed-tensors)", "weight_packed", kCompressed},
    Quantization{"NF4 (bitsandbytes)", "weight.quant_state.bitsandbytes__nf4", kBitsandbytes},
    Quantization{"FP4 (bitsandbytes)", "weight.quant_state.bitsandbytes__fp4", kBitsandbytes},
    Quantization{"4-bit (bitsandbytes)", "weight.absmax", kBitsandbytes},
    Quantization{"INT8 (bitsandbytes)", "SCB", kBitsandbytes},
    Quantization{"NVFP4 (ModelOpt)", "weight_scale_2", kOriginal},
    Quantization{"MLX", "scales", kMlx,
                 [](const LinearTensors& layer) { return layer.is(kWeight, {Dtype::kU32}); }},
    Quantization{"FP8", "weight_scale_inv", kFp8, is_fp8},
    Quantization{"FP8", "weight_scale", kOriginal, is_fp8},
    Quantization{"FP8", "weight", kOriginal, is_fp8},
    Quantization{"INT8", "weight_scale", kCompressed,
                 [](const LinearTensors& layer) { return layer.is(kWeight, {Dtype::kI8}); }},
    Quantization{"scaled", "weight_scale_inv", kOriginal},
    Quantization{"scaled", "weight_scale", kOriginal},
    Quantization{"scaled", "scales", kOriginal},
    Quantization{"scaled", "scale", kOriginal},
};
/// Marks that stand in the place of a weight.
constexpr std::array kInstead{".qweight"sv, ".weight_packed"sv};

std::string quantization_in(const LinearTensors& layer) {
  const auto found = std::find_if(
      kQuantizations.begin(), kQuantizations.end(),
      [&](const Quantization& kind) { return layer.has(kind.mark) && kind.fits(layer); });
  if (found == kQuantizations.end()) return "";
  return std::string(found->name) + " weights ('" + shown_name(layer.name(found->mark)) + "'); " +
         std::string(found->advice);
}

}  // namespace

std::string renamed_quantization(const Tensors& tensors) {
  for (const auto& [name, info] : tensors) {
    for (const std::string_view ending : kInstead) {
      if (name.ends_with(ending))
        return quantization_in({tensors, name.substr(0, name.size() - ending.size() + 1)});
    }
  }
  return "";
}

void refuse_quantized(const Safetensors& file, const std::string& weight) {
  if (!weight.ends_with("." + std::string(kWeight))) return;
  const std::string found =
      quantization_in({file.tensors(), weight.substr(0, weight.size() - kWeight.size())});
  if (found.empty()) return;
  refuse_item(weight, "it must not be quantized in " + file.name() + ", but has " + found);
}

}  // namespace eigenscope

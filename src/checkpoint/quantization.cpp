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
constexpr auto kGptq =
    "open the original model in BF16 or F16, or give a config.json with its "
    "'quantization_config.bits' and, of AutoRound, 'packing_format'; bits other than 2, 4 and 8, "
    "and bits by layer ('dynamic'), are not read"sv;
constexpr auto kBitsandbytes =
    "open the original model, or save what transformers' model.dequantize() returns"sv;
constexpr auto kCompressed =
    "open the original model, or load it with transformers' "
    "CompressedTensorsConfig(run_compressed=False) and save it"sv;
constexpr auto kFp8 =
    "open a version in BF16, or give a config.json with 'quantization_config.weight_block_size', "
    "or load it with transformers' FineGrainedFP8Config(dequantize=True) and save it"sv;
constexpr auto kMlx = "open the original model, or convert it with mlx_lm.convert --dequantize"sv;

bool is_fp8(const LinearTensors& layer) {
  return layer.is(kWeight,
                  {Dtype::kF8E4M3, Dtype::kF8E5M2, Dtype::kF8E4M3Fnuz, Dtype::kF8E5M2Fnuz});
}

/// The more particular ones first.
constexpr std::array kQuantizations{
    // AWQ packs eight outputs into a number, GPTQ eight inputs.
    Quantization{"AWQ", "qweight", kOriginal, Packing::awq,
                 [](const LinearTensors& layer) {
                   return !layer.has("g_idx") && layer.columns("qweight") < layer.columns("scales");
                 }},
    Quantization{"GPTQ", "qweight", kGptq, Packing::gptq},
    Quantization{"NVFP4 (compressed-tensors)", "weight_packed", kCompressed, Packing::nvfp4,
                 [](const LinearTensors& layer) { return layer.has("weight_global_scale"); }},
    Quantization{
        "MXFP4 (compressed-tensors)", "weight_packed", kCompressed, Packing::nvfp4,
        [](const LinearTensors& layer) { return layer.is("weight_packed", {Dtype::kU8}); }},
    Quantization{"packed (compressed-tensors)", "weight_packed", kCompressed, Packing::compressed},
    Quantization{"NF4 (bitsandbytes)", "weight.quant_state.bitsandbytes__nf4", kBitsandbytes,
                 Packing::bitsandbytes4},
    Quantization{"FP4 (bitsandbytes)", "weight.quant_state.bitsandbytes__fp4", kBitsandbytes,
                 Packing::bitsandbytes4},
    Quantization{"4-bit (bitsandbytes)", "weight.absmax", kBitsandbytes},
    Quantization{"INT8 (bitsandbytes)", "SCB", kBitsandbytes, Packing::bitsandbytes8},
    Quantization{"NVFP4 (ModelOpt)", "weight_scale_2", kOriginal, Packing::nvfp4},
    Quantization{"MLX", "scales", kMlx, Packing::mlx,
                 [](const LinearTensors& layer) { return layer.is(kWeight, {Dtype::kU32}); }},
    Quantization{"FP8", "weight_scale_inv", kFp8, Packing::scaled, is_fp8},
    Quantization{"FP8", "weight_scale", kOriginal, Packing::scaled, is_fp8},
    Quantization{"FP8", "scale", kOriginal, Packing::scaled,
                 [](const LinearTensors& layer) {
                   return is_fp8(layer) && layer.is("scale", {Dtype::kF8E8M0});
                 }},
    Quantization{"FP8", "weight", kOriginal, Packing::unknown, is_fp8},
    Quantization{"INT8", "weight_scale", kCompressed, Packing::scaled,
                 [](const LinearTensors& layer) { return layer.is(kWeight, {Dtype::kI8}); }},
    Quantization{"EETQ", "weight_scales", kOriginal},
    Quantization{"torchao", "_weight_qdata", kOriginal},
    Quantization{"HQQ", "W_q", kOriginal},
    Quantization{"Quanto", "weight._data", kOriginal},
    Quantization{"AQLM", "codes", kOriginal, Packing::unknown,
                 [](const LinearTensors& layer) { return layer.has("codebooks"); }},
    Quantization{"GPTQ (Marlin)", "B", kOriginal, Packing::unknown,
                 [](const LinearTensors& layer) { return layer.has("s"); }},
    Quantization{"EXL2", "q_weight", kOriginal},
    Quantization{"EXL3", "trellis", kOriginal},
    Quantization{"QuIP#", "Qidxs", kOriginal},
    Quantization{"FP-Quant", "dqweight", kOriginal},
    Quantization{"scaled", "weight_scale_inv", kOriginal},
    Quantization{"scaled", "weight_scale", kOriginal},
    Quantization{"scaled", "scales", kOriginal},
    Quantization{"scaled", "scale", kOriginal},
};

/// "GPTQ weights ('...q_proj.qweight'); open ..."; empty for none.
std::string quantization_text(const LinearTensors& layer) {
  const Quantization* const kind = quantization_of(layer);
  if (kind == nullptr) return "";
  return std::string(kind->name) + " weights ('" + shown_name(layer.name(kind->mark)) + "'); " +
         std::string(kind->advice);
}

}  // namespace

bool is_conv1d(std::string_view name) {
  return name.ends_with(".c_attn.weight") || name.ends_with(".c_proj.weight") ||
         name.ends_with(".c_fc.weight");
}

const TensorInfo* LinearTensors::find(std::string_view ending) const {
  const auto entry = tensors_.find(name(ending));
  return entry == tensors_.end() ? nullptr : &entry->second;
}

bool LinearTensors::is(std::string_view ending, std::initializer_list<Dtype> types) const {
  const TensorInfo* const tensor = find(ending);
  return tensor != nullptr && std::find(types.begin(), types.end(), tensor->dtype) != types.end();
}

std::uint64_t LinearTensors::columns(std::string_view ending) const {
  const TensorInfo* const tensor = find(ending);
  return tensor == nullptr || tensor->shape.size() != 2 ? 0 : tensor->shape[1];
}

const Quantization* quantization_of(const LinearTensors& layer) {
  const auto kind =
      std::find_if(kQuantizations.begin(), kQuantizations.end(),
                   [&](const Quantization& it) { return layer.has(it.mark) && it.fits(layer); });
  return kind == kQuantizations.end() ? nullptr : &*kind;
}

std::string renamed_quantization(const Tensors& tensors) {
  for (const auto& [name, info] : tensors) {
    for (const std::string_view ending : kPackedWeights) {
      if (name.ends_with(ending))
        return quantization_text({tensors, name.substr(0, name.size() - ending.size() + 1)});
    }
  }
  return "";
}

void refuse_quantized(const Safetensors& file, const std::string& weight) {
  if (!weight.ends_with("." + std::string(kWeight))) return;
  const std::string quantization =
      quantization_text({file.tensors(), weight.substr(0, weight.size() - kWeight.size())});
  if (quantization.empty()) return;
  refuse_item(weight, {"it must not be quantized in ", file.name(), ", but has ", quantization});
}

}  // namespace eigenscope

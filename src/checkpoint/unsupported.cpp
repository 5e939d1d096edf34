#include "checkpoint/unsupported.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "io/json_events.h"

namespace eigenscope {
namespace {

struct Part {
  std::string_view name;
  std::array<std::string_view, 3> marks;  ///< in names of its tensors; the last one may be empty
  bool (*runs)(const Family&) = [](const Family&) { return false; };
};
constexpr std::array kParts{
    Part{"a mixture of experts",
         {".experts.", ".block_sparse_moe."},
         [](const Family& family) { return !family.text.experts.router.weight.empty(); }},
    // Keys and values are made of a compressed state (arXiv:2405.04434).
    Part{"multi-head latent attention",
         {".kv_a_proj_with_mqa.", ".kv_b_proj."},
         [](const Family& family) { return family.latent(); }},
    Part{"latent attention as mlx-lm splits it, to be converted back to 'kv_b_proj'",
         {".self_attn.embed_q.", ".self_attn.unembed_out."}},
    Part{"state-space or recurrent layers",
         {".A_log", ".time_decay"},
         [](const Family& family) { return !family.mixer.log_rate.empty(); }},
};
constexpr Part kAdapter{"an adapter", {".lora_A.", ".lora_down.", ".base_layer."}};
constexpr Part kGgufAdapter{"an adapter of llama.cpp", {".weight.lora_a", ".weight.lora_b"}};
constexpr Part kMlxAdapter{"an adapter of MLX", {".lora_a", ".lora_b"}};

/// "a mixture of experts ('model.layers.0.mlp.experts.down_proj')"; empty where no tensor has a mark of it.
std::string shown_part(const Part& part, const std::map<std::string, TensorInfo>& tensors) {
  const auto shown = std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) {
    return std::any_of(part.marks.begin(), part.marks.end(), [&](std::string_view mark) {
      return !mark.empty() && tensor.first.find(mark) != std::string::npos;
    });
  });
  if (shown == tensors.end()) return "";
  return std::string(part.name) + " ('" + shown_name(shown->first) + "')";
}

}  // namespace

std::string unsupported_parts(const std::map<std::string, TensorInfo>& tensors,
                              const Family* family) {
  std::string parts;
  for (const Part& part : kParts) {
    if (family != nullptr && part.runs(*family)) continue;
    const std::string shown = shown_part(part, tensors);
    if (!shown.empty()) parts += (parts.empty() ? "" : ", ") + shown;
  }
  return parts;
}

std::string unmerged_adapter(const std::map<std::string, TensorInfo>& tensors) {
  for (const auto& [part, program] :
       {std::pair{&kAdapter, "peft's merge_and_unload()"},
        std::pair{&kGgufAdapter, "llama-export-lora"}, std::pair{&kMlxAdapter, "mlx_lm.fuse"}}) {
    const std::string shown = shown_part(*part, tensors);
    if (!shown.empty()) return shown + "; merge it into its model with " + program;
  }
  return "";
}

}  // namespace eigenscope

#include "checkpoint/family.h"

#include "checkpoint/family_decoders.h"
#include "checkpoint/family_encoder_decoders.h"
#include "checkpoint/family_encoders.h"
#include "checkpoint/family_gpt.h"
#include "checkpoint/family_vision.h"

namespace eigenscope {
namespace {

using namespace rows;

// Rows with more specific names come first: each row takes the weights that fit it among those that the rows before it
// left.
// clang-format off
constexpr std::array kFamilies{
    roberta(), electra(), esm(), roformer(), mpnet(), deberta(), xlm_roberta_xl(), nomic(), gte(),
    gte_separate(), jina2(), jina3(), bert(), albert(), modernbert(), distilbert(), use_lite(),
    qwen1(), baichuan(), baichuan_separate(), gpt2(), openai_gpt(), gpt_bigcode(), nano_gpt(), gpt2_linear(),
    gpt_j(), exaone3(), gpt_neo(), bloom(), falcon(), falcon_small(), mpt(), chatglm(), llama2_c(),
    gpt_neox(), phi3(), qwen2_vl(), qwen3_vl(), siglip(), clip(), phi(), whisper(), moonshine(),
    bart(), nllb(), t5(), t5_gated(), t5_gemma(), opt(), gemma(), gemma2(), vault_gemma(), gemma3(), gemma3n(),
    gemma4(), olmo(), olmo2(), olmo3(), exaone4(), starcoder2(), smollm3(), gpt_oss(),
    llama4(), cohere(), cohere2(), cohere2_moe(), llava(), mllama(), jamba(), mixtral(),
    qwen3_moe(), qwen3_omni(), qwen3_vl_moe(), qwen2_moe(), olmoe(), granite(), granite_moe(), granite_shared(),
    granite_hybrid(), granite_swa(), hyperclova(), arcee(), nemotron(), stablelm(), phi_moe(),
    hunyuan(), minimax(), minimax_m3(), latent(), glm_latent(), latent_keys(), kimi_linear(),
    deepseek_v4(), deepseek_heads(), mistral4(), minicpm3(), glm4_moe(), exaone_moe(), solar_open(), mimo_v2(), hy3(),
    dots1(), afmoe(), internlm2(), ling(), ling_separate(),
    falcon_h1(), nemotron_hybrid(), llama_nemotron(), qwen35(), apertus(), lfm2(), glm(),
    glm4(), glm_vision(), eurobert(), paddle_ocr(), step3p7(), ernie45(), minicpm_v(),
    qwen3(), ministral3(), llama_itself(), sam(), dinov3(), dinov2(), vit(), timm(), qwen_vision(),
    torch_transformer(), torch_encoder(),
};
// clang-format on

}  // namespace

std::span<const Family> families() { return kFamilies; }

std::uint64_t first_output(HeadLayout layout, Projection projection, const HeadGrid& grid,
                           std::uint64_t head) {
  const std::uint64_t group = grid.group(), shared = head / group;
  const bool query = projection == Projection::query;
  const std::uint64_t after = projection == Projection::value ? 1 : 0;  // keys come before values
  switch (layout) {
    case HeadLayout::kSeparate:
      return (query ? head : shared) * grid.head_width;
    case HeadLayout::kGated:
      return query ? 2 * head * grid.head_width : shared * grid.head_width;
    case HeadLayout::kConv1D:
    case HeadLayout::kFused:
      return (query ? head : grid.heads + after * grid.key_heads + shared) * grid.head_width;
    case HeadLayout::kLatent:  // whose keys are counted by the plan
      return (query ? head : shared) * grid.head_width;
    case HeadLayout::kInterleaved:
      return (shared * (group + 2) + (query ? head % group : group + after)) * grid.head_width;
  }
  return 0;
}

}  // namespace eigenscope

#include "checkpoint/gguf_names.h"

#include <array>
#include <cstddef>

namespace eigenscope {
namespace {

constexpr std::array kDecoder{
    Renamed{"token_embd", "model.embed_tokens"},
    Renamed{"output_norm", "model.norm"},
    Renamed{"output", "lm_head"},
    Renamed{"blk.{n}.attn_norm", "model.layers.{n}.input_layernorm"},
    Renamed{"blk.{n}.attn_q", "model.layers.{n}.self_attn.q_proj"},
    Renamed{"blk.{n}.attn_k", "model.layers.{n}.self_attn.k_proj"},
    Renamed{"blk.{n}.attn_v", "model.layers.{n}.self_attn.v_proj"},
    Renamed{"blk.{n}.attn_qkv", "model.layers.{n}.self_attn.qkv_proj"},
    Renamed{"blk.{n}.attn_q_norm", "model.layers.{n}.self_attn.q_norm"},
    Renamed{"blk.{n}.attn_k_norm", "model.layers.{n}.self_attn.k_norm"},
    Renamed{"blk.{n}.attn_q_a", "model.layers.{n}.self_attn.q_a_proj"},
    Renamed{"blk.{n}.attn_q_a_norm", "model.layers.{n}.self_attn.q_a_layernorm"},
    Renamed{"blk.{n}.attn_q_b", "model.layers.{n}.self_attn.q_b_proj"},
    Renamed{"blk.{n}.attn_kv_a_mqa", "model.layers.{n}.self_attn.kv_a_proj_with_mqa"},
    Renamed{"blk.{n}.attn_kv_a_norm", "model.layers.{n}.self_attn.kv_a_layernorm"},
    Renamed{"blk.{n}.attn_kv_b", "model.layers.{n}.self_attn.kv_b_proj"},  // of older files
    Renamed{"blk.{n}.attn_k_b.weight", "model.layers.{n}.self_attn.kv_b_proj.weight",
            Joined::heads},
    Renamed{"blk.{n}.attn_v_b.weight", "model.layers.{n}.self_attn.kv_b_proj.weight",
            Joined::heads},
    Renamed{"blk.{n}.attn_output", "model.layers.{n}.self_attn.o_proj"},
    Renamed{"blk.{n}.ffn_norm", "model.layers.{n}.post_attention_layernorm"},
    Renamed{"blk.{n}.ffn_gate", "model.layers.{n}.mlp.gate_proj"},
    Renamed{"blk.{n}.ffn_up", "model.layers.{n}.mlp.up_proj"},
    Renamed{"blk.{n}.ffn_down", "model.layers.{n}.mlp.down_proj"},
    Renamed{"blk.{n}.ffn_gate_inp", "model.layers.{n}.mlp.gate"},
    Renamed{"blk.{n}.ffn_gate_exps", "model.layers.{n}.mlp.experts.{e}.gate_proj"},
    Renamed{"blk.{n}.ffn_up_exps", "model.layers.{n}.mlp.experts.{e}.up_proj"},
    Renamed{"blk.{n}.ffn_down_exps", "model.layers.{n}.mlp.experts.{e}.down_proj"},
    Renamed{"blk.{n}.ffn_gate_inp_shexp", "model.layers.{n}.mlp.shared_expert_gate"},
    Renamed{"blk.{n}.ffn_gate_shexp", "model.layers.{n}.mlp.shared_expert.gate_proj"},
    Renamed{"blk.{n}.ffn_up_shexp", "model.layers.{n}.mlp.shared_expert.up_proj"},
    Renamed{"blk.{n}.ffn_down_shexp", "model.layers.{n}.mlp.shared_expert.down_proj"},
};
/// Beside those of kDecoder, which give way: norms before and after attention and MLP.
constexpr std::array kFourNorms{
    Renamed{"blk.{n}.post_attention_norm", "model.layers.{n}.post_attention_layernorm"},
    Renamed{"blk.{n}.ffn_norm", "model.layers.{n}.pre_feedforward_layernorm"},
    Renamed{"blk.{n}.post_ffw_norm", "model.layers.{n}.post_feedforward_layernorm"},
};
constexpr std::array kGlm4{
    Renamed{"blk.{n}.post_attention_norm", "model.layers.{n}.post_self_attn_layernorm"},
    Renamed{"blk.{n}.post_ffw_norm", "model.layers.{n}.post_mlp_layernorm"},
    Renamed{"blk.{n}.ffn_up", "model.layers.{n}.mlp.gate_up_proj"},
};
constexpr std::array kMixtral{
    Renamed{"blk.{n}.ffn_gate_inp", "model.layers.{n}.block_sparse_moe.gate"},
    Renamed{"blk.{n}.ffn_gate_exps", "model.layers.{n}.block_sparse_moe.experts.{e}.w1"},
    Renamed{"blk.{n}.ffn_up_exps", "model.layers.{n}.block_sparse_moe.experts.{e}.w3"},
    Renamed{"blk.{n}.ffn_down_exps", "model.layers.{n}.block_sparse_moe.experts.{e}.w2"},
};
constexpr std::array kGraniteMixture{
    Renamed{"blk.{n}.ffn_gate_inp", "model.layers.{n}.block_sparse_moe.router.layer"},
    Renamed{"blk.{n}.ffn_gate_exps", "model.layers.{n}.block_sparse_moe.input_linear",
            Joined::matrices},
    Renamed{"blk.{n}.ffn_up_exps", "model.layers.{n}.block_sparse_moe.input_linear",
            Joined::matrices},
    Renamed{"blk.{n}.ffn_down_exps", "model.layers.{n}.block_sparse_moe.output_linear"},
    Renamed{"blk.{n}.ffn_gate_shexp", "model.layers.{n}.shared_mlp.input_linear", Joined::matrices},
    Renamed{"blk.{n}.ffn_up_shexp", "model.layers.{n}.shared_mlp.input_linear", Joined::matrices},
    Renamed{"blk.{n}.ffn_down_shexp", "model.layers.{n}.shared_mlp.output_linear"},
};
constexpr std::array kGptOss{
    Renamed{"blk.{n}.post_attention_norm", "model.layers.{n}.post_attention_layernorm"},
    Renamed{"blk.{n}.attn_sinks.weight", "model.layers.{n}.self_attn.sinks"},
    Renamed{"blk.{n}.ffn_gate_inp", "model.layers.{n}.mlp.router"},
    Renamed{"blk.{n}.ffn_gate_exps.weight", "model.layers.{n}.mlp.experts.gate_up_proj_blocks",
            Joined::rows},
    Renamed{"blk.{n}.ffn_up_exps.weight", "model.layers.{n}.mlp.experts.gate_up_proj_blocks",
            Joined::rows},
    Renamed{"blk.{n}.ffn_down_exps.weight", "model.layers.{n}.mlp.experts.down_proj_blocks"},
    Renamed{"blk.{n}.ffn_gate_exps.bias", "model.layers.{n}.mlp.experts.gate_up_proj_bias",
            Joined::rows},
    Renamed{"blk.{n}.ffn_up_exps.bias", "model.layers.{n}.mlp.experts.gate_up_proj_bias",
            Joined::rows},
    Renamed{"blk.{n}.ffn_down_exps.bias", "model.layers.{n}.mlp.experts.down_proj_bias"},
};
constexpr std::array kDeepSeek{
    Renamed{"blk.{n}.exp_probs_b.bias", "model.layers.{n}.mlp.gate.e_score_correction_bias"},
    Renamed{"blk.{n}.ffn_gate_shexp", "model.layers.{n}.mlp.shared_experts.gate_proj"},
    Renamed{"blk.{n}.ffn_up_shexp", "model.layers.{n}.mlp.shared_experts.up_proj"},
    Renamed{"blk.{n}.ffn_down_shexp", "model.layers.{n}.mlp.shared_experts.down_proj"},
};
constexpr std::array kTwoMatrices{
    Renamed{"blk.{n}.ffn_up", "model.layers.{n}.mlp.c_fc"},
    Renamed{"blk.{n}.ffn_down", "model.layers.{n}.mlp.c_proj"},
};
constexpr std::array kFusedGate{
    Renamed{"blk.{n}.ffn_up", "model.layers.{n}.mlp.gate_up_proj"},
};
constexpr std::array kEncoder{
    Renamed{"token_embd", "embeddings.word_embeddings"},
    Renamed{"position_embd", "embeddings.position_embeddings"},
    Renamed{"token_types", "embeddings.token_type_embeddings"},
    Renamed{"token_embd_norm", "embeddings.LayerNorm"},
    Renamed{"blk.{n}.attn_q", "encoder.layer.{n}.attention.self.query"},
    Renamed{"blk.{n}.attn_k", "encoder.layer.{n}.attention.self.key"},
    Renamed{"blk.{n}.attn_v", "encoder.layer.{n}.attention.self.value"},
    Renamed{"blk.{n}.attn_output", "encoder.layer.{n}.attention.output.dense"},
    Renamed{"blk.{n}.attn_output_norm", "encoder.layer.{n}.attention.output.LayerNorm"},
    Renamed{"blk.{n}.ffn_up", "encoder.layer.{n}.intermediate.dense"},
    Renamed{"blk.{n}.ffn_down", "encoder.layer.{n}.output.dense"},
    Renamed{"blk.{n}.layer_output_norm", "encoder.layer.{n}.output.LayerNorm"},
};

constexpr std::array kConverted{
    Converted{{"llama"}, "mixtral", kMixtral, kDecoder, true, false, false, 0, "expert_count"},
    Converted{{"llama"}, "llama", {}, kDecoder, true},
    Converted{{"qwen2"}, "qwen2", {}, kDecoder},
    Converted{{"qwen3"}, "qwen3", {}, kDecoder},
    Converted{{"gemma"}, "gemma", {}, kDecoder, false, true},
    Converted{{"gemma2"}, "gemma2", kFourNorms, kDecoder, false, true, false, 46},
    Converted{{"gemma3"}, "gemma3_text", kFourNorms, kDecoder, false, true, false, 62},
    Converted{{"olmo2"}, "olmo2", kFourNorms, kDecoder},
    Converted{{"phi3"}, "phi3", kFusedGate, kDecoder},
    Converted{{"qwen2moe"}, "qwen2_moe", {}, kDecoder},
    Converted{{"qwen3moe"}, "qwen3_moe", {}, kDecoder, false, false, true},
    Converted{{"olmoe"}, "olmoe", {}, kDecoder},
    Converted{{"seed_oss"}, "seed_oss", kFourNorms, kDecoder},
    Converted{{"starcoder2"}, "starcoder2", kTwoMatrices, kDecoder},
    Converted{{"stablelm"}, "stablelm", {}, kDecoder},
    Converted{{"arcee"}, "arcee", {}, kDecoder, true},
    Converted{{"granite"}, "granite", {}, kDecoder, true},
    Converted{{"granitemoe"},
              "granitemoeshared",
              kGraniteMixture,
              kDecoder,
              true,
              false,
              false,
              0,
              "expert_shared_feed_forward_length"},
    Converted{{"granitemoe"}, "granitemoe", kGraniteMixture, kDecoder, true},
    Converted{{"gpt-oss"}, "gpt_oss", kGptOss, kDecoder},
    // Their pairs are neighbours in Hugging Face's order too.
    Converted{{"command-r"}, "cohere", {}, kDecoder},
    Converted{{"glm4"}, "glm4", kGlm4, kDecoder},
    Converted{{"deepseek2"}, "deepseek_v3", kDeepSeek, kDecoder},
    Converted{{"bert"}, "bert", {}, kEncoder},
};

}  // namespace

std::string architecture_of(const OrderedJson& metadata) {
  const auto found = metadata.find("general.architecture");
  return found != metadata.end() && found->is_string() ? found->get<std::string>() : "";
}

const Converted* conversion_of(const GgufHeader& header) {
  const std::string name = architecture_of(header.metadata);
  for (const Converted& row : kConverted) {
    const bool holds =
        row.needed.empty() || header.integer(name + "." + std::string(row.needed)) > 0;
    if (row.name == name && holds) return &row;
  }
  return nullptr;
}

NewName renamed(const std::string& name, const Converted* conversion) {
  const std::size_t ending = name.rfind('.');
  if (conversion == nullptr || ending == std::string::npos) return {name};
  std::string pattern = name, layer;
  constexpr std::string_view kBlockPrefix = "blk.", kMark = "{n}";
  if (name.starts_with(kBlockPrefix)) {
    const std::size_t end = name.find('.', kBlockPrefix.size());
    if (end >= ending) return {name};
    layer = name.substr(kBlockPrefix.size(), end - kBlockPrefix.size());
    pattern = std::string(kBlockPrefix) + std::string(kMark) + name.substr(end);
  }
  const std::string base = pattern.substr(0, pattern.rfind('.'));
  const auto whole = [&](std::string_view of, bool is_base) {
    std::string found(of);
    if (const std::size_t at = found.find(kMark); at != std::string::npos)
      found.replace(at, kMark.size(), layer);
    return is_base ? found + name.substr(ending) : found;
  };
  for (const std::span<const Renamed> names : {conversion->particular, conversion->names}) {
    const Renamed* row = row_of(names, pattern);
    const bool is_base = row == nullptr;
    if (is_base) row = row_of(names, base);
    if (row == nullptr) continue;
    NewName found{whole(row->to, is_base), row->joined};
    for (const Renamed& other : names) {
      if (row->joined == Joined::no || other.to != row->to || &other == row) continue;
      found.first = row < &other;
      found.partner = whole(other.from, is_base);
    }
    return found;
  }
  return {name};
}

}  // namespace eigenscope

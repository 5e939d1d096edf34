#include "checkpoint/gguf_names.h"

#include <array>
#include <cstddef>

namespace eigenscope {
namespace {

constexpr std::array kDecoderRows{
    Renamed{"token_embd", "model.embed_tokens"},
    Renamed{"output_norm", "model.norm"},
    Renamed{"output", "lm_head"},
    Renamed{"attn_norm", "input_layernorm"},
    Renamed{"attn_q", "self_attn.q_proj"},
    Renamed{"attn_k", "self_attn.k_proj"},
    Renamed{"attn_v", "self_attn.v_proj"},
    Renamed{"attn_qkv", "self_attn.qkv_proj"},
    Renamed{"attn_q_norm", "self_attn.q_norm"},
    Renamed{"attn_k_norm", "self_attn.k_norm"},
    Renamed{"attn_q_a", "self_attn.q_a_proj"},
    Renamed{"attn_q_a_norm", "self_attn.q_a_layernorm"},
    Renamed{"attn_q_b", "self_attn.q_b_proj"},
    Renamed{"attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"},
    Renamed{"attn_kv_a_norm", "self_attn.kv_a_layernorm"},
    Renamed{"attn_kv_b", "self_attn.kv_b_proj"},  // of older files
    Renamed{"attn_k_b.weight", "self_attn.kv_b_proj.weight", Joined::heads},
    Renamed{"attn_v_b.weight", "self_attn.kv_b_proj.weight", Joined::heads},
    Renamed{"attn_output", "self_attn.o_proj"},
    Renamed{"attn_rot_embd.weight", "self_attn.rotary_emb.inv_freq"},  // of older files
    Renamed{"ffn_norm", "post_attention_layernorm"},
    Renamed{"ffn_gate", "mlp.gate_proj"},
    Renamed{"ffn_up", "mlp.up_proj"},
    Renamed{"ffn_down", "mlp.down_proj"},
    Renamed{"ffn_gate_inp", "mlp.gate"},
    Renamed{"ffn_gate_exps", "mlp.experts.{e}.gate_proj"},
    Renamed{"ffn_up_exps", "mlp.experts.{e}.up_proj"},
    Renamed{"ffn_down_exps", "mlp.experts.{e}.down_proj"},
    Renamed{"ffn_gate_inp_shexp", "mlp.shared_expert_gate"},
    Renamed{"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
    Renamed{"ffn_up_shexp", "mlp.shared_expert.up_proj"},
    Renamed{"ffn_down_shexp", "mlp.shared_expert.down_proj"},
};
constexpr Names kDecoder{kDecoderRows, "model.layers."};
/// Beside those of kDecoder, which give way: norms before and after attention and MLP.
constexpr std::array kFourNorms{
    Renamed{"post_attention_norm", "post_attention_layernorm"},
    Renamed{"ffn_norm", "pre_feedforward_layernorm"},
    Renamed{"post_ffw_norm", "post_feedforward_layernorm"},
};
constexpr std::array kGlm4{
    Renamed{"post_attention_norm", "post_self_attn_layernorm"},
    Renamed{"post_ffw_norm", "post_mlp_layernorm"},
    Renamed{"ffn_up", "mlp.gate_up_proj"},
};
constexpr std::array kMixtral{
    Renamed{"ffn_gate_inp", "block_sparse_moe.gate"},
    Renamed{"ffn_gate_exps", "block_sparse_moe.experts.{e}.w1"},
    Renamed{"ffn_up_exps", "block_sparse_moe.experts.{e}.w3"},
    Renamed{"ffn_down_exps", "block_sparse_moe.experts.{e}.w2"},
};
constexpr std::array kGraniteMixture{
    Renamed{"ffn_gate_inp", "block_sparse_moe.router.layer"},
    Renamed{"ffn_gate_exps", "block_sparse_moe.input_linear", Joined::matrices},
    Renamed{"ffn_up_exps", "block_sparse_moe.input_linear", Joined::matrices},
    Renamed{"ffn_down_exps", "block_sparse_moe.output_linear"},
    Renamed{"ffn_gate_shexp", "shared_mlp.input_linear", Joined::matrices},
    Renamed{"ffn_up_shexp", "shared_mlp.input_linear", Joined::matrices},
    Renamed{"ffn_down_shexp", "shared_mlp.output_linear"},
};
constexpr std::array kGptOss{
    Renamed{"post_attention_norm", "post_attention_layernorm"},
    Renamed{"attn_sinks.weight", "self_attn.sinks"},
    Renamed{"ffn_gate_inp", "mlp.router"},
    Renamed{"ffn_gate_exps.weight", "mlp.experts.gate_up_proj_blocks", Joined::rows},
    Renamed{"ffn_up_exps.weight", "mlp.experts.gate_up_proj_blocks", Joined::rows},
    Renamed{"ffn_down_exps.weight", "mlp.experts.down_proj_blocks"},
    Renamed{"ffn_gate_exps.bias", "mlp.experts.gate_up_proj_bias", Joined::rows},
    Renamed{"ffn_up_exps.bias", "mlp.experts.gate_up_proj_bias", Joined::rows},
    Renamed{"ffn_down_exps.bias", "mlp.experts.down_proj_bias"},
};
constexpr std::array kDeepSeek{
    Renamed{"exp_probs_b.bias", "mlp.gate.e_score_correction_bias"},
    Renamed{"indexer.attn_q_b", "self_attn.indexer.wq_b"},
    Renamed{"indexer.attn_k", "self_attn.indexer.wk"},
    Renamed{"indexer.k_norm", "self_attn.indexer.k_norm"},
    Renamed{"indexer.proj", "self_attn.indexer.weights_proj"},
    Renamed{"ffn_gate_shexp", "mlp.shared_experts.gate_proj"},
    Renamed{"ffn_up_shexp", "mlp.shared_experts.up_proj"},
    Renamed{"ffn_down_shexp", "mlp.shared_experts.down_proj"},
};
constexpr std::array kTwoMatrices{
    Renamed{"ffn_up", "mlp.c_fc"},
    Renamed{"ffn_down", "mlp.c_proj"},
};
constexpr std::array kFusedGate{
    Renamed{"ffn_up", "mlp.gate_up_proj"},
};
constexpr std::array kEncoderRows{
    Renamed{"token_embd", "embeddings.word_embeddings"},
    Renamed{"position_embd", "embeddings.position_embeddings"},
    Renamed{"token_types", "embeddings.token_type_embeddings"},
    Renamed{"token_embd_norm", "embeddings.LayerNorm"},
    Renamed{"attn_q", "attention.self.query"},
    Renamed{"attn_k", "attention.self.key"},
    Renamed{"attn_v", "attention.self.value"},
    Renamed{"attn_output", "attention.output.dense"},
    Renamed{"attn_output_norm", "attention.output.LayerNorm"},
    Renamed{"ffn_up", "intermediate.dense"},
    Renamed{"ffn_down", "output.dense"},
    Renamed{"layer_output_norm", "output.LayerNorm"},
};

constexpr Names kEncoder{kEncoderRows, "encoder.layer."};

constexpr std::array kConverted{
    Converted{{"llama"}, "mixtral", kMixtral, kDecoder, true, false, false, 0, "expert_count"},
    Converted{{"llama"}, "llama", {}, kDecoder, true},
    Converted{{"qwen2"}, "qwen2", {}, kDecoder},
    Converted{{"qwen3"}, "qwen3", {}, kDecoder},
    Converted{{"gemma"}, "gemma", {}, kDecoder, false, true},
    Converted{{"gemma2"}, "gemma2", kFourNorms, kDecoder, false, true, false, 46},
    Converted{{"gemma3"}, "gemma3_text", kFourNorms, kDecoder, false, true, false, 62},
    Converted{{"olmo2"},
              "olmo3",
              kFourNorms,
              kDecoder,
              false,
              false,
              false,
              0,
              "attention.sliding_window"},
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
    Converted{{"deepseek32"}, "deepseek_v32", kDeepSeek, kDecoder},
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

const Renamed* row_of(std::span<const Renamed> names, std::string_view from) {
  for (const Renamed& row : names) {
    if (row.from == from) return &row;
  }
  return nullptr;
}

NewName renamed(const std::string& name, const Converted* conversion) {
  const std::size_t ending = name.rfind('.');
  if (conversion == nullptr || ending == std::string::npos) return {name};
  std::string_view own = name;
  std::string before;
  constexpr std::string_view kBlock = "blk.";
  if (own.starts_with(kBlock)) {
    const std::size_t end = own.find('.', kBlock.size()) + 1;
    if (end > ending) return {name};
    before = conversion->names.layers;
    before += own.substr(kBlock.size(), end - kBlock.size());
    own.remove_prefix(end);
  }
  const std::string unknown = before + std::string(own);
  const std::string_view base = own.substr(0, own.rfind('.'));
  for (const std::span<const Renamed> rows : {conversion->particular, conversion->names.rows}) {
    const Renamed* row = row_of(rows, own);
    const bool whole = row != nullptr;
    if (!whole) row = row_of(rows, base);
    if (row == nullptr) continue;
    before += row->to;
    if (!whole) before += name.substr(ending);
    // The rows of two that are joined follow one another.
    return {before, row->joined, row == rows.data() || row[-1].to != row->to};
  }
  return {unknown};
}

}  // namespace eigenscope

// Rows of decoders with LLaMA's names.
#pragma once

#include "checkpoint/family_rows.h"

namespace eigenscope::rows {

constexpr Family llama() {
  return {.name = "LLaMA",
          .model_types =
              " llama mistral mistral3 ministral qwen2 seed_oss internlm3 mimo "
              "PanguEmbedded ",
          .others = Others::names,
          .window = {.model_types = " mistral qwen2 mimo ",
                     .switched = " qwen2 mimo ",
                     .untyped = " mistral ",
                     .default_before = 28},
          .embeddings = "embed_tokens.weight",
          .attentions = {{{.query_weight = "layers.{n}.self_attn.q_proj.weight",
                           .key_weight = "layers.{n}.self_attn.k_proj.weight",
                           .query_gain = "layers.{n}.input_layernorm.weight",
                           .key_head_count_key = "num_key_value_heads",
                           .rotary = RotaryPairs::kHalves,
                           .others = " self_attn.rotary_emb.inv_freq "}}},
          .text = {.model_types = " llama mistral mistral3 qwen2 seed_oss mimo PanguEmbedded ",
                   .value = "layers.{n}.self_attn.v_proj.weight",
                   .attention_output = "layers.{n}.self_attn.o_proj.weight",
                   .mlp_norm = "layers.{n}.post_attention_layernorm.weight",
                   .mlp_gate = "layers.{n}.mlp.gate_proj.weight",
                   .mlp_up = "layers.{n}.mlp.up_proj.weight",
                   .mlp_down = "layers.{n}.mlp.down_proj.weight",
                   .final_norm = "norm.weight",
                   .norm = NormKind::rms_norm,
                   .epsilon_key = "rms_norm_eps",
                   .epsilon = 1e-6,
                   .activation_key = "hidden_act",
                   .activation = Activation::silu,
                   .optional_bias = true}};
}

/// LLaMA itself and what differs from it by keys that it reads too, which others of its names need not share: its heads
/// turn whole, and biases have switches.
constexpr Family llama_itself() {
  Family row = llama();
  row.rotary.share = {};
  row.text.switched_biases = " llama ";
  return row;
}

// Some layers have no heads, others no MLP, by `block_configs`.
constexpr Family llama_nemotron() {
  Family row = llama_itself();
  row.name = "Llama Nemotron";
  row.model_types = row.text.model_types = row.text.switched_biases = " nemotron-nas ";
  row.others = Others::none;
  row.text.optional_branches = true;
  return row;
}

/// With norms of queries and keys under their usual names: in all models of the row, or where the file has them.
constexpr Family head_normed(Family row, bool always = true) {
  AttentionNames& names = row.attentions[0];
  names.query_norm_gain = "layers.{n}.self_attn.q_norm.weight";
  names.key_norm_gain = "layers.{n}.self_attn.k_norm.weight";
  names.always_head_normed = always;
  names.norm_span = NormSpan::head;
  return row;
}

constexpr Family without_head_norms(Family row) {
  AttentionNames& names = row.attentions[0];
  names.query_norm_gain = names.key_norm_gain = {};
  names.always_head_normed = false;
  return row;
}

// Alone or in a model with vision.
constexpr Family ministral3() {
  Family row = variant(llama(), "Ministral 3", " ministral3 ");
  row.window = {.model_types = " ministral3 ", .untyped = " ministral3 "};
  row.rotary.default_base = 1e6;
  row.rotary.unwritten = UnwrittenScaling::angles_and_logits;
  row.text.model_types = " mistral3 ministral3 ";
  row.text.epsilon = 1e-5;
  return row;
}

constexpr Family qwen3() {
  Family row = head_normed(variant(llama(), "Qwen 3", " qwen3 "));
  row.window.model_types = row.window.switched = row.model_types;
  return row;
}

/// LLaMA's names with other conventions, of which only the heads are read.
constexpr Family llama_heads(std::string_view name, std::string_view model_types) {
  return heads_only(variant(llama(), name, model_types),
                    " self_attn.v_proj self_attn.o_proj self_attn.rotary_emb.inv_freq "
                    "post_attention_layernorm ");
}

// The text of models of vision, whose three positions are the same for a token of text.
constexpr Family qwen2_vl() {
  Family row =
      variant(llama(), "Qwen 2 VL",
              " qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text qwen2_5_omni qwen2_5_omni_text ");
  row.rotary.default_base = 1e6;
  row.text.epsilon = 1e-5;
  row.text.usual = {{{"use_sliding_window", "false"}}};
  return row;
}

constexpr Family qwen3_vl() {
  Family row = head_normed(variant(qwen2_vl(), "Qwen 3 VL", " qwen3_vl qwen3_vl_text "));
  row.rotary.default_base = 5e5;
  row.text.epsilon = 1e-6;
  return row;
}

// Around a LLaMA or a Qwen 3.
constexpr Family minicpm_v() { return head_normed(llama_heads("MiniCPM-V", " minicpmv "), false); }

constexpr Family phi3() {
  Family row = variant(llama(), "Phi-3", " phi3 ");
  row.window = {.model_types = " phi3 ", .untyped = " phi3 "};
  row.others = Others::names;
  row.layout = HeadLayout::kFused;
  row.attentions[0].query_weight = "layers.{n}.self_attn.qkv_proj.weight";
  row.attentions[0].key_weight = {};
  row.text.mlp_gate = {};
  row.text.mlp_up = "layers.{n}.mlp.gate_up_proj.weight";
  row.text.gate_rows = GateRows::halves;
  row.text.epsilon = 1e-5;
  return row;
}

// The epsilon of its norms is a constant of the original, whatever config.json says, and a key in GGUF.
constexpr Family olmo() {
  Family row = variant(llama(), "OLMo", " olmo ");
  row.attentions[0].query_gain = {};
  row.text.mlp_norm = row.text.final_norm = {};
  row.text.gainless_norms = true;
  row.text.norm = NormKind::layer_norm;
  row.text.epsilon_key = "norm_epsilon_in_gguf";
  row.text.epsilon = 1e-5;
  row.text.projection_bound_key = "clip_qkv";
  row.text.switched_biases = row.model_types;
  row.text.foreign = {"norm.weight"};
  return row;
}

constexpr Family olmo2() {
  Family row = head_normed(variant(llama(), "OLMo 2", " olmo2 "));
  row.attentions[0].query_gain = {};
  row.attentions[0].norm_span = NormSpan::all_heads;
  row.text.attention_output_norm = "layers.{n}.post_attention_layernorm.weight";
  row.text.mlp_norm = {};
  row.text.mlp_output_norm = "layers.{n}.post_feedforward_layernorm.weight";
  row.text.epsilon = 1e-5;
  return row;
}

// Angles are scaled in the layers without a window only.
constexpr Family olmo3() {
  Family row = variant(olmo2(), "OLMo 3", " olmo3 ");
  row.rotary.unscaled_local = true;
  row.rotary.default_base = 5e5;
  row.window = {.default_size = 4096, .default_pattern = 4};
  return row;
}

constexpr Family exaone4() {
  Family row = variant(olmo2(), "EXAONE 4", " exaone4 exaone4_5 exaone4_5_text ");
  row.attentions[0].norm_span = NormSpan::head;
  row.rotary.only_local = true;
  row.rotary.without_window = WithoutWindow::all;
  row.window = {.default_size = 4096, .default_pattern = 4};
  return row;
}

// Its config.json has had another "hidden_act" than the activation that the model is run with.
constexpr Family gemma() {
  Family row = variant(llama(), "Gemma", " gemma ");
  row.rotary.share = {};
  row.gain_plus_one = true;
  row.text.scaled_embedding = true;
  row.text.activation_key = "hidden_activation";
  row.text.activation = Activation::gelu_new;
  return row;
}

constexpr Family gemma2() {
  Family row = variant(gemma(), "Gemma 2", " gemma2 ");
  row.query_scalar_key = "query_pre_attn_scalar";
  row.default_query_scalar = 256;
  row.text.attention_output_norm = "layers.{n}.post_attention_layernorm.weight";
  row.text.mlp_norm = "layers.{n}.pre_feedforward_layernorm.weight";
  row.text.mlp_output_norm = "layers.{n}.post_feedforward_layernorm.weight";
  row.window = {.default_size = 4096, .default_pattern = 2};
  row.text.attention_cap_key = "attn_logit_softcapping";
  row.text.output_cap_key = "final_logit_softcapping";
  row.text.attention_cap = 50;
  row.text.output_cap = 30;
  return row;
}

// Without norms of its branches' outputs.
constexpr Family vault_gemma() {
  Family row = variant(gemma2(), "VaultGemma", " vaultgemma ");
  row.text.attention_output_norm = row.text.mlp_output_norm = {};
  row.text.switched_biases = row.model_types;
  return row;
}

// Layers with a sliding window have a rotary base of their own.
constexpr Family gemma3() {
  // With and without vision.
  Family row = head_normed(variant(gemma2(), "Gemma 3", " gemma3 gemma3_text "));
  row.rotary = {.share = {}, .default_base = 1e6, .default_local_base = 1e4};
  row.window.default_pattern = 6;
  row.attentions[0].default_heads = 8;
  row.text.bidirectional_key = "use_bidirectional_attention";
  row.text.attention_cap_key = {};
  row.text.attention_cap = 0;
  row.text.output_cap = 0;
  return row;
}

// Norms have biases, and the MLP no gate.
constexpr Family starcoder2() {
  Family row = variant(llama(), "StarCoder2", " starcoder2 ");
  row.window = {.model_types = " starcoder2 ", .untyped = " starcoder2 "};
  row.text.mlp_gate = {};
  row.text.mlp_up = "layers.{n}.mlp.c_fc.weight";
  row.text.mlp_down = "layers.{n}.mlp.c_proj.weight";
  row.text.norm = NormKind::layer_norm;
  row.text.epsilon_key = "norm_epsilon";
  row.text.epsilon = 1e-5;
  row.text.activation = Activation::gelu_new;
  return row;
}

// Each fourth layer has no positions.
constexpr Family smollm3() {
  Family row = variant(llama(), "SmolLM3", " smollm3 ");
  row.window = {.model_types = " smollm3 ", .switched = " smollm3 ", .typed = true};
  row.rotary = {.default_base = 2e6,
                .used = "no_rope_layers",
                .interval = "no_rope_layer_interval",
                .default_unused = 4};
  return row;
}

// A gate is bounded, and the factor of its activation is 1 more than that in the file.
constexpr Family gpt_oss() {
  Family row = variant(llama(), "gpt-oss", " gpt_oss ");
  row.rotary.default_base = 150000;
  row.rotary.unwritten = UnwrittenScaling::angles_and_logits;
  row.window = {.default_size = 128, .default_pattern = 2};
  row.attentions[0].sinks = "layers.{n}.self_attn.sinks";
  row.text.experts = {.router = {.weight = "layers.{n}.mlp.router.weight",
                                 .normalized_key = {},
                                 .normalized = true},
                      .stacked = {.up = "layers.{n}.mlp.experts.gate_up_proj",
                                  .down = "layers.{n}.mlp.experts.down_proj",
                                  .gate_rows = GateRows::alternate},
                      .inputs_first = true};
  row.text.epsilon = 1e-5;
  row.text.activation_key = {};
  row.text.activation = Activation::quick_gelu;
  row.text.gate_bound_key = "swiglu_limit";
  row.text.gate_bound = 7;
  return row;
}

// Each fourth layer has no positions; there queries are scaled, by their position alone, from `floor_scale` on. Its
// query-key norms have no gain.
constexpr Family llama4() {
  Family row = variant(llama(), "Llama 4", " llama4 llama4_text ");
  row.rotary = {.default_base = 5e5,
                .used = "no_rope_layers",
                .interval = "no_rope_layer_interval",
                .default_unused = 4};
  row.window = {.chunked = true};
  row.attentions[0].rotary = RotaryPairs::kNeighbours;
  row.bare_norms_key = "use_qk_norm";
  row.neutral_keys = " use_qk_norm attn_scale attn_temperature_tuning ";
  ForwardNames& text = row.text;
  text.mlp_gate = "layers.{n}.feed_forward.gate_proj.weight";
  text.mlp_up = "layers.{n}.feed_forward.up_proj.weight";
  text.mlp_down = "layers.{n}.feed_forward.down_proj.weight";
  text.epsilon = 1e-5;
  text.most_tokens_key = "attention_chunk_size";
  text.most_tokens = 8192;
  text.usual = {{{"floor_scale", "8192"}}};
  text.experts = {.router = {.weight = "layers.{n}.feed_forward.router.weight",
                             .scores = RouterScores::sigmoid,
                             .normalized_key = {},
                             .scales_input = true},
                  .each = {"layers.{n}.feed_forward.experts.{e}.gate_proj.weight",
                           "layers.{n}.feed_forward.experts.{e}.up_proj.weight",
                           "layers.{n}.feed_forward.experts.{e}.down_proj.weight"},
                  .stacked = {.up = "layers.{n}.feed_forward.experts.gate_up_proj",
                              .down = "layers.{n}.feed_forward.experts.down_proj",
                              .gate_rows = GateRows::halves},
                  .inputs_first = true,
                  .shared = {"layers.{n}.feed_forward.shared_expert.gate_proj.weight",
                             "layers.{n}.feed_forward.shared_expert.up_proj.weight",
                             "layers.{n}.feed_forward.shared_expert.down_proj.weight"}};
  return row;
}

constexpr Family mixtral() {
  Family row = variant(llama(), "Mixtral", " mixtral ");
  row.rotary.default_base = 1e6;
  row.window = {.model_types = " mixtral ", .untyped = " mixtral "};
  row.text.epsilon = 1e-5;
  row.text.experts = {.router = {.weight = "layers.{n}.block_sparse_moe.gate.weight",
                                 .normalized_key = {},
                                 .normalized = true},
                      .each = {"layers.{n}.block_sparse_moe.experts.{e}.w1.weight",
                               "layers.{n}.block_sparse_moe.experts.{e}.w3.weight",
                               "layers.{n}.block_sparse_moe.experts.{e}.w2.weight"}};
  return row;
}

// Some layers may have an MLP.
constexpr Family qwen3_moe() {
  Family row = head_normed(variant(llama(), "Qwen 3 MoE", " qwen3_moe "));
  row.text.usual = {{{"use_sliding_window", "false"}}};
  row.text.experts = {.router = {.weight = "layers.{n}.mlp.gate.weight"},
                      .each = {"layers.{n}.mlp.experts.{e}.gate_proj.weight",
                               "layers.{n}.mlp.experts.{e}.up_proj.weight",
                               "layers.{n}.mlp.experts.{e}.down_proj.weight"}};
  return row;
}

// The text of a model of vision and sound, whose three positions are the same for a token of text.
constexpr Family qwen3_omni() {
  Family row = variant(qwen3_moe(), "Qwen 3 Omni", " qwen3_omni_moe qwen3_omni_moe_text ");
  row.rotary.default_base = 1e6;
  return row;
}

// The text of a model of vision, whose three positions are the same for a token of text.
constexpr Family qwen3_vl_moe() {
  Family row = variant(qwen3_moe(), "Qwen 3 VL MoE", " qwen3_vl_moe qwen3_vl_moe_text ");
  row.rotary.default_base = 5e5;
  row.text.experts.router.normalized = true;
  row.text.usual[1] = {"norm_topk_prob", "true"};
  row.text.experts.each = {};
  row.text.experts.stacked = {.up = "layers.{n}.mlp.experts.gate_up_proj",
                              .down = "layers.{n}.mlp.experts.down_proj",
                              .gate_rows = GateRows::halves};
  row.text.experts.inputs_first = true;
  return row;
}

constexpr Family qwen2_moe() {
  Family row = without_head_norms(variant(qwen3_moe(), "Qwen 2 MoE", " qwen2_moe "));
  row.text.experts.shared = {"layers.{n}.mlp.shared_expert.gate_proj.weight",
                             "layers.{n}.mlp.shared_expert.up_proj.weight",
                             "layers.{n}.mlp.shared_expert.down_proj.weight"};
  row.text.experts.shared_gate = "layers.{n}.mlp.shared_expert_gate.weight";
  return row;
}

// Queries and keys of all heads together have a norm.
constexpr Family olmoe() {
  Family row = variant(qwen3_moe(), "OLMoE", " olmoe ");
  row.attentions[0].norm_span = NormSpan::all_heads;
  row.text.usual = {};
  row.text.epsilon = 1e-5;
  return row;
}

// Logits are multiplied by `attention_multiplier`, 1 where config.json leaves it out.
constexpr Family granite() {
  Family row = variant(llama(), "Granite", " granite ");
  row.unscaled = true;
  row.scale_key = "attention_multiplier";
  row.text.embedding_factor_key = "embedding_multiplier";
  row.text.residual_factor_key = "residual_multiplier";
  row.text.output_divisor_key = "logits_scaling";
  return row;
}

constexpr Family granite_moe() {
  Family row = variant(granite(), "Granite MoE", " granitemoe ");
  row.text.experts = {.router = {.weight = "layers.{n}.block_sparse_moe.router.layer.weight",
                                 .normalized_key = {},
                                 .normalized = true},
                      .stacked = {.up = "layers.{n}.block_sparse_moe.input_linear.weight",
                                  .down = "layers.{n}.block_sparse_moe.output_linear.weight",
                                  .gate_rows = GateRows::halves}};
  return row;
}

constexpr Family granite_shared() {
  Family row = variant(granite_moe(), "Granite MoE with a shared expert", " granitemoeshared ");
  row.text.experts.shared = {.up = "layers.{n}.shared_mlp.input_linear.weight",
                             .down = "layers.{n}.shared_mlp.output_linear.weight",
                             .gate_rows = GateRows::halves};
  return row;
}

/// Mamba-2 under the names of Hugging Face's hybrids.
constexpr MixerNames mamba2() {
  return {.mixing = TokenMixing::state_space,
          .input = "layers.{n}.mamba.in_proj.weight",
          .convolution = "layers.{n}.mamba.conv1d.weight",
          .log_rate = "layers.{n}.mamba.A_log",
          .minus_rate = "layers.{n}.mamba.A",
          .step_bias = "layers.{n}.mamba.dt_bias",
          .norm = "layers.{n}.mamba.norm.weight",
          .skip = "layers.{n}.mamba.D",
          .heads_key = "mamba_n_heads",
          .states_key = "mamba_d_state",
          .groups_key = "mamba_n_groups",
          .width_key = "mamba_d_head",
          .length_key = "mamba_d_conv",
          .bias_key = "mamba_proj_bias",
          .output = "layers.{n}.mamba.out_proj.weight"};
}

// Attention in some of the layers, or in all, and a state space in the others, with positions where config.json says
// so. Without experts the shared one is an MLP.
constexpr Family granite_hybrid() {
  Family row = variant(granite_shared(), "Granite 4", " granitemoehybrid ");
  row.rotary = {.chosen = {"position_embedding_type", "rope"}};
  row.text.mlp_gate = {};
  row.text.mlp_up = row.text.experts.shared.up;
  row.text.mlp_down = row.text.experts.shared.down;
  row.text.gate_rows = GateRows::halves;
  row.mixer = mamba2();
  return row;
}

// Granite whose layers have rotary bases of their own, or none, and sinks.
constexpr Family granite_swa() {
  Family row = variant(granite(), "Granite SWA", " granite_swa ");
  row.text.epsilon = 1e-5;
  row.rotary.bases = "layer_rope_theta";
  row.window = {.default_size = 128, .default_pattern = 4, .first_full = true};
  row.attentions[0].sinks = "layers.{n}.self_attn.sinks";
  return row;
}

// Granite's multipliers, of which that of the logits of attention is 1/sqrt(d_h) by default and that of the output
// multiplies, and norms after the branches in some models.
constexpr Family hyperclova() {
  Family row = variant(granite(), "HyperCLOVA X", " hyperclovax ");
  row.unscaled = false;
  row.text.output_scale_key = row.text.output_divisor_key;
  row.text.output_divisor_key = {};
  row.text.output_norms_key = "use_post_norm";
  row.text.attention_output_norm = "layers.{n}.post_norm1.weight";
  row.text.mlp_output_norm = "layers.{n}.post_norm2.weight";
  return row;
}

// Without a gate in the MLP.
constexpr Family arcee() {
  Family row = variant(llama(), "Arcee", " arcee ");
  row.text.mlp_gate = {};
  row.text.epsilon = 1e-5;
  row.text.activation = Activation::relu_squared;
  row.text.switched_biases = row.model_types;
  return row;
}

constexpr Family nemotron() {
  Family row = variant(arcee(), "Nemotron", " nemotron ");
  row.gain_plus_one = true;
  row.rotary = {.default_share = 0.5};
  row.text.norm = NormKind::layer_norm;
  row.text.epsilon_key = "norm_eps";
  row.text.switched_biases = row.model_types;
  return row;
}

constexpr Family stablelm() {
  Family row = variant(llama(), "StableLM", " stablelm ");
  row.rotary = {.default_share = 0.25};
  row.text.norm = NormKind::layer_norm;
  row.text.epsilon_key = "layer_norm_eps";
  row.text.epsilon = 1e-5;
  row.text.usual = {{{"use_parallel_residual", "false"}, {"qk_layernorm", "false"}}};
  return row;
}

// Its LayerNorms have biases, and LongRoPE scales queries and keys by numbers of its own.
constexpr Family phi_moe() {
  Family row = llama_heads("Phi MoE", " phimoe ");
  row.rotary = {.default_base = 0, .states_mscale = true};
  return row;
}

// Its norms of queries and keys come after the rotation.
constexpr Family hunyuan() {
  Family row = variant(llama(), "Hunyuan", " hunyuan_v1_dense hunyuan_v1_moe ");
  AttentionNames& names = row.attentions[0];
  names.query_norm_gain = "layers.{n}.self_attn.query_layernorm.weight";
  names.key_norm_gain = "layers.{n}.self_attn.key_layernorm.weight";
  names.turned_before_norms = true;
  row.rotary.share = {};
  row.text.model_types = row.text.switched_biases = " hunyuan_v1_dense ";
  row.text.epsilon = 1e-5;
  return row;
}

constexpr Family minimax() {
  Family row = head_normed(variant(mixtral(), "MiniMax M2", " minimax_m2 "), false);
  row.attentions[0].norm_span = NormSpan::all_heads;
  row.rotary = {.width = "rotary_dim", .default_base = 5e6};
  row.window = {};
  row.text.epsilon = 1e-6;
  RouterNames& router = row.text.experts.router;
  router.correction = "layers.{n}.block_sparse_moe.e_score_correction_bias";
  router.scores = RouterScores::sigmoid;
  return row;
}

// The indexer of its layers selects blocks of keys, all of those of a passage of 2,048 tokens, and leaves their logits
// as they are.
constexpr Family minimax_m3() {
  Family row = head_normed(
      variant(minimax(), "MiniMax M3", " minimax_m3 minimax_m3_vl minimax_m3_vl_text "), false);
  row.attentions[0].others =
      " self_attn.rotary_emb.inv_freq self_attn.index_q_proj self_attn.index_k_proj "
      "self_attn.index_q_norm self_attn.index_k_norm self_attn.indexer.q_proj "
      "self_attn.indexer.k_proj self_attn.indexer.q_norm self_attn.indexer.k_norm ";
  row.gain_plus_one = true;
  ForwardNames& text = row.text;
  text.activation_key = {};
  text.activation = Activation::quick_gelu;
  text.gate_bound_key = "swiglu_limit";
  text.gate_bound = 7;
  text.most_tokens = 2048;
  text.usual = {{{"sparse_attention_config.sparse_block_size", "128"},
                 {"sparse_attention_config.sparse_topk_blocks", "16"},
                 {"index_block_size", "128"},
                 {"index_topk_blocks", "16"},
                 {"swiglu_alpha", "1.702"}}};
  text.experts.router.factor_key = "routed_scaling_factor";
  text.experts.shared = {"layers.{n}.block_sparse_moe.shared_experts.gate_proj.weight",
                         "layers.{n}.block_sparse_moe.shared_experts.up_proj.weight",
                         "layers.{n}.block_sparse_moe.shared_experts.down_proj.weight"};
  return row;
}

/// What Falcon-H1 and Jamba share.
constexpr Family with_feed_forward(Family row) {
  row.rotary.share = {};
  row.text.switched_biases = row.model_types;
  row.text.mlp_norm = "layers.{n}.pre_ff_layernorm.weight";
  row.text.mlp_gate = "layers.{n}.feed_forward.gate_proj.weight";
  row.text.mlp_up = "layers.{n}.feed_forward.up_proj.weight";
  row.text.mlp_down = "layers.{n}.feed_forward.down_proj.weight";
  row.text.final_norm = "final_layernorm.weight";
  return row;
}

// Its attention, in some of the layers, has no positions; the others are selective scans. Some have experts.
constexpr Family jamba() {
  Family row = with_feed_forward(variant(llama(), "Jamba", " jamba "));
  row.attentions[0].rotary = RotaryPairs::kNone;
  row.mixer = mamba2();
  row.mixer.mixing = TokenMixing::selective_scan;
  row.mixer.step_bias = row.mixer.norm = {};
  row.mixer.heads_key = row.mixer.groups_key = row.mixer.width_key = {};
  row.mixer.step = "layers.{n}.mamba.dt_proj.weight";
  row.mixer.states = "layers.{n}.mamba.x_proj.weight";
  row.mixer.state_norms = {"layers.{n}.mamba.dt_layernorm.weight",
                           "layers.{n}.mamba.b_layernorm.weight",
                           "layers.{n}.mamba.c_layernorm.weight"};
  row.text.experts = {
      .router = {.weight = "layers.{n}.feed_forward.router.weight", .normalized_key = {}},
      .each = {"layers.{n}.feed_forward.experts.{e}.gate_proj.weight",
               "layers.{n}.feed_forward.experts.{e}.up_proj.weight",
               "layers.{n}.feed_forward.experts.{e}.down_proj.weight"}};
  return row;
}

// Each layer has attention beside a state space, and factors everywhere.
constexpr Family falcon_h1() {
  Family row = with_feed_forward(variant(llama(), "Falcon-H1", " falcon_h1 "));
  row.input_factor_key = "attention_in_multiplier";
  row.key_factor_key = "key_multiplier";
  row.convolution = "mamba.conv1d.weight";
  row.open_factors = true;
  row.mixer = mamba2();
  row.mixer.beside_heads = true;
  row.mixer.norm_by_group = true;
  row.mixer.values_key = "mamba_d_ssm";
  row.mixer.output_bias_key = "projectors_bias";
  row.mixer.norm_key = "mamba_rms_norm";
  row.mixer.norm_first_key = "mamba_norm_before_gate";
  row.mixer.input_factor_key = "ssm_in_multiplier";
  row.mixer.state_factors_key = "ssm_multipliers";
  row.mixer.output_factor_key = "ssm_out_multiplier";
  row.text.embedding_factor_key = "embedding_multiplier";
  row.text.attention_factor_key = "attention_out_multiplier";
  row.text.mlp_factors_key = "mlp_multipliers";
  row.text.output_scale_key = "lm_head_multiplier";
  row.text.epsilon = 1e-5;
  return row;
}

// Layers of attention, of a state space and of an MLP or experts by itself, with positions nowhere.
constexpr Family nemotron_hybrid() {
  Family row = variant(llama(), "Nemotron-H", " nemotron_h ");
  row.embeddings = "embeddings.weight";
  AttentionNames& names = row.attentions[0];
  names.query_weight = "layers.{n}.mixer.q_proj.weight";
  names.key_weight = "layers.{n}.mixer.k_proj.weight";
  names.query_gain = "layers.{n}.norm.weight";
  names.rotary = RotaryPairs::kNone;
  row.mixer = {.mixing = TokenMixing::state_space,
               .input = "layers.{n}.mixer.in_proj.weight",
               .convolution = "layers.{n}.mixer.conv1d.weight",
               .log_rate = "layers.{n}.mixer.A_log",
               .minus_rate = "layers.{n}.mixer.A",
               .step_bias = "layers.{n}.mixer.dt_bias",
               .norm = "layers.{n}.mixer.norm.weight",
               .skip = "layers.{n}.mixer.D",
               .heads_key = "mamba_num_heads",
               .states_key = "ssm_state_size",
               .groups_key = "n_groups",
               .activation_key = "mamba_hidden_act",
               .default_groups = 8,
               .older_keys = {"mamba_n_groups", "mamba_dt_limit"},
               .norm_by_group = true,
               .output = "layers.{n}.mixer.out_proj.weight"};
  ForwardNames& text = row.text;
  text.optional_branches = true;
  text.value = "layers.{n}.mixer.v_proj.weight";
  text.attention_output = "layers.{n}.mixer.o_proj.weight";
  text.mlp_norm = names.query_gain;
  text.mlp_gate = {};
  text.mlp_up = "layers.{n}.mixer.up_proj.weight";
  text.mlp_down = "layers.{n}.mixer.down_proj.weight";
  text.final_norm = "norm_f.weight";
  text.epsilon_key = "layer_norm_epsilon";
  text.epsilon = 1e-5;
  text.activation_key = "mlp_hidden_act";
  text.activation = Activation::relu_squared;
  text.switched_biases = row.model_types;
  text.experts = {.router = {.weight = "layers.{n}.mixer.gate.weight",
                             .correction = "layers.{n}.mixer.gate.e_score_correction_bias",
                             .scores = RouterScores::sigmoid,
                             .normalized = true,
                             .factor_key = "routed_scaling_factor",
                             .groups_key = "n_group",
                             .best_groups_key = "topk_group"},
                  .each = {.up = "layers.{n}.mixer.experts.{e}.up_proj.weight",
                           .down = "layers.{n}.mixer.experts.{e}.down_proj.weight"},
                  .shared = {.up = "layers.{n}.mixer.shared_experts.up_proj.weight",
                             .down = "layers.{n}.mixer.shared_experts.down_proj.weight"},
                  .latent_input = "layers.{n}.mixer.fc1_latent_proj.weight",
                  .latent_output = "layers.{n}.mixer.fc2_latent_proj.weight"};
  return row;
}

// Logits are not divided, and layers without a window have wider heads. The last layers may use the keys and values of
// earlier ones; other models have experts beside the MLP.
constexpr Family gemma4() {
  Family row =
      head_normed(variant(llama(), "Gemma 4",
                          " gemma4 gemma4_text gemma4_unified gemma4_unified_text embedding_gemma2 "
                          "embedding_gemma2_text "));
  row.unscaled = true;
  row.rotary = {.by_kind = true};
  row.window = {.default_pattern = 6, .last_full = true, .model_types = row.model_types};
  row.full = {{}, "num_global_key_value_heads", "global_head_dim"};
  row.shared_keys_key = "num_kv_shared_layers";
  row.attentions[0].others = " ple_block.post_per_layer_input_norm ";
  ForwardNames& text = row.text;
  text.model_types = " gemma4 gemma4_text gemma4_unified gemma4_unified_text ";
  text.scaled_embedding = true;
  text.keys_as_values_key = "attention_k_eq_v";
  text.bare_value_norm = true;
  text.attention_output_norm = "layers.{n}.post_attention_layernorm.weight";
  text.mlp_norm = "layers.{n}.pre_feedforward_layernorm.weight";
  text.mlp_output_norm = "layers.{n}.post_feedforward_layernorm.weight";
  text.layer_input = {
      "embed_tokens_per_layer.weight",          "per_layer_model_projection.weight",
      "per_layer_projection_norm.weight",       "layers.{n}.per_layer_input_gate.weight",
      "layers.{n}.per_layer_projection.weight", "layers.{n}.post_per_layer_input_norm.weight"};
  text.layer_scale = "layers.{n}.layer_scalar";
  text.activation_key = "hidden_activation";
  text.activation = Activation::gelu_new;
  text.output_cap_key = "final_logit_softcapping";
  text.usual = {{{"use_bidirectional_attention", "vision"}}};
  text.switched_biases = text.model_types;
  text.experts = {.router = {.weight = "layers.{n}.router.proj.weight",
                             .switch_key = "enable_moe_block",
                             .input_gain = "layers.{n}.router.scale",
                             .expert_scale = "layers.{n}.router.per_expert_scale",
                             .chosen_key = "top_k_experts",
                             .normalized_key = {},
                             .normalized = true},
                  .stacked = {.up = "layers.{n}.experts.gate_up_proj",
                              .down = "layers.{n}.experts.down_proj",
                              .gate_rows = GateRows::halves},
                  .shared = {text.mlp_gate, text.mlp_up, text.mlp_down},
                  .input_norm = "layers.{n}.pre_feedforward_layernorm_2.weight",
                  .output_norm = "layers.{n}.post_feedforward_layernorm_2.weight",
                  .shared_output_norm = "layers.{n}.post_feedforward_layernorm_1.weight"};
  return row;
}

constexpr Family gemma3n() {
  Family row = heads_only(
      variant(gemma4(), "Gemma 3n", " gemma3n gemma3n_text "),
      " self_attn.v_proj self_attn.o_proj post_attention_layernorm pre_feedforward_layernorm "
      "post_feedforward_layernorm post_per_layer_input_norm per_layer_input_gate "
      "per_layer_projection ");
  row.default_shared_keys = 15;
  row.rotary = {.default_base = 1e6, .default_local_base = 1e4};
  row.window = {.default_size = 512, .default_pattern = 5};
  row.full = {};
  return row;
}

// The text of a model of vision, some of whose layers read the picture instead.
// Layers of cross-attention stand between the others.
constexpr Family mllama() {
  Family row = variant(llama(), "Llama 3.2 Vision", " mllama mllama_text_model ");
  row.rotary.default_base = 5e5;
  row.text.epsilon = 1e-5;
  row.rotary.share = {};
  row.text.switched_biases = row.model_types;
  row.text.skipped = "layers.{n}.cross_attn.q_proj.weight";
  row.text.skipped_key = "cross_attention_layers";
  row.text.picture_rows = 8;
  return row;
}

constexpr Family glm4_moe() {
  Family row =
      head_normed(variant(qwen3_moe(), "GLM-4.5", " glm4_moe glm4v_moe glm4v_moe_text "), false);
  row.attentions[0].norm_switch = {"use_qk_norm", " glm4_moe "};
  row.rotary = {.default_share = 0.5};
  row.text.epsilon = 1e-5;
  row.text.usual = {};
  row.text.experts.router = {.weight = "layers.{n}.mlp.gate.weight",
                             .correction = "layers.{n}.mlp.gate.e_score_correction_bias",
                             .scores = RouterScores::sigmoid,
                             .normalized = true,
                             .factor_key = "routed_scaling_factor",
                             .groups_key = "n_group",
                             .best_groups_key = "topk_group"};
  row.text.experts.shared = {"layers.{n}.mlp.shared_experts.gate_proj.weight",
                             "layers.{n}.mlp.shared_experts.up_proj.weight",
                             "layers.{n}.mlp.shared_experts.down_proj.weight"};
  return row;
}

// EXAONE 4 with norms before its branches.
constexpr Family exaone_moe() {
  Family row = head_normed(variant(glm4_moe(), "EXAONE MoE", " exaone_moe "));
  row.rotary = exaone4().rotary;
  row.window = exaone4().window;
  row.text.experts.router.correction = "layers.{n}.mlp.e_score_correction_bias";
  return row;
}

// Layers with and without a window have head counts of their own, and the former sinks. Values are narrower than keys.
constexpr Family mimo_v2() {
  Family row = without_head_norms(variant(glm4_moe(), "MiMo V2", " mimo_v2_flash "));
  row.rotary = {.local_base = "swa_rope_theta"};
  row.window = {.list = "hybrid_layer_pattern", .model_types = row.model_types};
  row.local = {"swa_num_attention_heads", "swa_num_key_value_heads", "swa_head_dim",
               "swa_v_head_dim"};
  row.attentions[0].sinks = "layers.{n}.self_attn.attention_sink_bias";
  row.attentions[0].local_sinks_key = "add_swa_attention_sink_bias";
  row.attentions[0].full_sinks_key = "add_full_attention_sink_bias";
  row.text.value_width_key = "v_head_dim";
  row.text.attention_factor_key = "attention_value_scale";
  row.text.told_attention_factor = true;
  row.text.epsilon_key = "layernorm_epsilon";
  row.text.experts.shared = {};
  RouterNames& router = row.text.experts.router;  // its factor is null in config.json
  router.factor_key = router.groups_key = router.best_groups_key = {};
  return row;
}

/// Latent attention (arXiv:2405.04434). The indexer of later models selects keys, all of those of a short passage, and
/// leaves their logits as they are.
constexpr Family latent() {
  Family row = without_head_norms(
      variant(glm4_moe(), "Latent attention",
              " deepseek_v2 deepseek_v3 deepseek_v32 kimi_k2 kimi_k25 deepseek_vl_v2 youtu "));
  row.required = "layers.{n}.self_attn.q_a_proj.weight";
  row.layout = HeadLayout::kLatent;
  row.head_width_key = "qk_head_dim";
  row.neutral_keys = " use_mla ";
  row.rotary = {.interleave = "rope_interleave", .scales_logits = true};
  AttentionNames& names = row.attentions[0];
  names.query_weight = "layers.{n}.self_attn.q_b_proj.weight";
  names.key_weight = "layers.{n}.self_attn.kv_b_proj.weight";
  names.rotary = RotaryPairs::kNeighbours;
  names.latent = {"layers.{n}.self_attn.q_a_proj.weight",
                  "layers.{n}.self_attn.q_a_layernorm.weight",
                  "layers.{n}.self_attn.kv_a_proj_with_mqa.weight",
                  "layers.{n}.self_attn.kv_a_layernorm.weight"};
  names.others =
      " self_attn.rotary_emb.inv_freq self_attn.indexer.wq_b self_attn.indexer.wk "
      "self_attn.indexer.k_norm self_attn.indexer.weights_proj ";
  row.text.model_types = " deepseek_v2 deepseek_v3 deepseek_v32 kimi_k2 kimi_k25 youtu ";
  row.text.value = {};
  row.text.epsilon = 1e-6;
  row.text.most_tokens_key = "index_topk";
  row.text.experts.router.optional_correction = true;
  return row;
}

// GLM-4.7-Flash and GLM-5.
constexpr Family glm_latent() {
  Family row = variant(latent(), "GLM with latent attention", " glm4_moe_lite glm_moe_dsa ");
  row.text.epsilon = 1e-5;
  return row;
}

/// DeepSeek V4 (inference/model.py of its files): one key for all heads, with a norm, and queries whose norm has no gain.
/// In most layers queries see summaries of tokens beside those of a window, which have keys of their own.
constexpr Family deepseek_v4() {
  Family row = latent();
  row.name = "DeepSeek V4";
  row.model_types = " deepseek_v4 ";
  row.required = "layers.{n}.attn.wq_a.weight";
  row.head_width_key = "head_dim";
  row.neutral_keys = {};
  row.rotary = {.width = "qk_rope_head_dim",
                .base = "compress_rope_theta",
                .default_base = 0,
                .local_base = "rope_theta",
                .default_local_base = 1e4,
                .local_object = "main",
                .object = "compress",
                .angles_alone = true};
  row.window = {.list = "compress_ratios", .summarized = " 4 128 "};
  row.embeddings = "embed.weight";
  row.attentions = {{{.query_weight = "layers.{n}.attn.wq_b.weight",
                      .key_weight = "layers.{n}.attn.wkv.weight",
                      .query_gain = "layers.{n}.attn_norm.weight",
                      .key_norm_gain = "layers.{n}.attn.kv_norm.weight",
                      .always_head_normed = true,
                      .sinks = "layers.{n}.attn.attn_sink",
                      .latent = {"layers.{n}.attn.wq_a.weight", "layers.{n}.attn.q_norm.weight"},
                      .key_head_count_key = "num_key_value_heads",
                      .rotary = RotaryPairs::kNeighbours,
                      .others = " ffn_norm attn.wo_a attn.wo_b hc_attn_fn hc_attn_base "
                                "hc_attn_scale hc_ffn_fn hc_ffn_base hc_ffn_scale "
                                "attn.compressor.ape attn.compressor.norm "
                                "attn.compressor.wkv attn.compressor.wgate attn.indexer.wq_b "
                                "attn.indexer.weights_proj attn.indexer.compressor.ape "
                                "attn.indexer.compressor.norm attn.indexer.compressor.wkv "
                                "attn.indexer.compressor.wgate "}}};
  row.text = {};
  return row;
}

/// Latent attention whose queries read the tokens.
constexpr Family latent_keys() {
  Family row = variant(latent(), "Latent keys", latent().model_types);
  row.text.model_types = latent().text.model_types;
  row.required = "layers.{n}.self_attn.kv_b_proj.weight";
  row.absent = latent().required;
  AttentionNames& names = row.attentions[0];
  names.query_weight = "layers.{n}.self_attn.q_proj.weight";
  names.latent.query_weight = names.latent.query_gain = {};
  return row;
}

/// Kimi Linear: latent attention without positions in some layers, linear attention in the others.
constexpr Family kimi_linear() {
  Family row = heads_only(variant(latent_keys(), "Kimi Linear", " kimi_linear "),
                          " self_attn.o_proj post_attention_layernorm ");
  row.neutral_keys = " use_mla linear_attn_config ";
  row.rotary = {.chosen = {"mla_use_nope", "false"}, .unchosen = " true "};
  row.attentions[0].linear_key = "layers.{n}.self_attn.k_proj.weight";
  return row;
}

// DeepSeek's mixtures with heads of their own, as DeepSeek-OCR has.
constexpr Family deepseek_heads() {
  Family row =
      without_head_norms(variant(glm4_moe(), "DeepSeek without latents", " deepseek_vl_v2 "));
  row.neutral_keys = " use_mla ";
  row.rotary = {};
  row.text.epsilon = 1e-6;
  row.text.experts.router.optional_correction = true;
  return row;
}

constexpr Family mistral4() {
  Family row = variant(latent(), "Mistral Small 4", " mistral4 ");
  row.rotary.share = {};
  row.rotary.made_share = true;
  row.rotary.unwritten = UnwrittenScaling::angles_and_logits;
  row.text.model_types = " mistral3 mistral4 ";
  row.text.most_tokens_key = {};
  row.text.experts.router = {.weight = "layers.{n}.mlp.gate.weight",
                             .normalized = true,
                             .factor_key = "routed_scaling_factor"};
  row.text.experts.stacked = {.up = "layers.{n}.mlp.experts.gate_up_proj",
                              .down = "layers.{n}.mlp.experts.down_proj",
                              .gate_rows = GateRows::halves};
  return row;
}

constexpr Family minicpm3() {
  Family row = variant(latent(), "MiniCPM3", " minicpm3 ");
  row.rotary = {};
  row.attentions[0].rotary = RotaryPairs::kHalves;
  row.text.experts = {};
  row.text.embedding_factor_key = "scale_emb";
  row.text.residual_factor_key = "scale_depth";
  row.text.residual_by_depth = true;
  row.text.output_width_key = "dim_model_base";
  return row;
}

constexpr Family internlm2() {
  Family row = variant(llama(), "InternLM2", " internlm2 ");
  row.layout = HeadLayout::kInterleaved;
  row.embeddings = "tok_embeddings.weight";
  AttentionNames& names = row.attentions[0];
  names.query_weight = "layers.{n}.attention.wqkv.weight";
  names.key_weight = {};
  names.query_gain = "layers.{n}.attention_norm.weight";
  names.others = " attention.rotary_emb.inv_freq ";
  ForwardNames& text = row.text;
  text.value = {};
  text.attention_output = "layers.{n}.attention.wo.weight";
  text.mlp_norm = "layers.{n}.ffn_norm.weight";
  text.mlp_gate = "layers.{n}.feed_forward.w1.weight";
  text.mlp_up = "layers.{n}.feed_forward.w3.weight";
  text.mlp_down = "layers.{n}.feed_forward.w2.weight";
  text.output = "output.weight";
  return row;
}

constexpr Family ling() {
  Family row = llama_heads("Ling", " bailing_moe ");
  row.layout = HeadLayout::kFused;
  row.embeddings = "word_embeddings.weight";
  AttentionNames& names = row.attentions[0];
  names.query_weight = "layers.{n}.attention.query_key_value.weight";
  names.key_weight = {};
  names.query_norm_gain = "layers.{n}.attention.query_layernorm.weight";
  names.key_norm_gain = "layers.{n}.attention.key_layernorm.weight";
  names.others = " attention.dense post_attention_layernorm ";
  return row;
}

// As llama.cpp's converter writes the first models of the type.
constexpr Family ling_separate() {
  Family row = variant(qwen2_moe(), "Ling with separate projections", " bailing_moe ");
  row.text.usual = {};
  row.text.experts.shared = glm4_moe().text.experts.shared;
  row.text.experts.shared_gate = {};
  return row;
}

// Attention in some of the layers, whose output is gated by a part of the queries' projection; the others have the
// gated delta rule.
constexpr Family qwen35() {
  Family row = head_normed(variant(
      qwen2_moe(), "Qwen 3.5", " qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text qwen3_next "));
  row.layout = HeadLayout::kGated;
  row.gain_plus_one = true;
  row.convolution = "linear_attn.conv1d.weight";
  row.rotary = {.default_share = 0.25};
  row.text.usual[1] = {"norm_topk_prob", "true"};
  row.text.experts.router.normalized = true;
  row.text.experts.stacked = qwen3_vl_moe().text.experts.stacked;
  row.mixer = {.mixing = TokenMixing::delta_rule,
               .input = "layers.{n}.linear_attn.in_proj_qkv.weight",
               .gate = "layers.{n}.linear_attn.in_proj_z.weight",
               .write = "layers.{n}.linear_attn.in_proj_b.weight",
               .step = "layers.{n}.linear_attn.in_proj_a.weight",
               .states_by_key = "layers.{n}.linear_attn.in_proj_qkvz.weight",
               .rates_by_key = "layers.{n}.linear_attn.in_proj_ba.weight",
               .convolution = "layers.{n}.linear_attn.conv1d.weight",
               .log_rate = "layers.{n}.linear_attn.A_log",
               .minus_rate = "layers.{n}.linear_attn.A",
               .step_bias = "layers.{n}.linear_attn.dt_bias",
               .norm = "layers.{n}.linear_attn.norm.weight",
               .output = "layers.{n}.linear_attn.out_proj.weight"};
  return row;
}

constexpr Family apertus() {
  Family row = head_normed(variant(llama(), "Apertus", " apertus "));
  row.rotary.default_base = 1.2e7;
  row.rotary.unwritten = UnwrittenScaling::angles;
  row.attentions[0].query_gain = "layers.{n}.attention_layernorm.weight";
  ForwardNames& text = row.text;
  text.mlp_norm = "layers.{n}.feedforward_layernorm.weight";
  text.mlp_gate = {};
  text.xielu = {.alpha_p = "layers.{n}.mlp.act_fn.alpha_p",
                .alpha_n = "layers.{n}.mlp.act_fn.alpha_n",
                .beta = "layers.{n}.mlp.act_fn.beta",
                .eps = "layers.{n}.mlp.act_fn.eps"};
  text.activation_key = {};
  text.epsilon = 1e-5;
  text.switched_biases = row.model_types;
  text.usual = {{{"hidden_act", "xielu"}, {"mlp_bias", "false"}, {"post_norm", "false"}}};
  return row;
}

// Attention in some of the layers; the others are convolutions.
constexpr Family lfm2() {
  Family row = head_normed(variant(llama(), "LFM2", " lfm2 lfm2_moe lfm2_vl "));
  row.rotary.base = "theta";
  row.rotary.default_base = 1e6;
  row.attentions[0].query_gain = "layers.{n}.operator_norm.weight";
  row.attentions[0].query_norm_gain = "layers.{n}.self_attn.q_layernorm.weight";
  row.attentions[0].key_norm_gain = "layers.{n}.self_attn.k_layernorm.weight";
  ForwardNames& text = row.text;
  text.attention_output = "layers.{n}.self_attn.out_proj.weight";
  text.mlp_norm = "layers.{n}.ffn_norm.weight";
  text.mlp_gate = "layers.{n}.feed_forward.w1.weight";
  text.mlp_up = "layers.{n}.feed_forward.w3.weight";
  text.mlp_down = "layers.{n}.feed_forward.w2.weight";
  text.final_norm = "embedding_norm.weight";
  text.usual = {{{"use_expert_bias", "true"}}};
  text.epsilon_key = "norm_eps";
  text.epsilon = 1e-5;
  row.mixer = {.mixing = TokenMixing::convolution,
               .input = "layers.{n}.conv.in_proj.weight",
               .convolution = "layers.{n}.conv.conv.weight",
               .output = "layers.{n}.conv.out_proj.weight"};
  text.experts = {.router = {.weight = "layers.{n}.feed_forward.gate.weight",
                             .correction = "layers.{n}.feed_forward.expert_bias",
                             .scores = RouterScores::sigmoid,
                             .normalized = true,
                             .factor_key = "routed_scaling_factor"},
                  .each = {"layers.{n}.feed_forward.experts.{e}.w1.weight",
                           "layers.{n}.feed_forward.experts.{e}.w3.weight",
                           "layers.{n}.feed_forward.experts.{e}.w2.weight"}};
  return row;
}

// The gate is on the output of the attention.
constexpr Family afmoe() {
  Family row = head_normed(variant(glm4_moe(), "Trinity", " afmoe "));
  row.rotary = {.share = {}, .only_local = true};
  row.window = {
      .default_size = 1024, .pattern = "global_attn_every_n_layers", .default_pattern = 4};
  ForwardNames& text = row.text;
  text.switched_biases = row.model_types;
  text.scaled_embedding_key = "mup_enabled";
  text.attention_gate = "layers.{n}.self_attn.gate_proj.weight";
  text.attention_output_norm = "layers.{n}.post_attention_layernorm.weight";
  text.mlp_norm = "layers.{n}.pre_mlp_layernorm.weight";
  text.mlp_output_norm = "layers.{n}.post_mlp_layernorm.weight";
  text.usual = {{{"route_norm", "true"}, {"score_func", "sigmoid"}}};
  text.experts.router = {.weight = "layers.{n}.mlp.router.gate.weight",
                         .correction = "layers.{n}.mlp.expert_bias",
                         .scores = RouterScores::sigmoid,
                         .normalized_key = {},
                         .normalized = true,
                         .factor_key = "route_scale"};
  return row;
}

// GLM-4-9B, in the form of transformers.
constexpr Family glm() {
  Family row = variant(llama(), "GLM", " glm ");
  row.rotary = {.default_share = 0.5};
  row.attentions[0].rotary = RotaryPairs::kNeighbours;
  row.text.mlp_gate = {};
  row.text.mlp_up = "layers.{n}.mlp.gate_up_proj.weight";
  row.text.gate_rows = GateRows::halves;
  row.text.epsilon = 1.5625e-7;
  return row;
}

// GLM-4-0414: also norms of its branches' outputs.
constexpr Family glm4() {
  Family row = variant(glm(), "GLM-4", " glm4 ");
  row.text.attention_output_norm = "layers.{n}.post_self_attn_layernorm.weight";
  row.text.mlp_output_norm = "layers.{n}.post_mlp_layernorm.weight";
  return row;
}

// Layers with a window have more heads, of the same width. Outputs of heads are gated.
constexpr Family step3p7() {
  Family row = head_normed(llama_heads("Step 3.5, 3.7", " step3p5 step3p7 "));
  row.gain_plus_one = true;
  row.neutral_keys = " use_head_wise_attn_gate ";
  row.rotary.used = "use_rope_layers";
  row.rotary.bases = row.rotary.base;
  row.rotary.shares = "partial_rotary_factors";
  row.rotary.scaled_kinds = "yarn_only_types";
  row.query_scalar_key = "query_pre_attn_scalar";
  row.heads_by_width = true;
  row.attentions[0].others =
      " self_attn.v_proj self_attn.o_proj self_attn.g_proj post_attention_layernorm ";
  return row;
}

// The text of models with vision, whose three positions are the same for a token of text: GLM-4, and another part of the
// coordinates that turns.
constexpr Family glm_vision() {
  Family row = variant(glm4(), "GLM-V", " glm4v glm4v_text glm46v glm_ocr glm_ocr_text ");
  row.rotary = {.default_share = 0};
  row.text.epsilon = 1e-5;
  return row;
}

// The default of its rotary base is another one by the version of the original's code, as of some rows below.
constexpr Family paddle_ocr() {
  Family row = llama_heads("PaddleOCR", " paddleocr_vl paddleocr_vl_text ");
  row.rotary.default_base = 0;
  return row;
}

constexpr Family solar_open() {
  Family row = without_head_norms(variant(glm4_moe(), "Solar Open", " solar_open "));
  row.rotary = {.default_base = 0};
  return row;
}

// Its tokens see those on both sides.
constexpr Family eurobert() {
  Family row = variant(llama(), "EuroBERT", " eurobert ");
  row.rotary.default_base = 0;
  row.text.causal = false;
  row.text.epsilon = 1e-5;
  row.text.switched_biases = " eurobert ";
  row.text.output = {};
  return row;
}

constexpr Family hy3() {
  Family row = head_normed(variant(glm4_moe(), "Hy3", " hy_v3 "));
  row.rotary = {.default_base = 0};
  row.text.usual = {{{"moe_router_use_sigmoid", "true"},
                     {"moe_router_enable_expert_bias", "true"},
                     {"route_norm", "true"}}};
  row.text.experts.router = {.weight = "layers.{n}.mlp.router.gate.weight",
                             .correction = "layers.{n}.mlp.expert_bias",
                             .scores = RouterScores::sigmoid,
                             .normalized_key = {},
                             .normalized = true,
                             .factor_key = "router_scaling_factor"};
  row.text.experts.shared = {"layers.{n}.mlp.shared_mlp.gate_proj.weight",
                             "layers.{n}.mlp.shared_mlp.up_proj.weight",
                             "layers.{n}.mlp.shared_mlp.down_proj.weight"};
  return row;
}

constexpr Family dots1() {
  Family row = head_normed(variant(glm4_moe(), "dots.llm1", " dots1 "));
  row.rotary = {.share = {}, .default_base = 0};
  row.window = {.model_types = " dots1 ", .counted = " dots1 ", .default_before = 62};
  row.text.switched_biases = row.model_types;
  row.text.epsilon = 1e-6;
  row.text.experts.router.normalized = false;
  return row;
}

constexpr Family ernie45() {
  Family row =
      variant(llama(), "ERNIE 4.5", " ernie4_5 ernie4_5_moe ernie4_5_vl_moe ernie4_5_vl_moe_text ");
  row.rotary.default_base = 5e5;
  row.attentions[0].rotary = RotaryPairs::kNeighbours;
  row.rotary.share = {};
  row.text.model_types = " ernie4_5 ernie4_5_moe ";
  row.text.bias_key = "use_bias";
  row.text.epsilon = 1e-5;
  row.text.experts = glm4_moe().text.experts;
  row.text.experts.shared_count_key = "moe_num_shared_experts";
  row.text.experts.router = {.weight = "layers.{n}.mlp.gate.weight",
                             .correction = "layers.{n}.mlp.moe_statics.e_score_correction_bias",
                             .chosen_key = "moe_k",
                             .normalized_key = {},
                             .normalized = true};
  return row;
}

// The text of a model with vision, whose config.json may leave out the count of heads of LLaMA-7B.
constexpr Family llava() {
  Family row = variant(llama(), "LLaVA", " llava ");
  row.attentions[0].default_heads = 32;
  row.text.model_types = " llava llama mistral qwen2 ";
  return row;
}

// Attention and MLP read the same norm. Command R+ has norms of queries and keys.
constexpr Family cohere() {
  Family row = head_normed(variant(llama(), "Cohere", " cohere "), false);
  row.rotary.default_base = 0;  // another one by the version of the original's code
  row.attentions[0].rotary = RotaryPairs::kNeighbours;
  row.attentions[0].norm_span = NormSpan::each_head;
  row.attentions[0].norm_switch = {"use_qk_norm", row.model_types};
  row.text.mlp_norm = row.attentions[0].query_gain;
  row.text.norm = NormKind::layer_norm;
  row.text.epsilon_key = "layer_norm_eps";
  row.text.epsilon = 1e-5;
  row.text.parallel = true;
  row.text.output_scale_key = "logit_scale";
  row.text.output_scale = 0.0625;
  return row;
}

// The last of each four layers has neither window nor positions.
constexpr Family cohere2() {
  Family row = without_head_norms(variant(cohere(), "Cohere 2", " cohere2 "));
  row.rotary = {.only_local = true, .without_window = WithoutWindow::none};
  row.window = {.default_size = 4096, .default_pattern = 4};
  return row;
}

// The first layers may be without experts, and have no windows and positions all the same.
constexpr Family cohere2_moe() {
  Family row = heads_only(variant(cohere2(), "Cohere 2 MoE", " cohere2_moe "),
                          " self_attn.v_proj self_attn.o_proj ");
  row.rotary.dense_too = true;
  return row;
}

constexpr Family phi() {
  return {.name = "Phi",
          .model_types = " phi ",
          .others = Others::names,
          .required = "layers.{n}.self_attn.dense.weight",
          .rotary = {.default_share = 0.5},
          .embeddings = "embed_tokens.weight",
          .attentions = {{{.query_weight = "layers.{n}.self_attn.q_proj.weight",
                           .key_weight = "layers.{n}.self_attn.k_proj.weight",
                           .query_gain = "layers.{n}.input_layernorm.weight",
                           .query_norm_gain = "layers.{n}.self_attn.q_layernorm.weight",
                           .key_norm_gain = "layers.{n}.self_attn.k_layernorm.weight",
                           .norm_switch = {"qk_layernorm", " phi "},
                           .norm_span = NormSpan::head,
                           .key_head_count_key = "num_key_value_heads",
                           .rotary = RotaryPairs::kHalves,
                           .others = " self_attn.rotary_emb.inv_freq "}}},
          .text = {.value = "layers.{n}.self_attn.v_proj.weight",
                   .attention_output = "layers.{n}.self_attn.dense.weight",
                   .mlp_norm = "layers.{n}.input_layernorm.weight",  // the same as of attention
                   .mlp_up = "layers.{n}.mlp.fc1.weight",
                   .mlp_down = "layers.{n}.mlp.fc2.weight",
                   .final_norm = "final_layernorm.weight",
                   .epsilon_key = "layer_norm_eps",
                   .activation_key = "hidden_act",
                   .activation = Activation::gelu_new,
                   .output_bias = true,
                   .parallel = true}};
}

}  // namespace eigenscope::rows

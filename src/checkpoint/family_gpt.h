// Rows of decoders with other names.
#pragma once

#include "checkpoint/family_rows.h"

namespace eigenscope::rows {

// The first Qwen has GPT-2's names, but torch's linear layers, and gates with w2.
constexpr Family qwen1() {
  return {.name = "Qwen 1",
          .model_types = " qwen ",
          .layout = HeadLayout::kFused,
          .neutral_keys = " use_logn_attn ",
          .rotary = {.share = "rotary_pct", .base = "rotary_emb_base"},
          .embeddings = "wte.weight",
          .attentions = {{{.query_weight = "h.{n}.attn.c_attn.weight",
                           .query_gain = "h.{n}.ln_1.weight",
                           .rotary = RotaryPairs::kHalves,
                           .others = " attn attn.masked attn.rotary_emb.inv_freq "}}},
          .text = {.attention_output = "h.{n}.attn.c_proj.weight",
                   .mlp_norm = "h.{n}.ln_2.weight",
                   .mlp_gate = "h.{n}.mlp.w2.weight",
                   .mlp_up = "h.{n}.mlp.w1.weight",
                   .mlp_down = "h.{n}.mlp.c_proj.weight",
                   .final_norm = "ln_f.weight",
                   .length_key = "seq_length",
                   .norm = NormKind::rms_norm,
                   .epsilon_key = "layer_norm_epsilon",
                   .epsilon = 1e-6,
                   .activation = Activation::silu,
                   .optional_bias = true,
                   .usual = {{{"scale_attn_weights", "true"}}}}};
}

// The widths of the 7B models, which turn, and of the 13B, which have ALiBi: vLLM's baichuan.py decides by them too.
constexpr Family baichuan() {
  return {.name = "Baichuan",
          .model_types = " baichuan ",
          .layout = HeadLayout::kFused,
          .rotary = {.chosen = {"hidden_size", "4096"}, .unchosen = " 5120 "},
          .embeddings = "embed_tokens.weight",
          .attentions = {{{.query_weight = "layers.{n}.self_attn.W_pack.weight",
                           .query_gain = "layers.{n}.input_layernorm.weight",
                           .rotary = RotaryPairs::kHalves,
                           .others = " self_attn.o_proj self_attn.rotary_emb.inv_freq "
                                     "post_attention_layernorm "}}}};
}

// As llama.cpp's converter writes it.
constexpr Family baichuan_separate() {
  Family row = baichuan();
  row.name = "Baichuan with separate projections";
  row.layout = HeadLayout::kSeparate;
  row.attentions[0].query_weight = "layers.{n}.self_attn.q_proj.weight";
  row.attentions[0].key_weight = "layers.{n}.self_attn.k_proj.weight";
  row.attentions[0].others = " self_attn.v_proj self_attn.o_proj post_attention_layernorm ";
  return row;
}

// GPT-2, and what `eigenscope train` writes.
constexpr Family gpt2() {
  return {.name = "GPT-2",
          .model_types = " gpt2 ",
          .others = Others::names,
          .layout = HeadLayout::kConv1D,
          .layout_by_shape = true,
          .width_key = "n_embd",
          .pre_norm = {"layer_norm", "pre"},
          .rotary = {.chosen = {"positions", "rotary"}},
          .embeddings = "wte.weight",
          .attentions = {{{.query_weight = "h.{n}.attn.c_attn.weight",
                           .query_gain = "h.{n}.ln_1.weight",
                           .head_count_key = "n_head",
                           .layer_count_key = "n_layer",
                           .rotary = RotaryPairs::kHalves,
                           // Buffers of the mask, and cross-attention.
                           .others = " attn attn.masked crossattention ln_cross_attn "}}},
          .text = {.position_embedding = "wpe.weight",
                   .attention_output = "h.{n}.attn.c_proj.weight",
                   .mlp_norm = "h.{n}.ln_2.weight",
                   .mlp_up = "h.{n}.mlp.c_fc.weight",
                   .mlp_down = "h.{n}.mlp.c_proj.weight",
                   .final_norm = "ln_f.weight",
                   .length_key = "n_positions",
                   .epsilon_key = "layer_norm_epsilon",
                   .activation_key = "activation_function",
                   .activation = Activation::gelu_new,
                   .usual = {{{"scale_attn_weights", "true"},
                              {"scale_attn_by_inverse_layer_idx", "false"},
                              {"add_cross_attention", "false"},
                              {"layer_norm", "pre"}}}}};
}

// Its norms come after attention and MLP.
constexpr Family openai_gpt() {
  Family row = heads_only(variant(gpt2(), "GPT", " openai-gpt "),
                          " attn attn.masked attn.c_proj ln_1 ln_2 ");
  row.pre_norm = {};
  row.rotary = {};
  row.embeddings = "tokens_embed.weight";
  row.attentions[0].query_gain = {};
  row.attentions[0].rotary = RotaryPairs::kNone;
  return row;
}

// GPT-2's names with torch's linear layers; one key head (multi_query) is one group.
constexpr Family gpt_bigcode() {
  Family row = variant(gpt2(), "GPT-BigCode", " gpt_bigcode ");
  row.text.usual = {{{"scale_attn_weights", "true"}, {"add_cross_attention", "false"}}};
  row.layout = HeadLayout::kInterleaved;
  row.single_key_head_key = "multi_query";
  row.pre_norm = {};
  row.rotary = {};
  row.attentions[0].rotary = RotaryPairs::kNone;
  return row;
}

// GPT-2's names with torch's linear layers, told apart by their shapes; its files have no config.json.
constexpr Family nano_gpt() {
  Family row = heads_only(variant(gpt2(), "nanoGPT", " nanogpt "), " attn attn.c_proj ln_2 ");
  row.others = Others::names;
  row.required = "wpe.weight";  // which the first Qwen, with rotary positions, lacks
  row.layout = HeadLayout::kFused;
  row.pre_norm = {};
  row.rotary = {};
  row.attentions[0].rotary = RotaryPairs::kNone;
  return row;
}

// GPT-2 as GGUF has it.
constexpr Family gpt2_linear() {
  Family row = nano_gpt();
  row.name = "GPT-2 with linear layers";
  row.model_types = " gpt2-linear ";
  row.others = Others::none;
  row.attentions[0].others = {};
  row.text = gpt2().text;
  return row;
}

constexpr Family bloom() {
  return {.name = "BLOOM",
          .model_types = " bloom ",
          .layout = HeadLayout::kInterleaved,
          .neutral_keys = " alibi offset_alibi ",
          .embeddings = "word_embeddings.weight",
          .attentions = {{{.query_weight = "h.{n}.self_attention.query_key_value.weight",
                           .query_gain = "h.{n}.input_layernorm.weight",
                           .layer_count_key = "n_layer",
                           .other_head_count_key = "n_head"}}},
          .text = {.embedding_norm = "word_embeddings_layernorm.weight",
                   .offset_bias = {.slopes = true},
                   .attention_output = "h.{n}.self_attention.dense.weight",
                   .mlp_norm = "h.{n}.post_attention_layernorm.weight",
                   .mlp_up = "h.{n}.mlp.dense_h_to_4h.weight",
                   .mlp_down = "h.{n}.mlp.dense_4h_to_h.weight",
                   .final_norm = "ln_f.weight",
                   .epsilon_key = "layer_norm_epsilon",
                   .activation = Activation::gelu_new,
                   .usual = {{{"apply_residual_connection_post_layernorm", "false"}}}}};
}

constexpr Family falcon() {
  return {.name = "Falcon",
          .model_types = " falcon ",
          .required = "h.{n}.ln_attn.weight",
          .layout = HeadLayout::kInterleaved,
          .single_key_head_key = "multi_query",
          .grouped_key_heads_key = "new_decoder_architecture",
          .embeddings = "word_embeddings.weight",
          .attentions = {{{.query_weight = "h.{n}.self_attention.query_key_value.weight",
                           .query_gain = "h.{n}.ln_attn.weight",
                           .key_head_count_key = "num_kv_heads",
                           .rotary = RotaryPairs::kHalves,
                           // The norm of the MLP is called as that of a smaller model in GGUF.
                           .others = " input_layernorm post_attention_layernorm "}}},
          .text = {.attention_output = "h.{n}.self_attention.dense.weight",
                   .mlp_norm = "h.{n}.ln_mlp.weight",
                   .mlp_up = "h.{n}.mlp.dense_h_to_4h.weight",
                   .mlp_down = "h.{n}.mlp.dense_4h_to_h.weight",
                   .final_norm = "ln_f.weight",
                   .epsilon_key = "layer_norm_epsilon",
                   .activation_key = "activation",
                   .optional_bias = true,
                   .parallel = true}};
}

// One norm for attention and MLP.
constexpr Family falcon_small() {
  Family row = variant(falcon(), "Falcon 7B", " falcon ");
  row.required = {};
  row.absent = "h.{n}.ln_attn.weight";
  row.attentions[0].query_gain = row.text.mlp_norm = "h.{n}.input_layernorm.weight";
  row.text.usual = {{{"parallel_attn", "true"}}};
  return row;
}

constexpr Family mpt() {
  return {
      .name = "MPT",
      .model_types = " mpt ",
      .layout = HeadLayout::kFused,
      .width_key = "d_model",
      .neutral_keys = " alibi ",
      .embeddings = "wte.weight",
      .attentions = {{{.query_weight = "blocks.{n}.attn.Wqkv.weight",
                       .query_gain = "blocks.{n}.norm_1.weight",
                       .head_count_key = "n_heads",
                       .key_head_count_key = "kv_n_heads",
                       .layer_count_key = "n_layers"}}},
      .text = {.offset_bias = {.slopes = true, .exponent_key = "alibi_bias_max"},
               .attention_output = "blocks.{n}.attn.out_proj.weight",
               .mlp_norm = "blocks.{n}.norm_2.weight",
               .mlp_up = "blocks.{n}.ffn.up_proj.weight",
               .mlp_down = "blocks.{n}.ffn.down_proj.weight",
               .final_norm = "norm_f.weight",
               .length_key = "max_seq_len",
               .epsilon_key = "layer_norm_epsilon",
               .optional_bias = true,
               .no_bias_key = "no_bias",
               // What the first code multiplies, masks or normalizes and Hugging Face's does not.
               .usual = {{{"alibi", "true"},
                          {"logit_scale", "none"},
                          {"prefix_lm", "false"},
                          {"norm_type", "low_precision_layernorm"}}},
               .foreign = {{"wpe.weight"}}}};
}

constexpr Family chatglm() {
  return {
      .name = "ChatGLM",
      .model_types = " chatglm ",
      .layout = HeadLayout::kFused,
      .head_width_key = "kv_channels",
      .rotary = {.default_share = 0.5},
      .grouped_key_heads_key = "multi_query_attention",
      .embeddings = "embedding.word_embeddings.weight",
      .attentions = {{{.query_weight = "encoder.layers.{n}.self_attention.query_key_value.weight",
                       .query_gain = "encoder.layers.{n}.input_layernorm.weight",
                       .key_head_count_key = "multi_query_group_num",
                       .layer_count_key = "num_layers",
                       .rotary = RotaryPairs::kNeighbours,
                       .others = " self_attention.dense post_attention_layernorm "}}}};
}

constexpr Family gpt_j() {
  return {.name = "GPT-J",
          .model_types = " gptj ",
          .others = Others::names,
          .width_key = "n_embd",
          .rotary = {.width = "rotary_dim"},
          .embeddings = "wte.weight",
          .attentions = {{{.query_weight = "h.{n}.attn.q_proj.weight",
                           .key_weight = "h.{n}.attn.k_proj.weight",
                           .query_gain = "h.{n}.ln_1.weight",
                           .head_count_key = "n_head",
                           .layer_count_key = "n_layer",
                           .rotary = RotaryPairs::kNeighbours,
                           .others = " attn attn.masked "}}},
          .text = {.value = "h.{n}.attn.v_proj.weight",
                   .attention_output = "h.{n}.attn.out_proj.weight",
                   .mlp_norm = "h.{n}.ln_1.weight",  // the same as of attention
                   .mlp_up = "h.{n}.mlp.fc_in.weight",
                   .mlp_down = "h.{n}.mlp.fc_out.weight",
                   .final_norm = "ln_f.weight",
                   .length_key = "n_positions",
                   .epsilon_key = "layer_norm_epsilon",
                   .activation_key = "activation_function",
                   .activation = Activation::gelu_new,
                   .optional_bias = true,
                   .output_bias = true,
                   .parallel = true}};
}

constexpr Family gpt_neo() {
  return {.name = "GPT-Neo",
          .model_types = " gpt_neo ",
          .others = Others::names,
          .unscaled = true,
          .embeddings = "wte.weight",
          .attentions = {{{.query_weight = "h.{n}.attn.attention.q_proj.weight",
                           .key_weight = "h.{n}.attn.attention.k_proj.weight",
                           .query_gain = "h.{n}.ln_1.weight",
                           .head_count_key = "num_heads",
                           .layer_count_key = "num_layers",
                           .others = " attn.attention attn.attention.masked "}}},
          .text = {.position_embedding = "wpe.weight",
                   .value = "h.{n}.attn.attention.v_proj.weight",
                   .attention_output = "h.{n}.attn.attention.out_proj.weight",
                   .mlp_norm = "h.{n}.ln_2.weight",
                   .mlp_up = "h.{n}.mlp.c_fc.weight",
                   .mlp_down = "h.{n}.mlp.c_proj.weight",
                   .final_norm = "ln_f.weight",
                   .epsilon_key = "layer_norm_epsilon",
                   .activation_key = "activation_function",
                   .activation = Activation::gelu_new,
                   .optional_bias = true,
                   // In half of its layers queries see no more keys.
                   .most_tokens_key = "window_size",
                   .most_tokens = 256}};
}

// LLaMA's attention with GPT-Neo's names.
constexpr Family exaone3() {
  Family row = gpt_neo();
  row.name = "EXAONE 3";
  row.model_types = " exaone ";
  row.others = Others::none;
  row.unscaled = false;
  AttentionNames& names = row.attentions[0];
  names.head_count_key = "num_attention_heads";
  names.key_head_count_key = "num_key_value_heads";
  names.rotary = RotaryPairs::kHalves;
  ForwardNames& text = row.text;
  text.position_embedding = text.most_tokens_key = {};
  text.most_tokens = 0;
  text.mlp_gate = "h.{n}.mlp.c_fc_0.weight";
  text.mlp_up = "h.{n}.mlp.c_fc_1.weight";
  text.norm = NormKind::rms_norm;
  text.activation = Activation::silu;
  return row;
}

// The names of the original LLaMA, whose descendants have other rotary bases.
constexpr Family llama2_c() {
  return {.name = "llama2.c",
          .model_types = " llama2.c ",
          .width_key = "dim",
          .embeddings = "tok_embeddings.weight",
          .attentions = {{{.query_weight = "layers.{n}.attention.wq.weight",
                           .key_weight = "layers.{n}.attention.wk.weight",
                           .query_gain = "layers.{n}.attention_norm.weight",
                           .head_count_key = "n_heads",
                           .key_head_count_key = "n_kv_heads",
                           .layer_count_key = "n_layers",
                           .rotary = RotaryPairs::kNeighbours,
                           .others = " attention.wv attention.wo ffn_norm "
                                     "attention.inner_attention.rope.freqs "}}}};
}

constexpr Family gpt_neox() {
  return {
      .name = "GPT-NeoX",  // and Pythia
      .model_types = " gpt_neox ",
      .others = Others::names,
      .layout = HeadLayout::kInterleaved,
      .rotary = {.share = "rotary_pct", .default_share = 0.25, .base = "rotary_emb_base"},
      .embeddings = "embed_in.weight",
      .attentions = {{{.query_weight = "layers.{n}.attention.query_key_value.weight",
                       .query_gain = "layers.{n}.input_layernorm.weight",
                       .rotary = RotaryPairs::kHalves,
                       .others = " attention attention.masked attention.rotary_emb.inv_freq "}}},
      .text = {.attention_output = "layers.{n}.attention.dense.weight",
               .mlp_norm = "layers.{n}.post_attention_layernorm.weight",
               .mlp_up = "layers.{n}.mlp.dense_h_to_4h.weight",
               .mlp_down = "layers.{n}.mlp.dense_4h_to_h.weight",
               .final_norm = "final_layer_norm.weight",
               .output = "embed_out.weight",
               .epsilon_key = "layer_norm_eps",
               .activation_key = "hidden_act",
               .parallel = true,
               .parallel_key = "use_parallel_residual"}};
}

constexpr Family opt() {
  return {.name = "OPT",
          .model_types = " opt ",
          .others = Others::names,
          .absent = "encoder.layers.{n}.self_attn.q_proj.weight",
          .pre_norm = {"do_layer_norm_before", "true"},
          .embeddings = "decoder.embed_tokens.weight",
          .attentions = {{{.query_weight = "decoder.layers.{n}.self_attn.q_proj.weight",
                           .key_weight = "decoder.layers.{n}.self_attn.k_proj.weight",
                           .query_gain = "decoder.layers.{n}.self_attn_layer_norm.weight"}}},
          .text = {.position_embedding = "decoder.embed_positions.weight",
                   .first_position = 2,
                   .value = "decoder.layers.{n}.self_attn.v_proj.weight",
                   .attention_output = "decoder.layers.{n}.self_attn.out_proj.weight",
                   .mlp_norm = "decoder.layers.{n}.final_layer_norm.weight",
                   .mlp_up = "decoder.layers.{n}.fc1.weight",
                   .mlp_down = "decoder.layers.{n}.fc2.weight",
                   .final_norm = "decoder.final_layer_norm.weight",
                   .activation_key = "activation_function",
                   .activation = Activation::relu,
                   .usual = {{{"do_layer_norm_before", "true"},
                              {"_remove_final_layer_norm", "false"},
                              {"layer_norm_elementwise_affine", "true"}}},
                   .foreign = {{"decoder.project_in.weight", "decoder.project_out.weight"}}}};
}

}  // namespace eigenscope::rows

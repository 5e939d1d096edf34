// Rows of models with an encoder, a decoder and cross attention.
#pragma once

#include "checkpoint/family_rows.h"

namespace eigenscope::rows {

inline constexpr std::string_view kSpeechOthers =
    " self_attn.v_proj self_attn.out_proj self_attn.o_proj encoder_attn.v_proj "
    "encoder_attn.out_proj "
    "encoder_attn.o_proj input_layernorm post_attention_layernorm self_attn_layer_norm "
    "encoder_attn_layer_norm final_layernorm final_layer_norm fc1 fc2 ";
inline constexpr std::string_view kTorchOthers =
    " self_attn.out_proj multihead_attn.out_proj norm1 norm2 norm3 linear1 linear2 ";

constexpr Family whisper() {
  return {.name = "Whisper",
          .model_types = " whisper ",
          .others = Others::names,
          .required = "encoder.conv1.weight",
          .absent = "encoder.groupnorm.weight",
          .width_key = "d_model",
          .attentions = {{{.stack = "encoder",
                           .query_weight = "encoder.layers.{n}.self_attn.q_proj.weight",
                           .key_weight = "encoder.layers.{n}.self_attn.k_proj.weight",
                           .query_gain = "encoder.layers.{n}.self_attn_layer_norm.weight",
                           .head_count_key = "encoder_attention_heads",
                           .layer_count_key = "encoder_layers",
                           .others = kSpeechOthers},
                          {.stack = "decoder",
                           .query_weight = "decoder.layers.{n}.self_attn.q_proj.weight",
                           .key_weight = "decoder.layers.{n}.self_attn.k_proj.weight",
                           .query_gain = "decoder.layers.{n}.self_attn_layer_norm.weight",
                           .head_count_key = "decoder_attention_heads",
                           .layer_count_key = "decoder_layers",
                           .others = kSpeechOthers},
                          {.stack = "cross",
                           .cross = true,
                           .query_weight = "decoder.layers.{n}.encoder_attn.q_proj.weight",
                           .key_weight = "decoder.layers.{n}.encoder_attn.k_proj.weight",
                           .query_gain = "decoder.layers.{n}.encoder_attn_layer_norm.weight",
                           .key_gain = "encoder.layer_norm.weight",
                           .head_count_key = "decoder_attention_heads",
                           .layer_count_key = "decoder_layers",
                           .others = kSpeechOthers}}}};
}

// Norms come after attention and MLP, and so do those of the encoder's last layer.
constexpr Family bart() {
  Family row = variant(whisper(), "BART", " bart florence2 florence2_language ");
  row.required = {};
  row.absent = "encoder.conv1.weight";
  row.embeddings = "shared.weight";
  for (AttentionNames& names : row.attentions) names.query_gain = names.key_gain = {};
  return row;
}

constexpr Family nllb() {
  Family row = variant(whisper(), "NLLB", " m2m_100 mbart ");
  row.required = {};
  row.absent = "encoder.conv1.weight";
  row.embeddings = "shared.weight";
  return row;
}

inline constexpr std::string_view kT5Others =
    " layer.0.SelfAttention.v layer.0.SelfAttention.o "
    "layer.0.SelfAttention.relative_attention_bias layer.1.EncDecAttention.v "
    "layer.1.EncDecAttention.o layer.1.EncDecAttention.relative_attention_bias layer.1.layer_norm "
    "layer.1.DenseReluDense.wi layer.1.DenseReluDense.wi_0 layer.1.DenseReluDense.wi_1 "
    "layer.1.DenseReluDense.wo layer.2.layer_norm layer.2.DenseReluDense.wi "
    "layer.2.DenseReluDense.wi_0 layer.2.DenseReluDense.wi_1 layer.2.DenseReluDense.wo ";

// T5, and UMT5, whose layers each have a table of biases of offsets. The encoder is run on text.
constexpr Family t5() {
  return {.name = "T5",
          .model_types = " t5 mt5 umt5 ",
          .absent = "encoder.block.{n}.layer.1.DenseReluDense.wi_0.weight",
          .width_key = "d_model",
          .head_width_key = "d_kv",
          .unscaled = true,
          .embeddings = "shared.weight",
          .attentions = {{{.stack = "encoder",
                           .query_weight = "encoder.block.{n}.layer.0.SelfAttention.q.weight",
                           .key_weight = "encoder.block.{n}.layer.0.SelfAttention.k.weight",
                           .query_gain = "encoder.block.{n}.layer.0.layer_norm.weight",
                           .head_count_key = "num_heads",
                           .layer_count_key = "num_layers",
                           .others = kT5Others},
                          {.stack = "decoder",
                           .query_weight = "decoder.block.{n}.layer.0.SelfAttention.q.weight",
                           .key_weight = "decoder.block.{n}.layer.0.SelfAttention.k.weight",
                           .query_gain = "decoder.block.{n}.layer.0.layer_norm.weight",
                           .head_count_key = "num_heads",
                           .layer_count_key = "num_decoder_layers",
                           .others = kT5Others},
                          {.stack = "cross",
                           .cross = true,
                           .query_weight = "decoder.block.{n}.layer.1.EncDecAttention.q.weight",
                           .key_weight = "decoder.block.{n}.layer.1.EncDecAttention.k.weight",
                           .query_gain = "decoder.block.{n}.layer.1.layer_norm.weight",
                           .key_gain = "encoder.final_layer_norm.weight",
                           .head_count_key = "num_heads",
                           .layer_count_key = "num_decoder_layers",
                           .others = kT5Others}}},
          .text = {.offset_bias = {.buckets = "encoder.block.{n}.layer.0.SelfAttention."
                                              "relative_attention_bias.weight",
                                   .each_layer = " umt5 ",
                                   .farthest_key = "relative_attention_max_distance"},
                   .value = "encoder.block.{n}.layer.0.SelfAttention.v.weight",
                   .attention_output = "encoder.block.{n}.layer.0.SelfAttention.o.weight",
                   .mlp_norm = "encoder.block.{n}.layer.1.layer_norm.weight",
                   .mlp_up = "encoder.block.{n}.layer.1.DenseReluDense.wi.weight",
                   .mlp_down = "encoder.block.{n}.layer.1.DenseReluDense.wo.weight",
                   .final_norm = "encoder.final_layer_norm.weight",
                   .output = {},
                   .length_key = {},
                   .norm = NormKind::rms_norm,
                   .epsilon_key = "layer_norm_epsilon",
                   .epsilon = 1e-6,
                   .activation_key = "dense_act_fn",
                   .activation = Activation::relu,
                   .causal = false,
                   .optional_bias = true,
                   .usual = {{{"feed_forward_proj", "relu"}}},
                   .foreign = {{"encoder.block.0.layer.0.SelfAttention.q.bias",
                                "encoder.block.0.layer.1.DenseReluDense.wo.bias",
                                "encoder.block.0.layer.0.layer_norm.bias"}}}};
}

// T5 1.1 and mT5, whose MLPs are gated.
constexpr Family t5_gated() {
  Family row = t5();
  row.name = "T5 1.1";
  row.required = row.absent;
  row.absent = {};
  ForwardNames& text = row.text;
  text.mlp_gate = row.required;
  text.mlp_up = "encoder.block.{n}.layer.1.DenseReluDense.wi_1.weight";
  text.activation = Activation::gelu_new;
  text.usual = {{{"feed_forward_proj", "gated-gelu"}}};
  return row;
}

inline constexpr std::string_view kT5GemmaOthers =
    " self_attn.v_proj self_attn.o_proj cross_attn.v_proj cross_attn.o_proj "
    "pre_self_attn_layernorm post_self_attn_layernorm pre_cross_attn_layernorm "
    "post_cross_attn_layernorm pre_feedforward_layernorm post_feedforward_layernorm ";

// Gemma 2 in both halves; cross attention has no positions.
constexpr Family t5_gemma() {
  Family row{.name = "T5Gemma",
             .model_types = " t5gemma ",
             .gain_plus_one = true,
             .query_scalar_key = "query_pre_attn_scalar",
             .default_query_scalar = 256,
             .window = {.default_size = 4096, .default_pattern = 2},
             .embeddings = "encoder.embed_tokens.weight",
             .attentions = {{{.stack = "encoder",
                              .query_weight = "encoder.layers.{n}.self_attn.q_proj.weight",
                              .key_weight = "encoder.layers.{n}.self_attn.k_proj.weight",
                              .query_gain = "encoder.layers.{n}.pre_self_attn_layernorm.weight",
                              .config = "encoder",
                              .key_head_count_key = "num_key_value_heads",
                              .rotary = RotaryPairs::kHalves,
                              .others = kT5GemmaOthers},
                             {.stack = "decoder",
                              .query_weight = "decoder.layers.{n}.self_attn.q_proj.weight",
                              .key_weight = "decoder.layers.{n}.self_attn.k_proj.weight",
                              .query_gain = "decoder.layers.{n}.pre_self_attn_layernorm.weight",
                              .config = "decoder",
                              .key_head_count_key = "num_key_value_heads",
                              .rotary = RotaryPairs::kHalves,
                              .others = kT5GemmaOthers},
                             {.stack = "cross",
                              .cross = true,
                              .query_weight = "decoder.layers.{n}.cross_attn.q_proj.weight",
                              .key_weight = "decoder.layers.{n}.cross_attn.k_proj.weight",
                              .query_gain = "decoder.layers.{n}.pre_cross_attn_layernorm.weight",
                              .key_gain = "encoder.norm.weight",
                              .config = "decoder",
                              .key_head_count_key = "num_key_value_heads",
                              .others = kT5GemmaOthers}}}};
  row.text.attention_cap_key = "attn_logit_softcapping";
  return row;
}

constexpr Family moonshine() {
  return {.name = "Moonshine",
          .model_types = " moonshine ",
          .others = Others::names,
          .required = "encoder.groupnorm.weight",
          .rotary = {.default_share = 0.9},
          .attentions = {{{.stack = "encoder",
                           .query_weight = "encoder.layers.{n}.self_attn.q_proj.weight",
                           .key_weight = "encoder.layers.{n}.self_attn.k_proj.weight",
                           .query_gain = "encoder.layers.{n}.input_layernorm.weight",
                           .head_count_key = "encoder_num_attention_heads",
                           .key_head_count_key = "encoder_num_key_value_heads",
                           .layer_count_key = "encoder_num_hidden_layers",
                           .rotary = RotaryPairs::kNeighbours,
                           .others = kSpeechOthers},
                          {.stack = "decoder",
                           .query_weight = "decoder.layers.{n}.self_attn.q_proj.weight",
                           .key_weight = "decoder.layers.{n}.self_attn.k_proj.weight",
                           .query_gain = "decoder.layers.{n}.input_layernorm.weight",
                           .head_count_key = "decoder_num_attention_heads",
                           .key_head_count_key = "decoder_num_key_value_heads",
                           .layer_count_key = "decoder_num_hidden_layers",
                           .rotary = RotaryPairs::kNeighbours,
                           .others = kSpeechOthers},
                          {.stack = "cross",
                           .cross = true,
                           .query_weight = "decoder.layers.{n}.encoder_attn.q_proj.weight",
                           .key_weight = "decoder.layers.{n}.encoder_attn.k_proj.weight",
                           .query_gain = "decoder.layers.{n}.post_attention_layernorm.weight",
                           .key_gain = "encoder.layer_norm.weight",
                           .head_count_key = "decoder_num_attention_heads",
                           .key_head_count_key = "decoder_num_key_value_heads",
                           .layer_count_key = "decoder_num_hidden_layers",
                           .others = kSpeechOthers}}}};
}

// torch.nn does not store whether its norms come before or after: nothing to fold.
constexpr Family torch_transformer() {
  return {.name = "torch.nn.Transformer",
          .others = Others::everything,
          .required = "decoder.layers.{n}.multihead_attn.in_proj_weight",
          .layout = HeadLayout::kFused,
          .width_key = "d_model",
          .attentions = {{{.stack = "encoder",
                           .query_weight = "encoder.layers.{n}.self_attn.in_proj_weight",
                           .head_count_key = "nhead",
                           .layer_count_key = {},
                           .others = kTorchOthers},
                          {.stack = "decoder",
                           .query_weight = "decoder.layers.{n}.self_attn.in_proj_weight",
                           .head_count_key = "nhead",
                           .layer_count_key = {},
                           .others = kTorchOthers},
                          {.stack = "cross",
                           .cross = true,
                           .query_weight = "decoder.layers.{n}.multihead_attn.in_proj_weight",
                           .head_count_key = "nhead",
                           .layer_count_key = {},
                           .others = kTorchOthers}}}};
}

constexpr Family torch_encoder() {
  return {.name = "torch.nn.TransformerEncoder",
          .others = Others::everything,
          .layout = HeadLayout::kFused,
          .width_key = "d_model",
          .attentions = {{{.query_weight = "layers.{n}.self_attn.in_proj_weight",
                           .head_count_key = "nhead",
                           .layer_count_key = {},
                           .others = kTorchOthers}}}};
}

}  // namespace eigenscope::rows

// Rows of models of pictures.
#pragma once

#include "checkpoint/family_rows.h"

namespace eigenscope::rows {

constexpr Family clip() {
  return {
      .name = "CLIP",
      .model_types = " clip clip_text_model clip_vision_model ",
      .others = Others::names,
      .embeddings = "text_model.embeddings.token_embedding.weight",
      .attentions = {{{.stack = "text",
                       .query_weight = "text_model.encoder.layers.{n}.self_attn.q_proj.weight",
                       .key_weight = "text_model.encoder.layers.{n}.self_attn.k_proj.weight",
                       .query_gain = "text_model.encoder.layers.{n}.layer_norm1.weight",
                       .config = "text_config",
                       .default_heads = 8},
                      {.stack = "vision",
                       .query_weight = "vision_model.encoder.layers.{n}.self_attn.q_proj.weight",
                       .key_weight = "vision_model.encoder.layers.{n}.self_attn.k_proj.weight",
                       .query_gain = "vision_model.encoder.layers.{n}.layer_norm1.weight",
                       .config = "vision_config",
                       .default_heads = 12}}},
      .text = {.model_types = " clip clip_text_model ",
               .position_embedding = "text_model.embeddings.position_embedding.weight",
               .value = "text_model.encoder.layers.{n}.self_attn.v_proj.weight",
               .attention_output = "text_model.encoder.layers.{n}.self_attn.out_proj.weight",
               .mlp_norm = "text_model.encoder.layers.{n}.layer_norm2.weight",
               .mlp_up = "text_model.encoder.layers.{n}.mlp.fc1.weight",
               .mlp_down = "text_model.encoder.layers.{n}.mlp.fc2.weight",
               .final_norm = "text_model.final_layer_norm.weight",
               .output = {},
               .epsilon_key = "layer_norm_eps",
               .activation_key = "hidden_act",
               .activation = Activation::quick_gelu},
      .picture = {.model_types = " clip clip_vision_model ",
                  .position_embedding = "vision_model.embeddings.position_embedding.weight",
                  .patch_embedding = "vision_model.embeddings.patch_embedding.weight",
                  .class_embedding = "vision_model.embeddings.class_embedding",
                  .embedding_norm = "vision_model.pre_layrnorm.weight",
                  .value = "vision_model.encoder.layers.{n}.self_attn.v_proj.weight",
                  .attention_output = "vision_model.encoder.layers.{n}.self_attn.out_proj.weight",
                  .mlp_norm = "vision_model.encoder.layers.{n}.layer_norm2.weight",
                  .mlp_up = "vision_model.encoder.layers.{n}.mlp.fc1.weight",
                  .mlp_down = "vision_model.encoder.layers.{n}.mlp.fc2.weight",
                  .epsilon_key = "layer_norm_eps",
                  .activation_key = "hidden_act",
                  .activation = Activation::quick_gelu,
                  .causal = false}};
}

constexpr Family siglip() {
  Family row = variant(clip(), "SigLIP",
                       " siglip siglip_text_model siglip_vision_model siglip2 siglip2_text_model "
                       "siglip2_vision_model ");
  row.text.model_types = " siglip siglip_text_model ";
  row.picture.model_types = " siglip siglip_vision_model ";
  row.attentions[0].default_heads = 12;
  row.text.epsilon = 1e-6;
  row.text.activation = Activation::gelu_new;
  row.text.causal = false;
  row.picture.class_embedding = {};
  row.picture.embedding_norm = {};
  row.picture.epsilon = 1e-6;
  row.picture.activation = Activation::gelu_new;
  return row;
}

// ViT and DeiT.
constexpr Family vit() {
  return {.name = "ViT",
          .model_types = " vit deit vit_mae vit_msn yolos ",
          .others = Others::names,
          .attentions = {{{.query_weight = "encoder.layer.{n}.attention.attention.query.weight",
                           .key_weight = "encoder.layer.{n}.attention.attention.key.weight",
                           .query_gain = "encoder.layer.{n}.layernorm_before.weight"}}},
          .picture = {.model_types = " vit deit ",
                      .position_embedding = "embeddings.position_embeddings",
                      .patch_embedding = "embeddings.patch_embeddings.projection.weight",
                      .class_embedding = "embeddings.cls_token",
                      .distillation_embedding = "embeddings.distillation_token",
                      .value = "encoder.layer.{n}.attention.attention.value.weight",
                      .attention_output = "encoder.layer.{n}.attention.output.dense.weight",
                      .mlp_norm = "encoder.layer.{n}.layernorm_after.weight",
                      .mlp_up = "encoder.layer.{n}.intermediate.dense.weight",
                      .mlp_down = "encoder.layer.{n}.output.dense.weight",
                      .epsilon_key = "layer_norm_eps",
                      .epsilon = 1e-12,
                      .activation_key = "hidden_act",
                      .causal = false,
                      .optional_bias = true}};  // qkv_bias
}

constexpr Family dinov2() {
  Family row = vit();
  row.name = "DINOv2";
  row.model_types = " dinov2 dinov2_with_registers ";
  row.required = "encoder.layer.{n}.layer_scale1.lambda1";
  row.attentions[0].query_gain = "encoder.layer.{n}.norm1.weight";
  row.picture.model_types = " dinov2 ";
  row.picture.mlp_norm = "encoder.layer.{n}.norm2.weight";
  row.picture.attention_scale = "encoder.layer.{n}.layer_scale1.lambda1";
  row.picture.mlp_scale = "encoder.layer.{n}.layer_scale2.lambda1";
  row.picture.mlp_up = "encoder.layer.{n}.mlp.fc1.weight";
  row.picture.mlp_down = "encoder.layer.{n}.mlp.fc2.weight";
  row.picture.epsilon = 1e-6;
  row.picture.usual = {{{"use_swiglu_ffn", "false"}}};
  row.picture.foreign = {"embeddings.register_tokens"};
  return row;
}

// A config.json of timm has an "architecture", such as "vit_base_patch16_224", in place of a model type.
constexpr Family timm() {
  return {.name = "ViT (timm)",
          .model_types = " timm_wrapper vit deit deit3 ",
          .others = Others::names,
          .layout = HeadLayout::kFused,
          .width_key = "num_features",
          .attentions = {{{.query_weight = "blocks.{n}.attn.qkv.weight",
                           .query_gain = "blocks.{n}.norm1.weight",
                           .query_norm_gain = "blocks.{n}.attn.q_norm.weight",
                           .key_norm_gain = "blocks.{n}.attn.k_norm.weight",
                           .config = "vision_config",
                           .head_count_key = "num_heads",
                           .layer_count_key = "depth"}}},
          .picture = {.model_types = " timm_wrapper ",
                      .position_embedding = "pos_embed",
                      .patch_embedding = "patch_embed.proj.weight",
                      .class_embedding = "cls_token",
                      .distillation_embedding = "dist_token",
                      .attention_output = "blocks.{n}.attn.proj.weight",
                      .mlp_norm = "blocks.{n}.norm2.weight",
                      .attention_scale = "blocks.{n}.ls1.gamma",
                      .mlp_scale = "blocks.{n}.ls2.gamma",
                      .mlp_up = "blocks.{n}.mlp.fc1.weight",
                      .mlp_down = "blocks.{n}.mlp.fc2.weight",
                      .epsilon = 1e-6,
                      .causal = false,
                      .optional_bias = true,
                      .foreign = {"norm_pre.weight", "reg_token"}}};
}

// The vision part of models of vision and language, with the names of timm.
constexpr Family qwen_vision() {
  Family row = timm();
  row.name = "ViT (Qwen)";
  row.model_types =
      " qwen2_vl qwen2_5_vl qwen3_vl qwen3_vl_moe qwen3_5 qwen3_5_moe qwen3_omni_moe "
      "qwen3_omni_moe_vision_encoder ";
  row.rotary.two_axes = true;
  row.attentions[0].rotary = RotaryPairs::kHalves;
  row.attentions[0].others = " attn.proj norm2 ";
  row.picture = {};
  return row;
}

constexpr Family dinov3() {
  return {.name = "DINOv3",
          .model_types = " dinov3_vit ",
          .rotary = {.two_axes = true},
          .attentions = {{{.query_weight = "layer.{n}.attention.q_proj.weight",
                           .key_weight = "layer.{n}.attention.k_proj.weight",
                           .query_gain = "layer.{n}.norm1.weight",
                           .rotary = RotaryPairs::kHalves,
                           .others = " attention.v_proj attention.o_proj norm2 "}}}};
}

// Queries also have products with embeddings of the relative position, beside W.
constexpr Family sam() {
  return {.name = "SAM",
          .model_types = " sam sam_vision_model ",
          .layout = HeadLayout::kFused,
          .attentions = {{{.query_weight = "vision_encoder.layers.{n}.attn.qkv.weight",
                           .query_gain = "vision_encoder.layers.{n}.layer_norm1.weight",
                           .config = "vision_config",
                           .others = " attn.proj attn.rel_pos_h attn.rel_pos_w layer_norm2 "}}}};
}

}  // namespace eigenscope::rows

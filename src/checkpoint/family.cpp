#include "checkpoint/family.h"

namespace eigenscope {
namespace {

/// A row with the names of another one, for other model types.
constexpr Family variant(Family row, std::string_view name, std::string_view model_types) {
  row.name = name;
  row.model_types = model_types;
  row.others = Others::none;
  row.text.model_types = row.picture.model_types = {};
  return row;
}

/// Without its forward pass: of that only the tensors of a layer are kept, as `others`.
constexpr Family heads_only(Family row, std::string_view others) {
  row.attentions[0].others = others;
  row.text = {};
  return row;
}

constexpr Family bert() {
  return {.name = "BERT",
          .model_types = " bert ",
          .others = Others::names,
          .embeddings = "embeddings.word_embeddings.weight",
          .attentions = {{{.query_weight = "encoder.layer.{n}.attention.self.query.weight",
                           .key_weight = "encoder.layer.{n}.attention.self.key.weight"}}},
          .text = {.position_embedding = "embeddings.position_embeddings.weight",
                   .type_embedding = "embeddings.token_type_embeddings.weight",
                   .embedding_norm = "embeddings.LayerNorm.weight",
                   .value = "encoder.layer.{n}.attention.self.value.weight",
                   .attention_output = "encoder.layer.{n}.attention.output.dense.weight",
                   .attention_end_norm = "encoder.layer.{n}.attention.output.LayerNorm.weight",
                   .mlp_end_norm = "encoder.layer.{n}.output.LayerNorm.weight",
                   .mlp_up = "encoder.layer.{n}.intermediate.dense.weight",
                   .mlp_down = "encoder.layer.{n}.output.dense.weight",
                   .epsilon_key = "layer_norm_eps",
                   .epsilon = 1e-12,
                   .activation_key = "hidden_act",
                   .causal = false,
                   .usual = {{{"position_embedding_type", "absolute"}, {"is_decoder", "false"}}}}};
}

// Its positions count from the id of the padding token on.
constexpr Family roberta() {
  Family row = variant(bert(), "RoBERTa", " roberta xlm-roberta camembert data2vec-text ");
  row.text.first_position = 2;
  row.text.first_position_key = "pad_token_id";
  row.text.epsilon = 1e-5;
  return row;
}

// Embeddings may be narrower than the layers, which only text needs.
constexpr Family electra() {
  return heads_only(variant(bert(), "ELECTRA", " electra "),
                    " attention.self.value attention.output.dense attention.output.LayerNorm ");
}

// ESM-2 norms before attention, and turns queries and keys.
constexpr Family esm() {
  Family row = heads_only(variant(bert(), "ESM", " esm "),
                          " attention.self.value attention.output.dense LayerNorm "
                          "attention.self.rotary_embeddings.inv_freq ");
  row.rotary = {.chosen = {"position_embedding_type", "rotary"}};
  row.attentions[0].query_gain = "encoder.layer.{n}.attention.LayerNorm.weight";
  row.attentions[0].rotary = RotaryPairs::kHalves;
  return row;
}

constexpr Family roformer() {
  Family row =
      heads_only(variant(bert(), "RoFormer", " roformer "),
                 " attention.self.value attention.output.dense attention.output.LayerNorm ");
  row.attentions[0].rotary = RotaryPairs::kNeighbours;
  return row;
}

// Its layers share their weights.
constexpr Family albert() {
  Family row = bert();
  row.name = "ALBERT";
  row.model_types = " albert ";
  row.attentions[0].layer_count_key = {};
  row.attentions[0].query_weight =
      "encoder.albert_layer_groups.{n}.albert_layers.0.attention.query.weight";
  row.attentions[0].key_weight =
      "encoder.albert_layer_groups.{n}.albert_layers.0.attention.key.weight";
  ForwardNames& text = row.text;
  text.embedding_projection = "encoder.embedding_hidden_mapping_in.weight";
  text.layers_key = "num_hidden_layers";
  text.groups_key = "num_hidden_groups";
  text.value = "encoder.albert_layer_groups.{n}.albert_layers.0.attention.value.weight";
  text.attention_output = "encoder.albert_layer_groups.{n}.albert_layers.0.attention.dense.weight";
  text.attention_end_norm =
      "encoder.albert_layer_groups.{n}.albert_layers.0.attention.LayerNorm.weight";
  text.mlp_end_norm =
      "encoder.albert_layer_groups.{n}.albert_layers.0.full_layer_layer_norm.weight";
  text.mlp_up = "encoder.albert_layer_groups.{n}.albert_layers.0.ffn.weight";
  text.mlp_down = "encoder.albert_layer_groups.{n}.albert_layers.0.ffn_output.weight";
  text.activation = Activation::gelu_new;
  text.usual = {{{"position_embedding_type", "absolute"}, {"inner_group_num", "1"}}};
  return row;
}

constexpr Family modernbert() {
  return {.name = "ModernBERT",
          .model_types = " modernbert ",
          .others = Others::names,
          .layout = HeadLayout::kFused,
          .rotary = {.base = "global_rope_theta",
                     .default_base = 160000,
                     .local_base = "local_rope_theta",
                     .default_local_base = 10000},
          .window = {.size = "local_attention",
                     .default_size = 128,
                     .pattern = "global_attn_every_n_layers",
                     .default_pattern = 3,
                     .first_full = true},
          .embeddings = "embeddings.tok_embeddings.weight",
          .attentions = {{{.query_weight = "layers.{n}.attn.Wqkv.weight",
                           .query_gain = "layers.{n}.attn_norm.weight",
                           .rotary = RotaryPairs::kHalves}}},
          .text = {.embedding_norm = "embeddings.norm.weight",
                   .bare_first = true,
                   .attention_output = "layers.{n}.attn.Wo.weight",
                   .mlp_norm = "layers.{n}.mlp_norm.weight",
                   .mlp_up = "layers.{n}.mlp.Wi.weight",
                   .mlp_down = "layers.{n}.mlp.Wo.weight",
                   .final_norm = "final_norm.weight",
                   .epsilon_key = "norm_eps",
                   .activation_key = "hidden_activation",
                   .fused_gate = true,
                   .causal = false,
                   .optional_bias = true}};
}

constexpr Family llama() {
  return {.name = "LLaMA",
          .model_types =
              " llama mistral mistral3 ministral ministral3 qwen2 qwen2_moe qwen2_vl "
              "qwen2_vl_text "
              "qwen2_5_vl qwen2_5_vl_text qwen3 qwen3_moe qwen3_vl qwen3_vl_text qwen3_vl_moe "
              "qwen3_vl_moe_text olmoe seed_oss arcee "
              "starcoder2 internlm3 "
              "mimo nemotron-nas PanguEmbedded ",
          .others = Others::names,
          .window = {.model_types = " mistral qwen2 qwen3 ",
                     .switched = " qwen2 qwen3 ",
                     .default_before = 28},
          .embeddings = "embed_tokens.weight",
          .attentions = {{{.query_weight = "layers.{n}.self_attn.q_proj.weight",
                           .key_weight = "layers.{n}.self_attn.k_proj.weight",
                           .query_gain = "layers.{n}.input_layernorm.weight",
                           .query_norm_gain = "layers.{n}.self_attn.q_norm.weight",
                           .key_norm_gain = "layers.{n}.self_attn.k_norm.weight",
                           .key_head_count_key = "num_key_value_heads",
                           .rotary = RotaryPairs::kHalves,
                           .others = " self_attn.rotary_emb.inv_freq "}}},
          .text = {.model_types = " llama mistral qwen2 qwen3 ",
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

/// LLaMA's names with other conventions, of which only the heads are read.
constexpr Family llama_heads(std::string_view name, std::string_view model_types) {
  return heads_only(variant(llama(), name, model_types),
                    " self_attn.v_proj self_attn.o_proj self_attn.rotary_emb.inv_freq "
                    "post_attention_layernorm ");
}

constexpr Family phi3() {
  Family row = variant(llama(), "Phi-3", " phi3 ");
  row.window = {.model_types = " phi3 "};
  row.others = Others::names;
  row.layout = HeadLayout::kFused;
  row.attentions[0].query_weight = "layers.{n}.self_attn.qkv_proj.weight";
  row.attentions[0].key_weight = {};
  row.text.mlp_gate = {};
  row.text.mlp_up = "layers.{n}.mlp.gate_up_proj.weight";
  row.text.fused_gate = true;
  row.text.epsilon = 1e-5;
  return row;
}

constexpr Family olmo2() {
  Family row = variant(llama(), "OLMo 2", " olmo2 ");
  row.attentions[0].query_gain = {};
  row.text.attention_output_norm = "layers.{n}.post_attention_layernorm.weight";
  row.text.mlp_norm = {};
  row.text.mlp_output_norm = "layers.{n}.post_feedforward_layernorm.weight";
  row.text.epsilon = 1e-5;
  return row;
}

/// OLMo 2's places of the norms, of which only the heads are read.
constexpr Family olmo2_heads(std::string_view name, std::string_view model_types) {
  return heads_only(variant(olmo2(), name, model_types),
                    " self_attn.v_proj self_attn.o_proj self_attn.rotary_emb.inv_freq "
                    "post_attention_layernorm post_feedforward_layernorm ");
}

// Angles are scaled in the layers without a window only.
constexpr Family olmo3() {
  Family row = olmo2_heads("OLMo 3", " olmo3 ");
  row.rotary.unscaled_local = true;
  row.window = {.default_size = 4096, .default_pattern = 4};
  return row;
}

constexpr Family exaone4() {
  Family row = olmo2_heads("EXAONE 4", " exaone4 ");
  row.rotary.only_local = true;
  row.window.default_pattern = 4;
  return row;
}

// Its config.json has had another "hidden_act" than the activation that the model is run with.
constexpr Family gemma() {
  Family row = variant(llama(), "Gemma", " gemma ");
  row.gain_plus_one = true;
  row.text.scaled_embedding = true;
  row.text.activation_key = "hidden_activation";
  row.text.activation = Activation::gelu_new;
  return row;
}

constexpr Family gemma2() {
  Family row = variant(gemma(), "Gemma 2", " gemma2 ");
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

// Layers with a sliding window have a rotary base of their own.
constexpr Family gemma3() {
  Family row = variant(gemma2(), "Gemma 3", " gemma3 gemma3_text ");  // with and without vision
  row.rotary = {.default_base = 1e6, .default_local_base = 1e4};
  row.window.default_pattern = 6;
  row.attentions[0].default_heads = 8;
  row.text.bidirectional_key = "use_bidirectional_attention";
  row.text.attention_cap = 0;
  row.text.output_cap = 0;
  return row;
}

// Each fourth layer has no positions.
constexpr Family smollm3() {
  Family row = variant(llama(), "SmolLM3", " smollm3 ");
  row.window = {.model_types = " smollm3 ", .switched = " smollm3 "};
  row.rotary = {.default_base = 2e6,
                .used = "no_rope_layers",
                .interval = "no_rope_layer_interval",
                .default_unused = 4};
  return row;
}

// Its MLPs are mixtures of experts.
constexpr Family gpt_oss() {
  Family row = variant(llama(), "gpt-oss", " gpt_oss ");
  row.rotary.default_base = 150000;
  row.window = {.default_size = 128, .default_pattern = 2};
  row.attentions[0].sinks = "layers.{n}.self_attn.sinks";
  row.text.experts = "layers.{n}.mlp.router.weight";
  row.text.epsilon = 1e-5;
  return row;
}

// Each fourth layer has no positions; there queries are scaled, by their position alone. Its query-key norms have no
// gain.
constexpr Family llama4() {
  Family row = llama_heads("Llama 4", " llama4 llama4_text ");
  row.rotary = {.default_base = 5e5,
                .used = "no_rope_layers",
                .interval = "no_rope_layer_interval",
                .default_unused = 4};
  row.attentions[0].rotary = RotaryPairs::kNeighbours;
  row.bare_norms_key = "use_qk_norm";
  row.neutral_keys = " use_qk_norm attn_scale attn_temperature_tuning ";
  return row;
}

// Its attention, in some of the layers, has no positions; the others are state-space layers.
constexpr Family jamba() {
  Family row = llama_heads("Jamba", " jamba ");
  row.attentions[0].others =
      " self_attn.v_proj self_attn.o_proj post_attention_layernorm pre_ff_layernorm ";
  row.attentions[0].rotary = RotaryPairs::kNone;
  return row;
}

constexpr Family mixtral() {
  Family row = llama_heads("Mixtral", " mixtral ");
  row.rotary.default_base = 1e6;
  return row;
}

// Logits are multiplied by `attention_multiplier`, 1 where config.json leaves it out.
constexpr Family granite() {
  Family row = llama_heads("Granite", " granite granitemoe granitemoeshared ");
  row.unscaled = true;
  return row;
}

// Attention in some of the layers, with positions where config.json says so.
constexpr Family granite_hybrid() {
  Family row = variant(granite(), "Granite 4", " granitemoehybrid ");
  row.rotary = {.chosen = {"position_embedding_type", "rope"}};
  return row;
}

constexpr Family nemotron() {
  Family row = llama_heads("Nemotron", " nemotron ");
  row.gain_plus_one = true;
  row.rotary = {.default_share = 0.5};
  return row;
}

constexpr Family stablelm() {
  Family row = llama_heads("StableLM", " stablelm ");
  row.rotary = {.default_share = 0.25};
  return row;
}

constexpr Family minimax() {
  Family row = llama_heads("MiniMax M2", " minimax_m2 ");
  row.rotary = {.width = "rotary_dim"};
  return row;
}

// Attention in some of the layers, whose output is gated by a part of the queries' projection.
constexpr Family qwen35() {
  Family row =
      llama_heads("Qwen 3.5", " qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text qwen3_next ");
  row.layout = HeadLayout::kGated;
  row.gain_plus_one = true;
  row.neutral_keys = " attn_output_gate ";
  row.rotary = {.default_share = 0.25};
  return row;
}

constexpr Family apertus() {
  Family row = llama_heads("Apertus", " apertus ");
  row.rotary.default_base = 1.2e7;
  row.attentions[0].query_gain = "layers.{n}.attention_layernorm.weight";
  row.attentions[0].others = " self_attn.v_proj self_attn.o_proj feedforward_layernorm ";
  return row;
}

// In some of the layers; the others are convolutions.
constexpr Family lfm2() {
  Family row = llama_heads("LFM2", " lfm2 lfm2_moe ");
  row.rotary.default_base = 1e6;
  row.attentions[0].query_gain = "layers.{n}.operator_norm.weight";
  row.attentions[0].query_norm_gain = "layers.{n}.self_attn.q_layernorm.weight";
  row.attentions[0].key_norm_gain = "layers.{n}.self_attn.k_layernorm.weight";
  row.attentions[0].others = " self_attn.v_proj self_attn.out_proj ffn_norm ";
  return row;
}

// The gate is on the output of the attention.
constexpr Family afmoe() {
  Family row = llama_heads("Trinity", " afmoe ");
  row.rotary.only_local = true;
  row.window = {.pattern = "global_attn_every_n_layers", .default_pattern = 4};
  row.attentions[0].others =
      " self_attn.v_proj self_attn.o_proj self_attn.gate_proj post_attention_layernorm "
      "pre_mlp_layernorm post_mlp_layernorm ";
  return row;
}

constexpr Family glm4() {
  Family row = llama_heads("GLM-4", " glm glm4 ");
  row.rotary = {.default_share = 0.5};
  row.attentions[0].rotary = RotaryPairs::kNeighbours;
  row.attentions[0].others =
      " self_attn.v_proj self_attn.o_proj post_attention_layernorm post_self_attn_layernorm "
      "post_mlp_layernorm ";
  return row;
}

constexpr Family glm4_moe() {
  Family row = llama_heads("GLM-4.5", " glm4_moe ");
  row.rotary = {.default_share = 0.5};
  return row;
}

constexpr Family ernie45() {
  Family row = llama_heads("ERNIE 4.5", " ernie4_5 ernie4_5_moe ");
  row.rotary.default_base = 5e5;
  row.attentions[0].rotary = RotaryPairs::kNeighbours;
  return row;
}

// The text of a model with vision, whose config.json may leave out the count of heads of LLaMA-7B.
constexpr Family llava() {
  Family row = variant(llama(), "LLaVA", " llava ");
  row.attentions[0].default_heads = 32;
  row.text.model_types = " llava llama mistral qwen2 ";
  return row;
}

// Attention and MLP read the same norm.
constexpr Family cohere() {
  Family row = variant(llama(), "Cohere", " cohere ");
  row.attentions[0].rotary = RotaryPairs::kNeighbours;
  row.text.mlp_norm = row.attentions[0].query_gain;
  row.text.norm = NormKind::layer_norm;
  row.text.epsilon_key = "layer_norm_eps";
  row.text.epsilon = 1e-5;
  row.text.parallel = true;
  row.text.output_scale_key = "logit_scale";
  row.text.output_scale = 0.0625;
  row.text.usual = {{{"use_qk_norm", "false"}}};
  return row;
}

// The last of each four layers has neither window nor positions.
constexpr Family cohere2() {
  Family row = llama_heads("Cohere 2", " cohere2 ");
  row.attentions[0].rotary = RotaryPairs::kNeighbours;
  row.attentions[0].query_norm_gain = row.attentions[0].key_norm_gain = {};
  row.rotary.only_local = true;
  row.window = {.default_size = 4096, .default_pattern = 4};
  return row;
}

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

// And DeiT.
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
                           .others = " attn attn.masked "}}},  // buffers of the mask
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
  Family row =
      heads_only(variant(gpt2(), "GPT-BigCode", " gpt_bigcode "), " attn attn.c_proj ln_2 ");
  row.layout = HeadLayout::kInterleaved;
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
                           .others = " attn attn.masked attn.v_proj attn.out_proj "}}}};
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
                           .others = " attn.attention attn.attention.masked attn.attention.v_proj "
                                     "attn.attention.out_proj ln_2 "}}}};
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
                           .others = " attention.wv attention.wo ffn_norm "}}}};
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

constexpr std::string_view kSpeechOthers =
    " self_attn.v_proj self_attn.out_proj self_attn.o_proj encoder_attn.v_proj "
    "encoder_attn.out_proj "
    "encoder_attn.o_proj input_layernorm post_attention_layernorm self_attn_layer_norm "
    "encoder_attn_layer_norm final_layernorm final_layer_norm ";
constexpr std::string_view kTorchOthers =
    " self_attn.out_proj multihead_attn.out_proj norm1 norm2 norm3 ";

// Rows with the more particular names first: each takes what it fits of the weights that those before it
// left.
constexpr std::array kFamilies{
    roberta(),
    electra(),
    esm(),
    roformer(),
    bert(),
    albert(),
    modernbert(),
    Family{.name = "DistilBERT",
           .model_types = " distilbert ",
           .others = Others::names,
           .width_key = "dim",
           .embeddings = "embeddings.word_embeddings.weight",
           .attentions = {{{.query_weight = "transformer.layer.{n}.attention.q_lin.weight",
                            .key_weight = "transformer.layer.{n}.attention.k_lin.weight",
                            .head_count_key = "n_heads",
                            .layer_count_key = "n_layers"}}},
           .text = {.position_embedding = "embeddings.position_embeddings.weight",
                    .embedding_norm = "embeddings.LayerNorm.weight",
                    .value = "transformer.layer.{n}.attention.v_lin.weight",
                    .attention_output = "transformer.layer.{n}.attention.out_lin.weight",
                    .attention_end_norm = "transformer.layer.{n}.sa_layer_norm.weight",
                    .mlp_end_norm = "transformer.layer.{n}.output_layer_norm.weight",
                    .mlp_up = "transformer.layer.{n}.ffn.lin1.weight",
                    .mlp_down = "transformer.layer.{n}.ffn.lin2.weight",
                    .epsilon = 1e-12,
                    .activation_key = "activation",
                    .causal = false}},
    Family{.name = "USE-lite",  // as web/results/use-lite-checkpoint.mjs writes it
           .model_types = " use-lite ",
           .layout = HeadLayout::kConv1D,
           .width_key = {},
           .embeddings = "embeddings.tokens.weight",
           .attentions = {{{.query_weight = "layers.{n}.attention.qkv.weight",
                            .query_gain = "layers.{n}.attention_norm.weight"}}},
           .text = {.position_embedding = "embeddings.positions.weight",
                    .attention_output = "layers.{n}.attention.output.weight",
                    .skip = "layers.{n}.skip.weight",
                    .mlp_norm = "layers.{n}.mlp_norm.weight",
                    .mlp_up = "layers.{n}.mlp.up.weight",
                    .mlp_down = "layers.{n}.mlp.down.weight",
                    .epsilon = 1e-6,
                    .activation = Activation::relu,
                    .causal = false}},
    qwen1(),
    gpt2(),
    openai_gpt(),
    gpt_bigcode(),
    nano_gpt(),
    gpt_j(),
    gpt_neo(),
    llama2_c(),
    Family{
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
                 .parallel_key = "use_parallel_residual"}},
    phi3(),
    siglip(),
    clip(),
    Family{.name = "Phi",
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
                    .parallel = true}},
    Family{.name = "Whisper",
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
                            .query_weight = "decoder.layers.{n}.encoder_attn.q_proj.weight",
                            .key_weight = "decoder.layers.{n}.encoder_attn.k_proj.weight",
                            .query_gain = "decoder.layers.{n}.encoder_attn_layer_norm.weight",
                            .key_gain = "encoder.layer_norm.weight",
                            .head_count_key = "decoder_attention_heads",
                            .layer_count_key = "decoder_layers",
                            .others = kSpeechOthers}}}},
    Family{.name = "Moonshine",
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
                            .query_weight = "decoder.layers.{n}.encoder_attn.q_proj.weight",
                            .key_weight = "decoder.layers.{n}.encoder_attn.k_proj.weight",
                            .query_gain = "decoder.layers.{n}.post_attention_layernorm.weight",
                            .key_gain = "encoder.layer_norm.weight",
                            .head_count_key = "decoder_num_attention_heads",
                            .key_head_count_key = "decoder_num_key_value_heads",
                            .layer_count_key = "decoder_num_hidden_layers",
                            .others = kSpeechOthers}}}},
    Family{.name = "OPT",
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
                               {"_remove_final_layer_norm", "false"}}}}},
    gemma(),
    gemma2(),
    gemma3(),
    olmo2(),
    olmo3(),
    exaone4(),
    smollm3(),
    gpt_oss(),
    llama4(),
    cohere(),
    cohere2(),
    llava(),
    jamba(),
    mixtral(),
    granite(),
    granite_hybrid(),
    nemotron(),
    stablelm(),
    minimax(),
    qwen35(),
    apertus(),
    lfm2(),
    afmoe(),
    glm4(),
    glm4_moe(),
    ernie45(),
    llama(),
    dinov2(),
    vit(),
    // And Qwen's models of vision and language. A config.json of timm has an "architecture", such as
    // "vit_base_patch16_224", in place of a model type.
    Family{.name = "ViT (timm)",
           .model_types = " timm_wrapper vit deit qwen2_vl qwen2_5_vl qwen3_vl qwen3_vl_moe "
                          "qwen3_5 qwen3_5_moe ",
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
                       .foreign = {"norm_pre.weight", "reg_token"}}},
    // torch.nn does not store whether its norms come before or after: nothing to fold.
    Family{.name = "torch.nn.Transformer",
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
                            .query_weight = "decoder.layers.{n}.multihead_attn.in_proj_weight",
                            .head_count_key = "nhead",
                            .layer_count_key = {},
                            .others = kTorchOthers}}}},
    Family{.name = "torch.nn.TransformerEncoder",
           .others = Others::everything,
           .layout = HeadLayout::kFused,
           .width_key = "d_model",
           .attentions = {{{.query_weight = "layers.{n}.self_attn.in_proj_weight",
                            .head_count_key = "nhead",
                            .layer_count_key = {},
                            .others = kTorchOthers}}}},
};

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
    case HeadLayout::kInterleaved:
      return (shared * (group + 2) + (query ? head % group : group + after)) * grid.head_width;
  }
  return 0;
}

}  // namespace eigenscope

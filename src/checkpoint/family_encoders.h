// Rows of encoders of text.
#pragma once

#include "checkpoint/family_rows.h"

namespace eigenscope::rows {

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
                   .masked_head = {"cls.predictions.transform.dense.weight",
                                   "cls.predictions.transform.LayerNorm.weight",
                                   "cls.predictions.decoder.weight", "cls.predictions.bias"},
                   .epsilon_key = "layer_norm_eps",
                   .epsilon = 1e-12,
                   .activation_key = "hidden_act",
                   .causal = false,
                   .usual = {{{"position_embedding_type", "absolute"}, {"is_decoder", "false"}}},
                   // Of Jina's later embeddings of code.
                   .foreign = {{"encoder.layer.0.attention.self.layer_norm_q.weight"}}}};
}

// Its positions count from the id of the padding token on.
constexpr Family roberta() {
  Family row = variant(bert(), "RoBERTa", " roberta xlm-roberta camembert data2vec-text ");
  row.text.first_position = 2;
  row.text.first_position_key = "pad_token_id";
  row.text.masked_head = {.dense = "lm_head.dense.weight",
                          .norm = "lm_head.layer_norm.weight",
                          .output = "lm_head.decoder.weight",
                          .output_bias = "lm_head.bias",
                          .always_gelu = true};
  return row;
}

// Embeddings may be narrower than the layers. What its heads predict, replaced tokens, is no token.
constexpr Family electra() {
  Family row = variant(bert(), "ELECTRA", " electra ");
  row.text.embedding_projection = "embeddings_project.weight";
  row.text.masked_head = {};
  row.text.output = {};
  return row;
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

// All layers have the same biases of offsets.
constexpr Family mpnet() {
  Family row = variant(roberta(), "MPNet", " mpnet ");
  row.attentions[0].query_weight = "encoder.layer.{n}.attention.attn.q.weight";
  row.attentions[0].key_weight = "encoder.layer.{n}.attention.attn.k.weight";
  ForwardNames& text = row.text;
  text.type_embedding = {};
  text.value = "encoder.layer.{n}.attention.attn.v.weight";
  text.attention_output = "encoder.layer.{n}.attention.attn.o.weight";
  text.attention_end_norm = "encoder.layer.{n}.attention.LayerNorm.weight";
  text.offset_bias = {.buckets = "encoder.relative_attention_bias.weight", .count = 32};
  text.first_position_key = "padding_idx";  // which no config has: it is token 1
  text.usual = {};
  return row;
}

// Two more terms of the logits have relative positions; W is that of the contents.
constexpr Family deberta() {
  Family row = variant(bert(), "DeBERTa", " deberta-v2 ");
  row.terms_key = "pos_att_type";
  row.attentions[0].query_weight = "encoder.layer.{n}.attention.self.query_proj.weight";
  row.attentions[0].key_weight = "encoder.layer.{n}.attention.self.key_proj.weight";
  ForwardNames& text = row.text;
  text.position_embedding = {};
  text.value = "encoder.layer.{n}.attention.self.value_proj.weight";
  text.offset_terms = {"encoder.rel_embeddings.weight", "encoder.LayerNorm.weight",
                       "encoder.layer.{n}.attention.self.pos_key_proj.weight",
                       "encoder.layer.{n}.attention.self.pos_query_proj.weight"};
  text.epsilon = 1e-7;
  text.masked_head = {};  // of which versions differ
  text.output = {};
  text.usual = {};
  text.foreign = {{"embeddings.position_embeddings.weight", "embeddings.embed_proj.weight",
                   "encoder.conv.conv.weight"}};
  return row;
}

constexpr Family xlm_roberta_xl() {
  Family row = heads_only(variant(bert(), "XLM-RoBERTa XL", " xlm-roberta-xl "),
                          " attention.self.value attention.output.dense LayerNorm ");
  row.attentions[0].query_gain = "encoder.layer.{n}.attention.self_attn_layer_norm.weight";
  return row;
}

// BERT with ALiBi and a gated MLP, of the same type.
constexpr Family jina2() {
  Family row = variant(bert(), "Jina embeddings 2", " bert ");
  row.required = "encoder.layer.{n}.mlp.wo.weight";
  row.neutral_keys = " position_embedding_type=alibi ";
  ForwardNames& text = row.text;
  text.position_embedding = {};
  text.offset_bias = {.slopes = true};
  text.mlp_end_norm = "encoder.layer.{n}.mlp.layernorm.weight";
  text.mlp_gate = "encoder.layer.{n}.mlp.gated_layers_w.weight";  // in GGUF
  text.mlp_up = "encoder.layer.{n}.mlp.gated_layers.weight";
  text.mlp_down = "encoder.layer.{n}.mlp.wo.weight";
  text.gate_rows = GateRows::halves;
  text.without_bias =
      " encoder.layer.{n}.mlp.gated_layers_w.weight encoder.layer.{n}.mlp.gated_layers.weight ";
  text.usual = {{{"position_embedding_type", "alibi"},
                 {"feed_forward_type", "geglu"},
                 {"hidden_act", "gelu"},
                 {"is_decoder", "false"}}};
  return row;
}

constexpr Family nomic() {
  return {.name = "Nomic",
          .model_types = " nomic_bert ",
          .layout = HeadLayout::kFused,
          .width_key = "n_embd",
          .rotary = {.share = "rotary_emb_fraction", .base = "rotary_emb_base", .default_base = 0},
          .embeddings = "embeddings.word_embeddings.weight",
          .attentions = {{{.query_weight = "encoder.layers.{n}.attn.Wqkv.weight",
                           .head_count_key = "n_head",
                           .layer_count_key = "n_layer",
                           .rotary = RotaryPairs::kHalves}}},
          .text = {.type_embedding = "embeddings.token_type_embeddings.weight",
                   .embedding_norm = "emb_ln.weight",
                   .attention_output = "encoder.layers.{n}.attn.out_proj.weight",
                   .attention_end_norm = "encoder.layers.{n}.norm1.weight",
                   .mlp_end_norm = "encoder.layers.{n}.norm2.weight",
                   .mlp_gate = "encoder.layers.{n}.mlp.fc12.weight",
                   .mlp_up = "encoder.layers.{n}.mlp.fc11.weight",
                   .mlp_down = "encoder.layers.{n}.mlp.fc2.weight",
                   .length_key = "n_positions",
                   .epsilon_key = "layer_norm_epsilon",
                   .activation = Activation::silu,
                   .causal = false,
                   .optional_bias = true,
                   .usual = {{{"activation_function", "swiglu"}, {"use_rms_norm", "false"}}}}};
}

// Alibaba's new-impl, whose norms come after its branches. `pack_qkv` has queries, keys and values in one tensor.
constexpr Family gte() {
  return {
      .name = "GTE",
      .model_types = " new gte ",
      .layout = HeadLayout::kFused,
      .rotary = {.chosen = {"position_embedding_type", "rope"},
                 .unchosen = " absolute ",
                 .scales_base = "ntk"},
      .embeddings = "embeddings.word_embeddings.weight",
      .attentions = {{{.query_weight = "encoder.layer.{n}.attention.qkv_proj.weight",
                       .rotary = RotaryPairs::kHalves}}},
      .text = {.position_embedding = "embeddings.position_embeddings.weight",
               .type_embedding = "embeddings.token_type_embeddings.weight",
               .embedding_norm = "embeddings.LayerNorm.weight",
               .attention_output = "encoder.layer.{n}.attention.o_proj.weight",
               .attention_end_norm = "encoder.layer.{n}.attn_ln.weight",
               .mlp_end_norm = "encoder.layer.{n}.mlp_ln.weight",
               .mlp_up = "encoder.layer.{n}.mlp.up_gate_proj.weight",
               .mlp_down = "encoder.layer.{n}.mlp.down_proj.weight",
               .output = {},
               .epsilon_key = "layer_norm_eps",
               .epsilon = 1e-12,
               .activation_key = "hidden_act",
               .gate_rows = GateRows::up_first,
               .causal = false,
               .without_bias = " encoder.layer.{n}.mlp.up_gate_proj.weight ",
               .usual = {{{"layer_norm_type", "layer_norm"}, {"logn_attention_scale", "false"}}}}};
}

constexpr Family gte_separate() {
  Family row = gte();
  row.name = "GTE with separate projections";
  row.layout = HeadLayout::kSeparate;
  row.attentions[0].query_weight = "encoder.layer.{n}.attention.q_proj.weight";
  row.attentions[0].key_weight = "encoder.layer.{n}.attention.k_proj.weight";
  row.text.value = "encoder.layer.{n}.attention.v_proj.weight";
  return row;
}

// The type is that of models with BERT's names. Weights without their adapters are those of no task.
constexpr Family jina3() {
  Family row = nomic();
  row.text = {};
  row.name = "Jina embeddings 3";
  row.embeddings = "embeddings.word_embeddings.parametrizations.weight.original";
  row.model_types = " xlm-roberta ";
  row.width_key = "hidden_size";
  row.rotary = {.chosen = {"position_embedding_type", "rotary"},
                .unchosen = " absolute ",
                .base = "rotary_emb_base",
                .default_base = 0};
  AttentionNames& names = row.attentions[0];
  names.query_weight = "encoder.layers.{n}.mixer.Wqkv.parametrizations.weight.original";
  names.others =
      " mixer.Wqkv mixer.Wqkv.parametrizations.weight.0.lora_A "
      "mixer.Wqkv.parametrizations.weight.0.lora_B mixer.out_proj "
      "mixer.out_proj.parametrizations.weight.original "
      "mixer.out_proj.parametrizations.weight.0.lora_A "
      "mixer.out_proj.parametrizations.weight.0.lora_B norm1 norm2 mlp.fc1 "
      "mlp.fc1.parametrizations.weight.original mlp.fc1.parametrizations.weight.0.lora_A "
      "mlp.fc1.parametrizations.weight.0.lora_B mlp.fc2 mlp.fc2.parametrizations.weight.original "
      "mlp.fc2.parametrizations.weight.0.lora_A mlp.fc2.parametrizations.weight.0.lora_B ";
  names.head_count_key = "num_attention_heads";
  names.layer_count_key = "num_hidden_layers";
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
  text.masked_head = {};
  text.activation = Activation::gelu_new;
  text.usual = {{{"position_embedding_type", "absolute"}, {"inner_group_num", "1"}}};
  return row;
}

constexpr Family modernbert() {
  return {.name = "ModernBERT",
          .model_types = " modernbert ",
          .others = Others::names,
          .layout = HeadLayout::kFused,
          .neutral_keys = " position_embedding_type=absolute ",
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
                   .masked_head = {.dense = "head.dense.weight",
                                   .norm = "head.norm.weight",
                                   .output = "decoder.weight",
                                   .output_bias = "decoder.bias",
                                   .activation_key = "classifier_activation"},
                   .epsilon_key = "norm_eps",
                   .activation_key = "hidden_activation",
                   .gate_rows = GateRows::halves,
                   .causal = false,
                   .optional_bias = true}};
}

constexpr Family distilbert() {
  return {.name = "DistilBERT",
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
                   .masked_head = {"vocab_transform.weight", "vocab_layer_norm.weight",
                                   "vocab_projector.weight", "vocab_projector.bias"},
                   .epsilon = 1e-12,
                   .activation_key = "activation",
                   .causal = false}};
}

constexpr Family use_lite() {
  return {.name = "USE-lite",  // as web/results/use-lite-checkpoint.mjs writes it
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
                   .causal = false}};
}

}  // namespace eigenscope::rows

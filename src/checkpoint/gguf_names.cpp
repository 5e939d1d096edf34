#include "checkpoint/gguf_names.h"

#include <array>
#include <cstddef>
#include <utility>

namespace eigenscope {
namespace {

constexpr NamePairs kDecoder =
    " token_embd=model.embed_tokens output_norm=model.norm output=lm_head "
    "attn_norm=input_layernorm attn_q=self_attn.q_proj attn_k=self_attn.k_proj "
    "attn_v=self_attn.v_proj attn_qkv=self_attn.qkv_proj attn_q_norm=self_attn.q_norm "
    "attn_k_norm=self_attn.k_norm attn_q_a=self_attn.q_a_proj "
    "attn_q_a_norm=self_attn.q_a_layernorm attn_q_b=self_attn.q_b_proj "
    "attn_kv_a_mqa=self_attn.kv_a_proj_with_mqa attn_kv_a_norm=self_attn.kv_a_layernorm "
    // The next, and attn_rot_embd, are those of older files.
    "attn_kv_b=self_attn.kv_b_proj attn_k_b.weight=self_attn.kv_b_proj.weight# "
    "attn_v_b.weight=self_attn.kv_b_proj.weight# attn_output=self_attn.o_proj "
    "attn_rot_embd.weight=self_attn.rotary_emb.inv_freq ffn_norm=post_attention_layernorm "
    "ffn_gate=mlp.gate_proj ffn_up=mlp.up_proj ffn_down=mlp.down_proj ffn_gate_inp=mlp.gate "
    "ffn_gate_exps=mlp.experts.{e}.gate_proj ffn_up_exps=mlp.experts.{e}.up_proj "
    "ffn_down_exps=mlp.experts.{e}.down_proj ffn_gate_up_exps=mlp.experts.gate_up_proj "
    "ffn_gate_inp_shexp=mlp.shared_expert_gate ffn_gate_shexp=mlp.shared_expert.gate_proj "
    "ffn_up_shexp=mlp.shared_expert.up_proj ffn_down_shexp=mlp.shared_expert.down_proj "
    "exp_probs_b.bias=mlp.gate.e_score_correction_bias ";
/// Norms before and after attention and MLP.
constexpr NamePairs kFourNorms =
    " post_attention_norm=post_attention_layernorm ffn_norm=pre_feedforward_layernorm "
    "post_ffw_norm=post_feedforward_layernorm ";
/// Beside kFourNorms.
constexpr NamePairs kGemma4 =
    " pre_ffw_norm_2=pre_feedforward_layernorm_2 "
    "post_ffw_norm_1=post_feedforward_layernorm_1 post_ffw_norm_2=post_feedforward_layernorm_2 "
    "post_norm=post_per_layer_input_norm inp_gate=per_layer_input_gate proj=per_layer_projection "
    "per_layer_token_embd=model.embed_tokens_per_layer "
    "per_layer_model_proj=model.per_layer_model_projection "
    "per_layer_proj_norm=model.per_layer_projection_norm layer_output_scale.weight=layer_scalar "
    "ffn_gate_inp=router.proj ffn_gate_inp.scale=router.scale "
    "ffn_down_exps.scale=router.per_expert_scale "
    // A file has one tensor of gates and ups, or two.
    "ffn_gate_exps.weight=experts.gate_up_proj| ffn_up_exps.weight=experts.gate_up_proj| "
    "ffn_gate_up_exps.weight=experts.gate_up_proj ffn_down_exps.weight=experts.down_proj ";
constexpr NamePairs kGlm4 =
    " post_attention_norm=post_self_attn_layernorm post_ffw_norm=post_mlp_layernorm "
    "ffn_up=mlp.gate_up_proj ";
constexpr NamePairs kMixtral =
    " ffn_gate_inp=block_sparse_moe.gate ffn_gate_exps=block_sparse_moe.experts.{e}.w1 "
    "ffn_up_exps=block_sparse_moe.experts.{e}.w3 ffn_down_exps=block_sparse_moe.experts.{e}.w2 "
    "exp_probs_b.bias=block_sparse_moe.e_score_correction_bias ";
constexpr NamePairs kMamba2 =
    " ssm_in=mamba.in_proj ssm_conv1d=mamba.conv1d ssm_a=mamba.A ssm_d=mamba.D "
    "ssm_dt.bias=mamba.dt_bias ssm_norm=mamba.norm ssm_out=mamba.out_proj ";
constexpr NamePairs kGraniteMixture =
    " ffn_gate_inp=block_sparse_moe.router.layer ffn_gate_exps=block_sparse_moe.input_linear| "
    "ffn_up_exps=block_sparse_moe.input_linear| ffn_down_exps=block_sparse_moe.output_linear "
    "ffn_gate_shexp=shared_mlp.input_linear| ffn_up_shexp=shared_mlp.input_linear| "
    "ffn_down_shexp=shared_mlp.output_linear ";
constexpr NamePairs kGptOss =
    " post_attention_norm=post_attention_layernorm attn_sinks.weight=self_attn.sinks "
    "ffn_gate_inp=mlp.router ffn_gate_exps.weight=mlp.experts.gate_up_proj_blocks& "
    "ffn_up_exps.weight=mlp.experts.gate_up_proj_blocks& "
    "ffn_down_exps.weight=mlp.experts.down_proj_blocks "
    "ffn_gate_exps.bias=mlp.experts.gate_up_proj_bias& "
    "ffn_up_exps.bias=mlp.experts.gate_up_proj_bias& "
    "ffn_down_exps.bias=mlp.experts.down_proj_bias ";
constexpr NamePairs kSharedExperts =
    " post_attention_norm=post_attention_layernorm indexer.attn_q_b=self_attn.indexer.wq_b "
    "indexer.attn_k=self_attn.indexer.wk indexer.k_norm=self_attn.indexer.k_norm "
    "indexer.proj=self_attn.indexer.weights_proj ffn_gate_shexp=mlp.shared_experts.gate_proj "
    "ffn_up_shexp=mlp.shared_experts.up_proj ffn_down_shexp=mlp.shared_experts.down_proj ";
constexpr NamePairs kMinimaxM3 =
    " ffn_gate_shexp=block_sparse_moe.shared_experts.gate_proj "
    "ffn_up_shexp=block_sparse_moe.shared_experts.up_proj "
    "ffn_down_shexp=block_sparse_moe.shared_experts.down_proj "
    "indexer.q_proj=self_attn.indexer.q_proj indexer.k_proj=self_attn.indexer.k_proj "
    "indexer.q_norm=self_attn.indexer.q_norm indexer.k_norm=self_attn.indexer.k_norm ";
constexpr NamePairs kHunyuan =
    " attn_q_norm=self_attn.query_layernorm attn_k_norm=self_attn.key_layernorm "
    "ffn_gate_inp=mlp.gate.wg ffn_gate_shexp=mlp.shared_mlp.gate_proj "
    "ffn_up_shexp=mlp.shared_mlp.up_proj ffn_down_shexp=mlp.shared_mlp.down_proj ";
constexpr NamePairs kTwoMatrices = " ffn_up=mlp.c_fc ffn_down=mlp.c_proj ";
constexpr NamePairs kPhi =
    " output_norm=model.final_layernorm attn_output=self_attn.dense ffn_up=mlp.fc1 "
    "ffn_down=mlp.fc2 ";
constexpr NamePairs kFusedGate = " ffn_up=mlp.gate_up_proj ";
constexpr NamePairs kTrinity =
    " post_attention_norm=post_attention_layernorm ffn_norm=pre_mlp_layernorm "
    "post_ffw_norm=post_mlp_layernorm attn_gate=self_attn.gate_proj "
    "ffn_gate_inp=mlp.router.gate exp_probs_b.bias=mlp.expert_bias ";
constexpr NamePairs kHy3 =
    " ffn_gate_inp=mlp.router.gate exp_probs_b=mlp.expert_bias "
    "ffn_gate_shexp=mlp.shared_mlp.gate_proj ffn_up_shexp=mlp.shared_mlp.up_proj "
    "ffn_down_shexp=mlp.shared_mlp.down_proj ";
constexpr NamePairs kExaoneMixture = " exp_probs_b.bias=mlp.e_score_correction_bias ";
constexpr NamePairs kErnie = " exp_probs_b.bias=mlp.moe_statics.e_score_correction_bias ";
constexpr NamePairs kApertus = " attn_norm=attention_layernorm ffn_norm=feedforward_layernorm ";
constexpr NamePairs kLlama4 =
    " ffn_gate=feed_forward.gate_proj ffn_up=feed_forward.up_proj ffn_down=feed_forward.down_proj "
    "ffn_gate_inp=feed_forward.router ffn_gate_exps=feed_forward.experts.{e}.gate_proj "
    "ffn_up_exps=feed_forward.experts.{e}.up_proj ffn_down_exps=feed_forward.experts.{e}.down_proj "
    "ffn_gate_shexp=feed_forward.shared_expert.gate_proj "
    "ffn_up_shexp=feed_forward.shared_expert.up_proj "
    "ffn_down_shexp=feed_forward.shared_expert.down_proj ";
constexpr NamePairs kLfm2 =
    " attn_norm=operator_norm ffn_norm=ffn_norm attn_q_norm=self_attn.q_layernorm "
    "attn_k_norm=self_attn.k_layernorm attn_output=self_attn.out_proj "
    "token_embd_norm=model.embedding_norm output_norm=model.embedding_norm "
    "shortconv.conv=conv.conv shortconv.in_proj=conv.in_proj shortconv.out_proj=conv.out_proj "
    "ffn_gate=feed_forward.w1 ffn_up=feed_forward.w3 ffn_down=feed_forward.w2 "
    "ffn_gate_inp=feed_forward.gate exp_probs_b.bias=feed_forward.expert_bias "
    "ffn_gate_exps=feed_forward.experts.{e}.w1 ffn_up_exps=feed_forward.experts.{e}.w3 "
    "ffn_down_exps=feed_forward.experts.{e}.w2 ";
constexpr NamePairs kJamba =
    " ssm_in=mamba.in_proj ssm_conv1d=mamba.conv1d ssm_x=mamba.x_proj ssm_dt=mamba.dt_proj "
    "ssm_dt_norm=mamba.dt_layernorm ssm_b_norm=mamba.b_layernorm ssm_c_norm=mamba.c_layernorm "
    "ssm_a=mamba.A ssm_d=mamba.D ssm_out=mamba.out_proj ffn_gate_inp=feed_forward.router "
    "ffn_gate_exps=feed_forward.experts.{e}.gate_proj "
    "ffn_up_exps=feed_forward.experts.{e}.up_proj "
    "ffn_down_exps=feed_forward.experts.{e}.down_proj ";
/// Of Falcon-H1, whose norm before the MLP llama.cpp names without the ending of others, and Jamba.
constexpr NamePairs kHybrid =
    " output_norm=model.final_layernorm ffn_norm=pre_ff_layernorm.weight "
    "ffn_norm.weight=pre_ff_layernorm.weight ffn_gate=feed_forward.gate_proj "
    "ffn_up=feed_forward.up_proj ffn_down=feed_forward.down_proj ";
constexpr NamePairs kDeltaRule =
    " post_attention_norm=post_attention_layernorm attn_qkv=linear_attn.in_proj_qkv "
    "attn_gate=linear_attn.in_proj_z ssm_beta=linear_attn.in_proj_b "
    "ssm_alpha=linear_attn.in_proj_a ssm_ba=linear_attn.in_proj_ba "
    "ssm_conv1d=linear_attn.conv1d ssm_a=linear_attn.A ssm_dt.bias=linear_attn.dt_bias "
    "ssm_norm=linear_attn.norm ssm_out=linear_attn.out_proj ";
constexpr NamePairs kMixers =
    " token_embd=model.embeddings output_norm=model.norm_f attn_norm=norm attn_q=mixer.q_proj "
    "attn_k=mixer.k_proj attn_v=mixer.v_proj attn_output=mixer.o_proj ffn_up=mixer.up_proj "
    "ffn_down=mixer.down_proj ssm_in=mixer.in_proj ssm_conv1d=mixer.conv1d ssm_a=mixer.A "
    "ssm_d=mixer.D ssm_dt.bias=mixer.dt_bias ssm_norm=mixer.norm ssm_out=mixer.out_proj "
    "ffn_gate_inp=mixer.gate exp_probs_b.bias=mixer.gate.e_score_correction_bias "
    "ffn_up_exps=mixer.experts.{e}.up_proj ffn_down_exps=mixer.experts.{e}.down_proj "
    "ffn_up_shexp=mixer.shared_experts.up_proj ffn_down_shexp=mixer.shared_experts.down_proj "
    "ffn_latent_down=mixer.fc1_latent_proj ffn_latent_up=mixer.fc2_latent_proj ";
constexpr NamePairs kMamba2Keys =
    " ssm.group_count=mamba_n_groups ssm.state_size=mamba_d_state "
    "ssm.time_step_rank=mamba_n_heads ssm.conv_kernel=mamba_d_conv ";
constexpr NamePairs kMixerKeys =
    " attention.layer_norm_rms_epsilon=layer_norm_epsilon ssm.group_count=n_groups "
    "ssm.state_size=ssm_state_size ssm.time_step_rank=mamba_num_heads ";
constexpr NamePairs kGpt2 =
    " token_embd=wte position_embd=wpe output_norm=ln_f output=lm_head attn_norm=ln_1 "
    "attn_qkv=attn.c_attn attn_output=attn.c_proj ffn_norm=ln_2 ffn_up=mlp.c_fc "
    "ffn_down=mlp.c_proj ";
/// Beside the names of BLOOM, GPT-NeoX and ChatGLM.
constexpr NamePairs kDense =
    " attn_norm=input_layernorm ffn_norm=post_attention_layernorm ffn_up=mlp.dense_h_to_4h "
    "ffn_down=mlp.dense_4h_to_h ";
/// Of BLOOM, which Falcon follows.
constexpr NamePairs kBloom =
    " token_embd=word_embeddings token_embd_norm=word_embeddings_layernorm output_norm=ln_f "
    "output=lm_head "
    "attn_norm_2=ln_attn attn_qkv=self_attention.query_key_value "
    "attn_output=self_attention.dense ";
constexpr NamePairs kNeoX =
    " token_embd=embed_in output_norm=final_layer_norm output=embed_out "
    "attn_qkv=attention.query_key_value attn_output=attention.dense ";
constexpr NamePairs kMpt =
    " token_embd=wte position_embd=wpe output_norm=norm_f output=lm_head attn_norm=norm_1 "
    "attn_qkv=attn.Wqkv "
    "attn_output=attn.out_proj ffn_norm=norm_2 ffn_up=ffn.up_proj ffn_down=ffn.down_proj ";
/// Beside those of GPT-2.
constexpr NamePairs kQwen = " ffn_gate=mlp.w2 ffn_up=mlp.w1 ";
constexpr NamePairs kChatGlm =
    " token_embd=embedding.word_embeddings output_norm=encoder.final_layernorm "
    "output=output_layer attn_qkv=self_attention.query_key_value "
    "attn_output=self_attention.dense ";
constexpr NamePairs kLing =
    " token_embd=model.word_embeddings attn_qkv=attention.query_key_value "
    "attn_output=attention.dense "
    "attn_q_norm=attention.query_layernorm attn_k_norm=attention.key_layernorm ";
/// Of decoders, whose layers have three parts; encoders have the MLP in the second one.
constexpr NamePairs kT5 =
    " token_embd=shared enc.output_norm=encoder.final_layer_norm "
    "dec.output_norm=decoder.final_layer_norm attn_norm=layer.0.layer_norm "
    "attn_q=layer.0.SelfAttention.q attn_k=layer.0.SelfAttention.k "
    "attn_v=layer.0.SelfAttention.v attn_o=layer.0.SelfAttention.o "
    "attn_rel_b=layer.0.SelfAttention.relative_attention_bias "
    "cross_attn_norm=layer.1.layer_norm cross_attn_q=layer.1.EncDecAttention.q "
    "cross_attn_k=layer.1.EncDecAttention.k cross_attn_v=layer.1.EncDecAttention.v "
    "cross_attn_o=layer.1.EncDecAttention.o "
    "ffn_norm=layer.2.layer_norm ffn_gate=layer.2.DenseReluDense.wi_0 "
    "ffn_up=layer.2.DenseReluDense.wi_1 ffn_down=layer.2.DenseReluDense.wo ";
constexpr NamePairs kBert =
    " token_embd=embeddings.word_embeddings position_embd=embeddings.position_embeddings "
    "token_types=embeddings.token_type_embeddings token_embd_norm=embeddings.LayerNorm "
    "attn_q=attention.self.query attn_k=attention.self.key attn_v=attention.self.value "
    "attn_output=attention.output.dense attn_output_norm=attention.output.LayerNorm "
    "ffn_up=intermediate.dense ffn_down=output.dense layer_output_norm=output.LayerNorm ";
/// Beside those of BERT; its gate may be in one tensor with what it gates.
constexpr NamePairs kJina2 =
    " ffn_up=mlp.gated_layers ffn_gate=mlp.gated_layers_w ffn_down=mlp.wo "
    "layer_output_norm=mlp.layernorm ";
/// Of Jina embeddings 3, whose adapters have files of their own.
constexpr NamePairs kJina3 =
    " token_embd.weight=embeddings.word_embeddings.parametrizations.weight.original "
    "token_types=embeddings.token_type_embeddings token_embd_norm=emb_ln "
    "attn_qkv.weight=mixer.Wqkv.parametrizations.weight.original attn_qkv.bias=mixer.Wqkv.bias "
    "attn_output=mixer.out_proj attn_output_norm=norm1 ffn_up=mlp.fc1 ffn_down=mlp.fc2 "
    "layer_output_norm=norm2 ";
constexpr NamePairs kNomic =
    " token_embd=embeddings.word_embeddings token_types=embeddings.token_type_embeddings "
    "token_embd_norm=emb_ln attn_qkv=attn.Wqkv attn_output=attn.out_proj attn_output_norm=norm1 "
    "ffn_up=mlp.fc11 ffn_gate=mlp.fc12 ffn_down=mlp.fc2 layer_output_norm=norm2 "
    "ffn_gate_inp=mlp.router.layer ffn_up_exps=mlp.experts.mlp.w1 "
    "ffn_down_exps=mlp.experts.mlp.w2 ";
constexpr NamePairs kModernBert =
    " token_embd=embeddings.tok_embeddings token_embd_norm=embeddings.norm "
    "output_norm=final_norm attn_norm=attn_norm attn_qkv=attn.Wqkv attn_output=attn.Wo "
    "ffn_norm=mlp_norm ffn_up=mlp.Wi ffn_down=mlp.Wo ";

/// Of latent attention, whose files with the keys and values of a layer in one tensor have the widths of a head under
/// the first two, and of its mixtures of experts.
constexpr NamePairs kLatentKeys =
    " attention.key_length=qk_head_dim attention.value_length=v_head_dim "
    "attention.q_lora_rank=q_lora_rank attention.kv_lora_rank=kv_lora_rank "
    "attention.indexer.top_k=index_topk attention.indexer.head_count=index_n_heads "
    "attention.indexer.key_length=index_head_dim attention.indexer.types=indexer_types "
    "rope.dimension_count=qk_rope_head_dim attention.value_length_mla=v_head_dim "
    "attention.key_length_mla=qk_head_dim rope.scaling.yarn_log_multiplier=mscale_log "
    "attention.temperature_scale=late_scale attention.temperature_length=late_length ";
/// Those of positions on several axes, which are the same for a token of text.
constexpr NamePairs kAxes = " rope.dimension_sections=mrope_section ";
/// Of layers with and without a sliding window, and of those that turn otherwise with one.
constexpr NamePairs kWindows = " attention.sliding_window_pattern=sliding_window_pattern ";
constexpr NamePairs kLocalBase =
    " attention.sliding_window_pattern=sliding_window_pattern "
    "rope.freq_base_swa=rope_local_base_freq ";
constexpr NamePairs kNormalized = " true=norm_topk_prob ";
constexpr NamePairs kGptCounts = " attention.head_count=n_head block_count=n_layer ";
constexpr NamePairs kT5Keys =
    " attention.layer_norm_rms_epsilon=layer_norm_epsilon embedding_length=d_model "
    "attention.key_length=d_kv attention.head_count=num_heads "
    "block_count=num_layers block_count=num_decoder_layers decoder_block_count=num_decoder_layers "
    "attention.relative_buckets_count=relative_attention_num_buckets ";
constexpr NamePairs kDeltaRuleKeys =
    " ssm.group_count=linear_num_key_heads ssm.state_size=linear_key_head_dim "
    "ssm.time_step_rank=linear_num_value_heads ";
constexpr NamePairs kHeadsInTurn = " true=linear_heads_in_turn ";
constexpr NamePairs kLfm2Keys = " attention.layer_norm_rms_epsilon=norm_eps ";
constexpr NamePairs kNomicKeys = " rope.freq_base=rotary_emb_base ";
/// llama.cpp uses the biases that the file has.
constexpr NamePairs kBiases = " true=attention_bias true=mlp_bias ";

constexpr std::array kConverted{
    Converted{.name = "llama",
              .model_type = "mixtral",
              .names = {kMixtral},
              .neighbours = true,
              .needed = "expert_count"},
    Converted{.name = "llama", .model_type = "llama", .neighbours = true, .keys = {kBiases}},
    // Its attention is not causal.
    Converted{.name = "llama-embed", .model_type = "llama", .neighbours = true, .keys = {kBiases}},
    // Those of one block of LLaMA by other names.
    Converted{.name = "internlm2", .model_type = "llama", .neighbours = true, .keys = {kBiases}},
    Converted{.name = "exaone", .model_type = "llama", .keys = {kBiases}},
    Converted{.name = "mistral3",
              .model_type = "ministral3",
              .neighbours = true,
              .needed = "rope.scaling.original_context_length",
              .keys = {" rope.scaling.yarn_log_multiplier=mscale_log "
                       "attention.temperature_scale=late_scale "}},
    Converted{.name = "mistral3", .model_type = "mistral", .neighbours = true},
    Converted{.name = "smollm3", .model_type = "smollm3", .neighbours = true},
    Converted{.name = "qwen2", .model_type = "qwen2"},
    Converted{.name = "qwen2vl", .model_type = "qwen2_vl", .keys = {kAxes}},
    Converted{.name = "qwen3", .model_type = "qwen3"},
    Converted{.name = "qwen3vl", .model_type = "qwen3_vl", .keys = {kAxes}},
    Converted{.name = "qwen3next",
              .model_type = "qwen3_next",
              .names = {kDeltaRule},
              .whole_gains = true,
              .keys = {kDeltaRuleKeys}},
    Converted{.name = "qwen35",
              .model_type = "qwen3_5_text",
              .names = {kDeltaRule},
              .whole_gains = true,
              .keys = {kDeltaRuleKeys, kAxes, kHeadsInTurn}},
    Converted{.name = "qwen35moe",
              .model_type = "qwen3_5_moe_text",
              .names = {kDeltaRule},
              .whole_gains = true,
              .keys = {kDeltaRuleKeys, kAxes, kHeadsInTurn}},
    Converted{.name = "gemma", .model_type = "gemma", .whole_gains = true},
    Converted{.name = "gemma2",
              .model_type = "gemma2",
              .names = {kFourNorms},
              .whole_gains = true,
              .wide_scale_layers = 46},
    Converted{.name = "gemma3",
              .model_type = "gemma3_text",
              .names = {kFourNorms},
              .whole_gains = true,
              .wide_scale_layers = 62,
              .keys = {kLocalBase}},
    Converted{.name = "gemma-embedding",
              .model_type = "gemma3_text",
              .names = {kFourNorms},
              .whole_gains = true,
              .wide_scale_layers = 62,
              .keys = {kLocalBase, " true=use_bidirectional_attention "}},
    Converted{.name = "gemma3n",
              .model_type = "gemma3n_text",
              .names = {kFourNorms, kGemma4},
              .keys = {kLocalBase,
                       " attention.shared_kv_layers=num_kv_shared_layers "
                       "activation_sparsity_scale=activation_sparsity "}},
    Converted{.name = "gemma4",
              .model_type = "gemma4_text",
              .names = {kFourNorms, kGemma4},
              .keys = {kLocalBase,
                       " attention.shared_kv_layers=num_kv_shared_layers "
                       "attention.key_length=global_head_dim attention.key_length_swa=head_dim "
                       "attention.value_length_swa=v_head_dim rope.dimension_count_swa=turned_swa ",
                       " embedding_length_per_layer_input=hidden_size_per_layer_input "
                       "expert_used_count=top_k_experts "}},
    Converted{.name = "olmo2",
              .model_type = "olmo3",
              .names = {kFourNorms},
              .needed = "attention.sliding_window",
              .keys = {kLocalBase}},
    Converted{.name = "olmo2", .model_type = "olmo2", .names = {kFourNorms}},
    Converted{
        .name = "exaone4", .model_type = "exaone4", .names = {kFourNorms}, .keys = {kWindows}},
    Converted{.name = "exaone-moe",
              .model_type = "exaone_moe",
              .names = {kSharedExperts, kExaoneMixture},
              .keys = {kWindows}},
    Converted{.name = "phi2", .model_type = "phi", .names = {kPhi}},
    Converted{.name = "phi3", .model_type = "phi3", .names = {kFusedGate}},
    Converted{.name = "qwen2moe", .model_type = "qwen2_moe"},
    Converted{.name = "qwen3moe", .model_type = "qwen3_moe", .keys = {kAxes, kNormalized}},
    // Its text is that of Qwen 3 MoE, whose experts have a tensor each.
    Converted{.name = "qwen3vlmoe", .model_type = "qwen3_moe", .keys = {kAxes, kNormalized}},
    Converted{.name = "olmo",
              .model_type = "olmo",
              .neighbours = true,
              .keys = {" attention.clamp_kqv=clip_qkv "
                       "attention.layer_norm_epsilon=norm_epsilon_in_gguf "}},
    Converted{.name = "olmoe", .model_type = "olmoe"},
    Converted{.name = "seed_oss", .model_type = "seed_oss", .names = {kFourNorms}},
    Converted{.name = "starcoder2",
              .model_type = "starcoder2",
              .names = {kTwoMatrices},
              .keys = {" attention.layer_norm_epsilon=norm_epsilon "}},
    Converted{.name = "stablelm", .model_type = "stablelm"},
    Converted{.name = "phimoe", .model_type = "phimoe", .names = {kMixtral}},
    Converted{.name = "hunyuan-dense", .model_type = "hunyuan_v1_dense", .names = {kHunyuan}},
    Converted{.name = "hunyuan-moe", .model_type = "hunyuan_v1_moe", .names = {kHunyuan}},
    Converted{.name = "baichuan", .model_type = "baichuan", .neighbours = true},
    Converted{.name = "nemotron",
              .model_type = "nemotron",
              .whole_gains = true,
              .keys = {" attention.layer_norm_epsilon=norm_eps "}},
    Converted{.name = "nemotron_h",
              .model_type = "nemotron_h",
              .names = {kMixers},
              .neighbours = true,
              .keys = {kMixerKeys}},
    Converted{.name = "nemotron_h_moe",
              .model_type = "nemotron_h",
              .names = {kMixers},
              .neighbours = true,
              .keys = {kMixerKeys}},
    // Its weights have the factors of config.json in them, but for that of the output, where the embeddings are used.
    Converted{.name = "falcon-h1",
              .model_type = "falcon_h1",
              .names = {kHybrid, kMamba2},
              .keys = {kMamba2Keys,
                       " false=mamba_norm_before_gate false=tie_word_embeddings "
                       "ssm.inner_size=mamba_d_ssm 1=embedding_multiplier "}},
    Converted{.name = "jamba",
              .model_type = "jamba",
              .names = {kHybrid, kJamba},
              .keys = {" ssm.state_size=mamba_d_state ssm.conv_kernel=mamba_d_conv "}},
    Converted{.name = "lfm2", .model_type = "lfm2", .names = {kLfm2}, .keys = {kLfm2Keys}},
    Converted{.name = "lfm2moe",
              .model_type = "lfm2_moe",
              .names = {kLfm2},
              .keys = {kLfm2Keys, kNormalized,
                       " 1=routed_scaling_factor expert_weights_scale=routed_scaling_factor "}},
    Converted{.name = "deci", .model_type = "nemotron-nas", .neighbours = true},
    Converted{.name = "arcee", .model_type = "arcee", .neighbours = true},
    Converted{.name = "afmoe",
              .model_type = "afmoe",
              .names = {kSharedExperts, kTrinity},
              .keys = {" attention.sliding_window_pattern=global_attn_every_n_layers "
                       "true=mup_enabled 1=route_scale expert_weights_scale=route_scale "
                       "false=route_norm expert_weights_norm=route_norm "}},
    Converted{.name = "apertus", .model_type = "apertus", .names = {kApertus}},
    Converted{.name = "pangu-embedded", .model_type = "PanguEmbedded"},
    Converted{.name = "granite", .model_type = "granite", .neighbours = true},
    Converted{.name = "minicpm", .model_type = "granite", .neighbours = true},
    Converted{.name = "granitemoe",
              .model_type = "granitemoeshared",
              .names = {kGraniteMixture},
              .neighbours = true,
              .needed = "expert_shared_feed_forward_length"},
    Converted{.name = "granitemoe",
              .model_type = "granitemoe",
              .names = {kGraniteMixture},
              .neighbours = true},
    Converted{.name = "granitehybrid",
              .model_type = "granitemoehybrid",
              .names = {kGraniteMixture, kMamba2},
              .neighbours = true,
              .keys = {kMamba2Keys}},
    Converted{.name = "gpt-oss", .model_type = "gpt_oss", .names = {kGptOss}},
    Converted{.name = "minimax-m2", .model_type = "minimax_m2", .names = {kMixtral}},
    // Their pairs are neighbours in Hugging Face's order too.
    Converted{.name = "llama4", .model_type = "llama4_text", .names = {kLlama4}},
    Converted{.name = "command-r", .model_type = "cohere"},
    Converted{.name = "cohere2", .model_type = "cohere2", .keys = {kWindows}},
    Converted{.name = "cohere2moe",
              .model_type = "cohere2_moe",
              .keys = {kWindows, " nextn_predict_layers=num_nextn_predict_layers "}},
    Converted{.name = "ernie4_5", .model_type = "ernie4_5"},
    Converted{.name = "ernie4_5-moe",
              .model_type = "ernie4_5_moe",
              .names = {kSharedExperts, kErnie},
              .keys = {" expert_used_count=moe_k "}},
    Converted{.name = "glm4",
              .model_type = "glm4v_text",
              .names = {kGlm4},
              .halves = true,
              .needed = "rope.dimension_sections",
              .keys = {kAxes}},
    Converted{.name = "glm4", .model_type = "glm4", .names = {kGlm4}},
    Converted{
        .name = "glm4moe", .model_type = "glm4_moe", .names = {kSharedExperts}, .keys = {kAxes}},
    Converted{.name = "dots1", .model_type = "dots1", .names = {kSharedExperts}},
    Converted{.name = "hy_v3",
              .model_type = "hy_v3",
              .names = {kHy3},
              .keys = {" 1=router_scaling_factor expert_weights_scale=router_scaling_factor "
                       "false=route_norm expert_weights_norm=route_norm "}},
    Converted{.name = "deepseek2",
              .model_type = "deepseek_v3",
              .names = {kSharedExperts},
              .keys = {kLatentKeys}},
    // Nothing turns, whatever the metadata say of rotary positions.
    Converted{.name = "kimi-linear",
              .model_type = "kimi_linear",
              .names = {kSharedExperts},
              .keys = {kLatentKeys, " true=mla_use_nope "}},
    // Without latents.
    Converted{.name = "deepseek2-ocr", .model_type = "deepseek_vl_v2", .names = {kSharedExperts}},
    Converted{.name = "deepseek32",
              .model_type = "deepseek_v32",
              .names = {kSharedExperts},
              .keys = {kLatentKeys}},
    Converted{.name = "glm-dsa",
              .model_type = "deepseek_v32",
              .names = {kSharedExperts},
              .keys = {kLatentKeys}},
    Converted{.name = "minimax-m3",
              .model_type = "minimax_m3",
              .names = {kMixtral, kMinimaxM3},
              .whole_gains = true,
              .keys = {" attention.indexer.head_count=index_n_heads "
                       "attention.indexer.key_length=index_head_dim "
                       "attention.indexer.top_k=index_topk_blocks "
                       "attention.indexer.block_size=index_block_size "
                       "attention.indexer.local_blocks=index_local_blocks "}},
    Converted{.name = "mimo2",
              .model_type = "mimo_v2_flash",
              .names = {" attn_sinks.weight=self_attn.attention_sink_bias "},
              .keys = {" attention.sliding_window_pattern=hybrid_layer_pattern "
                       "10000=swa_rope_theta rope.freq_base_swa=swa_rope_theta "
                       "1=attention_value_scale attention.value_scale=attention_value_scale "
                       "attention.value_length=v_head_dim "
                       "attention.layer_norm_rms_epsilon=layernorm_epsilon "
                       "nextn_predict_layers=num_nextn_predict_layers "}},
    Converted{.name = "mistral4",
              .model_type = "mistral4",
              .names = {kSharedExperts},
              .keys = {kLatentKeys}},
    // llama.cpp has the scales of the 4B model for all.
    Converted{.name = "minicpm3",
              .model_type = "minicpm3",
              .keys = {kLatentKeys, " 12=scale_emb 1.4=scale_depth 256=dim_model_base "}},
    Converted{.name = "falcon",
              .model_type = "falcon",
              .names = {kBloom, kDense},
              .layers = "h.",
              .parts_in_turn = true,
              .keys = {" attention.head_count_kv=num_kv_heads true=new_decoder_architecture "}},
    Converted{.name = "bloom",
              .model_type = "bloom",
              .names = {kBloom, kDense},
              .layers = "h.",
              .parts_in_turn = true,
              .keys = {" block_count=n_layer "}},
    Converted{.name = "gptneox",
              .model_type = "gpt_neox",
              .names = {kNeoX, kDense},
              .layers = "layers.",
              .parts_in_turn = true,
              .keys = {" rope.freq_base=rotary_emb_base "
                       "use_parallel_residual=use_parallel_residual "}},
    Converted{.name = "starcoder",
              .model_type = "gpt_bigcode",
              .names = {kGpt2},
              .layers = "h.",
              .keys = {kGptCounts}},
    Converted{.name = "mpt",
              .model_type = "mpt",
              .names = {kMpt},
              .layers = "blocks.",
              .keys = {" embedding_length=d_model attention.head_count=n_heads "
                       "attention.head_count_kv=kv_n_heads block_count=n_layers "
                       "attention.max_alibi_bias=alibi_bias_max "}},
    Converted{.name = "qwen",
              .model_type = "qwen",
              .names = {kQwen, kGpt2},
              .layers = "h.",
              .keys = {" rope.freq_base=rotary_emb_base context_length=seq_length "
                       "attention.layer_norm_rms_epsilon=layer_norm_epsilon "}},
    Converted{.name = "chatglm",
              .model_type = "chatglm",
              .names = {kChatGlm, kDense},
              .layers = "encoder.layers.",
              .keys = {" true=multi_query_attention block_count=num_layers "
                       "attention.head_count_kv=multi_query_group_num "}},
    Converted{.name = "bailingmoe",
              .model_type = "bailing_moe",
              .names = {kSharedExperts},
              .neighbours = true},
    Converted{.name = "bailingmoe2", .model_type = "bailing_moe", .names = {kLing}},
    Converted{.name = "eurobert", .model_type = "eurobert"},
    Converted{.name = "paddleocr", .model_type = "paddleocr_vl_text", .keys = {kAxes}},
    Converted{
        .name = "t5", .model_type = "t5", .names = {kT5}, .layers = "block.", .keys = {kT5Keys}},
    Converted{.name = "t5encoder",
              .model_type = "t5",
              .names = {kT5},
              .layers = "block.",
              .keys = {kT5Keys}},
    // Whose linear layers are those of torch in the file.
    Converted{.name = "gpt2",
              .model_type = "gpt2-linear",
              .names = {kGpt2},
              .layers = "h.",
              .keys = {kGptCounts}},
    Converted{.name = "bert", .model_type = "bert", .names = {kBert}, .layers = "encoder.layer."},
    Converted{.name = "jina-bert-v2",
              .model_type = "bert",
              .names = {kJina2, kBert},
              .layers = "encoder.layer."},
    Converted{.name = "jina-bert-v3",
              .model_type = "xlm-roberta",
              .names = {kJina3},
              .layers = "encoder.layers.",
              .keys = {" rope.freq_base=rotary_emb_base "}},
    Converted{.name = "nomic-bert",
              .model_type = "nomic_bert",
              .names = {kNomic},
              .layers = "encoder.layers.",
              .keys = {kGptCounts, kNomicKeys}},
    Converted{.name = "nomic-bert-moe",
              .model_type = "nomic_bert",
              .names = {kNomic},
              .layers = "encoder.layers.",
              .keys = {kGptCounts, kNomicKeys}},
    Converted{
        .name = "modern-bert",
        .model_type = "modernbert",
        .names = {kModernBert},
        .layers = "layers.",
        .keys = {" attention.sliding_window=local_attention "
                 "attention.sliding_window_pattern=global_attn_every_n_layers "
                 "rope.freq_base=global_rope_theta rope.freq_base_swa=local_rope_theta "
                 "hidden_activation=hidden_activation attention.layer_norm_epsilon=norm_eps "}},
};

}  // namespace

std::string architecture_of(const OrderedJson& metadata) {
  const auto found = metadata.find("general.architecture");
  return found != metadata.end() && found->is_string() ? found->get<std::string>() : "";
}

const Converted* conversion_of(const GgufHeader& header) {
  const std::string name = architecture_of(header.metadata);
  const auto is_given = [&](const std::string& key) {
    const auto found = header.metadata.find(key);
    const bool list = found != header.metadata.end() && found->is_array() && !found->empty();
    return header.integer(key) > 0 || (list && found->front().is_number() && found->front() > 0);
  };
  for (const Converted& row : kConverted) {
    if (row.name != name) continue;
    if (row.needed.empty() || is_given(name + "." + std::string(row.needed))) return &row;
  }
  return nullptr;
}

std::string_view to_of(NamePairs pairs, std::string_view from) {
  const std::string sought = " " + std::string(from) + "=";
  const std::size_t found = pairs.find(sought);
  if (found == pairs.npos) return {};
  const std::size_t begin = found + sought.size();
  return pairs.substr(begin, pairs.find(' ', begin) - begin);
}

NewName renamed(const std::string& name, const Converted* conversion) {
  const std::size_t ending = name.rfind('.');
  if (conversion == nullptr || ending == std::string::npos) return {name};
  std::string_view own = name;
  std::string before;
  constexpr std::string_view kBlock = "blk.";
  for (const auto& [stack, its] : {std::pair("", ""), {"enc.", "encoder."}, {"dec.", "decoder."}}) {
    const std::string block = stack + std::string(kBlock);
    if (!own.starts_with(block)) continue;
    const std::size_t end = own.find('.', block.size()) + 1;
    before = its;
    before += conversion->layers.empty() ? "model.layers." : conversion->layers;
    before += own.substr(block.size(), end - block.size());
    own.remove_prefix(end);
    break;
  }
  std::string unknown = before + std::string(own);
  for (const std::string_view part : {"altup_", "laurel_", "ssm_"})
    if (own.starts_with(part)) unknown[before.size() + part.size() - 1] = '.';
  // Factors of the outputs of a weight, of which few families have some.
  const bool scales = own.ends_with(".scale");
  const std::string_view base = own.substr(0, own.rfind('.'));
  const NamePairs others = conversion->layers.empty() ? kDecoder : "";
  for (const NamePairs pairs : {conversion->names[0], conversion->names[1], others}) {
    std::string_view to = to_of(pairs, own);
    const bool whole = !to.empty();
    if (!whole && !scales) to = to_of(pairs, base);
    if (to.empty()) continue;
    Joined joined = Joined::no;
    const bool first = pairs.data() + pairs.find(to) == to.data();
    if (const char mark = to.back(); mark == '|' || mark == '&' || mark == '#') {
      joined = static_cast<Joined>(mark);
      to.remove_suffix(1);
    }
    const bool encoder_mlp = own != name && before.starts_with("encoder.block.");
    before += to;
    if (encoder_mlp && to.starts_with("layer.2."))
      before[before.size() - to.size() + std::string_view("layer.").size()] = '1';
    if (!whole) before += name.substr(ending);
    return {std::move(before), joined, first};
  }
  return {std::move(unknown)};
}

}  // namespace eigenscope

// Families of checkpoints: one row of data each, from which spectra read the queries and keys of each layer
// and inference the whole forward pass.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "nn/activation.h"
#include "nn/norm.h"
#include "nn/rotary.h"

namespace eigenscope {

/// The layout of the heads along the outputs of a projection's weight. A group is the query heads that share one key
/// head; there are as many groups as heads where none is shared.
enum class HeadLayout {
  kSeparate,     ///< queries and keys in separate tensors, in torch's out x in
  kConv1D,       ///< one tensor, in x out (GPT-2's Conv1D): all queries, then keys, then values
  kFused,        ///< the same in torch's out x in
  kInterleaved,  ///< one tensor, out x in: by group its queries, its key and its value
  kGated,  ///< as kSeparate; each head's queries come before as many outputs that gate its output
  /// Latent attention: queries and keys are made of normalized compressions of the tokens (LatentNames). In each head's
  /// queries the coordinates that turn come last; its keys, without them, come before its values.
  kLatent,
};

/// Weights of latent attention (DeepSeek-AI, 2024, arXiv:2405.04434) that compress the tokens, and the gains of the
/// norms of their outputs. The last rows of `key_weight` make a rotary key that all heads share.
struct LatentNames {
  std::string_view query_weight = {};  ///< empty: queries read the tokens
  std::string_view query_gain = {};
  std::string_view key_weight =
      {};  ///< empty: keys read the tokens, and their last coordinates turn
  std::string_view key_gain = {};
};

/// Keys of config.json with the counts of heads, their width, and that of their values, where it is another one.
struct HeadKeys {
  std::string_view heads = {}, key_heads = {}, width = {}, value_width = {};
};

/// What a norm of queries or keys normalizes, and so the size of its gains.
enum class NormSpan {
  any,        ///< a head or all of them, by the size of the gains
  head,       ///< each head, with the same d_h gains
  each_head,  ///< each head, with its own gains, heads x d_h
  all_heads   ///< all of them together, with heads d_h gains
};

/// A key of config.json that is true where a model has norms of queries and keys, and the model types that have none
/// where it is left out, between spaces.
struct NormSwitch {
  std::string_view key = {}, model_types = {};
};

/// The attention of one stack of layers. In a tensor's name "{n}" stands for the number of the layer.
/// A bias is called as its weight with "bias" for the final "weight", and need not be there; nor need
/// the gains. An empty name: the family has no such tensor.
struct AttentionNames {
  std::string_view stack = {};         ///< what heads call it; empty in a family with one stack
  bool cross = false;                  ///< keys are made of the tokens of another stack
  std::string_view query_weight = {};  ///< or the weight of all, where they are fused
  std::string_view key_weight = {};    ///< empty where it is fused
  std::string_view query_gain = {};    ///< of the norm before the projections
  /// Keys of layers of linear attention whose queries have the name of `query_weight`: these are left out; empty: none.
  std::string_view linear_key = {};
  std::string_view key_gain = {};         ///< with `cross`, of the norm that ends the other stack
  std::string_view query_norm_gain = {};  ///< of a norm of each head's queries, or of all of them
  std::string_view key_norm_gain = {};
  bool always_head_normed = false;  ///< no model of the row is without these norms
  NormSwitch norm_switch = {};
  NormSpan norm_span = NormSpan::any;
  bool turned_before_norms = false;  ///< queries and keys turn before these norms
  std::string_view sinks =
      {};  ///< a learned logit for each head that joins the softmax of its rows
  /// Switches of the sinks of layers with a sliding window and of the others, off where they are left out; empty: all
  /// layers have sinks.
  std::string_view local_sinks_key = {}, full_sinks_key = {};
  LatentNames latent = {};
  /// Object of config.json with the keys of this stack, where it is not the same for all.
  std::string_view config = {};
  std::string_view head_count_key = "num_attention_heads";  ///< in config.json
  std::string_view key_head_count_key = {};  ///< likewise; empty: as many as query heads
  /// The number of layers in config.json; empty: all layers of the file.
  std::string_view layer_count_key = "num_hidden_layers";
  std::string_view other_head_count_key = {};  ///< where config.json lacks `head_count_key`
  std::uint64_t default_heads = 0;             ///< where it leaves the count out; 0: none
  RotaryPairs rotary = RotaryPairs::kNone;
  /// Other tensors of a layer that leave queries and keys as they are, between spaces: behind "{n}." and without
  /// ".weight" and ".bias". Those of the forward pass need not be repeated.
  std::string_view others = {};
};

/// A value of config.json: a text, "true" or "false" for a flag, a positive integer, or a positive number with a point.
struct UsualValue {
  std::string_view key = {}, value = {};
};

/// Layers with rotary positions where config.json gives no window, in a model that has them in layers with a sliding
/// window only.
enum class WithoutWindow { as_typed, all, none };

/// Numbers that may differ from the model's where its config leaves out a scaling of the angles whose default is not
/// known here.
enum class UnwrittenScaling { none, angles, angles_and_logits };

/// Keys of rotary positions in config.json, and the defaults without them.
struct RotaryKeys {
  /// The value that config.json has where positions are rotary; no key: they are in the whole family.
  UsualValue chosen = {};
  /// The other values of that key that a model may have, between spaces; empty: any, and none.
  std::string_view unchosen = {};
  /// The turned part of a head's coordinates; empty: all of them, whatever config.json has.
  std::string_view share = "partial_rotary_factor";
  std::string_view width = {};  ///< or their number, which precedes the share
  /// The share in config.json is made of the widths of latent attention, of which the shapes have the turned one.
  bool made_share = false;
  double default_share = 1;  ///< 0: must be given
  std::string_view base = "rope_theta";
  double default_base = 10000;  ///< 0: must be given
  std::string_view interleave =
      {};  ///< a switch, whose value false has halves in the place of neighbours
  std::string_view local_base = "rope_local_base_freq";
  double default_local_base = 0;  ///< in layers of a sliding window; 0: as in the others
  /// The type, base and share of a layer are those in the object for its kind in "rope_parameters", which must have
  /// type and base. The type "default" has no share.
  bool by_kind = false;
  /// Objects in "rope_parameters" for layers of a sliding window and for others, where they are not called as the
  /// kinds.
  std::string_view local_object = {}, object = {};
  /// A list with 0 for each layer that turns nothing; without it every n-th layer turns nothing, with n by the
  /// key `interval` or else `default_unused`; 0: none.
  std::string_view used = {}, interval = {};
  std::uint64_t default_unused = 0;
  /// A list with the base of each layer, of which 0 turns nothing, and one with the share of each.
  std::string_view bases = {}, shares = {};
  /// A list of the kinds of layers in which the scaling holds; without it: in all.
  std::string_view scaled_kinds = {};
  /// Layers without a sliding window turn nothing.
  bool only_local = false;
  /// Which layers of these turn where config.json has null for the size of the window.
  WithoutWindow without_window = WithoutWindow::as_typed;
  /// Beside `only_local`, layers whose MLP has no experts turn too, unless they have a separate pattern of windows.
  bool dense_too = false;
  /// LongRoPE multiplies queries and keys by "short_mscale" or "long_mscale".
  bool states_mscale = false;
  /// The scaling of the angles does not hold in layers of a sliding window.
  bool unscaled_local = false;
  /// A scaling with "mscale_all_dim" m also multiplies the logits by (0.1 m ln(factor) + 1)^2.
  bool scales_logits = false;
  /// The type of a scaling of the base, and not only of the angles, that models of the family may have.
  std::string_view scales_base = {};
  /// Positions have two axes, so that there is no offset but 0.
  bool two_axes = false;
  /// A scaling has no factor of the logits but one that the config gives.
  bool angles_alone = false;
  /// A config without a scaling, which the model may have all the same, is refused where these numbers are asked for;
  /// null stands for no scaling.
  UnwrittenScaling unwritten = UnwrittenScaling::none;
};

/// Keys of sliding windows in config.json: in a layer with such a window a query sees near keys only.
struct WindowKeys {
  std::string_view size = "sliding_window";             ///< in tokens
  std::uint64_t default_size = 0;                       ///< 0: none
  std::string_view pattern = "sliding_window_pattern";  ///< every n-th layer has no window
  std::uint64_t default_pattern = 0;                    ///< 0: all layers have one
  bool first_full = false;     ///< the first of each n layers has no window, not the last
  bool last_full = false;      ///< nor has the last layer of the model, whatever its type
  bool chunked = false;        ///< nor "chunked_attention", of which no passage exceeds a chunk
  std::string_view list = {};  ///< a list with 1 for each layer that has a window
  /// Values of that list, between spaces, for layers that see summaries of more tokens beside those of the window; 0 is
  /// then a layer that sees its window alone, and the list must be given.
  std::string_view summarized = {};
  /// Model types of the row that read the size, between spaces, and those of them that read it only where the switch
  /// "use_sliding_window" is on. With a default size all types read it.
  std::string_view model_types = {}, switched = {};
  bool typed = false;  ///< a window needs the list "layer_types"
  /// Types whose original code does not read that list: with a window all their layers have it.
  std::string_view untyped = {};
  /// Types whose windows begin at "max_window_layers", whatever "use_sliding_window" says.
  std::string_view counted = {};
  /// Layers of the switched types before the first with a window, where "max_window_layers" does not say.
  std::uint64_t default_before = 0;
};

/// The place of the gate's weight in a gated MLP.
enum class GateRows {
  separate,  ///< in a separate tensor
  halves,    ///< in one tensor, before the weight of `up`
  up_first,  ///< in one tensor, after the weight of `up`
  alternate  ///< in one tensor, its outputs alternating with those of `up`
};

/// Weights of an MLP; in those of an expert "{e}" stands for its number.
struct MlpNames {
  std::string_view gate = {};  ///< of a gated MLP, activation(gate x) up x
  std::string_view up = {}, down = {};
  GateRows gate_rows = GateRows::separate;
};

/// Tensors with the numbers of each layer's xIELU (nn/activation.h), one number a tensor: the factor of the positive
/// part is softplus(alpha_p), that of the negative part beta + softplus(alpha_n), the linear factor beta. A number that
/// the file lacks is read under its name of `kXieluNumbers` in the object "xielu" of config.json, one for all layers or
/// a list by layer, as the metadata of GGUF files have it; beta is 0.5 and eps -1e-6 by default.
struct XieluNames {
  std::string_view alpha_p = {}, alpha_n = {}, beta = {}, eps = {};
};
inline constexpr std::array<const char*, 4> kXieluNumbers{"alpha_p", "alpha_n", "beta", "eps"};

/// Tensors of the head that predicts masked tokens: a linear map, the activation and a norm, then the output map. They
/// have no prefix. The output weights may be missing, and are then the token embeddings.
struct MaskedHead {
  std::string_view dense = {}, norm = {}, output = {}, output_bias = {};
  /// The key of the activation in config.json; empty: the activation of the layers, or always GELU.
  std::string_view activation_key = {};
  bool always_gelu = false;
};

/// The weights that a router makes from its scores: a softmax over all experts, which is one over the chosen ones where
/// their weights are made to add up to 1, or the sigmoid of each.
enum class RouterScores { softmax, sigmoid };

/// The router of a mixture of experts, and its keys in config.json.
struct RouterNames {
  std::string_view weight = {};
  /// A switch, off where it is left out: on, every layer has a router, and off, none.
  std::string_view switch_key = {};
  /// Gain of an RMS norm of what the router reads, over the root of d; the router then reads the tokens that enter the
  /// norm of the MLP.
  std::string_view input_gain = {};
  std::string_view expert_scale = {};  ///< a factor of each expert's weight
  std::string_view correction = {};    ///< added to the scores that choose, not to the weights
  /// A file without the correction has a softmax, whose weights do not add up to 1, and `factor_key`.
  bool optional_correction = false;
  RouterScores scores = RouterScores::softmax;
  std::string_view chosen_key = "num_experts_per_tok";
  std::string_view normalized_key = "norm_topk_prob";  ///< a token's weights add up to the factor
  bool normalized = false;                             ///< where the config does not say
  std::string_view factor_key = {};
  /// The input of an expert is multiplied by its weight, not its output.
  bool scales_input = false;
  /// Experts of the best groups alone are chosen, by their largest score, or with a `correction` by the sum of the two
  /// largest ones.
  std::string_view groups_key = {}, best_groups_key = {};
};

/// The mixture of experts that a layer has in the place of its MLP where the file has a router.
struct ExpertNames {
  RouterNames router = {};
  /// One tensor for each expert, out x in, or one for all, experts x out x in; a file has one kind.
  MlpNames each = {}, stacked = {};
  /// `stacked` is experts x in x out, but in MXFP4 experts x out x in; "_bias" after its name is the name of its bias.
  bool inputs_first = false;
  MlpNames shared = {};                    ///< of an expert that runs on every token
  std::string_view shared_count_key = {};  ///< whose value 0 stands for none
  std::string_view shared_gate =
      {};  ///< whose sigmoid is that expert's weight; empty: the weight is 1
  /// Norms of the experts' input, in place of the norm of the MLP, which is then only the shared expert's; of the sum
  /// of their outputs; and of the shared expert's output.
  std::string_view input_norm = {}, output_norm = {}, shared_output_norm = {};
  /// Linear maps of the input of all experts but the shared one, and of the sum of their outputs, where the file has
  /// them.
  std::string_view latent_input = {}, latent_output = {};
};

/// Per-layer embeddings (Google DeepMind, 2025, Gemma 3n): each layer ends with a gated map of a further input, made of
/// a second embedding of each token and of a linear map of its first one.
struct LayerInputNames {
  /// Tokens x (layers times the width p of an input), layer after layer.
  std::string_view embeddings = {};
  std::string_view projection = {};  ///< as many outputs, of the token embeddings
  std::string_view norm = {};        ///< of each layer's part of these outputs
  std::string_view gate = {}, output = {}, output_norm = {};  ///< of a layer: d to p, p to d
};

/// Biases of the logits that depend only on the offset of the key from the query (inference/offset_bias.h).
struct OffsetBiasNames {
  bool slopes = false;  ///< ALiBi
  std::string_view exponent_key =
      {};  ///< of e in the smallest slope 2^-e; 8 where the config does not say
  /// A tensor, buckets x heads: the first layer's for all layers, but one for each layer in the model types
  /// `each_layer`, between spaces.
  std::string_view buckets = {};
  std::string_view each_layer = {};
  std::uint64_t count = 0;             ///< of the buckets, whatever the config says; 0: any
  std::string_view farthest_key = {};  ///< of the distance from which on all are alike, or 128
};

/// Embeddings of the offsets of two tokens, 2 span x d, with which queries and keys form the terms of
/// `Family::terms_key` (inference/offset_bias.h), and their projections to keys and queries where these are not those
/// of the tokens.
struct DisentangledNames {
  std::string_view vectors = {}, norm = {};
  std::string_view key = {}, query = {};
};

/// The operation that mixes the tokens in layers without heads.
enum class TokenMixing {
  none,
  convolution,  ///< gated short convolution (Liquid AI, 2025, arXiv:2511.23404): C * conv(B * x) of [B | C | x]
  delta_rule,      ///< gated delta rule (Yang, Kautz, Hatamizadeh, 2024, arXiv:2412.06464)
  state_space,     ///< Mamba-2 (Dao, Gu, 2024, arXiv:2405.21060)
  selective_scan,  ///< Mamba (Gu, Dao, 2023, arXiv:2312.00752)
};

/// Layers without heads that stand between the others, with the same norms, MLP and skip connections.
struct MixerNames {
  TokenMixing mixing = TokenMixing::none;
  /// All layers have the mixer beside their heads: both read the same states, and the sum of their outputs is added to
  /// the tokens.
  bool beside_heads = false;
  /// The weight that maps the states to [B | C | x] of a convolution; to queries, keys and values of all heads of the
  /// delta rule; to [z | x | B | C | steps] of a state space; to [x | z] of the selective scan.
  std::string_view input = {};
  /// Weights of the delta rule for gates, write rates and steps of all heads.
  std::string_view gate = {}, write = {}, step = {};
  /// Weights of the delta rule whose outputs lie together by key head: one for queries, keys, values and gates, and one
  /// for write rates and steps. A file has these or the separate ones.
  std::string_view states_by_key = {}, rates_by_key = {};
  std::string_view convolution = {};  ///< channels x 1 x width, causal, perhaps with a bias
  /// Numbers by value head of the delta rule or by head of a state space: the logarithm of the rate of decay or, in
  /// GGUF, minus the rate; a bias of the steps; and the gain of the norm of the output of a head, or of all heads.
  std::string_view log_rate = {}, minus_rate = {}, step_bias = {}, norm = {};
  std::string_view skip =
      {};  ///< of a state space, by head: a factor of the values that are added to its output
  /// The weight of the selective scan that maps the channels to the inputs of `step`, B and C, and the gains of the
  /// norms of these three. The scan has `step`, rates and `skip` by channel.
  std::string_view states = {};
  std::array<std::string_view, 3> state_norms = {};
  /// Keys of a state space: the numbers of heads, of states per head, and of groups of heads that share B and C; and
  /// the activation, silu, where that of the MLP may be another one.
  std::string_view heads_key = {}, states_key = {}, groups_key = {}, activation_key = {};
  /// Keys of a state space: the width of a head, or "auto"; the width of the values of all heads; and the length of the
  /// convolution in positions.
  std::string_view width_key = {}, values_key = {}, length_key = {};
  std::uint64_t default_groups = 1;  ///< where the config does not say
  /// Older keys of these counts and of limits of the steps, which the original reads first; they must be left out.
  std::array<std::string_view, 2> older_keys = {};
  bool norm_by_group = false;              ///< the norm is of the outputs of each group of heads
  std::string_view bias_key = "use_bias";  ///< a switch of the biases of its linear maps
  std::string_view output_bias_key =
      {};  ///< a switch of its output's bias, where those of other maps have another one
  /// Switches of a state space: whether it has the norm, off where it is left out, and whether the norm comes before
  /// the product with silu(z), on where it is left out.
  std::string_view norm_key = {}, norm_first_key = {};
  /// Keys of factors of a state space: of its input; a list, of z, x, B, C and the steps; and of its output.
  std::string_view input_factor_key = {}, state_factors_key = {}, output_factor_key = {};
  std::string_view output = {};  ///< the output projection
};

/// The forward pass of a family's first stack on text, or of its last one on pictures, beside its queries, keys and
/// the norm before them (AttentionNames). Tensors are named by their weight, biases likewise; an empty name: the
/// family has no such part. Norms stand before a branch, on its output before the skip connection adds it, or after
/// the sum.
struct ForwardNames {
  static constexpr std::size_t kMostUsual = 5, kMostForeign = 4;

  /// Model types of config.json that have this forward pass, between spaces; empty: all of the row.
  std::string_view model_types = {};
  std::string_view position_embedding = {};  ///< unless positions are rotary
  std::string_view type_embedding = {};
  /// Tensors of a model of pictures: a convolution with a stride of its kernel's side, the token before those of the
  /// patches, and a second one, where the file has it.
  std::string_view patch_embedding = {}, class_embedding = {}, distillation_embedding = {};
  std::string_view embedding_norm = {};  ///< after the sum of the embeddings
  int first_position = 0;                ///< row of the position embeddings for the first token
  /// Key of the id of padding in config.json, after which that row comes where the config has it; padding in a text
  /// has the row before.
  std::string_view first_position_key = {};
  /// After that norm, where the file has it; embeddings may be of another width.
  std::string_view embedding_projection = {};
  bool scaled_embedding = false;               ///< token embeddings are multiplied by sqrt(d)
  std::string_view scaled_embedding_key = {};  ///< a switch of that, off where it is left out
  /// Keys of further factors: of the token embeddings, and of what attention and MLP add to the tokens.
  std::string_view embedding_factor_key = {}, residual_factor_key = {};
  /// Keys of the factor of what the attention alone adds, and of a list with the factors of an MLP's gate and output.
  std::string_view attention_factor_key = {}, mlp_factors_key = {};
  /// Defaults of the former differ by the version of the original's code, so that it must be given; null: no factor.
  bool told_attention_factor = false;
  bool residual_by_depth = false;  ///< that factor is divided by the root of the number of layers
  /// Keys of the counts of layers and of the groups, numbered in the names, whose layers share their weights; each
  /// group has as many layers, one after another.
  std::string_view layers_key = {}, groups_key = {};
  ExpertNames experts = {};
  OffsetBiasNames offset_bias = {};
  DisentangledNames offset_terms = {};
  /// A tensor of layers that read pictures, which text passes over, the list of these layers in config.json, and how
  /// many rows the embeddings have for pictures, after those of text.
  std::string_view skipped = {}, skipped_key = {};
  std::uint64_t picture_rows = 0;
  bool bare_first = false;  ///< the first layer has no norm before its attention
  /// Norms before both branches and after the last layer have no gains, and so no names.
  bool gainless_norms = false;
  /// Key of a bound c: queries, keys and values are cut to [-c, c], before queries and keys turn. The logits have no
  /// scale but 1/sqrt(d_h).
  std::string_view projection_bound_key = {};
  std::string_view value = {};            ///< where it is not fused with the queries
  std::string_view value_width_key = {};  ///< of d_v, where it is not that of queries and keys
  /// A switch: the values of layers without a sliding window are the keys before their norm.
  std::string_view keys_as_values_key = {};
  bool bare_value_norm = false;  ///< the values of each head have an RMS norm without a gain
  /// A linear map of the heads' input, whose sigmoid multiplies their output entry by entry.
  std::string_view attention_gate = {};
  std::string_view attention_output = {};  ///< empty: the forward pass is not known
  /// A linear map on the skip connection of the attention, in layers whose tokens change their width.
  std::string_view skip = {};
  std::string_view attention_output_norm = {}, attention_end_norm = {};
  std::string_view mlp_norm = {}, mlp_output_norm = {}, mlp_end_norm = {};
  /// A switch of the norms of both branches' outputs, off where it is left out; empty: a model has those of its row.
  std::string_view output_norms_key = {};
  /// Factors of the coordinates of each branch's output (LayerScale), where the file has them.
  std::string_view attention_scale = {}, mlp_scale = {};
  LayerInputNames layer_input = {};
  std::string_view layer_scale = {};  ///< a factor of the tokens that leave a layer
  std::string_view mlp_gate = {};     ///< of a gated MLP, activation(gate x) up x
  /// The weight of up, or of gate and up as in `gate_rows` where the file has no separate gate.
  std::string_view mlp_up = {};
  std::string_view mlp_down = {};
  std::string_view final_norm = {};  ///< after the last layer
  /// Without the prefix of the others, perhaps with a bias.
  std::string_view output = "lm_head.weight";
  MaskedHead masked_head = {};
  std::string_view length_key = "max_position_embeddings";  ///< in config.json
  NormKind norm = NormKind::layer_norm;
  std::string_view epsilon_key = {};  ///< in config.json
  double epsilon = 1e-5;              ///< where the config does not say
  std::string_view activation_key = {};
  Activation activation = Activation::gelu;
  XieluNames xielu = {};  ///< the MLP's activation, in place of `activation`; empty for none
  GateRows gate_rows = GateRows::separate;
  /// Key of a bound c: a gated MLP is activation(min(g, c)) (u + 1), where u is cut to [-c, c].
  std::string_view gate_bound_key = {};
  double gate_bound = 0;  ///< where the config does not say; 0: none
  bool causal = true;
  std::string_view bidirectional_key = {};  ///< a switch; true: not causal
  bool optional_bias = false;               ///< a linear layer or norm without a bias has none
  std::string_view without_bias = {};       ///< so do these linear layers, between spaces, alone
  /// Model types whose attention, MLP and mixer have biases only where their switches ("attention_bias") are true.
  std::string_view switched_biases = {};
  std::string_view no_bias_key = {};  ///< a switch; on: no linear map and no norm has a bias
  std::string_view bias_key =
      {};                    ///< a switch, off where it is left out; off: no linear map has one
  bool output_bias = false;  ///< the map to the next token may have a bias
  /// Attention and MLP both read the tokens that enter the layer, unless `parallel_key` is false.
  bool parallel = false;
  std::string_view parallel_key = {};
  /// A layer may lack its heads (or the mixer in their place), or its MLP; with one norm for both it has one of them.
  bool optional_branches = false;
  /// Logits l become c tanh(l/c), with c of this key or default; 0: they do not.
  std::string_view attention_cap_key = {}, output_cap_key = {};
  double attention_cap = 0, output_cap = 0;
  std::string_view output_scale_key = {};  ///< the next token's logits are multiplied by it
  double output_scale = 1;                 ///< where the config does not say
  /// Keys of what these logits are divided by, and of a number which, over the width of the tokens, multiplies them.
  std::string_view output_divisor_key = {}, output_width_key = {};
  std::string_view most_tokens_key =
      {};                         ///< passages are not longer, as there attention is another one
  std::uint64_t most_tokens = 0;  ///< where the config does not say; 0: any number
  /// Keys of config.json that select another forward pass unless they have this value, or are not there.
  std::array<UsualValue, kMostUsual> usual = {};
  /// Tensors of models with the same names and another forward pass.
  std::array<std::string_view, kMostForeign> foreign = {};
};

/// The use of a row beside the model types that it lists.
enum class Others {
  none,       ///< nothing: other model types with its names have another row or none
  names,      ///< its names find the weights of any model type, whose conventions are then unknown
  everything  ///< the names are those of one implementation, so that its conventions hold
};

/// One row of the table of families, for one part of a model, such as its text or its vision. Any
/// prefix that is empty or ends with '.' may come before its names, the same before all. Names find
/// tensors; the conventions of a row, which are the gains that are folded and how they are stored, rotary
/// pairs and the layers that have them, the scale of the logits and the forward pass, hold for the model
/// types that it lists.
struct Family {
  static constexpr std::size_t kMostStacks = 3;

  std::string_view name = {};
  /// Model types of config.json whose conventions the row has, between spaces.
  std::string_view model_types = {};
  Others others = Others::none;
  std::string_view required = {};  ///< a tensor that other families with these names do not have
  std::string_view absent = {};    ///< a tensor of others with these names
  HeadLayout layout = HeadLayout::kSeparate;
  /// Without a model type the names and the shape of fused projections tell their layout.
  bool layout_by_shape = false;
  std::string_view width_key = "hidden_size";    ///< in config.json
  std::string_view head_width_key = "head_dim";  ///< likewise; need not be there
  UsualValue pre_norm = {};    ///< with another value of the key the norms come after
  bool gain_plus_one = false;  ///< a gain g is stored as g - 1
  /// A convolution beside the attention, outputs x 1 x width. MLX's conversion of the model stores it as outputs x
  /// width x 1, and gains as 1 + g.
  std::string_view convolution = {};
  bool open_factors =
      false;  ///< factors of config.json may or may not be in the weights of that conversion
  bool unscaled = false;  ///< logits are not divided by sqrt(d_h)
  /// Key of the scale of the logits itself, and of the number that takes the place of d_h in 1/sqrt(d_h).
  std::string_view scale_key = {}, query_scalar_key = {};
  double default_query_scalar = 0;  ///< where the config does not say; 0: d_h
  /// A list in config.json of further terms of the logits, which with n of "c2p" and "p2c" are divided by
  /// sqrt((1 + n) d_h).
  std::string_view terms_key = {};
  /// Keys of factors of the states that queries, keys and values read, and of the keys.
  std::string_view input_factor_key = {}, key_factor_key = {};
  /// A switch of config.json, on where it is left out: queries and keys have norms without gains.
  std::string_view bare_norms_key = {};
  /// Keys of config.json that scale, gate or turn (see key_guards.h) and change nothing here, between spaces; for the
  /// kind of positions "key=value".
  std::string_view neutral_keys = {};
  bool exact = false;  ///< no prefix comes before the names
  RotaryKeys rotary = {};
  WindowKeys window = {};
  /// Keys of the heads of layers with and without a sliding window, where config.json has them.
  HeadKeys local = {}, full = {};
  /// A switch of config.json, on where it is left out: without a count of key heads all heads share one.
  std::string_view single_key_head_key = {};
  /// A switch of config.json, off where it is left out: only with it the count of key heads is read, which is otherwise
  /// that of `single_key_head_key`, or that of the heads.
  std::string_view grouped_key_heads_key = {};
  /// A layer has as many heads of the width in config.json as fit its rows; the count there holds for some layers only.
  bool heads_by_width = false;
  /// Key of the number of last layers that share keys: each uses those of the last layer before them that is of its
  /// kind, with or without a window.
  std::string_view shared_keys_key = {};
  int default_shared_keys = 0;       ///< where the config does not say
  std::string_view embeddings = {};  ///< of the tokens, tokens x width; empty without any
  /// The names of each stack of a file with several, one after another; the last ones may be empty.
  std::array<AttentionNames, kMostStacks> attentions = {};
  MixerNames mixer = {};
  ForwardNames text = {};
  ForwardNames picture = {};

  bool reads_text() const { return !text.attention_output.empty(); }
  bool reads_pictures() const { return !picture.attention_output.empty(); }
  bool fused() const { return layout != HeadLayout::kSeparate && !gated() && !latent(); }
  bool latent() const { return layout == HeadLayout::kLatent; }
  bool gated() const { return layout == HeadLayout::kGated; }
  /// Whether weights are in x out, so that an output's weights are a column.
  bool inputs_first() const { return layout == HeadLayout::kConv1D; }
};

/// All known families, more specific names first. To add one, add a row and a test.
std::span<const Family> families();

enum class Projection { query, key, value };

/// The heads of one layer along the outputs of its weights.
struct HeadGrid {
  std::uint64_t heads = 0;
  std::uint64_t key_heads = 0;   ///< divides `heads`
  std::uint64_t head_width = 0;  ///< d_h

  /// Query head h uses key head floor(h / group).
  std::uint64_t group() const { return heads / key_heads; }
};

/// The first output of query head `head`, from 0, or of the key or value head that it uses, as an index along the
/// outputs of the tensor that holds it.
std::uint64_t first_output(HeadLayout layout, Projection projection, const HeadGrid& grid,
                           std::uint64_t head);

}  // namespace eigenscope

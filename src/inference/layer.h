// One layer of a trained transformer, run on the tokens of one passage.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "inference/head_projection.h"
#include "inference/linear.h"
#include "inference/offset_bias.h"
#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/norm.h"
#include "nn/rotary.h"

namespace eigenscope {

/// Normalization of each column, or of each of the blocks, as long as the gain, that a column consists of.
/// RMSNorm has no bias. Without a gain there is no norm, and tokens stay as they are.
struct Norm {
  NormKind kind = NormKind::layer_norm;
  Eigen::VectorXf gain, bias;
  float epsilon = 0;
  /// d_h where gains differ by head: `gain` has heads times d_h entries, and each head is normalized by itself; else 0.
  Eigen::Index head_width = 0;

  bool is_none() const { return gain.size() == 0; }
  /// The norm of one head: this norm, or its part where gains differ by head.
  Norm of_head(int head) const;
  Eigen::MatrixXf operator()(Eigen::MatrixXf x) const;
};

/// The input of queries, or of keys and values, made of the states. In latent attention a linear map of the states,
/// whose first outputs, as many as the gain has entries, are normalized. With `rows`, these rows of the states from
/// `first_row` on. By default the states themselves.
struct Compression {
  Linear map;
  Norm norm;
  Eigen::Index first_row = 0, rows = 0;

  /// Whether the input is a range of rows of the states.
  bool selects() const { return rows > 0; }
  bool is_none() const { return map.weight.size() == 0 && !selects(); }
  Eigen::MatrixXf operator()(const Eigen::MatrixXf& states) const;
};

struct LayerRules;

/// The weights of a layer, in single precision. Head h has head h of query, and its key head (LayerRules::key_head) of
/// key and value. The MLP is gated where mlp_gate is not empty. Queries, or the gain of their norm, are multiplied by
/// the logit scale of the model over 1/sqrt(d_h).
struct LayerWeights {
  HeadProjection query, key, value;
  Linear attention_output, mlp_gate, mlp_up, mlp_down;
  Compression query_input, key_input;  ///< key_input is also the input of values
  Linear skip;  ///< map of the tokens to which the attention's output is added; empty for none
  Norm query_norm, key_norm;  ///< over each head, or over all heads together
  Norm value_norm;            ///< over each head
  Eigen::VectorXf sinks;  ///< one logit a head that joins the softmax of its rows; empty for none
  OffsetBias offset_bias;
  DisentangledTerms offset_terms;
  bool turned_before_norms = false;  ///< rotary positions turn queries and keys before their norms
  float projection_bound = 0;  ///< c: queries, keys and values are cut to [-c, c]; 0: they are not
  /// Norms before the branch, on its output, and after the skip connection.
  Norm attention_norm, attention_output_norm, attention_end_norm;
  /// Norm of the tokens that entered the earlier layer whose keys and values this layer uses.
  Norm earlier_norm;
  Norm mlp_norm, mlp_output_norm, mlp_end_norm;
  std::optional<Xielu> xielu;  ///< the activation of the MLP, in place of LayerRules::activation
  /// Factors of the coordinates of the branches' outputs; empty for none.
  Eigen::VectorXf attention_scale, mlp_scale;
  Norm layer_input_norm;  ///< norm of the term that the layer's input adds (LayerInputNames)
  float layer_scale = 1;  ///< factor of the tokens that leave the layer

  /// Whether a norm of queries or keys is over all heads together; their maps are then in memory.
  bool normalizes_all_heads(const LayerRules& rules) const;
  /// Whether queries and keys are linear in the states, which are the same for both.
  bool has_linear_heads() const {
    return query_norm.is_none() && key_norm.is_none() && query_input.is_none() &&
           key_input.is_none() && projection_bound == 0;
  }
};

/// Settings of a layer beside its weights.
struct LayerRules {
  int heads = 1;
  int key_heads = 1;             ///< divides heads
  Eigen::Index head_width = 1;   ///< d_h, of queries and keys
  Eigen::Index value_width = 1;  ///< d_v
  Activation activation = Activation::gelu;
  float gate_bound = 0;  ///< see ForwardNames::gate_bound_key
  bool causal = false;
  bool parallel = false;       ///< attention and MLP read the same tokens
  bool learned_sinks = false;  ///< LayerWeights::sinks
  float attention_cap = 0;     ///< logits l become c tanh(l/c); 0: they do not
  Rotary rotary = {};
  /// A query sees no key that is further away, in tokens.
  Eigen::Index reach = std::numeric_limits<Eigen::Index>::max() / 2;

  int key_head(int head) const { return head * key_heads / heads; }
  /// The keys that the query at position `query` of a passage of `length` tokens sees, itself among them.
  KeyRange seen(Eigen::Index query, Eigen::Index length) const;
  /// The most keys that a query of such a passage sees.
  Eigen::Index most_seen(Eigen::Index length) const;
};

/// Queries and keys (d_h x T) and values (d_v x T) of one head on a passage, or of all heads, one below the other:
/// before the rotation of rotary positions, and norms after it.
struct HeadTokens {
  Eigen::MatrixXf queries, keys, values;
  std::optional<float> sink = {};    ///< logit of a single head (LayerWeights::sinks)
  Eigen::VectorXf offset_bias = {};  ///< OffsetBias::of_head() of a single head; empty for none
  /// The layer of a single head that has DisentangledTerms or norms after the rotation, else null. It must outlive this
  /// object.
  const LayerWeights* layer = nullptr;
};

/// Logits and attention of a head on a passage of T tokens, T x T: row = key, column = query.
struct HeadTrace {
  /// q . k / sqrt(d_h), turned by rotary positions, plus the terms and the bias of the offset, capped. 0 for keys that
  /// the query does not see.
  Eigen::MatrixXf logits;
  /// The softmax of the logits over the keys that the query sees and the learned sink of the head; 0 for other keys.
  Eigen::MatrixXf weights;
};

/// An intervention in the attention of a layer on one passage; none by default.
struct AttentionEdit {
  /// Reads or changes the tokens of all heads, one below the other.
  std::function<void(HeadTokens&)> tokens = {};
  /// Position of a key that no query sees but the one at the same position.
  std::optional<Eigen::Index> dropped_key = {};
  /// Changes the attention weights of a head (T x T, row = key, column = query) before they average the values. Keys
  /// that a query does not see must keep the weight 0.
  std::function<void(int head, Eigen::Ref<Eigen::MatrixXf> weights)> weights = {};
};

/// Receives the trace of each head of a layer on a passage, one after the other; a trace holds until the next call.
using HeadVisitor = std::function<void(int head, const HeadTrace& trace)>;

/// The total weight of the keys, in [0, 1], in a softmax with an additional logit `sink`. `largest` is the largest
/// logit of a key, and `weight` the weight of that key in the softmax without the sink.
double share_beside(double sink, double largest, double weight);

/// Logits l become cap tanh(l/cap), in place; a cap of 0 is none.
template <class Scalar>
void cap_logits(float cap, std::span<Scalar> logits);

/// The states that queries and keys are made of: `tokens` (d x T), after a pre-norm.
Eigen::MatrixXf states_of(const LayerWeights& layer, const Eigen::MatrixXf& tokens);
/// The states of a layer that uses the keys and values of an earlier one, 2d x T: the states of the layer in the first
/// d rows, and below them the states of the earlier layer, made of `earlier`, the tokens that entered it.
Eigen::MatrixXf states_of(const LayerWeights& layer, const Eigen::MatrixXf& tokens,
                          const Eigen::MatrixXf& earlier);

/// Queries, keys and values of all heads for the states of a passage (d x T). Throws FormatError as
/// HeadProjection::head.
HeadTokens all_tokens(const LayerWeights& layer, const Eigen::MatrixXf& states);

/// Head number `head` of `all`, which all_tokens() made, with its sink and biases.
HeadTokens head_among(const HeadTokens& all, const LayerWeights& layer, const LayerRules& rules,
                      int head);

/// Head number `head` on each of some passages, whose states are d x T. Throws FormatError as HeadProjection::head.
std::vector<HeadTokens> head_tokens(const LayerWeights& layer, const LayerRules& rules, int head,
                                    std::span<const Eigen::MatrixXf> states);

/// Runs head number `head` on its tokens; `turns` are those of T positions. Its output, the weighted means of the
/// values, becomes its d_v rows of `read` (H d_v x T, all heads one below the other).
HeadTrace run_head(HeadTokens tokens, const LayerRules& rules, const RotaryTurns& turns, int head,
                   Eigen::MatrixXf& read);

/// Runs all heads of a layer on the tokens of all_tokens(). `turns` are those of T positions or more. Returns the
/// outputs of the heads before the output projection, H d_v x T. The logits of a trace are those before `edit` drops a
/// key or changes weights.
Eigen::MatrixXf run_heads(const LayerWeights& layer, const LayerRules& rules,
                          const RotaryTurns& turns, HeadTokens tokens, const AttentionEdit& edit,
                          const HeadVisitor& visit);

/// Adds the attention branch to the tokens. `tokens` are those that entered the layer (of the width d, or of another
/// one with a `skip`) and become those before the MLP; `projected` (d x T) is the output of the output projection.
/// Returns the states (d x T) that the MLP reads.
Eigen::MatrixXf enter_mlp(const LayerWeights& layer, const LayerRules& rules,
                          const Eigen::MatrixXf& projected, Eigen::MatrixXf& tokens);
/// Adds the MLP's `output` (d x T): `tokens` become those after the layer.
void leave_mlp(const LayerWeights& layer, const Eigen::MatrixXf& output, Eigen::MatrixXf& tokens);

/// Runs the rest of a layer after its heads, whose outputs are `read` (H d_v x T): output projection, skip connection,
/// norms and MLP. `tokens` (d x T) become those after the layer.
void finish_layer(const LayerWeights& layer, const LayerRules& rules, const Eigen::MatrixXf& read,
                  Eigen::MatrixXf& tokens);

}  // namespace eigenscope

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

  bool is_none() const { return gain.size() == 0; }
  Eigen::MatrixXf operator()(Eigen::MatrixXf x) const;
};

/// What queries, or keys and values, read of the states. The compression of latent attention: a map, of whose outputs
/// the first ones, as many as the gain, are normalized. Or `rows` of the states. By default the states themselves.
struct Compression {
  Linear map;
  Norm norm;
  Eigen::Index first_row = 0, rows = 0;

  /// Whether it gives a part of the states.
  bool selects() const { return rows > 0; }
  bool is_none() const { return map.weight.size() == 0 && !selects(); }
  Eigen::MatrixXf operator()(const Eigen::MatrixXf& states) const;
};

struct LayerRules;

/// The weights of a layer, in single precision. Head h has head h of query, and its key head (LayerRules::key_head) of
/// key and value. The MLP is gated where mlp_gate is not empty. Queries, or the gain of their norm, have the model's
/// scale of the logits over 1/sqrt(d_h).
struct LayerWeights {
  HeadProjection query, key, value;
  Linear attention_output, mlp_gate, mlp_up, mlp_down;
  Compression query_input, key_input;  ///< the latter also of the values
  Linear skip;  ///< of the tokens that the attention's output is added to; empty for none
  Norm query_norm, key_norm;  ///< of each head, or of all heads together
  Norm value_norm;            ///< of each head
  Eigen::VectorXf sinks;  ///< a logit by head that joins the softmax of its rows; empty for none
  OffsetBias offset_bias;
  DisentangledTerms offset_terms;
  bool turned_before_norms = false;  ///< rotary positions turn queries and keys before their norms
  /// Before the branch, on its output, and after the skip connection.
  Norm attention_norm, attention_output_norm, attention_end_norm;
  /// Before keys and values that are those of an earlier layer.
  Norm earlier_norm;
  Norm mlp_norm, mlp_output_norm, mlp_end_norm;
  /// Factors of the coordinates of the branch's output; empty for none.
  Eigen::VectorXf attention_scale, mlp_scale;
  Norm layer_input_norm;  ///< of what the layer's input adds (LayerInputNames)
  float layer_scale = 1;  ///< of the tokens that leave the layer

  /// Whether a norm of queries or keys is of all heads together, which has their maps in memory.
  bool normalizes_all_heads(const LayerRules& rules) const;
  /// Whether queries and keys are linear in the states, which are the same for both.
  bool has_linear_heads() const {
    return query_norm.is_none() && key_norm.is_none() && query_input.is_none() &&
           key_input.is_none();
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

/// The tokens of a passage as one head makes them, d_h x T each (values d_v x T), or as all heads do, one below the
/// other, before rotary positions turn them, and norms that follow the turn.
struct HeadTokens {
  Eigen::MatrixXf queries, keys, values;
  std::optional<float> sink = {};    ///< of a single head (LayerWeights::sinks)
  Eigen::VectorXf offset_bias = {};  ///< likewise, OffsetBias::of_head() of T; empty for none
  /// Likewise, that which has its DisentangledTerms or norms after the turn, and must live as long; null without either.
  const LayerWeights* layer = nullptr;
};

/// Logits and attention of a head on a passage of T tokens, T x T: row = key, column = query.
struct HeadTrace {
  /// q . k / sqrt(d_h), turned by rotary positions, plus the terms and the bias of the offset, capped. 0 for keys that
  /// the query does not see.
  Eigen::MatrixXf logits;
  /// Their softmax over the keys that the query sees, and the head's sink; 0 elsewhere.
  Eigen::MatrixXf weights;
};

/// An intervention in the attention of a layer on one passage; none by default.
struct AttentionEdit {
  /// Reads or changes the tokens of all heads, one below the other.
  std::function<void(HeadTokens&)> tokens = {};
  /// Position of the token that only its own query sees as a key.
  std::optional<Eigen::Index> dropped_key = {};
  /// Changes the attention weights of a head (T x T, row = key, column = query) before they average the values. Keys
  /// that a query does not see must keep the weight 0.
  std::function<void(int head, Eigen::Ref<Eigen::MatrixXf> weights)> weights = {};
};

/// Receives what the heads of a layer did on a passage, one after the other; a trace holds until the next call.
using HeadVisitor = std::function<void(int head, const HeadTrace& trace)>;

/// The share of the keys in a softmax that a logit `sink` joins: of logits whose largest one has the weight `weight`
/// without it.
double share_beside(double sink, double largest, double weight);

/// Logits l become cap tanh(l/cap), in place; a cap of 0 is none.
template <class Scalar>
void cap_logits(float cap, std::span<Scalar> logits);

/// The states that queries and keys are made of: `tokens` (d x T), after a pre-norm.
Eigen::MatrixXf states_of(const LayerWeights& layer, const Eigen::MatrixXf& tokens);
/// The states of a layer that uses the keys and values of an earlier one, 2d x T: its own in the first d rows, and in
/// the others those of the earlier layer, made of the tokens that entered it.
Eigen::MatrixXf states_of(const LayerWeights& layer, const Eigen::MatrixXf& tokens,
                          const Eigen::MatrixXf& earlier);

/// All heads of the states of a passage (d x T). Throws FormatError as HeadProjection::head.
HeadTokens all_tokens(const LayerWeights& layer, const Eigen::MatrixXf& states);

/// Head number `head` of those.
HeadTokens head_among(const HeadTokens& all, const LayerWeights& layer, const LayerRules& rules,
                      int head);

/// Head number `head` of the states of each of some passages (d x T). Throws FormatError as HeadProjection::head.
std::vector<HeadTokens> head_tokens(const LayerWeights& layer, const LayerRules& rules, int head,
                                    std::span<const Eigen::MatrixXf> states);

/// Runs this head on its tokens; `turns` are those of T positions. What it reads becomes its d_v rows of `read`
/// (H d_v x T, that of all heads, one below the other).
HeadTrace run_head(HeadTokens tokens, const LayerRules& rules, const RotaryTurns& turns, int head,
                   Eigen::MatrixXf& read);

/// Runs all heads of a layer on theirs. `turns` are those of T positions or more. Returns what they read, H d_v x T.
/// Logits of a dropped key, and of changed weights, are those before.
Eigen::MatrixXf run_heads(const LayerWeights& layer, const LayerRules& rules,
                          const RotaryTurns& turns, HeadTokens tokens, const AttentionEdit& edit,
                          const HeadVisitor& visit);

/// The parts of a layer that follow its heads, each token by itself. `tokens` are those that entered the layer (of
/// the width d, or of another one with a `skip`), `projected` (d x T) the product of the output projection with what
/// the heads read: adds it, behind the norms. Returns the states (d x T) that the MLP reads.
Eigen::MatrixXf enter_mlp(const LayerWeights& layer, const LayerRules& rules,
                          const Eigen::MatrixXf& projected, Eigen::MatrixXf& tokens);
/// Adds the MLP's `output` (d x T): `tokens` become those after the layer.
void leave_mlp(const LayerWeights& layer, const Eigen::MatrixXf& output, Eigen::MatrixXf& tokens);

/// All that follows the heads, with `read` (H d_v x T) as of run_heads: output projection, skip connection, norms
/// and MLP. `tokens` (d x T) become those after the layer.
void finish_layer(const LayerWeights& layer, const LayerRules& rules, const Eigen::MatrixXf& read,
                  Eigen::MatrixXf& tokens);

}  // namespace eigenscope

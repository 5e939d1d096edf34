// One layer of a trained transformer, run on the tokens of one passage.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/norm.h"
#include "nn/rotary.h"

namespace eigenscope {

/// y = weight x + bias; weight is out x in, an empty bias is none.
struct Linear {
  Eigen::MatrixXf weight;
  Eigen::VectorXf bias;

  Eigen::MatrixXf operator()(const Eigen::MatrixXf& x) const;
};

/// Normalization of each column, or of each of the blocks, as long as the gain, that a column consists of.
/// RMSNorm has no bias. Without a gain there is no norm, and tokens stay as they are.
struct Norm {
  NormKind kind = NormKind::layer_norm;
  Eigen::VectorXf gain, bias;
  float epsilon = 0;

  bool is_none() const { return gain.size() == 0; }
  Eigen::MatrixXf operator()(Eigen::MatrixXf x) const;
};

/// The weights of a layer, in single precision. Head h has rows h d_h to (h + 1) d_h of query, and those
/// of its key head (LayerRules::key_head) of key and value. The MLP is gated where mlp_gate is not empty.
/// Queries, or the gain of their norm, have the model's scale of the logits over 1/sqrt(d_h).
struct LayerWeights {
  Linear query, key, value, attention_output, mlp_gate, mlp_up, mlp_down;
  Norm query_norm, key_norm;  ///< of each head, or of all heads together
  Eigen::VectorXf sinks;  ///< a logit by head that joins the softmax of its rows; empty for none
  /// Before the branch, on its output, and after the skip connection.
  Norm attention_norm, attention_output_norm, attention_end_norm;
  Norm mlp_norm, mlp_output_norm, mlp_end_norm;
};

/// What a layer does beside its weights.
struct LayerRules {
  int heads = 1;
  int key_heads = 1;            ///< divides heads
  Eigen::Index head_width = 1;  ///< d_h
  Activation activation = Activation::gelu;
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

/// The tokens of a passage as one head makes them, d_h x T each, or as all heads do, one below the other,
/// before rotary positions turn them.
struct HeadTokens {
  Eigen::MatrixXf queries, keys, values;
  std::optional<float> sink = {};  ///< of a single head (LayerWeights::sinks)
};

/// What a head did on a passage of T tokens, T x T: row = key, column = query.
struct HeadTrace {
  /// q . k / sqrt(d_h), turned by rotary positions, capped. 0 for keys that the query does not see.
  Eigen::MatrixXf logits;
  /// Their softmax over the keys that the query sees, and the head's sink; 0 elsewhere.
  Eigen::MatrixXf weights;
};

/// What the heads of a layer saw and did on a passage of T tokens.
struct AttentionTrace {
  Eigen::MatrixXf residual;  ///< d x T: the tokens that came in
  Eigen::MatrixXf states;    ///< d x T: the same as queries and keys are made of, after a pre-norm
  std::vector<Eigen::MatrixXf> logits, weights;  ///< by head, as in HeadTrace
  /// H d_h x T: the heads' outputs, one below the other.
  Eigen::MatrixXf read;
};

/// Logits l become cap tanh(l/cap), in place; a cap of 0 is none.
template <class Scalar>
void cap_logits(float cap, std::span<Scalar> logits);

/// The states that queries and keys are made of: `tokens` (d x T), after a pre-norm.
Eigen::MatrixXf states_of(const LayerWeights& layer, const Eigen::MatrixXf& tokens);

/// All heads of the states of a passage (d x T).
HeadTokens all_tokens(const LayerWeights& layer, const Eigen::MatrixXf& states);

/// Head number `head` of the states of a passage (d x T).
HeadTokens head_tokens(const LayerWeights& layer, const LayerRules& rules, int head,
                       const Eigen::MatrixXf& states);

/// Runs this head on its tokens; `turns` are those of T positions. What it reads becomes its rows of `read` (as
/// AttentionTrace::read).
HeadTrace run_head(HeadTokens tokens, const LayerRules& rules, const RotaryTurns& turns, int head,
                   Eigen::MatrixXf& read);

/// What follows the heads: output projection of `read` (as AttentionTrace::read), skip connection, norms and
/// MLP. `tokens` (d x T) become the tokens after the layer.
void finish_layer(const LayerWeights& layer, const LayerRules& rules, const Eigen::MatrixXf& read,
                  Eigen::MatrixXf& tokens);

/// How far a layer is run: its heads alone, or all of it.
enum class LayerEnd { heads, tokens };

/// An intervention in the attention of a layer on one passage; none by default.
struct AttentionEdit {
  /// Reads or changes the tokens of all heads, one below the other.
  std::function<void(HeadTokens&)> tokens = {};
  /// Position of the token that only its own query sees as a key.
  std::optional<Eigen::Index> dropped_key = {};
};

/// Runs the layer: `tokens` (d x T, at least one) become the tokens after it, or stay with `to` heads. Logits of
/// a dropped key are those before.
AttentionTrace run_layer(const LayerWeights& layer, const LayerRules& rules, LayerEnd to,
                         Eigen::MatrixXf& tokens, const AttentionEdit& edit = {});

}  // namespace eigenscope

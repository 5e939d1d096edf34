#include "inference/layer.h"

#include <cmath>

#include "nn/attention.h"
#include "nn/gated_mlp.h"
#include "nn/linear.h"
#include "nn/mlp.h"
#include "nn/rms_norm.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

// Fills logits and weights of every head; returns the heads' outputs, one below the other.
MatrixXf attend(const LayerWeights& layer, const LayerRules& rules, AttentionTrace& trace) {
  MatrixXf queries = layer.query(trace.states), keys = layer.key(trace.states);
  const MatrixXf values = layer.value(trace.states);
  const Index length = queries.cols(), width = rules.head_width;
  const RotaryTurns turns(rules.rotary, length);
  turns.turn_queries(width, queries);
  turns.turn_keys(width, keys);
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  const Entries visible = rules.causal ? Entries::upper : Entries::all;
  MatrixXf out(queries.rows(), length);
  for (int head = 0; head < rules.heads; ++head) {
    const Index first = head * width, shared = rules.key_head(head) * width;
    const HeadInput<float> input{factor(queries.data() + first, queries.rows()),
                                 factor(keys.data() + shared, keys.rows()),
                                 factor(values.data() + shared, values.rows()),
                                 width,
                                 width,
                                 length};
    const auto softmax = [&](Eigen::Map<MatrixXf> logits) {
      logits *= scale;
      if (rules.causal) logits.triangularView<Eigen::StrictlyLower>().setZero();
      trace.logits.emplace_back(logits);
      softmax_columns(1.0f, false, visible, logits);
    };
    MatrixXf& weights = trace.weights.emplace_back(length, length);
    attend_head(input, visible, softmax, weights.data(), out.data() + first, out.rows());
  }
  return out;
}

MatrixXf feed_forward(const LayerWeights& layer, Activation activation, const MatrixXf& x) {
  if (layer.mlp_gate.weight.size() > 0) {
    const MatrixXf gate = layer.mlp_gate(x);
    MatrixXf hidden = layer.mlp_up(x);
    gated_forward(gate, hidden, hidden);
    return layer.mlp_down(hidden);
  }
  MatrixXf hidden(layer.mlp_up.weight.rows(), x.cols()), out(x.rows(), x.cols());
  mlp_forward({layer.mlp_up.weight.data(), layer.mlp_up.bias.data(), layer.mlp_down.weight.data(),
               layer.mlp_down.bias.data(), activation},
              x, hidden, hidden, out);
  return out;
}

}  // namespace

MatrixXf Linear::operator()(const MatrixXf& x) const {
  MatrixXf out(weight.rows(), x.cols());
  linear_forward(weight.data(), bias.data(), x, out);
  return out;
}

MatrixXf Norm::operator()(const MatrixXf& x) const {
  MatrixXf out(x.rows(), x.cols()), statistics(2, x.cols());
  if (kind == NormKind::rms_norm) {
    rms_norm_forward(gain.data(), x, out, statistics, epsilon);
  } else {
    layer_norm_forward(gain.data(), bias.data(), x, out, statistics, epsilon);
  }
  return out;
}

void finish_layer(const LayerWeights& layer, const LayerRules& rules, const MatrixXf& read,
                  MatrixXf& tokens) {
  tokens += layer.attention_output(read);
  if (!rules.pre_norm) tokens = layer.attention_norm(tokens);
  tokens += feed_forward(layer, rules.activation, rules.pre_norm ? layer.mlp_norm(tokens) : tokens);
  if (!rules.pre_norm) tokens = layer.mlp_norm(tokens);
}

AttentionTrace run_layer(const LayerWeights& layer, const LayerRules& rules, LayerEnd to,
                         MatrixXf& tokens) {
  AttentionTrace trace;
  trace.residual = tokens;
  trace.states = rules.pre_norm ? layer.attention_norm(tokens) : tokens;
  trace.read = attend(layer, rules, trace);
  if (to == LayerEnd::tokens) finish_layer(layer, rules, trace.read, tokens);
  return trace;
}

}  // namespace eigenscope

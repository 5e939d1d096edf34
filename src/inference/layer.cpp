#include "inference/layer.h"

#include <array>
#include <cmath>
#include <utility>

#include "nn/attention.h"
#include "nn/gated_mlp.h"
#include "nn/linear.h"
#include "nn/mlp.h"
#include "nn/rms_norm.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

// Logits and weights of a head; its output becomes the columns at `out`, `leading` apart.
HeadTrace attend(const HeadInput<float>& input, bool causal, float* out, Index leading) {
  const float scale = 1 / std::sqrt(static_cast<float>(input.width));
  const Entries visible = causal ? Entries::upper : Entries::all;
  HeadTrace trace{MatrixXf(input.length, input.length), MatrixXf(input.length, input.length)};
  const auto softmax = [&](Eigen::Map<MatrixXf> logits) {
    if (causal) logits.triangularView<Eigen::StrictlyLower>().setZero();
    float *const scaled = logits.data(), *const kept = trace.logits.data();
    for (Index i = 0; i < logits.size(); ++i) kept[i] = scaled[i] *= scale;
    softmax_columns(1.0f, false, visible, logits);
  };
  attend_head(input, visible, softmax, trace.weights.data(), out, leading);
  return trace;
}

// Fills logits and weights of every head; returns the heads' outputs, one below the other.
MatrixXf attend_all(const LayerWeights& layer, const LayerRules& rules, AttentionTrace& trace) {
  MatrixXf queries = layer.query(trace.states), keys = layer.key(trace.states);
  const MatrixXf values = layer.value(trace.states);
  const Index length = queries.cols(), width = rules.head_width;
  const RotaryTurns turns(rules.rotary, length);
  turns.turn_queries(width, queries);
  turns.turn_keys(width, keys);
  MatrixXf out(queries.rows(), length);
  for (int head = 0; head < rules.heads; ++head) {
    const Index first = head * width, shared = rules.key_head(head) * width;
    const HeadInput<float> input{factor(queries.data() + first, queries.rows()),
                                 factor(keys.data() + shared, keys.rows()),
                                 factor(values.data() + shared, values.rows()),
                                 width,
                                 width,
                                 length};
    HeadTrace own = attend(input, rules.causal, out.data() + first, out.rows());
    trace.logits.push_back(std::move(own.logits));
    trace.weights.push_back(std::move(own.weights));
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

MatrixXf states_of(const LayerWeights& layer, const LayerRules& rules, const MatrixXf& tokens) {
  return rules.pre_norm ? layer.attention_norm(tokens) : tokens;
}

HeadTokens head_tokens(const LayerWeights& layer, const LayerRules& rules, int head,
                       const MatrixXf& states) {
  const Index width = rules.head_width, length = states.cols();
  const Index own = head * width, shared = rules.key_head(head) * width;
  HeadTokens tokens;
  struct Part {
    const Linear& from;
    Index first;
    MatrixXf& to;
  };
  const std::array<Part, 3> parts{{{layer.query, own, tokens.queries},
                                   {layer.key, shared, tokens.keys},
                                   {layer.value, shared, tokens.values}}};
  std::array<Product<float>, 3> products;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto& [from, first, to] = parts[k];
    to.resize(width, length);
    products[k] = {width,
                   length,
                   factor(from.weight.data() + first, from.weight.rows()),
                   factor(states.data(), states.rows()),
                   to.data(),
                   width};
  }
  multiply<float, float>(states.rows(), products);
  for (const auto& [from, first, to] : parts) {
    if (from.bias.size() == 0) continue;
    const float* const bias = from.bias.data() + first;
    for (Index t = 0; t < length; ++t) {
      float* const column = to.data() + t * width;
      for (Index i = 0; i < width; ++i) column[i] += bias[i];
    }
  }
  return tokens;
}

HeadTrace run_head(HeadTokens tokens, const LayerRules& rules, const RotaryTurns& turns, int head,
                   MatrixXf& read) {
  auto& [queries, keys, values] = tokens;
  const Index width = rules.head_width;
  turns.turn_queries(width, queries);
  turns.turn_keys(width, keys);
  const HeadInput<float> input{factor(queries.data(), width),
                               factor(keys.data(), width),
                               factor(values.data(), width),
                               width,
                               width,
                               queries.cols()};
  return attend(input, rules.causal, read.data() + head * width, read.rows());
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
  trace.states = states_of(layer, rules, tokens);
  trace.read = attend_all(layer, rules, trace);
  if (to == LayerEnd::tokens) finish_layer(layer, rules, trace.read, tokens);
  return trace;
}

}  // namespace eigenscope

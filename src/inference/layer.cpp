#include "inference/layer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "nn/attention.h"
#include "nn/linear.h"
#include "nn/mlp.h"
#include "nn/rms_norm.h"
#include "support/vector_math.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

// The share of the keys in a softmax that a logit `sink` joins: of logits whose largest one has the weight `weight`
// without it.
float share_beside(float sink, float largest, float weight) {
  if (sink <= largest) return 1 / (1 + weight * exp_nonpositive(sink - largest));
  const float ratio = exp_nonpositive(largest - sink);
  return ratio / (ratio + weight);
}

// Logits and weights of a head; its output becomes the columns at `out`, `leading` apart.
HeadTrace attend(const HeadInput<float>& input, const LayerRules& rules, std::optional<float> sink,
                 std::optional<Index> dropped_key, float* out, Index leading) {
  constexpr float kHidden = -1e30f;  // its exponential is 0
  const float scale = 1 / std::sqrt(static_cast<float>(input.width));
  const Entries visible = rules.causal ? Entries::upper : Entries::all;
  HeadTrace trace{MatrixXf(input.length, input.length), MatrixXf(input.length, input.length)};
  const auto softmax = [&](Eigen::Map<MatrixXf> logits) {
    const Index length = input.length;
    trace.logits.setZero();
    for (Index query = 0; query < length; ++query) {
      const KeyRange seen = rules.seen(query, length);
      float* const column = logits.data() + query * length;
      float* const scaled = column + seen.first;
      for (Index i = 0; i < seen.count; ++i) scaled[i] *= scale;
      cap_logits<float>(rules.attention_cap, {scaled, static_cast<std::size_t>(seen.count)});
      std::copy_n(scaled, seen.count, &trace.logits(seen.first, query));
      if (dropped_key && query != *dropped_key && seen.contains(*dropped_key)) {
        column[*dropped_key] = kHidden;
      }
      softmax_column(1.0f, seen, length, column);
      if (!sink) continue;
      const Index largest = std::max_element(scaled, scaled + seen.count) - scaled;
      const float share =
          share_beside(*sink, trace.logits(seen.first + largest, query), scaled[largest]);
      for (Index i = 0; i < seen.count; ++i) scaled[i] *= share;
    }
  };
  attend_head(input, visible, softmax, trace.weights.data(), out, leading);
  return trace;
}

// Fills logits and weights of every head; returns the heads' outputs, one below the other.
MatrixXf attend_all(const LayerWeights& layer, const LayerRules& rules, const AttentionEdit& edit,
                    AttentionTrace& trace) {
  HeadTokens tokens = all_tokens(layer, trace.states);
  if (edit.tokens) edit.tokens(tokens);
  auto& [queries, keys, values, sink] = tokens;
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
    if (layer.sinks.size() > 0) sink = layer.sinks[head];
    HeadTrace own = attend(input, rules, sink, edit.dropped_key, out.data() + first, out.rows());
    trace.logits.push_back(std::move(own.logits));
    trace.weights.push_back(std::move(own.weights));
  }
  return out;
}

MatrixXf feed_forward(const LayerWeights& layer, Activation activation, const MatrixXf& x) {
  if (layer.mlp_gate.weight.size() > 0) {
    MatrixXf hidden = layer.mlp_gate(x);
    activation_forward(activation, hidden, hidden);
    hidden.array() *= layer.mlp_up(x).array();
    return layer.mlp_down(hidden);
  }
  MatrixXf hidden(layer.mlp_up.weight.rows(), x.cols()), out(x.rows(), x.cols());
  mlp_forward({layer.mlp_up.weight.data(), layer.mlp_up.bias.data(), layer.mlp_down.weight.data(),
               layer.mlp_down.bias.data(), activation},
              x, hidden, hidden, out);
  return out;
}

}  // namespace

KeyRange LayerRules::seen(Index query, Index length) const {
  const Index first = std::max<Index>(0, query - reach);
  const Index last = causal ? query : std::min(length - 1, query + reach);
  return {first, last + 1 - first};
}

Index LayerRules::most_seen(Index length) const {
  return seen(causal ? length - 1 : (length - 1) / 2, length).count;
}

MatrixXf Linear::operator()(const MatrixXf& x) const {
  MatrixXf out(weight.rows(), x.cols());
  linear_forward(weight.data(), bias.data(), x, out);
  return out;
}

MatrixXf Norm::operator()(MatrixXf x) const {
  if (is_none()) return x;
  const Index rows = x.rows();
  x.resize(gain.size(), x.size() / gain.size());  // a block a column
  MatrixXf out(x.rows(), x.cols()), statistics(2, x.cols());
  if (kind == NormKind::rms_norm) {
    rms_norm_forward(gain.data(), x, out, statistics, epsilon);
  } else {
    layer_norm_forward(gain.data(), bias.data(), x, out, statistics, epsilon);
  }
  out.resize(rows, out.size() / rows);
  return out;
}

template <class Scalar>
void cap_logits(float cap, std::span<Scalar> logits) {
  if (cap == 0) return;
  const auto most = static_cast<Scalar>(cap);
  for (Scalar& logit : logits) logit = most * vector_tanh(logit / most);
}

template void cap_logits(float, std::span<float>);
template void cap_logits(float, std::span<double>);

MatrixXf states_of(const LayerWeights& layer, const MatrixXf& tokens) {
  return layer.attention_norm(tokens);
}

HeadTokens all_tokens(const LayerWeights& layer, const MatrixXf& states) {
  return {layer.query_norm(layer.query(states)), layer.key_norm(layer.key(states)),
          layer.value(states)};
}

HeadTokens head_tokens(const LayerWeights& layer, const LayerRules& rules, int head,
                       const MatrixXf& states) {
  const Index width = rules.head_width, length = states.cols();
  const Index own = head * width, shared = rules.key_head(head) * width;
  std::optional<float> sink;
  if (layer.sinks.size() > 0) sink = layer.sinks[head];
  if (layer.query_norm.gain.size() > width || layer.key_norm.gain.size() > width) {
    // A norm of all heads together.
    const HeadTokens all = all_tokens(layer, states);
    return {all.queries.middleRows(own, width), all.keys.middleRows(shared, width),
            all.values.middleRows(shared, width), sink};
  }
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
  tokens.queries = layer.query_norm(std::move(tokens.queries));
  tokens.keys = layer.key_norm(std::move(tokens.keys));
  tokens.sink = sink;
  return tokens;
}

HeadTrace run_head(HeadTokens tokens, const LayerRules& rules, const RotaryTurns& turns, int head,
                   MatrixXf& read) {
  auto& [queries, keys, values, sink] = tokens;
  const Index width = rules.head_width;
  turns.turn_queries(width, queries);
  turns.turn_keys(width, keys);
  const HeadInput<float> input{factor(queries.data(), width),
                               factor(keys.data(), width),
                               factor(values.data(), width),
                               width,
                               width,
                               queries.cols()};
  return attend(input, rules, sink, {}, read.data() + head * width, read.rows());
}

void finish_layer(const LayerWeights& layer, const LayerRules& rules, const MatrixXf& read,
                  MatrixXf& tokens) {
  const MatrixXf entered = rules.parallel ? tokens : MatrixXf();
  tokens += layer.attention_output_norm(layer.attention_output(read));
  tokens = layer.attention_end_norm(std::move(tokens));
  const MatrixXf states = layer.mlp_norm(rules.parallel ? entered : tokens);
  tokens += layer.mlp_output_norm(feed_forward(layer, rules.activation, states));
  tokens = layer.mlp_end_norm(std::move(tokens));
}

AttentionTrace run_layer(const LayerWeights& layer, const LayerRules& rules, LayerEnd to,
                         MatrixXf& tokens, const AttentionEdit& edit) {
  AttentionTrace trace;
  trace.residual = tokens;
  trace.states = states_of(layer, tokens);
  trace.read = attend_all(layer, rules, edit, trace);
  if (to == LayerEnd::tokens) finish_layer(layer, rules, trace.read, tokens);
  return trace;
}

}  // namespace eigenscope

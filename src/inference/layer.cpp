#include "inference/layer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "nn/attention.h"
#include "nn/attention_offsets.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "support/vector_math.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

// Terms that join the products of a head's queries and keys in its softmax.
struct Beside {
  std::optional<float> sink;
  const Eigen::VectorXf& offset_bias;
  const DisentangledTerms* terms;
};

// The sum of the disentangled terms of head number `head`, added to the products of its queries and keys, T x T: row =
// key, column = query.
MatrixXf offset_products(const HeadInput<float>& input, const DisentangledTerms& terms, int head) {
  const Index length = input.length, width = input.width;
  const std::vector<int> places = relative_places(length, terms.span, terms.farthest);
  MatrixXf added = MatrixXf::Zero(length, length), products;
  // The products of tokens with all vectors of offsets, vectors x T.
  const auto multiply_all = [&](const MatrixXf& vectors, const Factor<float>& tokens) {
    products.setZero(vectors.cols(), length);
    multiply(vectors.cols(), length, width,
             factor(vectors.data() + head * width, vectors.rows()).transposed(), tokens,
             products.data(), products.rows());
  };
  const auto add = [&](bool of_queries) {
    for (Index query = 0; query < length; ++query) {
      for (Index key = 0; key < length; ++key) {
        const int place = places[static_cast<std::size_t>(key - query + length - 1)];
        added(key, query) += products(place, of_queries ? query : key);
      }
    }
  };
  if (terms.keys.size() > 0) {
    multiply_all(terms.keys, input.query);
    add(true);
  }
  if (terms.queries.size() > 0) {
    multiply_all(terms.queries, input.key);
    add(false);
  }
  return added;
}

// Logits and weights of a head; its output becomes the columns at `out`, `leading` apart.
void attend(const HeadInput<float>& input, const LayerRules& rules, const Beside& beside, int head,
            const AttentionEdit& edit, HeadTrace& trace, float* out, Index leading) {
  const float scale = 1 / std::sqrt(static_cast<float>(input.width));
  const Entries visible = rules.causal ? Entries::upper : Entries::all;
  const std::optional<float>& sink = beside.sink;
  const Eigen::VectorXf& bias = beside.offset_bias;
  trace.logits.setZero(input.length, input.length);
  trace.weights.resize(input.length, input.length);
  const MatrixXf of_offsets = beside.terms && !beside.terms->is_none()
                                  ? offset_products(input, *beside.terms, head)
                                  : MatrixXf();
  const auto softmax = [&](Eigen::Map<MatrixXf> logits) {
    const Index length = input.length;
    for (Index query = 0; query < length; ++query) {
      const KeyRange seen = rules.seen(query, length);
      float* const column = logits.data() + query * length;
      float* const scaled = column + seen.first;
      for (Index i = 0; of_offsets.size() > 0 && i < seen.count; ++i) {
        scaled[i] += of_offsets(seen.first + i, query);
      }
      for (Index i = 0; i < seen.count; ++i) scaled[i] *= scale;
      if (bias.size() > 0) {
        Eigen::Map<Eigen::VectorXf>(scaled, seen.count) +=
            seen_offsets(bias, query, seen.first, seen.count);
      }
      cap_logits<float>(rules.attention_cap, {scaled, static_cast<std::size_t>(seen.count)});
      std::copy_n(scaled, seen.count, &trace.logits(seen.first, query));
      const auto& dropped = edit.dropped_key;
      if (dropped && query != *dropped && seen.contains(*dropped)) {
        column[*dropped] = kHiddenLogit<float>;
      }
      softmax_column(1.0f, seen, length, column);
      if (!sink) continue;
      const Index largest = std::max_element(scaled, scaled + seen.count) - scaled;
      const auto share = static_cast<float>(
          share_beside(*sink, trace.logits(seen.first + largest, query), scaled[largest]));
      for (Index i = 0; i < seen.count; ++i) scaled[i] *= share;
    }
    if (edit.weights) edit.weights(head, logits);
  };
  attend_head(input, visible, softmax, trace.weights.data(), out, leading);
}

std::optional<float> sink_of(const LayerWeights& layer, int head) {
  if (layer.sinks.size() == 0) return std::nullopt;
  return layer.sinks[head];
}

// Queries, keys and values of head number `head` in matrices that hold heads one below the other.
HeadInput<float> head_input(const HeadTokens& tokens, const LayerRules& rules, int head) {
  const Index width = rules.head_width, shared = rules.key_head(head);
  const auto rows = [](const MatrixXf& from, Index first) {
    return factor(from.data() + first, from.rows());
  };
  return {rows(tokens.queries, head * width),
          rows(tokens.keys, shared * width),
          rows(tokens.values, shared * rules.value_width),
          width,
          rules.value_width,
          tokens.queries.cols()};
}

struct Output {
  const Linear& from;
  MatrixXf& to;
};

// Applies several maps to the same x (in x T) in one pass over it.
template <std::size_t kMaps>
void apply_maps(const std::array<Output, kMaps>& maps, const MatrixXf& x) {
  std::array<Product<float>, kMaps> products;
  for (std::size_t k = 0; k < maps.size(); ++k) {
    const auto& [from, to] = maps[k];
    to.resize(from.weight.rows(), x.cols());
    products[k] = {to.rows(),
                   x.cols(),
                   factor(from.weight.data(), from.weight.rows()),
                   factor(x.data(), x.rows()),
                   to.data(),
                   to.rows()};
  }
  multiply<float, float>(x.rows(), products);
  for (const auto& [from, to] : maps) {
    if (from.bias.size() > 0) to.colwise() += from.bias;
  }
}

// Queries, keys and values of the states (d x T).
void project(const LayerWeights& layer, const Output& query, const Output& key, const Output& value,
             const MatrixXf& states) {
  if (layer.query_input.is_none() && layer.key_input.is_none()) {
    return apply_maps(std::array{query, key, value}, states);
  }
  apply_maps(std::array{query}, layer.query_input(states));
  apply_maps(std::array{key, value}, layer.key_input(states));
}

void normalize(const LayerWeights& layer, const Norm& query_norm, const Norm& key_norm,
               HeadTokens& tokens) {
  if (const float bound = layer.projection_bound; bound > 0) {
    for (MatrixXf* const all : {&tokens.queries, &tokens.keys, &tokens.values}) {
      *all = all->cwiseMax(-bound).cwiseMin(bound);
    }
  }
  tokens.values = layer.value_norm(std::move(tokens.values));
  if (layer.turned_before_norms) return;
  tokens.queries = query_norm(std::move(tokens.queries));
  tokens.keys = key_norm(std::move(tokens.keys));
}

void turn(const RotaryTurns& turns, const LayerRules& rules, const LayerWeights* layer,
          HeadTokens& tokens) {
  turns.turn_queries(rules.head_width, tokens.queries);
  turns.turn_keys(rules.head_width, tokens.keys);
  if (!layer || !layer->turned_before_norms) return;
  tokens.queries = layer->query_norm(std::move(tokens.queries));
  tokens.keys = layer->key_norm(std::move(tokens.keys));
}

// Gives the tokens of one head the terms that join its products.
void add_beside(const LayerWeights& layer, int head, HeadTokens& tokens) {
  tokens.sink = sink_of(layer, head);
  tokens.offset_bias = layer.offset_bias.of_head(head, tokens.queries.cols());
  if (layer.turned_before_norms || !layer.offset_terms.is_none()) tokens.layer = &layer;
}

// The outputs of all heads, one below the other, with the weights of one head in memory at a time.
MatrixXf by_heads(const HeadProjection& from, const MatrixXf& x) {
  MatrixXf all;
  for (int head = 0; head < from.heads(); ++head) {
    const MatrixXf part = from.head(head)(x);
    if (head == 0) all.resize(from.heads() * part.rows(), x.cols());
    all.middleRows(head * part.rows(), part.rows()) = part;
  }
  return all;
}

MatrixXf feed_forward(const LayerWeights& layer, Activation activation, const MatrixXf& x) {
  if (layer.xielu) {
    MatrixXf hidden = layer.mlp_up(x);
    activate(*layer.xielu, {hidden.data(), static_cast<std::size_t>(hidden.size())});
    return layer.mlp_down(hidden);
  }
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

/// The term that a branch adds to the tokens.
MatrixXf added(const Norm& norm, const Eigen::VectorXf& scale, const MatrixXf& output) {
  MatrixXf normed = norm(output);
  if (scale.size() > 0) normed.array().colwise() *= scale.array();
  return normed;
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

Norm Norm::of_head(int head) const {
  if (head_width == 0) return *this;
  const auto part = [&](const Eigen::VectorXf& values) -> Eigen::VectorXf {
    if (values.size() == 0) return {};
    return values.segment(head * head_width, head_width);
  };
  return {kind, part(gain), part(bias), epsilon};
}

MatrixXf Norm::operator()(MatrixXf x) const {
  if (is_none()) return x;
  if (head_width > 0) {
    for (int head = 0; head < gain.size() / head_width; ++head) {
      auto part = x.middleRows(head * head_width, head_width);
      part = of_head(head)(part);
    }
    return x;
  }
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

MatrixXf Compression::operator()(const MatrixXf& states) const {
  if (is_none()) return states;
  if (selects()) return states.middleRows(first_row, rows);
  MatrixXf out = map(states);
  out.topRows(norm.gain.size()) = norm(out.topRows(norm.gain.size()));
  return out;
}

bool LayerWeights::normalizes_all_heads(const LayerRules& rules) const {
  const auto is_of_all = [&](const Norm& norm) {
    return norm.head_width == 0 && norm.gain.size() > rules.head_width;
  };
  return is_of_all(query_norm) || is_of_all(key_norm);
}

double share_beside(double sink, double largest, double weight) {
  if (sink <= largest) return 1 / (1 + weight * std::exp(sink - largest));
  const double ratio = std::exp(largest - sink);
  return ratio / (ratio + weight);
}

template <class Scalar>
void cap_logits(float cap, std::span<Scalar> logits) {
  if (cap == 0) return;
  const auto most = static_cast<Scalar>(cap);
  in_widest_vectors([=]() EIGENSCOPE_INLINE_LAMBDA {
    for (Scalar& logit : logits) logit = most * vector_tanh(logit / most);
  });
}

template void cap_logits(float, std::span<float>);
template void cap_logits(float, std::span<double>);

MatrixXf states_of(const LayerWeights& layer, const MatrixXf& tokens) {
  return layer.attention_norm(tokens);
}

MatrixXf states_of(const LayerWeights& layer, const MatrixXf& tokens, const MatrixXf& earlier) {
  MatrixXf both(tokens.rows() + earlier.rows(), tokens.cols());
  both.topRows(tokens.rows()) = layer.attention_norm(tokens);
  both.bottomRows(earlier.rows()) = layer.earlier_norm(earlier);
  return both;
}

HeadTokens all_tokens(const LayerWeights& layer, const MatrixXf& states) {
  HeadTokens tokens;
  const Linear *query = layer.query.all(), *key = layer.key.all(), *value = layer.value.all();
  if (query && key && value) {
    project(layer, {*query, tokens.queries}, {*key, tokens.keys}, {*value, tokens.values}, states);
  } else {
    tokens.queries = by_heads(layer.query, layer.query_input(states));
    const MatrixXf entering = layer.key_input(states);
    tokens.keys = by_heads(layer.key, entering);
    tokens.values = by_heads(layer.value, entering);
  }
  normalize(layer, layer.query_norm, layer.key_norm, tokens);
  return tokens;
}

HeadTokens head_among(const HeadTokens& all, const LayerWeights& layer, const LayerRules& rules,
                      int head) {
  const Index width = rules.head_width, shared = rules.key_head(head);
  HeadTokens tokens{all.queries.middleRows(head * width, width),
                    all.keys.middleRows(shared * width, width),
                    all.values.middleRows(shared * rules.value_width, rules.value_width)};
  add_beside(layer, head, tokens);
  return tokens;
}

std::vector<HeadTokens> head_tokens(const LayerWeights& layer, const LayerRules& rules, int head,
                                    std::span<const MatrixXf> states) {
  std::vector<HeadTokens> tokens;
  if (layer.normalizes_all_heads(rules)) {
    for (const MatrixXf& passage : states) {
      tokens.push_back(head_among(all_tokens(layer, passage), layer, rules, head));
    }
    return tokens;
  }
  const int shared = rules.key_head(head);
  const Linear query = layer.query.head(head), key = layer.key.head(shared),
               value = layer.value.head(shared);
  const Norm query_norm = layer.query_norm.of_head(head), key_norm = layer.key_norm.of_head(shared);
  for (const MatrixXf& passage : states) {
    HeadTokens& head_tokens = tokens.emplace_back();
    project(layer, {query, head_tokens.queries}, {key, head_tokens.keys},
            {value, head_tokens.values}, passage);
    normalize(layer, query_norm, key_norm, head_tokens);
    add_beside(layer, head, head_tokens);
  }
  return tokens;
}

HeadTrace run_head(HeadTokens tokens, const LayerRules& rules, const RotaryTurns& turns, int head,
                   MatrixXf& read) {
  turn(turns, rules, tokens.layer, tokens);
  LayerRules one = rules;
  one.heads = one.key_heads = 1;
  HeadTrace trace;
  attend(head_input(tokens, one, 0), rules,
         {tokens.sink, tokens.offset_bias, tokens.layer ? &tokens.layer->offset_terms : nullptr},
         head, {}, trace, read.data() + head * rules.value_width, read.rows());
  return trace;
}

MatrixXf run_heads(const LayerWeights& layer, const LayerRules& rules, const RotaryTurns& turns,
                   HeadTokens tokens, const AttentionEdit& edit, const HeadVisitor& visit) {
  if (edit.tokens) edit.tokens(tokens);
  turn(turns, rules, &layer, tokens);
  MatrixXf read(rules.heads * rules.value_width, tokens.queries.cols());
  HeadTrace trace;
  for (int head = 0; head < rules.heads; ++head) {
    const Eigen::VectorXf bias = layer.offset_bias.of_head(head, tokens.queries.cols());
    attend(head_input(tokens, rules, head), rules,
           {sink_of(layer, head), bias, &layer.offset_terms}, head, edit, trace,
           read.data() + head * rules.value_width, read.rows());
    if (visit) visit(head, trace);
  }
  return read;
}

MatrixXf enter_mlp(const LayerWeights& layer, const LayerRules& rules, const MatrixXf& projected,
                   MatrixXf& tokens) {
  if (layer.skip.weight.size() > 0) tokens = layer.skip(tokens);
  const MatrixXf entered = rules.parallel ? tokens : MatrixXf();
  tokens += added(layer.attention_output_norm, layer.attention_scale, projected);
  tokens = layer.attention_end_norm(std::move(tokens));
  return layer.mlp_norm(rules.parallel ? entered : tokens);
}

void leave_mlp(const LayerWeights& layer, const MatrixXf& output, MatrixXf& tokens) {
  tokens += added(layer.mlp_output_norm, layer.mlp_scale, output);
  tokens = layer.mlp_end_norm(std::move(tokens));
}

void finish_layer(const LayerWeights& layer, const LayerRules& rules, const MatrixXf& read,
                  MatrixXf& tokens) {
  const MatrixXf states = enter_mlp(layer, rules, layer.attention_output(read), tokens);
  leave_mlp(layer, feed_forward(layer, rules.activation, states), tokens);
  tokens *= layer.layer_scale;
}

}  // namespace eigenscope

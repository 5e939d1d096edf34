#include "prediction/random_tokens.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "attention/softmax.h"
#include "support/error.h"
#include "support/gemm.h"
#include "support/parameter.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXd;

constexpr std::uint64_t kTokenStream = 0x746f6b656e730000;  // "tokens", with room for the sequences

constexpr std::uint64_t kSampleStream =
    0x73616d706c650000;  // "sample", with room for the sequences

/// A model that reads all sequences token by token, and keeps their keys and values.
class TokenReader {
 public:
  TokenReader(const Transformer& model, Index count, Index length)
      : model_(model), output_(model.read_output()) {
    for (int layer = 0; layer < model.layers(); ++layer) {
      layers_.push_back(model.read_layer(layer));
      turns_.emplace_back(model.rules(layer).rotary, length);
      const LayerRules& rules = model.rules(layer);
      const auto kept = [&](Index width) {
        return std::vector(static_cast<std::size_t>(count),
                           MatrixXf(rules.key_heads * width, length));
      };
      keys_.push_back(kept(rules.head_width));
      values_.push_back(kept(rules.value_width));
    }
  }

  /// The next token of each sequence, at `position`; returns its logits, vocabulary x count.
  MatrixXf read(const std::vector<int>& ids, Index position) {
    const auto count = static_cast<Index>(ids.size());
    MatrixXf x(model_.width(), count);
    for (Index k = 0; k < count; ++k) {
      x.col(k) = model_.embed({&ids[static_cast<std::size_t>(k)], 1}, position);
    }
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      finish_layer(layers_[layer], rules(layer), attended(layer, position, x), x);
    }
    x = model_.finished(x);
    MatrixXf logits = output_(x);
    cap_logits<float>(model_.output_cap(),
                      {logits.data(), static_cast<std::size_t>(logits.size())});
    return logits;
  }

 private:
  const LayerRules& rules(std::size_t layer) const { return model_.rules(static_cast<int>(layer)); }

  /// The outputs of the heads before the output projection, H d_v x count.
  MatrixXf attended(std::size_t layer, Index position, const MatrixXf& x) {
    const LayerWeights& weights = layers_[layer];
    const LayerRules& rules = this->rules(layer);
    const Index width = rules.head_width;
    const KeyRange seen = rules.seen(position, position + 1);
    const MatrixXf states = states_of(weights, x);
    // Sinks and biases are not among the tokens of all heads; no model without experts has sinks.
    HeadTokens all = all_tokens(weights, states);
    MatrixXf &queries = all.queries, &keys = all.keys;
    turns_[layer].turn_queries(width, position, queries);
    turns_[layer].turn_keys(width, position, keys);
    MatrixXf out(rules.heads * rules.value_width, x.cols());
    for (Index k = 0; k < x.cols(); ++k) {
      MatrixXf& key = keys_[layer][static_cast<std::size_t>(k)];
      MatrixXf& value = values_[layer][static_cast<std::size_t>(k)];
      key.col(position) = keys.col(k);
      value.col(position) = all.values.col(k);
      for (int head = 0; head < rules.heads; ++head) {
        const Index shared = rules.key_head(head);
        const Eigen::VectorXf offset_bias = weights.offset_bias.of_head(head, position + 1);
        read_head(rules, factor(&key(shared * width, seen.first), key.rows()),
                  factor(&value(shared * rules.value_width, seen.first), value.rows()), seen.count,
                  offset_bias, &queries(head * width, k), &out(head * rules.value_width, k));
      }
    }
    return out;
  }

  static void read_head(const LayerRules& rules, Factor<float> key, Factor<float> value, Index seen,
                        const Eigen::VectorXf& offset_bias, const float* query, float* out) {
    const Index width = rules.head_width;
    Eigen::VectorXf weights(seen);
    multiply(seen, 1, width, key.transposed(), factor<float>(query, width), weights.data(), seen);
    VectorXd logits = weights.cast<double>() / std::sqrt(static_cast<double>(width));
    // The last visible key is at the position of the query.
    if (offset_bias.size() > 0) {
      logits += seen_offsets(offset_bias, seen - 1, 0, seen).cast<double>();
    }
    cap_logits<double>(rules.attention_cap, {logits.data(), static_cast<std::size_t>(seen)});
    weights = softmax(logits, 1).cast<float>();
    multiply(rules.value_width, 1, seen, value, factor<float>(weights.data(), seen), out,
             rules.value_width);
  }

  const Transformer& model_;
  Linear output_;
  std::vector<RotaryTurns> turns_;  // by layer
  std::vector<LayerWeights> layers_;
  std::vector<std::vector<MatrixXf>> keys_, values_;  // by layer and sequence
};

/// Draws tokens of one sequence after another.
class Draws {
 public:
  Draws(const std::vector<int>& ids, std::size_t count, std::uint64_t seed)
      : ids_(ids), seed_(seed), drawn_(count, 0) {}

  double unit(std::size_t sequence) {
    return random_unit(seed_, kSampleStream + sequence, drawn_[sequence]++);
  }
  int any(std::size_t sequence) {
    const double place = unit(sequence) * static_cast<double>(ids_.size());
    return ids_[static_cast<std::size_t>(place)];
  }
  int token(std::size_t sequence, const Eigen::VectorXf& logits) {
    VectorXd allowed(static_cast<Index>(ids_.size()));
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      allowed[static_cast<Index>(i)] = static_cast<double>(logits[ids_[i]]);
    }
    const VectorXd weights = softmax(allowed, 1);
    double left = unit(sequence);
    std::size_t i = 0;
    while (i + 1 < ids_.size() && left >= weights[static_cast<Index>(i)]) {
      left -= weights[static_cast<Index>(i++)];
    }
    return ids_[i];
  }

 private:
  const std::vector<int>& ids_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> drawn_;
};

/// Extends each sequence until it has `length` tokens; all are equally long.
void extend(const Transformer& model, Draws& draws, Index length,
            std::vector<std::vector<int>>& sequences) {
  TokenReader reader(model, static_cast<Index>(sequences.size()), length);
  std::vector<int> next(sequences.size());
  for (Index t = 0; t + 1 < length; ++t) {
    const auto place = static_cast<std::size_t>(t);
    for (std::size_t k = 0; k < next.size(); ++k) next[k] = sequences[k][place];
    const MatrixXf logits = reader.read(next, t);
    for (std::size_t k = 0; k < next.size(); ++k) {
      if (sequences[k].size() > place + 1) continue;
      sequences[k].push_back(draws.token(k, logits.col(static_cast<Index>(k))));
    }
  }
}

}  // namespace

VectorXd token_probabilities(const RandomTokens& tokens) {
  checked(kZipfExponent, tokens.exponent);
  checked(kZipfOffset, tokens.offset);
  if (tokens.law == TokenLaw::sampled) {
    throw InvalidArgument("tokens_law", "be a law of independent tokens");
  }
  const auto count = static_cast<Index>(tokens.ids.size());
  if (count == 0) throw InvalidArgument("ids", "have at least one token to draw");
  VectorXd p = VectorXd::Ones(count);
  if (tokens.law == TokenLaw::zipf) {
    const double ranks = static_cast<double>(count);
    p = (VectorXd::LinSpaced(count, 1, ranks).array() + tokens.offset).pow(-tokens.exponent);
  }
  return p / p.sum();
}

Index content_length(const RandomTokens& tokens, Index length) {
  const auto special = static_cast<Index>(tokens.before.size() + tokens.after.size());
  if (length > special) return length - special;
  throw InvalidArgument("length",
                        "be an integer from " + std::to_string(special + 1) + " with " +
                            std::to_string(special) + " special tokens",
                        "found " + std::to_string(length));
}

std::vector<Passage> random_passages(const RandomTokens& tokens, Index count, Index length,
                                     std::uint64_t seed) {
  const Index room = content_length(tokens, length);
  VectorXd below = token_probabilities(tokens);
  for (Index i = 1; i < below.size(); ++i) below[i] += below[i - 1];
  std::vector<Passage> passages;
  for (Index k = 0; k < count; ++k) {
    Passage passage{tokens.before, static_cast<Index>(tokens.before.size()),
                    static_cast<Index>(tokens.after.size())};
    for (Index t = 0; t < room; ++t) {
      const double unit = random_unit(seed, kTokenStream + static_cast<std::uint64_t>(k),
                                      static_cast<std::uint64_t>(t));
      const auto place = std::upper_bound(below.begin(), below.end() - 1, unit) - below.begin();
      passage.ids.push_back(tokens.ids[static_cast<std::size_t>(place)]);
    }
    passage.ids.insert(passage.ids.end(), tokens.after.begin(), tokens.after.end());
    passages.push_back(std::move(passage));
  }
  return passages;
}

std::vector<Passage> sampled_passages(const Transformer& model, const RandomTokens& tokens,
                                      Index count, Index length, std::uint64_t seed) {
  if (!model.causal()) {
    throw InvalidArgument("tokens_law",
                          "be another than sampled for a model whose attention is not causal");
  }
  if (model.has_mixtures()) {
    throw InvalidArgument("tokens_law",
                          "be another than sampled for mixtures of experts, "
                          "whose layers are not kept in memory");
  }
  if (model.has_mixers()) {
    throw InvalidArgument("tokens_law",
                          "be another than sampled for models of which layers have no heads, or "
                          "gate what heads read");
  }
  if (model.has_lent_keys() || model.has_layer_inputs()) {
    throw InvalidArgument("tokens_law",
                          "be another than sampled for models whose layers read more than the "
                          "tokens that enter them");
  }
  model.check_plain_logits("a sampled text");
  if (tokens.ids.empty()) throw InvalidArgument("ids", "have at least one token to draw");
  const Index room = content_length(tokens, length);
  const auto sequences = static_cast<std::size_t>(count);
  Draws draws(tokens.ids, sequences, seed);
  std::vector<std::vector<int>> all_ids(sequences, tokens.before);
  const Index end = static_cast<Index>(tokens.before.size()) + room;
  if (tokens.before.empty()) {
    for (std::size_t k = 0; k < sequences; ++k) all_ids[k] = {draws.any(k)};
    extend(model, draws, end, all_ids);
    for (std::vector<int>& ids : all_ids) ids = {ids.back()};
  }
  extend(model, draws, end, all_ids);
  std::vector<Passage> passages;
  for (std::vector<int>& ids : all_ids) {
    ids.insert(ids.end(), tokens.after.begin(), tokens.after.end());
    passages.push_back({std::move(ids), static_cast<Index>(tokens.before.size()),
                        static_cast<Index>(tokens.after.size())});
  }
  return passages;
}

}  // namespace eigenscope

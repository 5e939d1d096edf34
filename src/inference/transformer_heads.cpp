// The weights that heads need: queries, keys, values and their norms.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/tensor_guards.h"
#include "inference/transformer.h"
#include "io/json_events.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXf;

constexpr float kLatentEpsilon = 1e-6F;  // of latent norms, whatever config.json says

}  // namespace

Norm Transformer::read_projection_norm(std::string_view pattern, int layer, Index outputs) const {
  const std::string name = full_name(pattern, layer);
  if (pattern.empty() || !tensors_->tensors().contains(name)) return {};
  const Index head_width = rules(layer).head_width;
  const auto size = [](Index n) { return static_cast<std::uint64_t>(n); };
  check_norm_span(*tensors_, name, *match_.family, attention(), size(outputs / head_width),
                  size(head_width));
  if (attention().norm_span == NormSpan::each_head) {
    const std::string bias = bias_of(name);
    if (tensors_->tensors().contains(bias)) refuse_item(bias, "a bias here is not supported");
    return {names().norm, read_flat(pattern, layer, outputs), VectorXf::Zero(outputs), epsilon_,
            head_width};
  }
  const bool each = tensors_->tensor(name).shape == std::vector{size(head_width)};
  return read_norm_of(name, each ? head_width : outputs);
}

void Transformer::read_latent_projections(LayerWeights& weights, int layer,
                                          Index most_weights) const {
  const LayerRules& rules = this->rules(layer);
  const auto& [rank, turned, compressed, values] = latent_;
  const LatentNames& latent = attention().latent;
  const auto compression = [&](std::string_view weight, std::string_view gain, Index outputs,
                               Index normalized) {
    Compression input{linear(weight, layer, outputs, width_).read(),
                      read_norm_of(full_name(gain, layer), normalized)};
    input.norm.epsilon = kLatentEpsilon;
    return input;
  };
  Index entering = width_;
  if (!latent.query_weight.empty()) {
    entering = sides(attention().query_weight, layer)[0];
    weights.query_input = compression(latent.query_weight, latent.query_gain, entering, entering);
  }
  weights.key_input = compression(latent.key_weight, latent.key_gain, rank + turned, rank);
  const StoredLinear query =
      linear(attention().query_weight, layer, rules.heads * rules.head_width, entering);
  const StoredLinear key =
      linear(attention().key_weight, layer, rules.heads * (compressed + values), rank);
  for (const auto& [map, pattern] :
       {std::pair(&query, attention().query_weight), std::pair(&key, attention().key_weight)}) {
    if (map->bias().size() == 0) continue;
    refuse_item(bias_of(full_name(pattern, layer)), "a bias here is not supported");
  }
  const auto heads = static_cast<std::uint64_t>(rules.heads);
  HeadPlaces places{.layout = HeadLayout::kLatent,
                    .grid = {heads, heads, static_cast<std::uint64_t>(rules.head_width)},
                    .turned = turned,
                    .compressed = compressed,
                    .values = values};
  const auto projection = [&](Projection which, const StoredLinear& map, float scale) {
    places.projection = which;
    return HeadProjection(map, places, scale, most_weights);
  };
  weights.query =
      projection(Projection::query, query, query_scales_[static_cast<std::size_t>(layer)]);
  weights.key = projection(Projection::key, key, 1);
  weights.value = projection(Projection::value, key, 1);
}

void Transformer::read_projections(LayerWeights& weights, int layer, Index most_weights) const {
  if (match_.family->latent()) return read_latent_projections(weights, layer, most_weights);
  const LayerRules& rules = this->rules(layer);
  const Index head_width = rules.head_width, width = entering_width(layer);
  const int key_layer = this->key_layer(layer);
  const float query_scale = query_scales_[static_cast<std::size_t>(layer)];
  const Index queries = rules.heads * head_width, keys = rules.key_heads * head_width;
  weights.query_norm = read_projection_norm(attention().query_norm_gain, layer, queries);
  weights.key_norm = read_projection_norm(attention().key_norm_gain, key_layer, keys);
  const auto bare_norm = [&] {
    return Norm{NormKind::rms_norm, VectorXf::Ones(head_width), {}, epsilon_};
  };
  if (names().bare_value_norm) weights.value_norm = bare_norm();
  if (bare_norms_ && rules.rotary.pairs != RotaryPairs::kNone) {
    // The original normalizes after the rotation, which leaves lengths as they are.
    weights.query_norm = weights.key_norm = bare_norm();
  }
  weights.turned_before_norms = attention().turned_before_norms;
  weights.projection_bound = projection_bound_;
  const bool bare = weights.query_norm.is_none();
  if (!bare) {
    weights.query_norm.gain *= query_scale;
    weights.query_norm.bias *= query_scale;
  }
  const auto count = [](Index n) { return static_cast<std::uint64_t>(n); };
  const auto grid = [&](Index width) {
    return HeadGrid{count(rules.heads), count(rules.key_heads), count(width)};
  };
  // Norms of all heads together and terms of offsets are made by maps in memory.
  const bool whole = weights.normalizes_all_heads(rules) || !names().offset_terms.vectors.empty();
  const Index most = whole ? kAnyNumber : most_weights;
  std::optional<StoredLinear> fused;
  Linear all;  // where outputs lie apart in the file, which is then read as a whole
  if (match_.family->fused()) {
    fused = linear(attention().query_weight, layer, queries + 2 * keys, width);
    if (match_.family->inputs_first()) all = fused->read();
  }
  const auto projection = [&](Projection which, std::string_view pattern, Index outputs) {
    const bool values = which == Projection::value;
    const HeadPlaces places{which, match_.family->layout,
                            grid(values ? rules.value_width : head_width)};
    const float scale = bare && which == Projection::query ? query_scale : 1;
    if (all.weight.size() > 0) return HeadProjection(all, places, scale);
    const int at = which == Projection::query ? layer : key_layer;
    return HeadProjection(fused ? *fused : linear(pattern, at, outputs, width), places, scale,
                          most);
  };
  const Index parts = match_.family->gated() ? 2 : 1;
  weights.query = projection(Projection::query, attention().query_weight, parts * queries);
  weights.key = projection(Projection::key, attention().key_weight, keys);
  weights.value =
      projection(Projection::value, keys_are_values(layer) ? attention().key_weight : names().value,
                 rules.key_heads * rules.value_width);
  if (key_layer == layer) return;
  weights.query_input.rows = weights.key_input.rows = width;
  weights.key_input.first_row = width;
}

OffsetBias Transformer::offset_bias(int layer) const {
  const OffsetBiasNames& bias = names().offset_bias;
  if (bias.slopes) return OffsetBias::slopes(heads(), slope_exponent_);
  if (bias.buckets.empty()) return {};
  const std::string name = full_name(bias.buckets, offset_bias_per_layer_ ? layer : 0);
  const auto [count, heads] = matrix_shape(*tensors_, name);
  if (heads != this->heads() || count % 4 != 0 || count / 4 >= farthest_bucket_) {
    refuse_item(name,
                {"its shape ", shape_text(tensors_->tensor(name)),
                 " must be a multiple of 4, of less than ", std::to_string(4 * farthest_bucket_),
                 ", and ", std::to_string(this->heads()), " heads"});
  }
  Eigen::MatrixXf buckets(heads, count);
  read_finite(*tensors_, name, 0, buckets.data(), buckets.size());
  return OffsetBias::in_buckets(std::move(buckets), farthest_bucket_);
}

DisentangledTerms Transformer::offset_terms(const LayerWeights& weights, int layer) const {
  const DisentangledNames& tensors = names().offset_terms;
  if (tensors.vectors.empty()) return {};
  Eigen::MatrixXf vectors = read_rows(full_name(tensors.vectors), 0, 2 * offset_span_);
  if (normed_offsets_) vectors = read_norm(tensors.norm)(std::move(vectors));
  const auto mapped = [&](bool wanted, const HeadProjection& of_tokens, std::string_view map) {
    if (!wanted) return Eigen::MatrixXf();
    const Index outputs = heads() * rules(layer).head_width;
    return shared_offset_maps_ ? (*of_tokens.all())(vectors)
                               : linear(map, layer, outputs, width_).read()(vectors);
  };
  DisentangledTerms terms{mapped(relative_terms_.of_queries, weights.key, tensors.key),
                          mapped(relative_terms_.of_keys, weights.query, tensors.query),
                          offset_span_, farthest_offset_};
  // Maps of the tokens have that scale.
  if (!shared_offset_maps_) terms.queries *= query_scales_[static_cast<std::size_t>(layer)];
  return terms;
}

bool Transformer::keys_are_values(int layer) const {
  const bool sees_all = rules(layer).reach == LayerRules().reach;
  return !names().keys_as_values_key.empty() && sees_all && !has(names().value, key_layer(layer));
}

bool Transformer::has_plain_logits() const {
  const bool late = attention().turned_before_norms &&
                    has(attention().query_norm_gain, layers_with_heads_.front());
  return !late && names().offset_terms.vectors.empty() && projection_bound_ == 0;
}

void Transformer::check_plain_logits(std::string_view what) const {
  if (has_plain_logits()) return;
  refuse_item(std::string(match_.family->name),
              {what,
               " needs logits of queries and keys alone, without norms after rotary positions, "
               "terms of the offset and bounds of queries and keys"});
}

LayerWeights Transformer::read_heads(int layer, Index most_weights) const {
  LayerWeights weights;
  read_projections(weights, layer, most_weights);
  if (rules(layer).learned_sinks) {
    weights.sinks = read_bias(full_name(attention().sinks, layer), heads());
  }
  weights.offset_bias = offset_bias(layer);
  weights.offset_terms = offset_terms(weights, layer);
  const std::string_view gain = attention().query_gain;
  if (!gain.empty() && (layer > 0 || !names().bare_first)) {
    weights.attention_norm = read_norm_of(full_name(gain, layer), entering_width(layer));
  }
  if (names().gainless_norms) weights.attention_norm = gainless_norm(entering_width(layer));
  if (const int earlier = key_layer(layer); earlier != layer) {
    weights.earlier_norm = read_norm(gain, earlier);
  }
  return weights;
}

}  // namespace eigenscope

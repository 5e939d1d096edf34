#include "training/model.h"

#include <algorithm>
#include <cmath>

#include "nn/activation.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "nn/tokens.h"
#include "support/error.h"
#include "support/gemm.h"

namespace eigenscope {

using Eigen::Index;

namespace {

// Adds blocks one behind the other.
class Builder {
 public:
  explicit Builder(ParameterLayout& layout) : layout_(layout) {}

  Index matrix(const std::string& name, Index rows, Index columns) {
    return add({name + ".weight", rows, columns, layout_.size, layer, false});
  }
  Index vector(const std::string& name, Index rows) {
    return add({name, rows, 1, layout_.size, layer, true});
  }
  Index layer = -1;

 private:
  Index add(const Block& block) {
    layout_.blocks.push_back(block);
    layout_.size += block.size();
    return block.offset;
  }
  ParameterLayout& layout_;
};

// Numbers of the dropout masks: 0 for the embeddings, then two per layer.
constexpr std::uint64_t kAttention = 1, kMlp = 2;
std::uint64_t dropout_place(Index layer, std::uint64_t part) {
  return 2 * static_cast<std::uint64_t>(layer) + part;
}

// The layout of settings that check_model allows.
ParameterLayout checked_layout(const ModelSettings& settings) {
  check_model(settings);
  return ParameterLayout(settings);
}

}  // namespace

ParameterLayout::ParameterLayout(const ModelSettings& settings) {
  const Index d = settings.width;
  const bool rms = settings.normalization == Normalization::rms;
  Builder add(*this);
  embedding = output = add.matrix("wte", d, settings.vocabulary);
  if (settings.positions == Positions::learned) positions = add.matrix("wpe", d, settings.length);
  for (Index layer = 0; layer < settings.depth; ++layer) {
    add.layer = layer;
    const std::string prefix = "h." + std::to_string(layer) + ".";
    LayerOffsets offsets;
    offsets.norm1 = add.vector(prefix + "ln_1.weight", d);
    if (!rms) offsets.norm1_bias = add.vector(prefix + "ln_1.bias", d);
    offsets.fused = add.matrix(prefix + "attn.c_attn", settings.fused_width(), d);
    offsets.fused_bias = add.vector(prefix + "attn.c_attn.bias", settings.fused_width());
    offsets.projection = add.matrix(prefix + "attn.c_proj", d, d);
    offsets.projection_bias = add.vector(prefix + "attn.c_proj.bias", d);
    if (settings.positions == Positions::relative) {
      const Index biases = OffsetTerms<float>{settings.length}.rows(settings.visible());
      offsets.relative = add.vector(prefix + "attn.relative_bias", biases * settings.heads);
    }
    if (settings.query_key_norm == QueryKeyNorm::rms) {
      offsets.query_norm = add.vector(prefix + "attn.q_norm.weight", settings.head_width());
      offsets.key_norm = add.vector(prefix + "attn.k_norm.weight", settings.head_width());
    }
    if (const Index hidden = settings.hidden(); hidden > 0) {
      offsets.norm2 = add.vector(prefix + "ln_2.weight", d);
      if (!rms) offsets.norm2_bias = add.vector(prefix + "ln_2.bias", d);
      offsets.up = add.matrix(prefix + "mlp.c_fc", hidden, d);
      offsets.up_bias = add.vector(prefix + "mlp.c_fc.bias", hidden);
      offsets.down = add.matrix(prefix + "mlp.c_proj", d, hidden);
      offsets.down_bias = add.vector(prefix + "mlp.c_proj.bias", d);
      if (settings.mlp_kind == MlpKind::gated) {
        offsets.gate = add.matrix(prefix + "mlp.c_gate", hidden, d);
      }
    }
    layers.push_back(offsets);
  }
  add.layer = -1;
  if (settings.norm == BlockNorm::pre) {
    final_norm = add.vector("ln_f.weight", d);
    if (!rms) final_bias = add.vector("ln_f.bias", d);
  }
  if (settings.output == OutputKind::free) output = add.matrix("lm_head", d, settings.vocabulary);
  if (settings.offset_mask == OffsetMask::learned) {
    offset_mask = add.vector("offset_mask", settings.length);
  }
}

template <class Scalar>
Model<Scalar>::Model(const ModelSettings& settings)
    : settings_(settings),
      layout_(checked_layout(settings)),
      parameters_(Vector<Scalar>::Zero(layout_.size)),
      gradient_(Vector<Scalar>::Zero(layout_.size)),
      layers_(static_cast<std::size_t>(settings.depth)) {}

template <class Scalar>
const Matrix<Scalar>& Model<Scalar>::output_of(Index layer) const {
  if (layer == 0) return embedded_;
  const Layer& below = at(layer - 1);
  const bool mlp = settings_.hidden() > 0;
  if (settings_.norm == BlockNorm::pre) return mlp ? below.sum2 : below.sum1;
  return mlp ? below.norm2 : below.norm1;
}

template <class Scalar>
std::vector<HeadReading<Scalar>> Model<Scalar>::readings() const {
  const bool hard = settings_.attention == AttentionKind::hard;
  return std::vector<HeadReading<Scalar>>(
      static_cast<std::size_t>(settings_.depth * settings_.heads),
      {hard ? Retrieval::hard : Retrieval::soft});
}

template <class Scalar>
std::vector<char> Model<Scalar>::kept() const {
  std::vector<char> kept;
  if (layout_.offset_mask < 0 && settings_.dropped_distance < 0) return kept;
  for (Index distance = 0; distance < settings_.length; ++distance) {
    const bool likely = layout_.offset_mask < 0 || parameters_[layout_.offset_mask + distance] >= 0;
    kept.push_back(likely && distance != settings_.dropped_distance);
  }
  return kept;
}

template <class Scalar>
OffsetTerms<Scalar> Model<Scalar>::offset_terms(Index layer) const {
  const Index relative = layout_.at(layer).relative;
  if (relative < 0 && kept_.empty()) return {};
  return {settings_.length, relative < 0 ? nullptr : at_offset(relative), kept_};
}

template <class Scalar>
void Model<Scalar>::resize(Index tokens) {
  if (embedded_.cols() == tokens && !layers_.empty() &&
      layers_[0].weights.rows() == shape_.length) {
    return;
  }
  const Index d = settings_.width, hidden = settings_.hidden();
  if (settings_.positions == Positions::rotary) {
    turns_ = RotaryTurns({RotaryPairs::kHalves, settings_.head_width()},
                         std::max(shape_.length, settings_.length));
  }
  for (auto* matrix : {&embedded_, &final_, &flow_, &inner_, &dattended_})
    matrix->resize(d, tokens);
  final_statistics_.resize(2, tokens);
  logits_.resize(settings_.vocabulary, tokens);
  dfused_.resize(settings_.fused_width(), tokens);
  dactive_.resize(hidden, tokens);
  if (settings_.mlp_kind == MlpKind::gated) {
    dgate_.resize(hidden, tokens);
    inner_gate_.resize(d, tokens);
  }
  for (Layer& layer : layers_) {
    for (auto* matrix : {&layer.norm1, &layer.attended, &layer.sum1, &layer.norm2, &layer.sum2}) {
      matrix->resize(d, tokens);
    }
    layer.statistics1.resize(2, tokens);
    layer.statistics2.resize(2, tokens);
    layer.fused.resize(settings_.fused_width(), tokens);
    if (settings_.query_key_norm == QueryKeyNorm::rms) {
      layer.inverse.resize(settings_.heads + settings_.groups(), tokens);
    }
    layer.weights.resize(shape_.length, shape_.batch * shape_.heads * shape_.length);
    layer.up.resize(hidden, tokens);
    layer.active.resize(hidden, tokens);
    if (settings_.mlp_kind == MlpKind::gated) layer.gate.resize(hidden, tokens);
  }
}

template <class Scalar>
void Model<Scalar>::check_places(const Intervention<Scalar>& intervention, Index tokens) const {
  const std::vector<TokenPlace>& places = intervention.places;
  if (places.empty()) return;
  if (settings_.positions != Positions::rotary || settings_.attention != AttentionKind::softmax ||
      settings_.objective != Objective::next || !kept_.empty()) {
    throw InvalidArgument(
        "places",
        "be omitted without rotary positions and causal softmax attention to keys "
        "at all distances");
  }
  if (std::ssize(places) != tokens) {
    throw InvalidArgument("places", "have one for every token");
  }
  for (const TokenPlace& place : places) {
    if (place.position < 0 || place.position >= settings_.length) {
      throw InvalidArgument("places", "be below " + std::to_string(settings_.length),
                            "found " + std::to_string(place.position));
    }
  }
}

template <class Scalar>
void Model<Scalar>::forward(std::span<const TokenId> tokens, Index length,
                            const Intervention<Scalar>& intervention, const Dropout& dropout) {
  const auto count = static_cast<Index>(tokens.size());
  kept_ = intervention.kept.empty() ? kept() : intervention.kept;
  const bool longer =
      (settings_.positions != Positions::rotary || !kept_.empty()) && length > settings_.length;
  if (length < 1 || count == 0 || count % length != 0 || longer) {
    throw InvalidArgument("length",
                          "be at most the " + std::to_string(settings_.length) +
                              " positions of the model, and divide the " + std::to_string(count) +
                              " tokens",
                          "found " + std::to_string(length));
  }
  for (const TokenId token : tokens) {
    if (token < 0 || token >= settings_.vocabulary) {
      throw InvalidArgument("tokens",
                            "be in the vocabulary of " + std::to_string(settings_.vocabulary),
                            "found " + std::to_string(token));
    }
  }
  if (const auto size = std::ssize(kept_);
      size > 0 && ((size != settings_.length && size != settings_.length * (count / length)) ||
                   settings_.attention != AttentionKind::softmax)) {
    throw InvalidArgument(
        "kept", "have one for each distance, or one in each sequence, and softmax attention",
        "found " + std::to_string(size));
  }
  check_places(intervention, count);
  tokens_.assign(tokens.begin(), tokens.end());
  dropout_ = dropout;
  shape_ = {settings_.heads, settings_.groups(), settings_.head_width(),
            length,          count / length,     settings_.visible()};
  resize(count);
  const Scalar* const positions = layout_.positions < 0 ? nullptr : at_offset(layout_.positions);
  embedding_forward(tokens, length, at_offset(layout_.embedding), positions, embedded_);
  apply_dropout(dropout_, 0, embedded_);
  for (Index layer = 0; layer < settings_.depth; ++layer) run_layer(layer, intervention);
  const Matrix<Scalar>* last = &output_of(settings_.depth);
  if (layout_.final_norm >= 0) {
    norm_forward(layout_.final_norm, layout_.final_bias, *last, final_, final_statistics_);
    last = &final_;
  }
  const Index d = settings_.width;
  multiply(settings_.vocabulary, count, d, factor(at_offset(layout_.output), d).transposed(),
           factor(last->data(), d), logits_.data(), settings_.vocabulary);
}

template <class Scalar>
void Model<Scalar>::norm_forward(Index gain, Index bias, const Matrix<Scalar>& x, Matrix<Scalar>& y,
                                 Matrix<Scalar>& statistics) const {
  if (bias < 0) return rms_norm_forward(at_offset(gain), x, y, statistics);
  layer_norm_forward(at_offset(gain), at_offset(bias), x, y, statistics);
}

template <class Scalar>
void Model<Scalar>::norm_backward(Index gain, Index bias, const Matrix<Scalar>& x,
                                  const Matrix<Scalar>& statistics, Matrix<Scalar>& gradient) {
  if (bias < 0) {
    return rms_norm_backward(at_offset(gain), x, statistics, gradient, slope_at(gain));
  }
  layer_norm_backward(at_offset(gain), x, statistics, gradient, slope_at(gain), slope_at(bias));
}

template <class Scalar>
void Model<Scalar>::run_layer(Index layer, const Intervention<Scalar>& intervention) {
  const LayerOffsets& offsets = layout_.at(layer);
  Layer& state = at(layer);
  const Matrix<Scalar>& x = output_of(layer);
  const bool mlp = settings_.hidden() > 0;
  const bool skip = settings_.attention_skip == AttentionSkip::with;
  const auto norm1 = [&](const Matrix<Scalar>& in) {
    norm_forward(offsets.norm1, offsets.norm1_bias, in, state.norm1, state.statistics1);
  };
  const auto norm2 = [&](const Matrix<Scalar>& in) {
    norm_forward(offsets.norm2, offsets.norm2_bias, in, state.norm2, state.statistics2);
  };
  if (settings_.norm == BlockNorm::pre) {
    norm1(x);
    attend(layer, state.norm1, intervention);
    if (skip) state.sum1 += x;
    if (!mlp) return;
    norm2(state.sum1);
    run_mlp(layer, state.norm2, state.sum1);
  } else {
    attend(layer, x, intervention);
    if (skip) state.sum1 += x;
    norm1(state.sum1);
    if (!mlp) return;
    run_mlp(layer, state.norm1, state.norm1);
    norm2(state.sum2);
  }
}

// sum1 = W_O attention(in), without the skip connection.
template <class Scalar>
void Model<Scalar>::attend(Index layer, const Matrix<Scalar>& in,
                           const Intervention<Scalar>& intervention) {
  const LayerOffsets& offsets = layout_.at(layer);
  Layer& state = at(layer);
  linear_forward(at_offset(offsets.fused), at_offset(offsets.fused_bias), in, state.fused);
  if (offsets.query_norm >= 0) {
    state.projected = state.fused;
    head_norm_forward(shape_, at_offset(offsets.query_norm), at_offset(offsets.key_norm),
                      state.fused, state.inverse);
  }
  turns_.turn_batch(shape_, 1, state.fused, intervention.places);
  if (reads_logits(settings_.attention)) {
    const auto heads = static_cast<std::size_t>(shape_.heads);
    const std::vector<HeadReading<Scalar>> trained = readings();
    const std::span<const HeadReading<Scalar>> all =
        intervention.readings.empty() ? trained : intervention.readings;
    attention_forward(shape_, state.fused,
                      all.subspan(static_cast<std::size_t>(layer) * heads, heads), state.weights,
                      state.attended, intervention.places, offset_terms(layer));
  } else {
    fixed_attention_forward(shape_, state.fused, settings_.attention == AttentionKind::self,
                            state.weights, state.attended);
  }
  linear_forward(at_offset(offsets.projection), at_offset(offsets.projection_bias), state.attended,
                 state.sum1);
  apply_dropout(dropout_, dropout_place(layer, kAttention), state.sum1);
}

template <class Scalar>
void Model<Scalar>::run_mlp(Index layer, const Matrix<Scalar>& in, const Matrix<Scalar>& skip) {
  const LayerOffsets& offsets = layout_.at(layer);
  Layer& state = at(layer);
  if (offsets.gate < 0) {
    mlp_forward(mlp_of(offsets), in, state.up, state.active, state.sum2);
  } else {
    const Vector<Scalar> none = Vector<Scalar>::Zero(settings_.hidden());
    linear_forward(at_offset(offsets.up), at_offset(offsets.up_bias), in, state.up);
    linear_forward(at_offset(offsets.gate), none.data(), in, state.gate);
    gated_forward(state.gate, state.up, state.active);
    linear_forward(at_offset(offsets.down), at_offset(offsets.down_bias), state.active, state.sum2);
  }
  apply_dropout(dropout_, dropout_place(layer, kMlp), state.sum2);
  state.sum2 += skip;
}

template <class Scalar>
double Model<Scalar>::loss(std::span<const TokenId> targets, bool gradient,
                           std::span<double> each) {
  if (static_cast<Index>(targets.size()) != logits_.cols()) {
    throw InvalidArgument("targets", "have one for every token");
  }
  return cross_entropy(targets, gradient, logits_, each);
}

template <class Scalar>
void Model<Scalar>::backward(const KeyPrior& prior) {
  gradient_.setZero();
  prior_ = prior;
  const Index d = settings_.width, count = logits_.cols(), vocabulary = settings_.vocabulary;
  const bool normed = layout_.final_norm >= 0;
  const Matrix<Scalar>& last = output_of(settings_.depth);
  const Matrix<Scalar>& read = normed ? final_ : last;
  multiply(d, count, vocabulary, factor(at_offset(layout_.output), d),
           factor<Scalar>(logits_.data(), vocabulary), flow_.data(), d);
  multiply(d, vocabulary, count, factor(read.data(), d),
           factor<Scalar>(logits_.data(), vocabulary).transposed(), slope_at(layout_.output), d,
           true);
  if (normed) {
    norm_backward(layout_.final_norm, layout_.final_bias, last, final_statistics_, flow_);
  }
  kept_slopes_ = Vector<Scalar>::Zero(settings_.length);
  for (Index layer = settings_.depth - 1; layer >= 0; --layer) layer_back(layer);
  for (Index distance = 0; layout_.offset_mask >= 0 && distance < settings_.length; ++distance) {
    const Scalar probability = sigmoid(parameters_[layout_.offset_mask + distance]);
    gradient_[layout_.offset_mask + distance] =
        probability * (1 - probability) * kept_slopes_[distance];
  }
  freeze_biases();
  apply_dropout(dropout_, 0, flow_);
  Scalar* const positions = layout_.positions < 0 ? nullptr : slope_at(layout_.positions);
  embedding_backward<Scalar>(tokens_, shape_.length, flow_, slope_at(layout_.embedding), positions);
}

// flow_ from the gradient by the layer's output to that by its input.
template <class Scalar>
void Model<Scalar>::layer_back(Index layer) {
  const LayerOffsets& offsets = layout_.at(layer);
  const Layer& state = at(layer);
  const Matrix<Scalar>& x = output_of(layer);
  const bool mlp = settings_.hidden() > 0;
  const bool skip = settings_.attention_skip == AttentionSkip::with;
  const auto norm1_back = [&](const Matrix<Scalar>& in, Matrix<Scalar>& slope) {
    norm_backward(offsets.norm1, offsets.norm1_bias, in, state.statistics1, slope);
  };
  const auto norm2_back = [&](const Matrix<Scalar>& in, Matrix<Scalar>& slope) {
    norm_backward(offsets.norm2, offsets.norm2_bias, in, state.statistics2, slope);
  };
  if (settings_.norm == BlockNorm::pre) {
    if (mlp) {
      mlp_back(layer, state.norm2);
      norm2_back(state.sum1, inner_);
      flow_ += inner_;
    }
    attend_back(layer, state.norm1);
    norm1_back(x, inner_);
  } else {
    if (mlp) {
      norm2_back(state.sum2, flow_);
      mlp_back(layer, state.norm1);
      flow_ += inner_;
    }
    norm1_back(state.sum1, flow_);
    attend_back(layer, x);
  }
  if (skip) {
    flow_ += inner_;
  } else {
    flow_ = inner_;
  }
}

// inner_ = the gradient by the input of attention, of which flow_ is that by the output.
template <class Scalar>
void Model<Scalar>::attend_back(Index layer, const Matrix<Scalar>& in) {
  const LayerOffsets& offsets = layout_.at(layer);
  const Layer& state = at(layer);
  linear_backward(at_offset(offsets.projection), state.attended,
                  dropped_flow(dropout_place(layer, kAttention)), &dattended_,
                  slope_at(offsets.projection), slope_at(offsets.projection_bias));
  attention_backward(shape_, state.fused, state.weights, settings_.attention == AttentionKind::hard,
                     dattended_, dfused_, offset_terms(layer),
                     {offsets.relative < 0 ? nullptr : slope_at(offsets.relative),
                      layout_.offset_mask < 0 ? nullptr : kept_slopes_.data()},
                     prior_);
  turns_.turn_batch(shape_, -1, dfused_);
  if (offsets.query_norm >= 0) {
    head_norm_backward(shape_, at_offset(offsets.query_norm), at_offset(offsets.key_norm),
                       state.projected, state.inverse, dfused_, slope_at(offsets.query_norm),
                       slope_at(offsets.key_norm));
  }
  linear_backward(at_offset(offsets.fused), in, dfused_, &inner_, slope_at(offsets.fused),
                  slope_at(offsets.fused_bias));
}

template <class Scalar>
const Matrix<Scalar>& Model<Scalar>::dropped_flow(std::uint64_t place) {
  if (dropout_.rate == 0) return flow_;
  dropped_ = flow_;
  apply_dropout(dropout_, place, dropped_);
  return dropped_;
}

// inner_ = the gradient by the input of the MLP, of which flow_ is that by the output.
template <class Scalar>
void Model<Scalar>::mlp_back(Index layer, const Matrix<Scalar>& in) {
  const LayerOffsets& offsets = layout_.at(layer);
  const Layer& state = at(layer);
  if (offsets.gate >= 0) return gated_mlp_back(layer, in);
  mlp_backward(mlp_of(offsets), in, state.up, state.active,
               dropped_flow(dropout_place(layer, kMlp)), dactive_, inner_,
               {slope_at(offsets.up), slope_at(offsets.up_bias), slope_at(offsets.down),
                slope_at(offsets.down_bias)});
}

template <class Scalar>
void Model<Scalar>::gated_mlp_back(Index layer, const Matrix<Scalar>& in) {
  const LayerOffsets& offsets = layout_.at(layer);
  const Layer& state = at(layer);
  linear_backward(at_offset(offsets.down), state.active, dropped_flow(dropout_place(layer, kMlp)),
                  &dactive_, slope_at(offsets.down), slope_at(offsets.down_bias));
  gated_backward(state.gate, state.up, dactive_, dgate_);
  Vector<Scalar> none = Vector<Scalar>::Zero(settings_.hidden());
  linear_backward(at_offset(offsets.up), in, dactive_, &inner_, slope_at(offsets.up),
                  slope_at(offsets.up_bias));
  linear_backward(at_offset(offsets.gate), in, dgate_, &inner_gate_, slope_at(offsets.gate),
                  none.data());
  inner_ += inner_gate_;
}

// Biases that the settings exclude have no gradient and stay zero.
template <class Scalar>
void Model<Scalar>::freeze_biases() {
  const bool all = settings_.linear_bias == LinearBias::without;
  const Index query_key = (settings_.heads + settings_.groups()) * settings_.head_width();
  for (const LayerOffsets& offsets : layout_.layers) {
    if (all || settings_.query_key_bias == QueryKeyBias::without) {
      gradient_.segment(offsets.fused_bias, all ? settings_.fused_width() : query_key).setZero();
    }
    if (!all) continue;
    gradient_.segment(offsets.projection_bias, settings_.width).setZero();
    if (offsets.up < 0) continue;
    gradient_.segment(offsets.up_bias, settings_.hidden()).setZero();
    gradient_.segment(offsets.down_bias, settings_.width).setZero();
  }
}

template <class Scalar>
Matrix<Scalar> Model<Scalar>::fused_part(Index layer, const Matrix<Scalar>* part, bool bias) const {
  const LayerOffsets& offsets = layout_.at(layer);
  const Index rows = settings_.fused_width(), count = at(layer).fused.cols();
  Matrix<Scalar> fused(rows, count);
  const Eigen::Map<const Vector<Scalar>> biases(at_offset(offsets.fused_bias), rows);
  const Vector<Scalar> added = bias ? Vector<Scalar>(biases) : Vector<Scalar>::Zero(rows);
  if (part == nullptr) {
    fused.colwise() = added;
  } else {
    linear_forward(at_offset(offsets.fused), added.data(), *part, fused);
  }
  if (offsets.query_norm >= 0) {
    head_norm_apply(shape_, at_offset(offsets.query_norm), at_offset(offsets.key_norm),
                    at(layer).inverse, fused);
  }
  turns_.turn_batch(shape_, 1, fused);
  return fused;
}

template <class Scalar>
HeadFactors Model<Scalar>::head(Index layer, Index head, const Vector<Scalar>& parameters) const {
  const Index d = settings_.width, width = settings_.head_width();
  const AttentionShape shape{settings_.heads, settings_.groups(), width, 1, 1};
  const Eigen::Map<const Matrix<Scalar>> fused(parameters.data() + layout_.at(layer).fused,
                                               shape.fused(), d);
  return {static_cast<int>(layer), static_cast<int>(head),
          fused.middleRows(head * width, width).transpose().template cast<double>(),
          fused.middleRows(shape.key_row(head), width).transpose().template cast<double>()};
}

template class Model<float>;
template class Model<double>;

}  // namespace eigenscope

#include "collapse/collapse.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collapse/geometry.h"
#include "propagation/propagation.h"
#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Collapse::Collapse(const StackSettings& settings, std::vector<SpectrumPoint> points,
                   StackRange stacks, MeasuredLayers measured)
    : settings_(settings),
      points_(std::move(points)),
      stacks_(stacks),
      rows_(measured == MeasuredLayers::all ? settings.depth + 1 : 1) {
  checked(kStacks, static_cast<double>(stacks_.count));
  checked(kFirstStack, static_cast<double>(stacks_.first));
  check_stack(settings_);
  const Ensemble ensemble(settings_.weights.ensemble);
  for (const auto& [mean, variance] : points_) {
    checked(shared::kMean, mean);
    checked(shared::kVariance, variance);
    PointState state;
    state.rows.resize(static_cast<std::size_t>(rows_));
    try {
      state.spectrum = ensemble.weights(mean, variance);
    } catch (const InvalidArgument& error) {
      state.refused = error.what();
    }
    states_.push_back(std::move(state));
  }
  if (settings_.depth == 0) measure_inputs();
}

// A stack without layers: only its input is measured.
void Collapse::measure_inputs() {
  for (Index run = 0; run < stacks_.count; ++run) {
    tokens_ = stack_tokens(settings_, static_cast<std::uint64_t>(stacks_.first + run));
    for (PointState& state : states_) {
      if (state.refused.empty()) add_geometry(state, 0);
    }
  }
}

Index Collapse::steps_wanted() const {
  return stacks_.count * static_cast<Index>(points_.size()) * settings_.depth;
}

bool Collapse::advance(Index layers) {
  const Index stop = done_ + std::min(layers, steps_wanted() - done_);
  while (done_ < stop) step();
  return done_ == steps_wanted();
}

double Collapse::work_per_step() const {
  const auto t = static_cast<double>(settings_.tokens.length);
  const auto d = static_cast<double>(width_of(settings_.weights.ensemble));
  const auto h = static_cast<double>(settings_.weights.heads);
  constexpr double kExp = 20, kFactor = 8;  // one entry of a softmax; one of a rotation's d^3
  const double drawn = (1 + h) * kFactor * d * d * d;
  return h * t * (t * d + d * d + kExp * t) + drawn / static_cast<double>(points_.size());
}

// The order of the steps: sample, point, layer.
void Collapse::step() {
  const auto count = static_cast<Index>(points_.size());
  const Index layer = done_ % settings_.depth;
  const Index run = done_ / settings_.depth;
  const auto sample = static_cast<std::uint64_t>(stacks_.first + run / count);
  PointState& state = states_[static_cast<std::size_t>(run % count)];
  if (!state.refused.empty()) {
    done_ += settings_.depth;
    return;
  }
  ++done_;
  if (!draw_ || draw_sample_ != sample) {
    draw_.emplace(settings_.weights, sample);
    draw_sample_ = sample;
  }
  if (layer == 0) {
    tokens_ = stack_tokens(settings_, sample);
    add_geometry(state, 0);
  }
  if (tokens_.allFinite()) run_layer_of(state, layer);
}

void Collapse::run_layer_of(PointState& state, Index layer) {
  const LayerDraw& draw = draw_->layer(layer);
  const LayerTrace trace = run_layer(settings_, draw, state.spectrum, tokens_);
  tokens_ = trace.tokens;
  if (!tokens_.allFinite()) {
    if (state.overflow == 0 || layer + 1 < state.overflow) state.overflow = layer + 1;
    return;
  }
  add_geometry(state, layer + 1);
  add_attention(state, layer + 1, draw, trace);
}

void Collapse::add(PointState& state, Index layer, LayerMeasure measure, double value) const {
  if (!std::isfinite(value)) return;
  const auto row = static_cast<std::size_t>(layer - layer_of(0));
  state.rows[row][static_cast<std::size_t>(measure)].add(value);
}

void Collapse::add_geometry(PointState& state, Index layer) const {
  if (layer < layer_of(0)) return;
  const TokenGeometry geometry = token_geometry(tokens_);
  add(state, layer, LayerMeasure::residual, geometry.residual);
  add(state, layer, LayerMeasure::stable_rank, geometry.stable_rank);
  add(state, layer, LayerMeasure::effective_rank, geometry.effective_rank);
  add(state, layer, LayerMeasure::cosine, geometry.cosine);
}

void Collapse::add_attention(PointState& state, Index layer, const LayerDraw& draw,
                             const LayerTrace& trace) const {
  if (layer < layer_of(0)) return;
  const Mask& mask = settings_.mask;
  const Index length = trace.normalized.cols();
  const Index final_queries = std::max<Index>(1, (length - mask.prefix) / mask.blocks);
  // Softmax knows logits up to a shift alone, so that the tokens' common part does not count.
  const MatrixXd& x = trace.normalized;
  const double token_norm = spectral_norm(x.colwise() - x.rowwise().mean());
  double entropy = 0, least = 1, bound = 0, last = 0, share = 0, localized = 0;
  double queries = 0, last_queries = 0;
  for (std::size_t head = 0; head < trace.attention.size(); ++head) {
    const double query_key_norm =
        draw.query_key(head, state.spectrum).norm();  // >= the spectral norm
    for (Index query = 0; query < length; ++query) {
      const VectorXd weights = visible_weights(trace.attention[head], query, mask);
      const double total = weights.sum();
      if (weights.size() < 2 || !(total > 0)) continue;
      const VectorXd p = weights / total;
      const double row_entropy = normalized_entropy(p);
      entropy += row_entropy;
      least = std::min(least, row_entropy);
      share += participation(p);
      const double index = localization_index(sensitivity(p));
      // All weight on one key: the limit of the index as the others' sensitivity vanishes.
      localized += std::isnan(index) ? 1 - 1 / static_cast<double>(p.size()) : index;
      const double logit_norm = token_norm * query_key_norm * trace.normalized.col(query).norm();
      bound += entropy_lower_bound(logit_norm / settings_.temperature, p.size()) /
               std::log(static_cast<double>(p.size()));
      queries += 1;
      if (query < length - final_queries) continue;
      last += row_entropy;
      last_queries += 1;
    }
  }
  if (queries == 0) return;
  add(state, layer, LayerMeasure::entropy, entropy / queries);
  add(state, layer, LayerMeasure::entropy_minimum, least);
  const bool bounded = settings_.softmax == SoftmaxKind::exact && !mask.selects(length - 1, length);
  if (bounded) add(state, layer, LayerMeasure::entropy_bound, bound / queries);
  if (last_queries > 0) add(state, layer, LayerMeasure::entropy_final, last / last_queries);
  add(state, layer, LayerMeasure::participation, share / queries);
  add(state, layer, LayerMeasure::localization, localized / queries);
}

Estimate Collapse::estimate(std::size_t point, Index row, LayerMeasure measure) const {
  const auto& sums = states_[point].rows[static_cast<std::size_t>(row)];
  return sums[static_cast<std::size_t>(measure)].estimate();
}

Index Collapse::samples(std::size_t point, Index row) const {
  const auto& sums = states_[point].rows[static_cast<std::size_t>(row)];
  return static_cast<Index>(sums[static_cast<std::size_t>(LayerMeasure::residual)].count());
}

}  // namespace eigenscope

#include "collapse/collapse.h"

#include <algorithm>
#include <cmath>

#include "attention/softmax.h"
#include "collapse/geometry.h"
#include "support/parameter.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Collapse::Collapse(const StackSettings& settings, Index samples)
    : settings_(settings),
      samples_(static_cast<Index>(checked("stacks", static_cast<double>(samples)))) {
  check_stack(settings_);
  sums_.resize(static_cast<std::size_t>(settings_.depth) + 1);
  cosines_.resize(sums_.size());
}

bool Collapse::advance(Index layers) {
  const Index stop = done_ + std::min(layers, steps_wanted() - done_);
  while (done_ < stop) {
    if (done_ % settings_.depth == 0) start_sample();
    step();
  }
  return done_ == steps_wanted();
}

double Collapse::work_per_step() const {
  const auto t = static_cast<double>(settings_.tokens.length);
  const auto d = static_cast<double>(tokens_.size() ? tokens_.rows() : settings_.ensemble.width);
  const auto h = static_cast<double>(settings_.heads);
  constexpr double kExp = 20, kFactor = 8;  // one entry of a softmax; one of a rotation's d^3
  return h * t * (t * d + d * d + kExp * t) + (1 + h) * kFactor * d * d * d;
}

void Collapse::start_sample() {
  tokens_ = stack_tokens(settings_, static_cast<std::uint64_t>(done_ / settings_.depth));
  add_geometry(0);
}

void Collapse::step() {
  const auto sample = static_cast<std::uint64_t>(done_ / settings_.depth);
  const Index layer = done_ % settings_.depth;
  ++done_;
  if (!tokens_.allFinite()) return;
  const LayerWeights weights = draw_layer(settings_, layer, sample);
  const LayerTrace trace = run_layer(settings_, weights, tokens_);
  tokens_ = trace.tokens;
  if (!tokens_.allFinite()) {
    if (overflow_layer_ == 0 || layer + 1 < overflow_layer_) overflow_layer_ = layer + 1;
    return;
  }
  add_geometry(layer + 1);
  add_attention(layer + 1, weights, trace);
}

void Collapse::add(Index layer, LayerMeasure measure, double value) {
  if (!std::isfinite(value)) return;
  Sums& sums = sums_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(measure)];
  sums.count += 1;
  sums.sum += value;
  sums.square += value * value;
}

void Collapse::add_geometry(Index layer) {
  const TokenGeometry geometry = token_geometry(tokens_);
  add(layer, LayerMeasure::residual, geometry.residual);
  add(layer, LayerMeasure::stable_rank, geometry.stable_rank);
  add(layer, LayerMeasure::effective_rank, geometry.effective_rank);
  add(layer, LayerMeasure::cosine, geometry.cosine);
  MatrixXd& kept = cosines_[static_cast<std::size_t>(layer)];
  if (kept.size() == 0) kept = cosine_matrix(tokens_);
}

// Rows that see one key have no entropy to speak of and are left out.
void Collapse::add_attention(Index layer, const LayerWeights& weights, const LayerTrace& trace) {
  const double token_norm = spectral_norm(trace.normalized);
  double entropy = 0, least = 1, bound = 0, share = 0, localized = 0, rows = 0;
  for (std::size_t head = 0; head < trace.attention.size(); ++head) {
    const double query_key_norm = weights.query_key[head].norm();  // at least the spectral norm
    for (Index t = 0; t < trace.normalized.cols(); ++t) {
      const VectorXd row = visible_weights(trace.attention[head], t, settings_.mask);
      const double total = row.sum();
      if (row.size() < 2 || !(total > 0)) continue;
      const VectorXd p = row / total;
      const double h = normalized_entropy(p);
      const double logit_norm = token_norm * query_key_norm * trace.normalized.col(t).norm();
      entropy += h;
      least = std::min(least, h);
      bound += entropy_lower_bound(logit_norm / settings_.temperature, row.size()) /
               std::log(static_cast<double>(row.size()));
      share += participation(p);
      const double index = localization_index(sensitivity(p));
      localized += std::isnan(index) ? 1 - 1 / static_cast<double>(row.size()) : index;
      rows += 1;
    }
  }
  add(layer, LayerMeasure::entropy, entropy / rows);
  add(layer, LayerMeasure::entropy_minimum, rows > 0 ? least : std::nan(""));
  // The bound is of the exact softmax; the other forms have none.
  if (settings_.softmax == SoftmaxKind::exact) {
    add(layer, LayerMeasure::entropy_bound, bound / rows);
  }
  add(layer, LayerMeasure::participation, share / rows);
  add(layer, LayerMeasure::localization, localized / rows);
}

Estimate Collapse::estimate(Index layer, LayerMeasure measure) const {
  const Sums& sums = sums_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(measure)];
  Estimate estimate;
  if (sums.count == 0) return estimate;
  estimate.value = sums.sum / sums.count;
  if (sums.count < 2) return estimate;
  const double variance = std::max(0.0, sums.square / sums.count - estimate.value * estimate.value);
  estimate.error = std::sqrt(variance / (sums.count - 1));
  return estimate;
}

Index Collapse::count(Index layer, LayerMeasure measure) const {
  return static_cast<Index>(
      sums_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(measure)].count);
}

}  // namespace eigenscope

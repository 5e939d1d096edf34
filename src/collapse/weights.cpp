#include "collapse/weights.h"

#include <cmath>
#include <string>
#include <utility>

#include "support/decompositions.h"
#include "support/error.h"
#include "support/gemm.h"
#include "support/normal_matrix.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// The parts of a layer that are drawn, each from its seed; heads follow, two parts each.
enum Part : std::uint64_t { value_part, up_part, down_part, first_head_part };

// The user's seed, mixed; 53 bits keep it a valid seed.
std::uint64_t part_seed(const WeightSettings& settings, Index layer, std::uint64_t sample,
                        std::uint64_t part) {
  std::uint64_t x = settings.ensemble.seed;
  const auto drawn_layer = static_cast<std::uint64_t>(settings.shared ? 0 : layer);
  for (const std::uint64_t key : {sample, drawn_layer, part}) {
    x = (x ^ (key + 1)) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
  }
  return x >> 11;
}

// Uniform over the orthogonal group.
MatrixXd rotation(Index size, std::uint64_t seed) {
  return orthonormal_columns(normal_matrix(size, size, seed, 0).cast<double>());
}

MatrixXd draw_value(const WeightSettings& settings, Index width, std::uint64_t seed) {
  switch (settings.values) {
    case ValueKind::identity:
      return MatrixXd::Identity(width, width);
    case ValueKind::negative:
      return -MatrixXd::Identity(width, width);
    case ValueKind::orthogonal:
      return rotation(width, seed);
    case ValueKind::gaussian:
      return 1 / std::sqrt(static_cast<double>(width)) *
             normal_matrix(width, width, seed, 0).cast<double>();
    case ValueKind::shear: {
      MatrixXd value = MatrixXd::Identity(width, width);
      value.diagonal(1).setConstant(settings.shear);
      return value;
    }
  }
  return {};
}

}  // namespace

Index width_of(const EnsembleSettings& ensemble) {
  return ensemble.kind == EnsembleKind::list ? static_cast<Index>(ensemble.eigenvalues.size())
                                             : ensemble.width;
}

void check_weights(const WeightSettings& settings) {
  checked(shared::kHeads, static_cast<double>(settings.heads));
  checked(kShear, settings.shear);
  checked(shared::kMlpRatio, settings.mlp_ratio);
  const Ensemble drawn(settings.ensemble);  // refuses what it cannot be
  if (drawn.width() % settings.heads != 0) {
    throw InvalidArgument(
        "heads", "divide the width",
        "width " + std::to_string(drawn.width()) + ", heads " + std::to_string(settings.heads));
  }
}

MatrixXd LayerDraw::query_key(std::size_t head, const EnsembleWeights& weights) const {
  MatrixXd matrix = weights.spread * spread[head];
  if (centre[head].size() == 0) {
    matrix.diagonal().array() += weights.centre;
  } else {
    matrix += weights.centre * centre[head];
  }
  return matrix;
}

LayerDraw draw_layer(const WeightSettings& settings, Index layer, std::uint64_t sample) {
  const auto seed = [&](std::uint64_t part) { return part_seed(settings, layer, sample, part); };
  const Index width = width_of(settings.ensemble);
  LayerDraw draw;
  draw.value = draw_value(settings, width, seed(value_part));
  for (Index head = 0; head < settings.heads; ++head) {
    const std::uint64_t part = first_head_part + 2 * static_cast<std::uint64_t>(head);
    EnsembleSettings head_settings = settings.ensemble;
    head_settings.seed = seed(part);
    const Ensemble ensemble(head_settings);
    MatrixXd z = ensemble.spread();
    if (ensemble.symmetric()) {
      const MatrixXd turn = rotation(width, seed(part + 1));
      z = times(turn * z.diagonal().asDiagonal(), turn.transpose());
    }
    draw.centre.push_back(ensemble.centre());
    draw.spread.push_back(std::move(z));
  }
  const auto hidden =
      static_cast<Index>(std::round(settings.mlp_ratio * static_cast<double>(width)));
  if (hidden > 0) {
    // He initialization, so that a ReLU layer keeps the scale of its input.
    const double up = std::sqrt(2.0 / static_cast<double>(width));
    draw.up = up * normal_matrix(hidden, width, seed(up_part), 0).cast<double>();
    const double down = 1 / std::sqrt(static_cast<double>(hidden));
    draw.down = down * normal_matrix(width, hidden, seed(down_part), 0).cast<double>();
  }
  return draw;
}

const LayerDraw& StackDraw::layer(Index layer) {
  constexpr double kKeptNumbers = 4e6;  // doubles: 32 MB
  const Index width = width_of(settings_.ensemble);
  const double numbers = (1 + 2 * static_cast<double>(settings_.heads) + 2 * settings_.mlp_ratio) *
                         static_cast<double>(width) * static_cast<double>(width);
  const Index drawn = settings_.shared ? 0 : layer;
  if (static_cast<double>(drawn + 1) * numbers > kKeptNumbers) {
    if (last_layer_ != drawn) last_ = draw_layer(settings_, drawn, sample_);
    last_layer_ = drawn;
    return last_;
  }
  for (auto next = static_cast<Index>(kept_.size()); next <= drawn; ++next) {
    kept_.push_back(draw_layer(settings_, next, sample_));
  }
  return kept_[static_cast<std::size_t>(drawn)];
}

}  // namespace eigenscope

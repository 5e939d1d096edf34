#include "collapse/stack.h"

#include <Eigen/QR>
#include <array>
#include <cmath>
#include <string>

#include "simulation/logit_sampler.h"
#include "support/error.h"
#include "support/names.h"
#include "support/parameter.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

template <class Kind>
struct Named {
  Kind kind;
  std::string_view name;
};
constexpr std::array kValueNames{Named<ValueKind>{ValueKind::identity, "identity"},
                                 Named<ValueKind>{ValueKind::orthogonal, "orthogonal"},
                                 Named<ValueKind>{ValueKind::gaussian, "gaussian"}};
constexpr std::array kPlaceNames{Named<NormPlace>{NormPlace::none, "none"},
                                 Named<NormPlace>{NormPlace::pre, "pre"},
                                 Named<NormPlace>{NormPlace::post, "post"}};
constexpr std::array kNormNames{Named<NormKind>{NormKind::layer_norm, "layer-norm"},
                                Named<NormKind>{NormKind::rms_norm, "rms-norm"}};

template <class Kind, std::size_t count>
Kind by_name(const std::array<Named<Kind>, count>& names, const char* field,
             std::string_view name) {
  for (const Named<Kind>& entry : names) {
    if (entry.name == name) return entry.kind;
  }
  refuse_name(field, name, names);
}

// Seeds of layers and their parts are drawn from the user's seed; 2^53 keeps them valid seeds.
std::uint64_t layer_seed(const StackSettings& settings, Index layer, std::uint64_t sample,
                         std::uint64_t part) {
  std::uint64_t x = settings.ensemble.seed;
  for (const std::uint64_t key :
       {sample + 1, static_cast<std::uint64_t>(settings.shared ? 0 : layer) + 1, part + 1}) {
    x = (x ^ key) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
  }
  return x >> 11;
}

MatrixXd normal_matrix(Index rows, Index columns, double std, std::uint64_t seed) {
  Eigen::MatrixXf draws(rows, columns);
  NormalStream(seed, 0).fill({draws.data(), static_cast<std::size_t>(draws.size())});
  return std * draws.cast<double>();
}

MatrixXd rotation(Index size, std::uint64_t seed) {
  return Eigen::HouseholderQR<MatrixXd>(normal_matrix(size, size, 1, seed)).householderQ();
}

MatrixXd draw_value(ValueKind kind, Index width, std::uint64_t seed) {
  switch (kind) {
    case ValueKind::identity:
      return MatrixXd::Identity(width, width);
    case ValueKind::orthogonal:
      return rotation(width, seed);
    case ValueKind::gaussian:
      return normal_matrix(width, width, 1 / std::sqrt(static_cast<double>(width)), seed);
  }
  return {};
}

Index width_of(const StackSettings& settings) {
  const auto listed = static_cast<Index>(settings.ensemble.eigenvalues.size());
  return settings.ensemble.kind == EnsembleKind::list ? listed : settings.ensemble.width;
}

MatrixXd attend(const StackSettings& settings, const LayerWeights& weights, LayerTrace& trace) {
  const MatrixXd& x = trace.normalized;
  MatrixXd moved(x.rows(), x.cols());
  const MatrixXd values = weights.value * x;
  const Index part = x.rows() / settings.heads;
  for (Index head = 0; head < settings.heads; ++head) {
    trace.attention.push_back(
        attention_weights(attention_logits(x, weights.query_key[static_cast<std::size_t>(head)]),
                          settings.temperature, settings.softmax, settings.mask));
    moved.middleRows(head * part, part).noalias() =
        values.middleRows(head * part, part) * trace.attention.back().transpose();
  }
  return moved;
}

}  // namespace

ValueKind values_of_name(std::string_view name) { return by_name(kValueNames, "values", name); }
NormPlace norm_place_of_name(std::string_view name) {
  return by_name(kPlaceNames, "layer_norm", name);
}
NormKind norm_of_name(std::string_view name) { return by_name(kNormNames, "norm", name); }

void check_stack(const StackSettings& settings) {
  checked("depth", static_cast<double>(settings.depth));
  checked("heads", static_cast<double>(settings.heads));
  checked("skip", settings.skip);
  checked("mlp", settings.mlp);
  checked("temperature", settings.temperature);
  checked("window", static_cast<double>(settings.mask.window));
  checked("blocks", static_cast<double>(settings.mask.blocks));
  Ensemble(settings.ensemble).weights(settings.mean, settings.variance);
  if (width_of(settings) % settings.heads != 0) {
    throw InvalidArgument("heads", std::to_string(settings.heads) +
                                       " is not allowed; it must divide the width, " +
                                       std::to_string(width_of(settings)));
  }
}

MatrixXd stack_tokens(const StackSettings& settings, std::uint64_t sample) {
  return sample_tokens(settings.tokens, width_of(settings), settings.ensemble.seed, sample);
}

LayerWeights draw_layer(const StackSettings& settings, Index layer, std::uint64_t sample) {
  const auto seed = [&](std::uint64_t part) { return layer_seed(settings, layer, sample, part); };
  const Index width = width_of(settings);
  LayerWeights weights;
  weights.value = draw_value(settings.values, width, seed(0));
  for (Index head = 0; head < settings.heads; ++head) {
    const auto part = 3 + 2 * static_cast<std::uint64_t>(head);
    EnsembleSettings drawn = settings.ensemble;
    drawn.seed = seed(part);
    const Ensemble ensemble(drawn);
    MatrixXd w = ensemble.matrix(settings.mean, settings.variance);
    if (ensemble.symmetric()) {
      const MatrixXd turn = rotation(width, seed(part + 1));
      w = turn * w.diagonal().asDiagonal() * turn.transpose();
    }
    weights.query_key.push_back(std::move(w));
  }
  const auto hidden = static_cast<Index>(std::round(settings.mlp * static_cast<double>(width)));
  if (hidden > 0) {
    // He initialization, so that a ReLU layer keeps the scale of its input.
    weights.up = normal_matrix(hidden, width, std::sqrt(2.0 / static_cast<double>(width)), seed(1));
    weights.down =
        normal_matrix(width, hidden, 1 / std::sqrt(static_cast<double>(hidden)), seed(2));
  }
  return weights;
}

MatrixXd normalized(const MatrixXd& tokens, NormKind kind) {
  MatrixXd x = tokens;
  if (kind == NormKind::layer_norm) x.rowwise() -= tokens.colwise().mean().eval();
  for (auto token : x.colwise()) {
    const double scale = token.norm() / std::sqrt(static_cast<double>(x.rows()));
    if (scale > 0) token /= scale;
  }
  return x;
}

LayerTrace run_layer(const StackSettings& settings, const LayerWeights& weights,
                     const MatrixXd& tokens) {
  const auto before = [&](const MatrixXd& x) {
    return settings.place == NormPlace::pre ? normalized(x, settings.norm) : x;
  };
  const auto after = [&](const MatrixXd& x) {
    return settings.place == NormPlace::post ? normalized(x, settings.norm) : x;
  };
  LayerTrace trace;
  trace.normalized = before(tokens);
  trace.tokens = after(settings.skip * tokens + attend(settings, weights, trace));
  if (weights.up.size() > 0) {
    const MatrixXd hidden = (weights.up * before(trace.tokens)).cwiseMax(0.0);
    trace.tokens = after(settings.skip * trace.tokens + weights.down * hidden);
  }
  return trace;
}

}  // namespace eigenscope

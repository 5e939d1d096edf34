#include "labs/feature_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nn/mlp.h"
#include "nn/tokens.h"
#include "support/lanes.h"
#include "support/normal_matrix.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;

/// Parameters of u_i and p_i, or of u_i and a bias.
Index token_size(PolicyKind kind, const PolicyShape& shape) {
  return shape.width *
         (shape.features + (kind == PolicyKind::attention ? shape.features : Index{1}));
}

/// Parameters before the hidden layer.
Index front_size(PolicyKind kind, const PolicyShape& shape) {
  const Index square = shape.width * shape.width;
  switch (kind) {
    case PolicyKind::attention:
      return token_size(kind, shape) + 3 * square;
    case PolicyKind::uniform:
      return token_size(kind, shape) + square;
    case PolicyKind::gate:
      return shape.features;
    default:
      return 0;
  }
}

/// The softmax of g.
template <class Scalar>
Vector<Scalar> gate_of(const Scalar* g, Index features) {
  Vector<Scalar> gate = Eigen::Map<const Vector<Scalar>>(g, features);
  softmax_columns<Scalar>(1, Entries::all, Eigen::Map<Matrix<Scalar>>(gate.data(), features, 1));
  return gate;
}

}  // namespace

Index PolicyShape::hidden_of(PolicyKind kind) const {
  if (kind == PolicyKind::attention) return hidden;
  const auto unit = [&](Index inputs) { return inputs + 1 + actions; };
  const Index all = front_size(PolicyKind::attention, *this) + hidden * unit(width);
  const Index per_unit = unit(kind == PolicyKind::uniform ? width : features);
  const auto left = static_cast<double>(all - front_size(kind, *this));
  return std::max<Index>(1, std::lround(left / static_cast<double>(per_unit)));
}

template <class Scalar>
Index FeaturePolicy<Scalar>::attention() const {
  return token_size(kind_, shape_);
}

template <class Scalar>
Index FeaturePolicy<Scalar>::up() const {
  return front_size(kind_, shape_);
}

template <class Scalar>
FeaturePolicy<Scalar>::FeaturePolicy(PolicyKind kind, const PolicyShape& shape, std::uint64_t seed,
                                     std::uint64_t stream)
    : kind_(kind), shape_(shape), hidden_(shape.hidden_of(kind)) {
  const Eigen::VectorXd drawn = normal_matrix(size(), 1, seed, stream).template cast<double>();
  parameters_ = Vector<Scalar>::Zero(size());
  const auto fill = [&](Index from, Index to, double deviation) {
    parameters_.segment(from, to - from) =
        (deviation * drawn.segment(from, to - from)).template cast<Scalar>();
  };
  const auto root = [](Index inputs) { return 1 / std::sqrt(static_cast<double>(inputs)); };
  if (has_tokens(kind_)) {
    fill(0, attention(), root(2));
    fill(attention(), up(), root(shape.width));
  }
  fill(up(), up_bias(), root(inputs()));
  fill(down(), down_bias(), root(hidden_));
  gradient_ = Vector<Scalar>::Zero(size());
}

template <class Scalar>
AttentionShape FeaturePolicy<Scalar>::attention_shape(Index batch) const {
  return {1, 1, shape_.width, shape_.features, batch, Entries::all};
}

template <class Scalar>
Scalar FeaturePolicy<Scalar>::scale() const {
  return 1 / std::sqrt(static_cast<Scalar>(shape_.features));
}

template <class Scalar>
void FeaturePolicy<Scalar>::attend(const Matrix<Scalar>& observations) {
  const Index width = shape_.width, features = shape_.features, batch = observations.cols();
  const Eigen::Map<const Matrix<Scalar>> u(parameters_.data(), width, features);
  const Eigen::Map<const Matrix<Scalar>> p(parameters_.data() + place(), width, features);
  tokens_.resize(width, features * batch);
  for (Index t = 0; t < tokens_.cols(); ++t) {
    const Index i = t % features;
    tokens_.col(t) = observations(i, t / features) * u.col(i) + p.col(i);
  }
  fused_.resize(3 * width, features * batch);
  weights_.resize(features, features * batch);
  attended_.resize(width, features * batch);
  linear_forward<Scalar>(parameters_.data() + attention(), nullptr, tokens_, fused_);
  const HeadReading<Scalar> soft;
  attention_forward<Scalar>(attention_shape(batch), fused_, {&soft, 1}, weights_, attended_);
  read_.setZero(width, batch);
  for (Index t = 0; t < tokens_.cols(); ++t) {
    read_.col(t / features) += scale() * (tokens_.col(t) + attended_.col(t));
  }
}

template <class Scalar>
void FeaturePolicy<Scalar>::attend_backward(const Matrix<Scalar>& observations) {
  const Index width = shape_.width, features = shape_.features, batch = observations.cols();
  dattended_.resize(width, features * batch);
  for (Index t = 0; t < dattended_.cols(); ++t) {
    dattended_.col(t) = scale() * dread_.col(t / features);
  }
  dfused_.resize(3 * width, features * batch);
  dtokens_.resize(width, features * batch);
  attention_backward(attention_shape(batch), fused_, weights_, /*hard=*/false, dattended_, dfused_);
  Vector<Scalar> no_bias = Vector<Scalar>::Zero(3 * width);
  linear_backward(parameters_.data() + attention(), tokens_, dfused_, &dtokens_,
                  gradient_.data() + attention(), no_bias.data());
  Eigen::Map<Matrix<Scalar>> du(gradient_.data(), width, features);
  Eigen::Map<Matrix<Scalar>> dp(gradient_.data() + place(), width, features);
  for (Index t = 0; t < dtokens_.cols(); ++t) {
    const Index i = t % features;
    dtokens_.col(t) += dattended_.col(t);
    du.col(i) += observations(i, t / features) * dtokens_.col(t);
    dp.col(i) += dtokens_.col(t);
  }
}

// Equal weights: the output depends on the sum of the tokens alone.
template <class Scalar>
void FeaturePolicy<Scalar>::average(const Matrix<Scalar>& observations) {
  const Index width = shape_.width, batch = observations.cols();
  tokens_.resize(width, batch);
  linear_forward(parameters_.data(), parameters_.data() + place(), observations, tokens_);
  tokens_ *= scale();
  read_.resize(width, batch);
  linear_forward<Scalar>(parameters_.data() + attention(), nullptr, tokens_, read_);
  read_ += tokens_;
}

template <class Scalar>
void FeaturePolicy<Scalar>::average_backward(const Matrix<Scalar>& observations) {
  const Index width = shape_.width;
  dtokens_.resize(width, observations.cols());
  Vector<Scalar> no_bias = Vector<Scalar>::Zero(width);
  linear_backward(parameters_.data() + attention(), tokens_, dread_, &dtokens_,
                  gradient_.data() + attention(), no_bias.data());
  dtokens_ = scale() * (dtokens_ + dread_);
  linear_backward<Scalar>(parameters_.data(), observations, dtokens_, nullptr, gradient_.data(),
                          gradient_.data() + place());
}

template <class Scalar>
void FeaturePolicy<Scalar>::gate_backward(const Matrix<Scalar>& observations) {
  const Index features = shape_.features;
  const Vector<Scalar> gate = gate_of(parameters_.data(), features);
  Vector<Scalar> slope = Vector<Scalar>::Zero(features);
  for (Index b = 0; b < observations.cols(); ++b) {
    slope += static_cast<Scalar>(features) * dread_.col(b).cwiseProduct(observations.col(b));
  }
  const Scalar mean = lane_sum<Scalar>(features, [&](Index i) { return gate[i] * slope[i]; });
  gradient_.head(features) = gate.array() * (slope.array() - mean);
}

template <class Scalar>
void FeaturePolicy<Scalar>::forward(const Matrix<Scalar>& observations) {
  const Index batch = observations.cols();
  if (kind_ == PolicyKind::attention) {
    attend(observations);
  } else if (kind_ == PolicyKind::uniform) {
    average(observations);
  } else {
    read_ = observations;
  }
  if (kind_ == PolicyKind::gate) {
    const Vector<Scalar> gate = gate_of(parameters_.data(), shape_.features);
    read_.array().colwise() *= static_cast<Scalar>(shape_.features) * gate.array();
  }
  up_.resize(hidden_, batch);
  active_.resize(hidden_, batch);
  logits_.resize(shape_.actions, batch);
  const Scalar* const at = parameters_.data();
  mlp_forward<Scalar>({at + up(), at + up_bias(), at + down(), at + down_bias(), Activation::relu},
                      read_, up_, active_, logits_);
}

template <class Scalar>
double FeaturePolicy<Scalar>::backward(const Matrix<Scalar>& observations,
                                       std::span<const TokenId> actions, Scalar penalty,
                                       std::span<const Scalar> advantages) {
  std::vector<double> terms(actions.size());
  double loss = cross_entropy<Scalar>(actions, /*gradient=*/true, logits_, terms);
  if (!advantages.empty()) {
    loss = 0;
    for (std::size_t b = 0; b < terms.size(); ++b) {
      loss += static_cast<double>(advantages[b]) * terms[b] / static_cast<double>(terms.size());
      logits_.col(static_cast<Index>(b)) *= advantages[b];
    }
  }
  gradient_.setZero();
  dup_.resize(hidden_, observations.cols());
  dread_.resize(read_.rows(), read_.cols());
  const Scalar* const at = parameters_.data();
  Scalar* const to = gradient_.data();
  mlp_backward<Scalar>({at + up(), at + up_bias(), at + down(), at + down_bias(), Activation::relu},
                       read_, up_, active_, logits_, dup_, dread_,
                       {to + up(), to + up_bias(), to + down(), to + down_bias()});
  if (kind_ == PolicyKind::attention) attend_backward(observations);
  if (kind_ == PolicyKind::uniform) average_backward(observations);
  if (kind_ == PolicyKind::gate) gate_backward(observations);
  if (kind_ == PolicyKind::sparse) {
    const Index count = up_bias() - up();
    loss += static_cast<double>(penalty * parameters_.segment(up(), count).cwiseAbs().sum());
    gradient_.segment(up(), count) += penalty * parameters_.segment(up(), count).cwiseSign();
  }
  return loss;
}

template <class Scalar>
Eigen::VectorXd FeaturePolicy<Scalar>::feature_shares() const {
  const Index features = shape_.features;
  Eigen::VectorXd shares = Eigen::VectorXd::Zero(features);
  if (kind_ == PolicyKind::attention) {
    for (Index t = 0; t < weights_.cols(); ++t) {
      shares += weights_.col(t).template cast<double>();
    }
  } else if (kind_ == PolicyKind::uniform) {
    shares.setOnes();
  } else if (kind_ == PolicyKind::gate) {
    shares = gate_of(parameters_.data(), features).template cast<double>();
  } else {
    for (Index i = 0; i < hidden_ * features; ++i) {
      const auto weight = static_cast<double>(parameters_[up() + i]);
      shares[i / hidden_] += weight * weight;
    }
  }
  return shares / shares.sum();
}

template <class Scalar>
Eigen::MatrixXd FeaturePolicy<Scalar>::feature_logits() const {
  const Index width = shape_.width;
  const auto matrix = [&](Index first, Index rows, Index columns) {
    return Eigen::MatrixXd(
        Eigen::Map<const Matrix<Scalar>>(parameters_.data() + first, rows, columns)
            .template cast<double>());
  };
  const Eigen::MatrixXd u = matrix(0, width, shape_.features);
  const Eigen::MatrixXd maps = matrix(attention(), 3 * width, width);
  const Eigen::MatrixXd logits =
      transposed_times(times(maps.topRows(width), u), times(maps.middleRows(width, width), u));
  return logits / std::sqrt(static_cast<double>(width));
}

template class FeaturePolicy<float>;
template class FeaturePolicy<double>;

template <class Scalar>
std::vector<TokenId> sampled_actions(const Matrix<Scalar>& logits, std::uint64_t seed,
                                     std::uint64_t stream, std::uint64_t first) {
  Matrix<Scalar> shares = logits;
  std::vector<TokenId> actions;
  softmax_columns<Scalar>(1, Entries::all,
                          Eigen::Map<Matrix<Scalar>>(shares.data(), shares.rows(), shares.cols()));
  for (Index b = 0; b < shares.cols(); ++b) {
    double left = random_unit(seed, stream, first + static_cast<std::uint64_t>(b));
    Index action = 0;
    while (action + 1 < shares.rows()) {
      left -= static_cast<double>(shares(action, b));
      if (left < 0) break;
      ++action;
    }
    actions.push_back(static_cast<TokenId>(action));
  }
  return actions;
}

template <class Scalar>
std::vector<Scalar> advantages_of(std::span<const Scalar> rewards) {
  const Scalar sum = std::accumulate(rewards.begin(), rewards.end(), Scalar(0));
  const auto others = static_cast<Scalar>(rewards.size() - 1);
  std::vector<Scalar> advantages;
  for (const Scalar reward : rewards) advantages.push_back(reward - (sum - reward) / others);
  return advantages;
}

template std::vector<TokenId> sampled_actions(const Matrix<float>&, std::uint64_t, std::uint64_t,
                                              std::uint64_t);
template std::vector<TokenId> sampled_actions(const Matrix<double>&, std::uint64_t, std::uint64_t,
                                              std::uint64_t);
template std::vector<float> advantages_of(std::span<const float>);
template std::vector<double> advantages_of(std::span<const double>);

}  // namespace eigenscope

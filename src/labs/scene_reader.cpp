#include "labs/scene_reader.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nn/attention.h"
#include "nn/linear.h"
#include "nn/loss.h"
#include "support/lanes.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;

/// y += factor x.
template <class Scalar>
void add(Index count, Scalar factor, const Scalar* x, Scalar* y) {
  for (Index i = 0; i < count; ++i) y[i] += factor * x[i];
}

template <class Scalar>
Scalar dot(Index count, const Scalar* x, const Scalar* y) {
  return lane_sum<Scalar>(count, [&](Index i) { return x[i] * y[i]; });
}

}  // namespace

template <class Scalar>
SceneReader<Scalar>::SceneReader(Index head_width, double scale, std::uint64_t seed,
                                 std::uint64_t stream)
    : width_(head_width), dquery_(width_), dlogit_(kObjects) {
  std::vector<float> drawn(static_cast<std::size_t>(bias()));
  NormalStream(seed, stream).fill(drawn);
  const double output_scale = 1 / std::sqrt(static_cast<double>(width_ + kAttributes));
  parameters_ = Vector<Scalar>::Zero(size());
  for (Index i = 0; i < bias(); ++i) {
    const double deviation = i < output() ? scale : output_scale;
    parameters_[i] =
        static_cast<Scalar>(deviation * static_cast<double>(drawn[static_cast<std::size_t>(i)]));
  }
  gradient_ = Vector<Scalar>::Zero(size());
}

template <class Scalar>
void SceneReader<Scalar>::forward(std::span<const Scene* const> scenes) {
  const auto batch = static_cast<Index>(scenes.size());
  queries_.resize(width_, batch);
  keys_.setZero(width_, batch * kObjects);
  values_.setZero(width_, batch * kObjects);
  weights_.resize(kObjects, batch);
  read_.setZero(width_ + kAttributes, batch);
  logits_.resize(kFeatures, batch);
  for (Index b = 0; b < batch; ++b) {
    const Scene& scene = *scenes[static_cast<std::size_t>(b)];
    Scalar* const query_at = queries_.data() + b * width_;
    std::copy_n(column(query(), scene.given), width_, query_at);
    add(width_, Scalar(1), column(asked(), scene.asked), query_at);
    for (Index i = 0; i < kObjects; ++i) {
      Scalar* const key_at = keys_.data() + (b * kObjects + i) * width_;
      Scalar* const value_at = values_.data() + (b * kObjects + i) * width_;
      for (const int feature : scene.features[static_cast<std::size_t>(i)]) {
        add(width_, Scalar(1), column(key(), feature), key_at);
        add(width_, Scalar(1), column(value(), feature), value_at);
      }
      weights_(i, b) = dot(width_, key_at, query_at);
    }
  }
  const Scalar temperature = 1 / std::sqrt(static_cast<Scalar>(width_));
  softmax_columns<Scalar>(temperature, /*hard=*/false, Entries::all,
                          Eigen::Map<Matrix<Scalar>>(weights_.data(), kObjects, batch));
  for (Index b = 0; b < batch; ++b) {
    Scalar* const read_at = read_.data() + b * read_.rows();
    for (Index i = 0; i < kObjects; ++i) {
      add(width_, weights_(i, b), values_.data() + (b * kObjects + i) * width_, read_at);
    }
    read_at[width_ + scenes[static_cast<std::size_t>(b)]->asked] = 1;
  }
  linear_forward(parameters_.data() + output(), parameters_.data() + bias(), read_, logits_);
}

template <class Scalar>
double SceneReader<Scalar>::backward(std::span<const Scene* const> scenes,
                                     const Matrix<Scalar>& prior, Scalar c) {
  const auto batch = static_cast<Index>(scenes.size());
  std::vector<TokenId> answers;
  for (const Scene* scene : scenes) answers.push_back(scene->answer);
  double loss = cross_entropy<Scalar>(answers, /*gradient=*/true, logits_);
  gradient_.setZero();
  dread_.resize(read_.rows(), batch);
  linear_backward(parameters_.data() + output(), read_, logits_, &dread_,
                  gradient_.data() + output(), gradient_.data() + bias());
  const Scalar temperature = 1 / std::sqrt(static_cast<Scalar>(width_));
  const Scalar pull = c / static_cast<Scalar>(batch);
  for (Index b = 0; b < batch; ++b) {
    const Scene& scene = *scenes[static_cast<std::size_t>(b)];
    const Scalar* const weight = weights_.data() + b * kObjects;
    const Scalar* const upstream = dread_.data() + b * dread_.rows();
    const Scalar* const query_at = queries_.data() + b * width_;
    Scalar mean = 0;
    for (Index i = 0; i < kObjects; ++i) {
      dlogit_[i] = dot(width_, upstream, values_.data() + (b * kObjects + i) * width_);
      mean += weight[i] * dlogit_[i];
    }
    dquery_.setZero();
    for (Index i = 0; i < kObjects; ++i) {
      Scalar slope_at = weight[i] * (dlogit_[i] - mean);
      if (prior.size() > 0) {
        slope_at += pull * (weight[i] - prior(i, b));
        if (prior(i, b) > 0) {
          loss += static_cast<double>(pull * prior(i, b)) *
                  std::log(static_cast<double>(prior(i, b) / weight[i]));
        }
      }
      slope_at *= temperature;
      add(width_, slope_at, keys_.data() + (b * kObjects + i) * width_, dquery_.data());
      for (const int feature : scene.features[static_cast<std::size_t>(i)]) {
        add(width_, slope_at, query_at, slope(key(), feature));
        add(width_, weight[i], upstream, slope(value(), feature));
      }
    }
    add(width_, Scalar(1), dquery_.data(), slope(query(), scene.given));
    add(width_, Scalar(1), dquery_.data(), slope(asked(), scene.asked));
  }
  return loss;
}

template <class Scalar>
SpectralMoments SceneReader<Scalar>::spectrum() const {
  const auto table = [&](Index first) {
    using Table = Eigen::Map<const Matrix<Scalar>>;
    return Eigen::MatrixXd(
        Table(column(first, 0), width_, kFeatures).transpose().template cast<double>());
  };
  const Eigen::MatrixXd queries = table(query()) / std::sqrt(static_cast<double>(width_));
  return moments_of_products(products_of_factors(queries, table(key())));
}

template class SceneReader<float>;
template class SceneReader<double>;

}  // namespace eigenscope

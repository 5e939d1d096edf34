#include "labs/scene_reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "nn/attention.h"
#include "nn/mlp.h"
#include "nn/tokens.h"
#include "support/normal_matrix.h"
#include "support/random.h"

namespace eigenscope {

using Eigen::Index;

std::vector<Scene> draw_scenes(std::size_t count, std::uint64_t seed, std::uint64_t stream) {
  constexpr std::uint64_t kDraws = kAttributes * kObjects + 3;  // draws of a scene
  std::vector<Scene> scenes(count);
  for (std::size_t k = 0; k < count; ++k) {
    std::uint64_t counter = k * kDraws;
    const auto below = [&](int bound) {
      const auto count = static_cast<std::uint64_t>(bound);
      return static_cast<int>(random_below(count, seed, stream, counter++));
    };
    Scene& scene = scenes[k];
    for (int a = 0; a < kAttributes; ++a) {
      std::array<int, kValues> values;
      std::iota(values.begin(), values.end(), a * kValues);
      for (int i = 0; i < kObjects; ++i) {  // Fisher and Yates
        std::swap(values[static_cast<std::size_t>(i)],
                  values[static_cast<std::size_t>(i + below(kValues - i))]);
        scene.features[static_cast<std::size_t>(i)][static_cast<std::size_t>(a)] =
            values[static_cast<std::size_t>(i)];
      }
    }
    scene.asked = below(kAttributes);
    const int given = (scene.asked + 1 + below(kAttributes - 1)) % kAttributes;
    scene.target = below(kObjects);
    const auto& target = scene.features[static_cast<std::size_t>(scene.target)];
    scene.given = target[static_cast<std::size_t>(given)];
    scene.answer = target[static_cast<std::size_t>(scene.asked)];
    const auto asked = [&](const auto& object) {
      return object[static_cast<std::size_t>(scene.asked)];
    };
    const auto lowest =
        std::min_element(scene.features.begin(), scene.features.end(),
                         [&](const auto& a, const auto& b) { return asked(a) < asked(b); });
    scene.lowest = static_cast<int>(lowest - scene.features.begin());
  }
  return scenes;
}

template <class Scalar>
SceneReader<Scalar>::SceneReader(Index head_width, double scale, std::uint64_t seed,
                                 std::uint64_t stream)
    : width_(head_width) {
  const Eigen::VectorXd drawn = normal_matrix(bias(), 1, seed, stream).template cast<double>();
  const double output_scale = 1 / std::sqrt(static_cast<double>(width_ + kAttributes));
  parameters_ = Vector<Scalar>::Zero(size());
  for (Index i = 0; i < bias(); ++i) {
    parameters_[i] = static_cast<Scalar>((i < output() ? scale : output_scale) * drawn[i]);
  }
  gradient_ = Vector<Scalar>::Zero(size());
}

template <class Scalar>
void SceneReader<Scalar>::forward(std::span<const Scene* const> scenes) {
  const auto batch = static_cast<Index>(scenes.size());
  queries_.resize(width_, batch);
  feature_logits_.resize(kFeatures, batch);
  weights_.resize(kObjects, batch);
  feature_weights_.setZero(kFeatures, batch);
  read_.setZero(width_ + kAttributes, batch);
  logits_.resize(kFeatures, batch);
  const Eigen::Map<const Matrix<Scalar>> table(at(query()), width_, kFeatures + kAttributes);
  for (Index b = 0; b < batch; ++b) {
    const Scene& scene = *scenes[static_cast<std::size_t>(b)];
    queries_.col(b) = table.col(scene.given) + table.col(kFeatures + scene.asked);
    read_(width_ + scene.asked, b) = 1;
  }
  multiply(kFeatures, batch, width_, factor(at(key()), width_).transposed(), whole(queries_),
           feature_logits_.data(), kFeatures);
  for (Index b = 0; b < batch; ++b) {
    for (Index i = 0; i < kObjects; ++i) {
      weights_(i, b) = sum_over(object(scenes, b, i), feature_logits_.col(b));
    }
  }
  softmax_columns<Scalar>(temperature(), Entries::all,
                          Eigen::Map<Matrix<Scalar>>(weights_.data(), kObjects, batch));
  for (Index b = 0; b < batch; ++b) {
    for (Index i = 0; i < kObjects; ++i) {
      for (const int feature : object(scenes, b, i)) feature_weights_(feature, b) = weights_(i, b);
    }
  }
  multiply(width_, batch, kFeatures, factor(at(value()), width_), whole(feature_weights_),
           read_.data(), read_.rows());
  linear_forward(at(output()), at(bias()), read_, logits_);
}

template <class Scalar>
double SceneReader<Scalar>::backward(std::span<const Scene* const> scenes,
                                     const Matrix<Scalar>& prior, Scalar c) {
  const auto batch = static_cast<Index>(scenes.size());
  std::vector<TokenId> answers;
  for (const Scene* scene : scenes) answers.push_back(scene->answer);
  double loss = cross_entropy<Scalar>(answers, /*gradient=*/true, logits_);
  gradient_.setZero();
  const auto slope = [&](Index first) { return gradient_.data() + first; };
  dread_.resize(read_.rows(), batch);
  linear_backward(at(output()), read_, logits_, &dread_, slope(output()), slope(bias()));

  dfeature_.resize(kFeatures, batch);
  multiply(kFeatures, batch, width_, factor(at(value()), width_).transposed(), whole(dread_),
           dfeature_.data(), kFeatures);
  multiply(width_, kFeatures, batch, whole(dread_), whole(feature_weights_).transposed(),
           slope(value()), width_, /*add=*/true);

  const Scalar pull = c / static_cast<Scalar>(batch);
  for (Index b = 0; b < batch; ++b) {
    const auto weight = weights_.col(b);
    Eigen::Matrix<Scalar, kObjects, 1> dlogit;
    Scalar mean = 0;
    for (Index i = 0; i < kObjects; ++i) {
      dlogit[i] = sum_over(object(scenes, b, i), dfeature_.col(b));
      mean += weight[i] * dlogit[i];
    }
    for (Index i = 0; i < kObjects; ++i) dlogit[i] = weight[i] * (dlogit[i] - mean);
    if (prior.size() > 0) {
      dlogit += pull * (weight - prior.col(b));
      for (Index i = 0; i < kObjects; ++i) {
        if (prior(i, b) == 0) continue;
        loss += static_cast<double>(pull * prior(i, b) * std::log(prior(i, b) / weight[i]));
      }
    }
    dfeature_.col(b).setZero();
    for (Index i = 0; i < kObjects; ++i) {
      for (const int feature : object(scenes, b, i)) {
        dfeature_(feature, b) = temperature() * dlogit[i];
      }
    }
  }

  multiply(width_, kFeatures, batch, whole(queries_), whole(dfeature_).transposed(), slope(key()),
           width_, /*add=*/true);
  dqueries_.resize(width_, batch);
  multiply(width_, batch, kFeatures, factor(at(key()), width_), whole(dfeature_), dqueries_.data(),
           width_);
  Eigen::Map<Matrix<Scalar>> table(slope(query()), width_, kFeatures + kAttributes);
  for (Index b = 0; b < batch; ++b) {
    const Scene& scene = *scenes[static_cast<std::size_t>(b)];
    table.col(scene.given) += dqueries_.col(b);
    table.col(kFeatures + scene.asked) += dqueries_.col(b);
  }
  return loss;
}

template <class Scalar>
SpectralMoments SceneReader<Scalar>::spectrum() const {
  const auto table = [&](Index first) {
    using Table = Eigen::Map<const Matrix<Scalar>>;
    return Eigen::MatrixXd(Table(at(first), width_, kFeatures).transpose().template cast<double>());
  };
  const Eigen::MatrixXd queries = table(query()) / std::sqrt(static_cast<double>(width_));
  return moments_of_products(products_of_factors(queries, table(key())));
}

template class SceneReader<float>;
template class SceneReader<double>;

}  // namespace eigenscope

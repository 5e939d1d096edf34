#include "inference/token_mixer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nn/activation.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

constexpr float kLengthEpsilon = 1e-6F;  // of queries and keys, in all published models

// Loops over entries keep the WebAssembly module smaller than Eigen expressions, of which each adds code.

float softplus(float x) { return std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x))); }

float silu(float x) { return x * sigmoid(x); }

/// Gives `width` numbers the length `length`.
void set_length(float* x, Index width, float length) {
  float square = kLengthEpsilon;
  for (Index i = 0; i < width; ++i) square += x[i] * x[i];
  const float scale = length / std::sqrt(square);
  for (Index i = 0; i < width; ++i) x[i] *= scale;
}

/// One head at one position: `state` is d_k x d_v, row by row.
void step(const DeltaHeads& heads, const float* q, const float* k, const float* v, float decay,
          float write, std::vector<float>& state, std::vector<float>& change, float* read) {
  const Index width = heads.value_width;
  std::copy_n(v, width, change.data());
  for (Index i = 0; i < heads.key_width; ++i) {
    float* const row = state.data() + i * width;
    for (Index j = 0; j < width; ++j) {
      row[j] *= decay;
      change[static_cast<std::size_t>(j)] -= k[i] * row[j];
    }
  }
  std::fill_n(read, width, 0.0F);
  for (Index i = 0; i < heads.key_width; ++i) {
    float* const row = state.data() + i * width;
    const float written = write * k[i];
    for (Index j = 0; j < width; ++j) {
      row[j] += written * change[static_cast<std::size_t>(j)];
      read[j] += q[i] * row[j];
    }
  }
}

}  // namespace

MatrixXf OutputGate::operator()(const MatrixXf& projected, const MatrixXf& read) const {
  MatrixXf gated = read;
  for (Index i = 0; i < read.size(); ++i) gated.data()[i] *= sigmoid(projected.data()[i]);
  return gated;
}

MatrixXf ShortConvolution::operator()(const MatrixXf& projected, const MatrixXf&) const {
  const Index channels = convolution_.channels();
  MatrixXf x(channels, projected.cols());
  for (Index t = 0; t < projected.cols(); ++t) {
    for (Index i = 0; i < channels; ++i) x(i, t) = projected(i, t) * projected(2 * channels + i, t);
  }
  x = convolution_(x.data(), channels, x.cols());
  for (Index t = 0; t < projected.cols(); ++t) {
    for (Index i = 0; i < channels; ++i) x(i, t) *= projected(channels + i, t);
  }
  return x;
}

MatrixXf CausalConvolution::operator()(const float* x, Index leading, Index length) const {
  MatrixXf y(channels(), length);
  for (Index t = 0; t < length; ++t) {
    const Index first = std::max<Index>(0, t + 1 - weight.rows());
    for (Index channel = 0; channel < channels(); ++channel) {
      float sum = bias.size() > 0 ? bias[channel] : 0;
      for (Index at = first; at <= t; ++at) {
        sum += weight(weight.rows() - 1 - (t - at), channel) * x[at * leading + channel];
      }
      y(channel, t) = sum;
    }
  }
  return y;
}

MatrixXf StateSpace::operator()(const MatrixXf& projected, const MatrixXf& attended) const {
  const Index width = heads_.width, states = heads_.states, length = projected.cols();
  const Index values = heads_.values(), steps = values + heads_.channels();
  MatrixXf x = weights_.convolution(&projected(values, 0), projected.rows(), length);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = silu(x.data()[i]);
  MatrixXf read(values, length);
  std::vector<float> state;
  for (Index head = 0; head < heads_.heads; ++head) {
    const Index group = values + head * heads_.groups / heads_.heads * states;
    state.assign(static_cast<std::size_t>(states * width), 0);
    for (Index t = 0; t < length; ++t) {
      const float time = std::clamp(softplus(projected(steps + head, t) + weights_.step_bias[head]),
                                    weights_.limits.least, weights_.limits.most);
      const float decay = std::exp(-weights_.rate[head] * time);
      const float *const x_t = &x(head * width, t), *const in = &x(group, t),
                         *const out = in + heads_.shared();
      float* const to = &read(head * width, t);
      for (Index j = 0; j < width; ++j) to[j] = weights_.skip[head] * x_t[j];
      for (Index i = 0; i < states; ++i) {
        float* const row = state.data() + i * width;
        const float written = time * in[i];
        for (Index j = 0; j < width; ++j) {
          row[j] = decay * row[j] + written * x_t[j];
          to[j] += out[i] * row[j];
        }
      }
    }
  }
  const auto normalize = [&] {
    if (weights_.norm.is_none()) return;
    read = weights_.norm(std::move(read));
    read.array().colwise() *= weights_.gain.array();
  };
  if (weights_.norm_first) normalize();
  for (Index t = 0; t < length; ++t) {
    for (Index i = 0; i < values; ++i) read(i, t) *= silu(projected(i, t));
  }
  if (!weights_.norm_first) normalize();
  if (attended.rows() == 0) return read;
  MatrixXf both(attended.rows() + values, length);
  both << attended, read;
  return both;
}

MatrixXf SelectiveScan::operator()(const MatrixXf& projected, const MatrixXf&) const {
  const Index channels = weights_.rate.cols(), states = weights_.rate.rows();
  const Index length = projected.cols(), inputs = weights_.step.weight.cols();
  MatrixXf x = weights_.convolution(projected.data(), projected.rows(), length);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = silu(x.data()[i]);
  const MatrixXf made = weights_.states(x);
  const MatrixXf steps = weights_.step(weights_.norms[0](made.topRows(inputs))),
                 in = weights_.norms[1](made.middleRows(inputs, states)),
                 out = weights_.norms[2](made.bottomRows(states));
  std::vector<float> state;
  for (Index channel = 0; channel < channels; ++channel) {
    state.assign(static_cast<std::size_t>(states), 0);
    for (Index t = 0; t < length; ++t) {
      const float time = softplus(steps(channel, t)), x_t = x(channel, t);
      float read = weights_.skip[channel] * x_t;
      for (Index i = 0; i < states; ++i) {
        float& each = state[static_cast<std::size_t>(i)];
        each = std::exp(-weights_.rate(i, channel) * time) * each + time * x_t * in(i, t);
        read += out(i, t) * each;
      }
      x(channel, t) = read * silu(projected(channels + channel, t));
    }
  }
  return x;
}

MatrixXf DeltaRule::operator()(const MatrixXf& projected, const MatrixXf&) const {
  const Index keys = heads_.keys * heads_.key_width, values = heads_.values * heads_.value_width;
  const Index length = projected.cols(), gates = 2 * keys + values, rates = gates + values;
  MatrixXf convolved = weights_.convolution(projected.data(), projected.rows(), length);
  for (Index i = 0; i < convolved.size(); ++i) convolved.data()[i] = silu(convolved.data()[i]);
  const float scale = 1 / std::sqrt(static_cast<float>(heads_.key_width));
  for (Index t = 0; t < length; ++t) {
    for (Index head = 0; head < heads_.keys; ++head) {
      float* const q = &convolved(head * heads_.key_width, t);
      set_length(q, heads_.key_width, scale);
      set_length(q + keys, heads_.key_width, 1);
    }
  }
  MatrixXf read(values, length);
  std::vector<float> state, change(static_cast<std::size_t>(heads_.value_width));
  for (Index head = 0; head < heads_.values; ++head) {
    const Index shared = heads_.in_turn ? head % heads_.keys : head * heads_.keys / heads_.values;
    state.assign(static_cast<std::size_t>(heads_.key_width * heads_.value_width), 0);
    for (Index t = 0; t < length; ++t) {
      const float* const q = &convolved(shared * heads_.key_width, t);
      const float* const v = &convolved(2 * keys + head * heads_.value_width, t);
      const float time =
          softplus(projected(rates + heads_.values + head, t) + weights_.step_bias[head]);
      step(heads_, q, q + keys, v, std::exp(-weights_.rate[head] * time),
           sigmoid(projected(rates + head, t)), state, change, &read(head * heads_.value_width, t));
    }
  }
  read = weights_.norm(std::move(read));
  for (Index t = 0; t < length; ++t) {
    for (Index i = 0; i < values; ++i) read(i, t) *= silu(projected(gates + i, t));
  }
  return read;
}

}  // namespace eigenscope

#include "training/effective_locater.h"

#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::Index;

template <class Scalar>
Matrix<Scalar> product(const Matrix<Scalar>& a, const Matrix<Scalar>& b) {
  Matrix<Scalar> c(a.rows(), b.cols());
  multiply(a.rows(), b.cols(), a.cols(), factor(a.data(), a.rows()), factor(b.data(), b.rows()),
           c.data(), c.rows());
  return c;
}
template <class Scalar>
Matrix<Scalar> product_transposed(const Matrix<Scalar>& a, const Matrix<Scalar>& b) {
  Matrix<Scalar> c(a.rows(), b.rows());
  multiply(a.rows(), b.rows(), a.cols(), factor(a.data(), a.rows()),
           factor(b.data(), b.rows()).transposed(), c.data(), c.rows());
  return c;
}

// The norm whose output attention reads; offsets -1 where there is none.
struct NormBefore {
  Index gain = -1, bias = -1;
};
template <class Scalar>
NormBefore norm_before(const Model<Scalar>& model, Index layer) {
  const auto& layers = model.layout().layers;
  if (model.settings().norm == BlockNorm::pre) {
    const LayerOffsets& own = layers[static_cast<std::size_t>(layer)];
    return {own.norm1, own.norm1_bias};
  }
  if (layer == 0) return {};
  const LayerOffsets& below = layers[static_cast<std::size_t>(layer - 1)];
  return below.norm2 >= 0 ? NormBefore{below.norm2, below.norm2_bias}
                          : NormBefore{below.norm1, below.norm1_bias};
}

// Both kinds as one: queries Q x + c and keys K x of tokens x with covariance S and mean mu, where the
// effective kind has Q = W_Q^T diag(g), S = I. Trace tr(K S Q^T), scale tr((Q S Q^T + c c^T) K S K^T).
template <class Scalar>
struct Head {
  Head(const RegularizerSettings& settings, const std::vector<Matrix<Scalar>>& moments,
       const Model<Scalar>& model, Index layer, Index head)
      : norm(norm_before(model, layer)) {
    const ModelSettings& s = model.settings();
    d = s.width;
    width = s.head_width();
    const AttentionShape shape{s.heads, s.groups(), width, 1, 1};
    const LayerOffsets& own = model.layout().layers[static_cast<std::size_t>(layer)];
    leading = shape.fused();
    query_row = head * width;
    key_row = shape.key_row(head);
    fused = own.fused;
    bias = own.fused_bias + query_row;
    const Vector<Scalar>& parameters = model.parameters();
    const Eigen::Map<const Matrix<Scalar>> weights(parameters.data() + fused, leading, d);
    query = weights.middleRows(query_row, width);
    key = weights.middleRows(key_row, width);
    constant = parameters.segment(bias, width);
    folded = settings.kind == RegularizerKind::locater_effective;
    if (folded) {
      gain = Vector<Scalar>::Ones(d);
      mean = Vector<Scalar>::Zero(d);
      if (norm.gain >= 0) gain = parameters.segment(norm.gain, d);
      if (norm.bias >= 0) mean = parameters.segment(norm.bias, d);
    } else {
      mean = moments[static_cast<std::size_t>(layer)].col(d);
      covariance = moments[static_cast<std::size_t>(layer)].leftCols(d);
    }
    for (Index j = 0; j < d; ++j) {  // a plain loop: the same order of sums on every platform
      for (Index i = 0; i < width; ++i) constant[i] += query(i, j) * mean[j];
    }
    query_seen = seen(query);
    key_seen = seen(key);
    // Q S Q^T + c c^T and K S K^T, and K S Q^T for the trace.
    const Matrix<Scalar> column = constant;
    query_gram =
        folded ? product_transposed(query_seen, query_seen) : product_transposed(query_seen, query);
    query_gram += product_transposed(column, column);
    key_gram = folded ? product_transposed(key_seen, key_seen) : product_transposed(key_seen, key);
    const Matrix<Scalar> cross =
        folded ? product_transposed(key_seen, query_seen) : product_transposed(key_seen, query);
    for (Index j = 0; j < width; ++j) {
      traces.trace += static_cast<double>(cross(j, j));
      for (Index i = 0; i < width; ++i) {
        traces.scale += static_cast<double>(query_gram(i, j)) * static_cast<double>(key_gram(i, j));
      }
    }
  }

  // W diag(g), or W S.
  Matrix<Scalar> seen(const Matrix<Scalar>& weights) const {
    return folded ? Matrix<Scalar>(weights * gain.asDiagonal()) : product(weights, covariance);
  }

  NormBefore norm;
  Index d, width, leading, query_row, key_row, fused, bias;
  bool folded;
  Vector<Scalar> gain, mean, constant;  // constant: c
  Matrix<Scalar> covariance;
  Matrix<Scalar> query, key, query_seen, key_seen, query_gram, key_gram;
  EffectiveTraces traces;
};

// Adds a dR/dtrace and dR/dscale to the gradient of everything that the head is made of.
template <class Scalar>
void add_slopes(const Head<Scalar>& head, Scalar of_trace, Scalar of_scale, Model<Scalar>& model) {
  Vector<Scalar>& gradient = model.gradient();
  Eigen::Map<Matrix<Scalar>> fused(gradient.data() + head.fused, head.leading, head.d);
  // By Q S and K S (by Q and K when folded).
  const Matrix<Scalar> query_slope =
      of_trace * head.key_seen + 2 * of_scale * product(head.key_gram, head.query_seen);
  const Matrix<Scalar> key_slope =
      of_trace * head.query_seen + 2 * of_scale * product(head.query_gram, head.key_seen);
  const Matrix<Scalar> column = head.constant;
  const Vector<Scalar> constant_slope = 2 * of_scale * product(head.key_gram, column);
  auto query_rows = fused.middleRows(head.query_row, head.width);
  auto key_rows = fused.middleRows(head.key_row, head.width);
  gradient.segment(head.bias, head.width) += constant_slope;
  for (Index j = 0; j < head.d; ++j) {
    const Scalar gain = head.folded ? head.gain[j] : Scalar(1);
    Scalar of_gain = 0, of_mean = 0;
    for (Index i = 0; i < head.width; ++i) {
      query_rows(i, j) += gain * query_slope(i, j) + constant_slope[i] * head.mean[j];
      key_rows(i, j) += gain * key_slope(i, j);
      of_gain += query_slope(i, j) * head.query(i, j) + key_slope(i, j) * head.key(i, j);
      of_mean += head.query(i, j) * constant_slope[i];
    }
    if (!head.folded) continue;
    if (head.norm.gain >= 0) gradient[head.norm.gain + j] += of_gain;
    if (head.norm.bias >= 0) gradient[head.norm.bias + j] += of_mean;
  }
}

bool is_effective(RegularizerKind kind) {
  return kind == RegularizerKind::locater_effective || kind == RegularizerKind::locater_covariance;
}

}  // namespace

void TokenMoments::update(const Model<float>& model) {
  constexpr float kShare = 0.05f;
  const Index d = model.settings().width;
  for (Index layer = 0; layer < model.settings().depth; ++layer) {
    const Matrix<float>& x = model.attention_input(layer);
    const auto count = static_cast<float>(x.cols());
    Matrix<float> now = Matrix<float>::Zero(d, d + 1);
    float* const mean = now.data() + d * d;
    for (Index t = 0; t < x.cols(); ++t) {
      for (Index i = 0; i < d; ++i) mean[i] += x(i, t) / count;
    }
    Matrix<float> centred(d, x.cols());
    for (Index t = 0; t < x.cols(); ++t) {
      for (Index i = 0; i < d; ++i) centred(i, t) = x(i, t) - mean[i];
    }
    const Matrix<float> square = product_transposed(centred, centred);
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < d; ++i) now(i, j) = square(i, j) / count;
    }
    const auto number = static_cast<std::size_t>(layer);
    if (layers.size() <= number) {
      layers.push_back(std::move(now));
    } else {
      layers[number] += kShare * (now - layers[number]);
    }
  }
}

template <class Scalar>
EffectiveTraces effective_traces(const RegularizerSettings& settings,
                                 const std::vector<Matrix<Scalar>>& moments,
                                 const Model<Scalar>& model, Index layer, Index head) {
  return Head<Scalar>(settings, moments, model, layer, head).traces;
}

template <class Scalar>
double add_effective_locater(const RegularizerSettings& settings,
                             const std::vector<double>& targets,
                             const std::vector<Matrix<Scalar>>& moments, Model<Scalar>& model) {
  if (!is_effective(settings.kind)) return 0;
  const auto d = static_cast<double>(model.settings().width);
  double penalty = 0;
  const Index heads = model.settings().heads;
  for (Index layer = 0; layer < model.settings().depth; ++layer) {
    for (Index k = 0; k < settings.acting(heads); ++k) {
      const Head<Scalar> head(settings, moments, model, layer, k);
      const double excess =
          head.traces.trace / d - targets[static_cast<std::size_t>(layer * heads + k)];
      penalty +=
          settings.mean_weight * excess * excess + settings.scale_weight * head.traces.scale / d;
      add_slopes(head, static_cast<Scalar>(2 * settings.mean_weight * excess / d),
                 static_cast<Scalar>(settings.scale_weight / d), model);
    }
  }
  return penalty;
}

#define EIGENSCOPE_EFFECTIVE(Scalar)                                                            \
  template EffectiveTraces effective_traces(const RegularizerSettings&,                         \
                                            const std::vector<Matrix<Scalar>>&,                 \
                                            const Model<Scalar>&, Index, Index);                \
  template double add_effective_locater(const RegularizerSettings&, const std::vector<double>&, \
                                        const std::vector<Matrix<Scalar>>&, Model<Scalar>&);
EIGENSCOPE_EFFECTIVE(float)
EIGENSCOPE_EFFECTIVE(double)

}  // namespace eigenscope

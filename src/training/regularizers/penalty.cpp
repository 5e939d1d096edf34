#include "training/regularizers/penalty.h"

#include "training/regularizers/head_products.h"

namespace eigenscope {
namespace {

using Eigen::Index;

template <class Scalar>
Matrix<Scalar> product(const Matrix<Scalar>& a, const Matrix<Scalar>& b) {
  return product(a.rows(), b.cols(), a.cols(), whole(a), whole(b));
}
template <class Scalar>
Matrix<Scalar> product_transposed(const Matrix<Scalar>& a, const Matrix<Scalar>& b) {
  return product(a.rows(), b.rows(), a.cols(), whole(a), whole(b).transposed());
}

}  // namespace

template <class Scalar>
EffectiveHead<Scalar>::EffectiveHead(const Model<Scalar>& model, Index layer, Index head,
                                     const Matrix<Scalar>* moments)
    : folded(moments == nullptr) {
  const ModelSettings& s = model.settings();
  const ParameterLayout& layout = model.layout();
  const LayerOffsets& offsets = layout.at(layer);
  d = s.width;
  width = s.head_width();
  const AttentionShape shape{s.heads, s.groups(), width, 1, 1};
  leading = shape.fused();
  query_row = head * width;
  key_row = shape.key_row(head);
  fused = offsets.fused;
  bias = offsets.fused_bias + query_row;
  const Vector<Scalar>& parameters = model.parameters();
  const Eigen::Map<const Matrix<Scalar>> weights(parameters.data() + fused, leading, d);
  query = weights.middleRows(query_row, width);
  key = weights.middleRows(key_row, width);
  constant = parameters.segment(bias, width);
  if (s.norm == BlockNorm::pre) {
    norm_gain = offsets.norm1;
    norm_bias = offsets.norm1_bias;
  } else if (layer > 0) {
    const LayerOffsets& below = layout.at(layer - 1);
    norm_gain = below.norm2 >= 0 ? below.norm2 : below.norm1;
    norm_bias = below.norm2 >= 0 ? below.norm2_bias : below.norm1_bias;
  }
  if (folded) {
    gain = Vector<Scalar>::Ones(d);
    mean = Vector<Scalar>::Zero(d);
    if (norm_gain >= 0) gain = parameters.segment(norm_gain, d);
    if (norm_bias >= 0) mean = parameters.segment(norm_bias, d);
  } else {
    mean = moments->col(d);
    covariance = moments->leftCols(d);
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
    this->trace += static_cast<double>(cross(j, j));
    for (Index i = 0; i < width; ++i) {
      this->scale += static_cast<double>(query_gram(i, j)) * static_cast<double>(key_gram(i, j));
    }
  }
}

template <class Scalar>
Matrix<Scalar> EffectiveHead<Scalar>::seen(const Matrix<Scalar>& weights) const {
  return folded ? Matrix<Scalar>(weights * gain.asDiagonal()) : product(weights, covariance);
}

template <class Scalar>
void EffectiveHead<Scalar>::add_slopes(Scalar of_trace, Scalar of_scale,
                                       Model<Scalar>& model) const {
  Vector<Scalar>& gradient = model.gradient();
  Eigen::Map<Matrix<Scalar>> slopes(gradient.data() + fused, leading, d);
  // Derivatives by Q S and K S (by Q and K when folded).
  const Matrix<Scalar> query_slope =
      of_trace * key_seen + 2 * of_scale * product(key_gram, query_seen);
  const Matrix<Scalar> key_slope =
      of_trace * query_seen + 2 * of_scale * product(query_gram, key_seen);
  const Matrix<Scalar> column = constant;
  const Vector<Scalar> constant_slope = 2 * of_scale * product(key_gram, column);
  auto query_rows = slopes.middleRows(query_row, width);
  auto key_rows = slopes.middleRows(key_row, width);
  gradient.segment(bias, width) += constant_slope;
  for (Index j = 0; j < d; ++j) {
    const Scalar factor = folded ? gain[j] : Scalar(1);
    Scalar of_gain = 0, of_mean = 0;
    for (Index i = 0; i < width; ++i) {
      query_rows(i, j) += factor * query_slope(i, j) + constant_slope[i] * mean[j];
      key_rows(i, j) += factor * key_slope(i, j);
      of_gain += query_slope(i, j) * query(i, j) + key_slope(i, j) * key(i, j);
      of_mean += query(i, j) * constant_slope[i];
    }
    if (!folded) continue;
    if (norm_gain >= 0) gradient[norm_gain + j] += of_gain;
    if (norm_bias >= 0) gradient[norm_bias + j] += of_mean;
  }
}

template struct EffectiveHead<float>;
template struct EffectiveHead<double>;

}  // namespace eigenscope

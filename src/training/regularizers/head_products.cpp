#include "training/regularizers/head_products.h"

namespace eigenscope {
using Eigen::Index;

template <class Scalar>
HeadRows::HeadRows(const Model<Scalar>& model, Index layer, Index head)
    : leading(model.settings().fused_width()),
      d(model.settings().width),
      width(model.settings().head_width()) {
  const ModelSettings& settings = model.settings();
  const AttentionShape shape{settings.heads, settings.groups(), width, 1, 1};
  const Index fused = model.layout().at(layer).fused;
  query = fused + head * width;
  key = fused + shape.key_row(head);
}

template <class Scalar>
HeadProducts<Scalar>::HeadProducts(const Model<Scalar>& model, Index layer, Index head)
    : rows(model, layer, head),
      query(factor(model.parameters().data() + rows.query, rows.leading)),
      key(factor(model.parameters().data() + rows.key, rows.leading)),
      core(product(rows.width, rows.width, rows.d, key, query.transposed())),
      query_gram(product(rows.width, rows.width, rows.d, query, query.transposed())),
      key_gram(product(rows.width, rows.width, rows.d, key, key.transposed())) {}

template <class Scalar>
Traces HeadProducts<Scalar>::traces() const {
  Traces traces;
  for (Index j = 0; j < rows.width; ++j) {
    traces.xi += static_cast<double>(core(j, j));
    for (Index i = 0; i < rows.width; ++i) {
      traces.eta_s += static_cast<double>(core(i, j)) * static_cast<double>(core(j, i));
      traces.eta_f += static_cast<double>(query_gram(i, j)) * static_cast<double>(key_gram(i, j));
    }
  }
  return traces;
}

template <class Scalar>
void HeadProducts<Scalar>::add_product(const Matrix<Scalar>& left, Factor<Scalar> right,
                                       Scalar* gradient) const {
  multiply(rows.width, rows.d, rows.width, factor(left.data(), rows.width), right, gradient,
           rows.leading, true);
}

template <class Scalar>
void HeadProducts<Scalar>::add_trace_slope(Scalar slope, Model<Scalar>& model) const {
  const Matrix<Scalar> scaled = slope * Matrix<Scalar>::Identity(rows.width, rows.width);
  add_product(scaled, key, model.gradient().data() + rows.query);
  add_product(scaled, query, model.gradient().data() + rows.key);
}

template <class Scalar>
void HeadProducts<Scalar>::add_frobenius_slope(Scalar slope, Model<Scalar>& model) const {
  add_product(2 * slope * key_gram, query, model.gradient().data() + rows.query);
  add_product(2 * slope * query_gram, key, model.gradient().data() + rows.key);
}

template <class Scalar>
Traces head_traces(const Model<Scalar>& model, Index layer, Index head) {
  return HeadProducts<Scalar>(model, layer, head).traces();
}

#define EIGENSCOPE_PRODUCTS(Scalar)                                \
  template HeadRows::HeadRows(const Model<Scalar>&, Index, Index); \
  template struct HeadProducts<Scalar>;                            \
  template Traces head_traces(const Model<Scalar>&, Index, Index);
EIGENSCOPE_PRODUCTS(float)
EIGENSCOPE_PRODUCTS(double)

}  // namespace eigenscope

#include "training/locater.h"

#include <cmath>

#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::Index;

// The rows of queries and keys of a head in the fused weight: W_Q^T and W_K^T, d_h x d, leading rows
// apart.
struct HeadPlace {
  Index query, key, leading;
};

template <class Scalar>
HeadPlace place_of(const Model<Scalar>& model, Index layer, Index head) {
  const ModelSettings& settings = model.settings();
  const AttentionShape shape{settings.heads, settings.groups(), settings.head_width(), 1, 1};
  const Index fused = model.layout().layers[static_cast<std::size_t>(layer)].fused;
  return {fused + head * shape.head_width, fused + shape.key_row(head), shape.fused()};
}

template <class Scalar>
Matrix<Scalar> product(Index rows, Index columns, Index inner, Factor<Scalar> a, Factor<Scalar> b) {
  Matrix<Scalar> c(rows, columns);
  multiply(rows, columns, inner, a, b, c.data(), rows);
  return c;
}

// The d_h x d_h products that everything is made of.
template <class Scalar>
struct Products {
  Products(const Model<Scalar>& model, Index layer, Index head)
      : place(place_of(model, layer, head)),
        d(model.settings().width),
        width(model.settings().head_width()),
        query(factor(model.parameters().data() + place.query, place.leading)),
        key(factor(model.parameters().data() + place.key, place.leading)),
        core(product(width, width, d, key, query.transposed())),
        query_gram(product(width, width, d, query, query.transposed())),
        key_gram(product(width, width, d, key, key.transposed())) {}

  HeadTraces traces() const {
    HeadTraces traces;
    for (Index j = 0; j < width; ++j) {
      traces.trace += static_cast<double>(core(j, j));
      for (Index i = 0; i < width; ++i) {
        traces.trace_square += static_cast<double>(core(i, j)) * static_cast<double>(core(j, i));
        traces.frobenius +=
            static_cast<double>(query_gram(i, j)) * static_cast<double>(key_gram(i, j));
      }
    }
    return traces;
  }

  /// Adds left (d_h x d_h) times one of the factors to the gradient of a factor.
  void add_product(const Matrix<Scalar>& left, Factor<Scalar> right, Scalar* gradient) const {
    multiply(width, d, width, factor(left.data(), width), right, gradient, place.leading, true);
  }

  HeadPlace place;
  Index d, width;
  Factor<Scalar> query, key;
  Matrix<Scalar> core, query_gram, key_gram;  // M, W_Q^T W_Q, W_K^T W_K
};

}  // namespace

template <class Scalar>
HeadTraces head_traces(const Model<Scalar>& model, Index layer, Index head) {
  return Products<Scalar>(model, layer, head).traces();
}

template <class Scalar>
std::vector<double> head_means(const Model<Scalar>& model) {
  std::vector<double> means;
  for (Index layer = 0; layer < model.settings().depth; ++layer) {
    for (Index head = 0; head < model.settings().heads; ++head) {
      means.push_back(head_traces(model, layer, head).trace /
                      static_cast<double>(model.settings().width));
    }
  }
  return means;
}

template <class Scalar>
double add_locater(const RegularizerSettings& settings, const std::vector<double>& targets,
                   Model<Scalar>& model) {
  const bool frobenius = settings.kind == RegularizerKind::locater_frobenius;
  if (settings.kind != RegularizerKind::locater && !frobenius) return 0;
  const auto d = static_cast<double>(model.settings().width);
  Scalar* gradient = model.gradient().data();
  double penalty = 0;
  const Index heads = model.settings().heads;
  for (Index layer = 0; layer < model.settings().depth; ++layer) {
    for (Index head = 0; head < settings.acting(heads); ++head) {
      const Products<Scalar> own(model, layer, head);
      const HeadTraces traces = own.traces();
      const double excess =
          traces.trace / d - targets[static_cast<std::size_t>(layer * heads + head)];
      const double scale = frobenius ? traces.frobenius : traces.trace_square;
      penalty += settings.mean_weight * excess * excess + settings.scale_weight * scale / d;
      // dR/dW_Q^T = P W_K^T or, for Frobenius, a W_K^T + P W_Q^T, and dR/dW_K^T likewise.
      const auto of_mean = static_cast<Scalar>(2 * settings.mean_weight * excess / d);
      const auto of_scale = static_cast<Scalar>(2 * settings.scale_weight / d);
      const Matrix<Scalar> mean_part = of_mean * Matrix<Scalar>::Identity(own.width, own.width);
      if (frobenius) {
        own.add_product(mean_part, own.key, gradient + own.place.query);
        own.add_product(mean_part, own.query, gradient + own.place.key);
        own.add_product(of_scale * own.key_gram, own.query, gradient + own.place.query);
        own.add_product(of_scale * own.query_gram, own.key, gradient + own.place.key);
      } else {
        own.add_product(mean_part + of_scale * own.core, own.key, gradient + own.place.query);
        own.add_product(mean_part + of_scale * own.core.transpose(), own.query,
                        gradient + own.place.key);
      }
    }
  }
  return penalty;
}

template <class Scalar>
std::vector<Scalar> tame_factors(const Model<Scalar>& model, double gamma) {
  std::vector<Scalar> factors;
  for (Index layer = 0; layer < model.settings().depth; ++layer) {
    for (Index head = 0; head < model.settings().heads; ++head) {
      const double scale = head_traces(model, layer, head).trace_square;
      factors.push_back(
          static_cast<Scalar>(scale > 0 ? gamma * std::log(scale + 1e-6) / std::sqrt(scale) : 1.0));
    }
  }
  return factors;
}

#define EIGENSCOPE_LOCATER(Scalar)                                                    \
  template HeadTraces head_traces(const Model<Scalar>&, Index, Index);                \
  template std::vector<double> head_means(const Model<Scalar>&);                      \
  template double add_locater(const RegularizerSettings&, const std::vector<double>&, \
                              Model<Scalar>&);                                        \
  template std::vector<Scalar> tame_factors(const Model<Scalar>&, double);
EIGENSCOPE_LOCATER(float)
EIGENSCOPE_LOCATER(double)

}  // namespace eigenscope

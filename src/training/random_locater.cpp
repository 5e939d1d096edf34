#include "training/random_locater.h"

#include <numeric>
#include <utility>

#include "support/random.h"
#include "training/locater.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr std::uint64_t kRotationStream = std::uint64_t{1} << 43;  // beyond dropout's

// R has sign[j] in row next[j] of column j.
struct Rotation {
  std::vector<Index> next;
  std::vector<double> sign;
};

Rotation rotation_of(Index d, std::uint64_t seed, Index head) {
  const std::uint64_t stream = kRotationStream + static_cast<std::uint64_t>(head);
  std::vector<Index> order(static_cast<std::size_t>(d));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random_bits(seed, stream, i) % i]);
  }
  Rotation rotation{std::vector<Index>(order.size()), std::vector<double>(order.size())};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto column = static_cast<std::size_t>(order[i]);
    rotation.next[column] = order[(i + 1) % order.size()];
    rotation.sign[column] = random_bits(seed, stream, order.size() + 1 + i) % 2 == 0 ? 1 : -1;
  }
  return rotation;
}

template <class Scalar>
using Rows = Eigen::Map<Matrix<Scalar>, 0, Eigen::OuterStride<>>;

// W_Q^T or W_K^T of a head in the parameters or in their gradient.
template <class Scalar>
Rows<Scalar> rows_of(const Model<Scalar>& model, Vector<Scalar>& numbers, Index layer, Index row) {
  const ModelSettings& s = model.settings();
  const Index fused = model.layout().layers[static_cast<std::size_t>(layer)].fused;
  return {numbers.data() + fused + row, s.head_width(), s.width,
          Eigen::OuterStride<>(s.fused_width())};
}

}  // namespace

template <class Scalar>
double random_trace(const Model<Scalar>& model, std::uint64_t seed, Index layer, Index head) {
  const ModelSettings& s = model.settings();
  const Rotation rotation = rotation_of(s.width, seed, layer * s.heads + head);
  const HeadFactors factors = model.head(layer, head);
  double trace = 0;
  for (Index j = 0; j < s.width; ++j) {
    const auto column = static_cast<std::size_t>(j);
    double product = 0;
    for (Index i = 0; i < s.head_width(); ++i) {
      product += factors.query(j, i) * factors.key(rotation.next[column], i);
    }
    trace += rotation.sign[column] * product;
  }
  return trace;
}

template <class Scalar>
double add_random_locater(const RegularizerSettings& settings, const std::vector<double>& targets,
                          std::uint64_t seed, Model<Scalar>& model) {
  if (settings.kind != RegularizerKind::locater_random) return 0;
  const ModelSettings& s = model.settings();
  const auto d = static_cast<double>(s.width);
  // The scale is LocAteR-Frobenius's own, with no mean to pull to.
  RegularizerSettings scale = settings;
  scale.kind = RegularizerKind::locater_frobenius;
  scale.mean_weight = 0;
  double penalty = add_locater(scale, targets, model);
  const AttentionShape shape{s.heads, s.groups(), s.head_width(), 1, 1};
  for (Index layer = 0; layer < s.depth; ++layer) {
    for (Index head = 0; head < settings.acting(s.heads); ++head) {
      const Index number = layer * s.heads + head;
      const double excess =
          random_trace(model, seed, layer, head) / d - targets[static_cast<std::size_t>(number)];
      penalty += settings.mean_weight * excess * excess;
      const double slope = 2 * settings.mean_weight * excess / d;
      const Rotation rotation = rotation_of(s.width, seed, number);
      const Index query_row = head * s.head_width(), key_row = shape.key_row(head);
      const auto query = rows_of(model, model.parameters(), layer, query_row);
      const auto key = rows_of(model, model.parameters(), layer, key_row);
      auto query_slope = rows_of(model, model.gradient(), layer, query_row);
      auto key_slope = rows_of(model, model.gradient(), layer, key_row);
      for (Index j = 0; j < s.width; ++j) {
        const Index next = rotation.next[static_cast<std::size_t>(j)];
        const auto share = static_cast<Scalar>(slope * rotation.sign[static_cast<std::size_t>(j)]);
        query_slope.col(j) += share * key.col(next);
        key_slope.col(next) += share * query.col(j);
      }
    }
  }
  return penalty;
}

#define EIGENSCOPE_RANDOM_LOCATER(Scalar)                                                    \
  template double random_trace(const Model<Scalar>&, std::uint64_t, Index, Index);           \
  template double add_random_locater(const RegularizerSettings&, const std::vector<double>&, \
                                     std::uint64_t, Model<Scalar>&);
EIGENSCOPE_RANDOM_LOCATER(float)
EIGENSCOPE_RANDOM_LOCATER(double)

}  // namespace eigenscope

// The control beside LocAteR: the same pull and the same norm, but no mean eigenvalue. LocAteR-Frobenius of W R, R the
// head's random orthogonal matrix: a cyclic permutation of all coordinates in random order, each with a random sign,
// so that the mean eigenvalue of R is 0 and its eigenvalues lie evenly on the unit circle. W is pulled towards a
// multiple of R^T instead of the identity. As R is orthogonal, W R has the Frobenius norm of W.
#include <utility>

#include "support/argsort.h"
#include "support/random.h"
#include "training/regularizers/head_products.h"
#include "training/regularizers/penalty.h"

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
  std::vector<Index> order = in_order(d);
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

// tr(W R) and its slope; the slope of the scale is added for all heads before.
template <class Scalar>
struct RotatedHead final : PenalizedHead<Scalar> {
  RotatedHead(const Model<Scalar>& model, std::uint64_t seed, Index layer, Index head)
      : rotation(rotation_of(model.settings().width, seed, layer * model.settings().heads + head)),
        rows(model, layer, head) {
    const HeadFactors factors = model.head(layer, head);
    for (Index j = 0; j < rows.d; ++j) {
      const auto column = static_cast<std::size_t>(j);
      double product = 0;
      for (Index i = 0; i < rows.width; ++i) {
        product += factors.query(j, i) * factors.key(rotation.next[column], i);
      }
      this->trace += rotation.sign[column] * product;
    }
  }
  void add_slopes(Scalar of_trace, Scalar, Model<Scalar>& model) const override {
    const auto at = [&](Vector<Scalar>& numbers, Index row) {
      return Eigen::Map<Matrix<Scalar>, 0, Eigen::OuterStride<>>(
          numbers.data() + row, rows.width, rows.d, Eigen::OuterStride<>(rows.leading));
    };
    const auto query = at(model.parameters(), rows.query);
    const auto key = at(model.parameters(), rows.key);
    auto query_slope = at(model.gradient(), rows.query);
    auto key_slope = at(model.gradient(), rows.key);
    for (Index j = 0; j < rows.d; ++j) {
      const Index next = rotation.next[static_cast<std::size_t>(j)];
      const Scalar share =
          of_trace * static_cast<Scalar>(rotation.sign[static_cast<std::size_t>(j)]);
      query_slope.col(j) += share * key.col(next);
      key_slope.col(next) += share * query.col(j);
    }
  }
  Rotation rotation;
  HeadRows rows;
};

template <class Scalar>
class LocaterRandom final : public HeadPenalty<Scalar> {
 public:
  LocaterRandom(const TrainSettings& settings, const ParameterLayout&)
      : HeadPenalty<Scalar>(settings), seed_(settings.seed) {}

  double add_penalty(const std::vector<double>& targets, Model<Scalar>& model) const override {
    const double weight =
        this->settings().scale_weight / static_cast<double>(model.settings().width);
    double scale = 0;
    this->for_acting_heads(model, [&](Index layer, Index head, std::size_t) {
      const HeadProducts<Scalar> products(model, layer, head);
      products.add_frobenius_slope(static_cast<Scalar>(weight), model);
      scale += products.traces().eta_f;
    });
    return weight * scale + HeadPenalty<Scalar>::add_penalty(targets, model);
  }

 protected:
  std::unique_ptr<PenalizedHead<Scalar>> head_of(const Model<Scalar>& model, Index layer,
                                                 Index head) const override {
    return std::make_unique<RotatedHead<Scalar>>(model, seed_, layer, head);
  }

 private:
  std::uint64_t seed_;
};

}  // namespace

constinit const RegularizerRow locater_random_regularizer = regularizer<LocaterRandom>(
    "locater-random", "control: random direction", {.settings = kPenaltySettings});

}  // namespace eigenscope

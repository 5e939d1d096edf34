// LocAteR (Bao, Hataya, Karakida, ICML 2024): shrink the scale tr(W^2) of every head's
// eigenspectrum, keep its mean. tr(W^2) has no lower bound: a W far from symmetric lowers it by
// complex eigenvalues, with a growing norm. Three other scales are beside it.
#include "support/gemm.h"
#include "training/regularizers/head_products.h"
#include "training/regularizers/penalty.h"

namespace eigenscope {
namespace {

using Eigen::Index;

// d tr(W^2)/dW_Q = 2 W_K M^T, d tr(W^2)/dW_K = 2 W_Q M with M = W_K^T W_Q.
template <class Scalar>
struct SquareHead final : PenalizedHead<Scalar> {
  SquareHead(const Model<Scalar>& model, Index layer, Index head) : products(model, layer, head) {
    const Traces traces = products.traces();
    this->trace = traces.xi;
    this->scale = traces.eta_s;
  }
  void add_slopes(Scalar of_trace, Scalar of_scale, Model<Scalar>& model) const override {
    const Matrix<Scalar> mean_part =
        of_trace * Matrix<Scalar>::Identity(products.rows.width, products.rows.width);
    Scalar* const gradient = model.gradient().data();
    products.add_product(mean_part + 2 * of_scale * products.core, products.key,
                         gradient + products.rows.query);
    products.add_product(mean_part + 2 * of_scale * products.core.transpose(), products.query,
                         gradient + products.rows.key);
  }
  HeadProducts<Scalar> products;
};

template <class Scalar>
using Locater = PenaltyOf<Scalar, SquareHead<Scalar>>;

// The scale ||W||_F^2 bounds tr(W^2) from above and has a least value.
template <class Scalar>
struct FrobeniusHead final : PenalizedHead<Scalar> {
  FrobeniusHead(const Model<Scalar>& model, Index layer, Index head)
      : products(model, layer, head) {
    const Traces traces = products.traces();
    this->trace = traces.xi;
    this->scale = traces.eta_f;
  }
  void add_slopes(Scalar of_trace, Scalar of_scale, Model<Scalar>& model) const override {
    products.add_trace_slope(of_trace, model);
    products.add_frobenius_slope(of_scale, model);
  }
  HeadProducts<Scalar> products;
};

template <class Scalar>
using LocaterFrobenius = PenaltyOf<Scalar, FrobeniusHead<Scalar>>;

// ||W||_F^2 of [W_Q; b_Q^T] W_K^T with the norm's gain and bias folded in.
template <class Scalar>
using LocaterEffective = PenaltyOf<Scalar, EffectiveHead<Scalar>>;

// d x (d + 1): the covariance of the columns of x, and their mean in the last column.
template <class Scalar>
Matrix<Scalar> moments_of(const Matrix<Scalar>& x) {
  const Index d = x.rows();
  const auto count = static_cast<Scalar>(x.cols());
  Matrix<Scalar> moments = Matrix<Scalar>::Zero(d, d + 1);
  for (Index t = 0; t < x.cols(); ++t) moments.col(d) += x.col(t) / count;
  const Matrix<Scalar> centred = x.colwise() - moments.col(d);
  multiply(d, d, x.cols(), whole(centred), whole(centred).transposed(), moments.data(), d);
  moments.leftCols(d) /= count;
  return moments;
}

/// tr(W S) and the logits' variance under the running mean and covariance S of the tokens that attention reads: all of
/// the first batch, then 5% a step.
template <class Scalar>
class LocaterCovariance final : public HeadPenalty<Scalar> {
 public:
  LocaterCovariance(const TrainSettings& settings, const ParameterLayout&)
      : HeadPenalty<Scalar>(settings),
        width_(settings.model.width),
        moments_(Matrix<Scalar>::Zero(width_, settings.model.depth * (width_ + 1))) {}

  bool observes() const override { return true; }
  void observe(const Model<Scalar>& model, bool first) override {
    const Scalar share = first ? Scalar(1) : Scalar(0.05f);
    for (Index layer = 0; layer < model.settings().depth; ++layer) {
      auto average = moments_.middleCols(layer * (width_ + 1), width_ + 1);
      average += share * (moments_of(model.attention_input(layer)) - average);
    }
  }
  std::span<Scalar> state() override {
    return {moments_.data(), static_cast<std::size_t>(moments_.size())};
  }

 protected:
  std::unique_ptr<PenalizedHead<Scalar>> head_of(const Model<Scalar>& model, Index layer,
                                                 Index head) const override {
    const Matrix<Scalar> moments = moments_.middleCols(layer * (width_ + 1), width_ + 1);
    return std::make_unique<EffectiveHead<Scalar>>(model, layer, head, &moments);
  }

 private:
  Index width_;
  Matrix<Scalar> moments_;  // d x (d + 1) of each layer side by side
};

}  // namespace

constinit const RegularizerRow locater_regularizer = regularizer<Locater>(
    "locater", "LocAteR", {.settings = kPenaltySettings, .shrinks = "variance"});

constinit const RegularizerRow locater_frobenius_regularizer =
    regularizer<LocaterFrobenius>("locater-frobenius", "LocAteR, Frobenius",
                                  {.settings = kPenaltySettings, .shrinks = "variance_frobenius"});

constinit const RegularizerRow locater_effective_regularizer =
    regularizer<LocaterEffective>("locater-effective", "LocAteR, effective W",
                                  {.settings = kPenaltySettings, .leaves_bias = false});

constinit const RegularizerRow locater_covariance_regularizer = regularizer<LocaterCovariance>(
    "locater-covariance", "LocAteR, token covariance",
    {.settings = kPenaltySettings, .state = "training.token_moments", .leaves_bias = false});

}  // namespace eigenscope

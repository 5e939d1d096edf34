// LocAteR (Bao, Hataya, Karakida, ICML 2024): shrink the scale tr(W^2) of every head's eigenspectrum, keep its mean.
// tr(W^2) has no lower bound: a W far from symmetric lowers it by complex eigenvalues, with a growing norm. Two other
// scales are beside it.
#include "training/regularizers/effective_head.h"
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

}  // namespace

constinit const RegularizerRow locater_regularizer = regularizer<Locater>(
    "locater", "LocAteR", {.settings = kPenaltySettings, .shrinks = "variance"});

constinit const RegularizerRow locater_frobenius_regularizer =
    regularizer<LocaterFrobenius>("locater-frobenius", "LocAteR, Frobenius",
                                  {.settings = kPenaltySettings, .shrinks = "variance_frobenius"});

constinit const RegularizerRow locater_effective_regularizer =
    regularizer<LocaterEffective>("locater-effective", "LocAteR, effective W",
                                  {.settings = kPenaltySettings, .leaves_bias = false});

}  // namespace eigenscope

// LocAteR with the scale ||W||_F^2, which bounds tr(W^2) from above and has a least value.
#include "training/regularizers/head_products.h"
#include "training/regularizers/penalty.h"

namespace eigenscope {
namespace {

using Eigen::Index;

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

}  // namespace

constinit const RegularizerRow locater_frobenius_regularizer =
    regularizer<LocaterFrobenius>("locater-frobenius", "LocAteR, Frobenius",
                                  {.settings = kPenaltySettings, .shrinks = "variance_frobenius"});

}  // namespace eigenscope

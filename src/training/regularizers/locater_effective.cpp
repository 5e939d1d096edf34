// LocAteR-Frobenius of [W_Q; b_Q^T] W_K^T with the norm's gain and bias folded in.
#include "training/regularizers/effective_head.h"

namespace eigenscope {
namespace {

template <class Scalar>
using LocaterEffective = PenaltyOf<Scalar, EffectiveHead<Scalar>>;

}  // namespace

constinit const RegularizerRow locater_effective_regularizer =
    regularizer<LocaterEffective>("locater-effective", "LocAteR, effective W",
                                  {.settings = kPenaltySettings, .leaves_bias = false});

}  // namespace eigenscope

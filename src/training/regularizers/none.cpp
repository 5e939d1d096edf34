#include "training/regularizers/regularizer.h"

namespace eigenscope {
namespace {

template <class Scalar>
struct None final : Regularizer<Scalar> {
  None(const TrainSettings&, const ParameterLayout&) {}
};

}  // namespace

constinit const RegularizerRow none_regularizer =
    regularizer<None>("none", "baseline", {.of_query_key = false, .leaves_bias = false});

}  // namespace eigenscope

#include "training/regularizers/regularizer.h"

#include <type_traits>

#include "training/regularizers/head_products.h"

namespace eigenscope {
namespace {

template <class Scalar>
struct None final : Regularizer<Scalar> {
  None(const TrainSettings&, const ParameterLayout&) {}
};

}  // namespace

constinit const RegularizerRow none_regularizer =
    regularizer<None>("none", "baseline", {.of_query_key = false, .leaves_bias = false});

template <class Scalar>
double Regularizer<Scalar>::mean(const Model<Scalar>& model, Eigen::Index layer,
                                 Eigen::Index head) const {
  return head_traces(model, layer, head).xi / static_cast<double>(model.settings().width);
}

template class Regularizer<float>;
template class Regularizer<double>;

// Names needs the rows side by side; those of the files are constants and there before this is made.
const std::array<RegularizerRow, kRegularizerCount> kRegularizers{
#define EIGENSCOPE_ROW(kind) kind##_regularizer,
    EIGENSCOPE_REGULARIZERS(EIGENSCOPE_ROW)
#undef EIGENSCOPE_ROW
};

const RegularizerRow& regularizer_row(RegularizerKind kind) {
  return kRegularizers[static_cast<std::size_t>(kind)];
}

template <class Scalar>
std::unique_ptr<Regularizer<Scalar>> make_regularizer(const TrainSettings& settings,
                                                      const ParameterLayout& layout) {
  const RegularizerRow& row = regularizer_row(settings.regularizer.kind);
  if constexpr (std::is_same_v<Scalar, float>) {
    return row.make_float(settings, layout);
  } else {
    return row.make_double(settings, layout);
  }
}

template std::unique_ptr<Regularizer<float>> make_regularizer(const TrainSettings&,
                                                              const ParameterLayout&);
template std::unique_ptr<Regularizer<double>> make_regularizer(const TrainSettings&,
                                                               const ParameterLayout&);

}  // namespace eigenscope

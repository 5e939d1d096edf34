// Decoupled weight decay of W_Q and W_K alone, beside the optimizer's of every matrix.
#include "training/regularizers/regularizer.h"

namespace eigenscope {
namespace {

using Eigen::Index;

template <class Scalar>
class QueryKeyDecay final : public Regularizer<Scalar> {
 public:
  QueryKeyDecay(const TrainSettings& settings, const ParameterLayout& layout)
      : layers_(layout.layers), model_(settings.model), rate_(settings.regularizer.qk_decay) {}

  void add_decay(Vector<float>& decay) const override {
    const Index fused = model_.fused_width();
    const Index query_key = fused - model_.groups() * model_.head_width();
    for (const LayerOffsets& layer : layers_) {
      for (Index column = 0; column < model_.width; ++column) {
        decay.segment(layer.fused + column * fused, query_key).array() += static_cast<float>(rate_);
      }
    }
  }

 private:
  std::vector<LayerOffsets> layers_;
  ModelSettings model_;
  double rate_;
};

constexpr std::array<std::string_view, 1> kSettings{"qk_decay"};

}  // namespace

constinit const RegularizerRow qk_decay_regularizer =
    regularizer<QueryKeyDecay>("qk-decay", "QK weight decay", {.settings = kSettings});

}  // namespace eigenscope

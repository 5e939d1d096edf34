// A prior on the attention weights (Le et al., 2022, arXiv:2205.12616) that knows positions alone: the loss is
// cross-entropy + c KL(prior || A), the divergence averaged over rows and heads, with all of the prior on the key
// `prior_distance` tokens before the query.
#include "support/error.h"
#include "training/regularizers/regularizer.h"

namespace eigenscope {
namespace {

template <class Scalar>
class AttentionPrior final : public Regularizer<Scalar> {
 public:
  AttentionPrior(const TrainSettings& settings, const ParameterLayout&)
      : settings_(settings.regularizer), depth_(settings.model.depth) {}

  KeyPrior prior(const AttentionShape& batch) const override {
    const Eigen::Index distance = settings_.prior_distance;
    const Eigen::Index rows = depth_ * batch.heads * batch.batch * (batch.length - distance);
    return {distance, settings_.prior_weight / static_cast<double>(rows)};
  }

 private:
  RegularizerSettings settings_;
  Eigen::Index depth_;
};

void check_prior(const TrainSettings& settings) {
  const ModelSettings& model = settings.model;
  const Eigen::Index distance = settings.regularizer.prior_distance;
  const auto refuse = [&](const std::string& needed) {
    throw InvalidArgument("prior_distance", needed, "found " + std::to_string(distance));
  };
  if (distance >= model.length) {
    refuse("be below the length " + std::to_string(model.length) +
           " with regularizer attention-prior");
  }
  if (distance == model.dropped_distance) {
    refuse("differ from dropped_distance with regularizer attention-prior");
  }
  if (model.attention == AttentionKind::hard) {
    throw InvalidArgument("attention", "be softmax with regularizer attention-prior",
                          "found " + std::string(name_of(model.attention)));
  }
}

constexpr std::array<std::string_view, 2> kPriorSettings{"prior_weight", "prior_distance"};

}  // namespace

constinit const RegularizerRow attention_prior_regularizer = regularizer<AttentionPrior>(
    "attention-prior", "attention prior", {.settings = kPriorSettings, .check = &check_prior});

}  // namespace eigenscope

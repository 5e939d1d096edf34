// LocAteR of tr(W S) and the logits' variance under the running mean and covariance S of the tokens that attention
// reads: all of the first batch, then 5% a step.
#include "support/gemm.h"
#include "training/regularizers/effective_head.h"

namespace eigenscope {
namespace {

using Eigen::Index;

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

constinit const RegularizerRow locater_covariance_regularizer = regularizer<LocaterCovariance>(
    "locater-covariance", "LocAteR, token covariance",
    {.settings = kPenaltySettings, .state = "training.token_moments", .leaves_bias = false});

}  // namespace eigenscope

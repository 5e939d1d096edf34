#include "prediction/layer_covariance.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

namespace eigenscope {

using Eigen::Index;

LayerCovariance::LayerCovariance(std::shared_ptr<const TextModel> model,
                                 std::vector<Passage> passages, bool gain_in_weights)
    : pass_(std::move(model), std::move(passages)), gain_in_weights_(gain_in_weights) {
  Index content = 0;
  for (const Passage& passage : pass_.passages()) {
    const SinkKeys sinks = SinkKeys::of(passage);
    content += std::max<Index>(0, passage.length() - sinks.leading - sinks.trailing);
  }
  if (content < 2) {
    throw InvalidArgument("passages",
                          "have at least two tokens besides the first and the special ones");
  }
}

bool LayerCovariance::advance(Index steps) {
  for (; steps > 0 && !pass_.done(); --steps) {
    if (!moments_) moments_.emplace(pass_.model().width());
    const SinkKeys sinks = SinkKeys::of(pass_.passages()[pass_.passage()]);
    const int layer = pass_.layer();
    Norm norm;
    if (gain_in_weights_) norm = pass_.weights().attention_norm;
    const AttentionTrace trace = pass_.advance();
    Eigen::MatrixXf seen = trace.states;
    if (!norm.is_none()) {
      norm.gain.setOnes();
      norm.bias.setZero();
      seen = norm(trace.residual);
    }
    const Index content = seen.cols() - sinks.leading - sinks.trailing;
    if (content > 0) moments_->add(seen.middleCols(sinks.leading, content).cast<double>());
    if (pass_.layer() == layer) continue;
    covariances_.push_back(std::make_shared<const Eigen::MatrixXd>(moments_->covariance()));
    moments_.reset();
  }
  return pass_.done();
}

double LayerCovariance::work_per_step() const {
  const auto width = static_cast<double>(pass_.model().width());
  // Projections (4 d^2), an MLP of usual size (8 d^2) and the covariance (d^2) a token.
  return 13 * width * width * static_cast<double>(pass_.passages().front().length());
}

}  // namespace eigenscope

#include "prediction/layer_covariance.h"

#include <algorithm>
#include <string>
#include <utility>

#include "support/error.h"

namespace eigenscope {

using Eigen::Index;

LayerCovariance::LayerCovariance(std::shared_ptr<const Transformer> model,
                                 std::vector<Passage> passages, bool gain_in_weights)
    : pass_(std::move(model), std::move(passages)), gain_in_weights_(gain_in_weights) {
  if (pass_.model().has_lent_keys()) {
    throw FormatError(std::string(pass_.model().family().name),
                      "a layer's covariance needs queries and keys of the same tokens, but layers "
                      "of this model use keys of earlier ones");
  }
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
  const Index end = pass_.steps_done() + steps;
  while (!pass_.done() && pass_.steps_done() < end) {
    if (pass_.passage() < pass_.passages().size()) {
      run_passages();
    } else {
      pass_.advance();
    }
  }
  return pass_.done();
}

void LayerCovariance::run_passages() {
  const std::size_t first = pass_.passage(), count = pass_.passages_of_step();
  const auto layer = static_cast<std::size_t>(pass_.layer());
  Norm norm;
  if (gain_in_weights_) norm = pass_.weights().attention_norm;
  if (!norm.is_none()) {
    norm.gain.setOnes();
    norm.bias.setZero();
  }
  std::vector<Eigen::MatrixXf> seen(count);
  pass_.advance({.states = [&](std::size_t passage, const Eigen::MatrixXf& states) {
    seen[passage - first] = norm.is_none() ? states : norm(pass_.tokens(passage));
  }});
  if (first == 0) moments_ = Moments(seen.front().rows());
  for (std::size_t k = 0; k < count; ++k) {
    const SinkKeys sinks = SinkKeys::of(pass_.passages()[first + k]);
    const Index content = seen[k].cols() - sinks.leading - sinks.trailing;
    if (content > 0) moments_.add(seen[k].middleCols(sinks.leading, content).cast<double>());
  }
  if (first + count < pass_.passages().size()) return;
  covariances_.resize(layer);
  covariances_.push_back(std::make_shared<const Eigen::MatrixXd>(moments_.covariance()));
}

double LayerCovariance::work_per_step() const {
  const auto width = static_cast<double>(pass_.model().width());
  // Projections (4 d^2), an MLP of usual size (8 d^2) and the covariance (d^2) a token.
  return 13 * width * width * static_cast<double>(pass_.passages().front().length());
}

}  // namespace eigenscope

#include "inference/forward_pass.h"

#include <utility>

#include "support/error.h"
#include "support/finite.h"

namespace eigenscope {

void check_tokens(const Eigen::MatrixXf& tokens, int layer) {
  if (all_finite(tokens)) return;
  throw FormatError("layer " + std::to_string(layer),
                    "its tokens exceed the range of single precision");
}

ForwardPass::ForwardPass(std::shared_ptr<const TextModel> model, std::vector<Passage> passages,
                         LayerEnd to)
    : model_(std::move(model)), passages_(std::move(passages)), end_(to) {
  if (passages_.empty()) throw InvalidArgument("passages", "number at least one");
  for (const Passage& passage : passages_) tokens_.push_back(model_->embed(passage.ids));
}

const LayerWeights& ForwardPass::weights() {
  if (!weights_) {
    weights_ = end() == LayerEnd::heads ? model_->read_heads(layer_) : model_->read_layer(layer_);
  }
  return *weights_;
}

AttentionTrace ForwardPass::advance(const AttentionEdit& edit) {
  Eigen::MatrixXf& tokens = tokens_[passage_];
  AttentionTrace trace = run_layer(weights(), model_->rules(layer_), end(), tokens, edit);
  check_tokens(tokens, layer_);
  if (++passage_ == passages_.size()) {
    passage_ = 0;
    ++layer_;
    weights_.reset();
  }
  return trace;
}

LayerEnd ForwardPass::end() const {
  if (layer_ + 1 < model_->layers()) return LayerEnd::tokens;
  return model_->experts().empty() ? end_ : LayerEnd::heads;
}

Eigen::Index ForwardPass::steps_done() const {
  return layer_ * static_cast<Eigen::Index>(passages_.size()) + static_cast<Eigen::Index>(passage_);
}

Eigen::Index ForwardPass::steps_wanted() const {
  return model_->layers() * static_cast<Eigen::Index>(passages_.size());
}

}  // namespace eigenscope

// Passages through a model: a job that advances by one passage in one layer.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "inference/text_model.h"
#include "text/passages.h"

namespace eigenscope {

/// Throws FormatError, naming the layer, for tokens that left the range of single precision in it.
void check_tokens(const Eigen::MatrixXf& tokens, int layer);

/// Runs all passages through one layer before the next is read: so memory is for one layer's weights,
/// the tokens of all passages, and the trace of one.
class ForwardPass {
 public:
  /// Embeds the passages, at least one. `to` heads, or a mixture of experts in the last layer, ends with the heads
  /// of the last layer and leaves the tokens before them. Throws as TextModel::embed does; InvalidArgument
  /// ("passages") when there is none.
  ForwardPass(std::shared_ptr<const TextModel> model, std::vector<Passage> passages,
              LayerEnd to = LayerEnd::tokens);

  /// Runs the next passage through the current layer, with an intervention in it, and says what its heads did;
  /// not when done().
  /// Throws FormatError when the layer cannot be read, or when the tokens leave the range of single
  /// precision.
  AttentionTrace advance(const AttentionEdit& edit = {});

  bool done() const { return layer_ == model_->layers(); }
  /// Layer (from 0) and passage that the next advance() runs.
  int layer() const { return layer_; }
  std::size_t passage() const { return passage_; }
  Eigen::Index steps_done() const;
  Eigen::Index steps_wanted() const;

  const TextModel& model() const { return *model_; }
  const std::vector<Passage>& passages() const { return passages_; }
  /// The weights of layer() that it needs; read when they are first asked for.
  const LayerWeights& weights();
  /// The tokens (d x T) of a passage after the layers that it has gone through.
  const Eigen::MatrixXf& tokens(std::size_t passage) const { return tokens_[passage]; }

 private:
  /// How far layer() is run.
  LayerEnd end() const;

  std::shared_ptr<const TextModel> model_;
  std::vector<Passage> passages_;
  LayerEnd end_;
  std::vector<Eigen::MatrixXf> tokens_;
  std::optional<LayerWeights> weights_;
  int layer_ = 0;
  std::size_t passage_ = 0;
};

}  // namespace eigenscope

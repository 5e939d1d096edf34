// Passages through a model, layer by layer.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "inference/layer_pass.h"
#include "inference/transformer.h"
#include "text/passages.h"

namespace eigenscope {

/// The end of a pass: the heads of the last layer that has some, or the tokens after the last layer.
enum class LayerEnd { heads, tokens };

/// Callbacks that receive the results of a layer on a passage, or change them: the states (d x T) behind its queries
/// and keys, an intervention, then its heads one after the other. Called for several passages at once where there are
/// several processors.
struct PassageVisitors {
  std::function<void(std::size_t passage, const Eigen::MatrixXf& states)> states = {};
  std::function<AttentionEdit(std::size_t passage)> edit = {};
  std::function<void(std::size_t passage, int head, const HeadTrace& trace)> head = {};
};

/// Runs all passages through one layer before the next is read: so memory is for the weights of its heads, then for
/// some MiB of its other weights; for the tokens of all passages, and the heads of a few. A step runs some passages
/// through the heads of a layer, or some of the rest of it (LayerRest).
class ForwardPass {
 public:
  static constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

  /// Embeds the passages, at least one. `to` heads ends with those of the last layer that has some and leaves the
  /// tokens before them. Throws as Transformer::embed does; InvalidArgument
  /// ("passages") when there is none.
  ForwardPass(std::shared_ptr<const Transformer> model, std::vector<Passage> passages,
              LayerEnd to = LayerEnd::tokens);

  /// Does the next step, with `most` passages or fewer through heads, and returns its multiply-adds; not when done().
  /// Throws FormatError as Transformer::read_heads and LayerRest do; a step that cannot read its weights is then still
  /// to be done.
  double advance(const PassageVisitors& visitors = {}, std::size_t most = kAnyNumber);

  bool done() const { return pass_.done(); }
  /// Layer of the next step, from 0.
  int layer() const { return pass_.layer(); }
  /// The first passage whose heads the next step runs; the number of passages where it runs none, as in a layer without
  /// heads.
  std::size_t passage() const { return pass_.unit(); }
  /// The number of passages through which the next step runs its heads.
  std::size_t passages_of_step(std::size_t most = kAnyNumber) const;
  /// Passages through layers, of which the heads and the rest of a layer count half each.
  Eigen::Index steps_done() const;
  Eigen::Index steps_wanted() const;

  const Transformer& model() const { return *model_; }
  const std::vector<Passage>& passages() const { return passages_; }
  /// The weights of the heads of layer(), which has some. They are read at the first call, and freed before the rest of
  /// the layer runs.
  const LayerWeights& weights();
  /// The tokens (d x T) of a passage that entered layer(), or left the last one.
  const Eigen::MatrixXf& tokens(std::size_t passage) const { return pass_.tokens[passage]; }
  /// The heads' outputs before the output projection (H d_v x T) on a passage, in the layer whose heads ran last.
  const Eigen::MatrixXf& read(std::size_t passage) const { return pass_.read[passage]; }

 private:
  double run_heads_of(std::size_t first, std::size_t end, const PassageVisitors& visitors);
  /// Number of passages that one processor runs at once.
  std::size_t passages_of_task() const;

  std::shared_ptr<const Transformer> model_;
  std::vector<Passage> passages_;
  LayerEnd end_;
  Eigen::Index longest_ = 0;
  std::optional<LayerWeights> weights_;
  RotaryTurns turns_;        // of layer()
  LayerPass pass_;           // its units are passages
  InOrder<double> running_;  // last: its tasks use the others
};

}  // namespace eigenscope

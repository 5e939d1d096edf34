// The order of every pass through a model: in each layer the heads, then the rest of the layer.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "inference/layer_rest.h"

namespace eigenscope {

/// Takes the tokens of passages through a model layer by layer, and counts what is done. A layer begins with its heads,
/// which the owner runs in units (passages through all heads, or heads with all passages) and counts with end_units();
/// the rest of the layer follows, in steps of LayerRest or by shares of one passage.
class LayerPass {
 public:
  /// `passages` and `units`, the units of the heads of a layer, are at least 1. The model must outlive this object.
  LayerPass(const Transformer& model, std::size_t passages, std::size_t units)
      : tokens(passages),
        read(passages),
        model_(model),
        units_(units),
        rest_(model, memory_, read, tokens) {}
  LayerPass(const LayerPass&) = delete;
  LayerPass& operator=(const LayerPass&) = delete;

  /// By passage, d x T: the tokens that entered layer(), or left the last layer.
  std::vector<Eigen::MatrixXf> tokens;
  /// By passage, H d_v x T: the outputs of the heads before the output projection. The owner fills them.
  std::vector<Eigen::MatrixXf> read;

  /// Begins with the embeddings of the passages. Throws as Transformer::embed does.
  void embed(const std::vector<Passage>& passages) {
    memory_.clear();
    for (std::size_t k = 0; k < passages.size(); ++k) {
      tokens[k] = model_.embed(passages[k]);
      memory_.emplace_back(model_, passages[k].ids, tokens[k]);
    }
    enter_layer();
  }

  /// The states of a passage in layer(), whose heads have these weights: states_of().
  Eigen::MatrixXf states(const LayerWeights& weights, std::size_t passage) const {
    return memory_[passage].states(model_, layer_, weights, tokens[passage]);
  }

  bool done() const { return layer_ == model_.layers(); }
  /// Layer of the next step, from 0.
  int layer() const { return layer_; }
  /// No layer after layer() has heads.
  bool is_last_with_heads() const { return layer_ >= model_.layers_with_heads().back(); }
  /// The next unit of the heads, from 0; the number of units once all are done, or where the layer has no heads.
  std::size_t unit() const { return done() || model_.has_heads(layer_) ? unit_ : units_; }
  bool heads_done() const { return unit() == units_; }
  void end_units(std::size_t count = 1) { unit_ += count; }

  /// Does a step of the rest of the layer, once the heads are done. Returns its multiply-adds. Throws as LayerRest
  /// does; the step is then still to be done.
  double advance_rest() {
    if (rest_.done()) rest_.start(layer_);
    const double work = rest_.done() ? 0 : rest_.advance();
    if (rest_.done()) end_layer();
    return work;
  }
  /// Does steps of the rest of the layer until the share of one more passage is done. Throws as LayerRest does.
  void finish_passage() {
    if (finished_ == 0 && rest_.done()) rest_.start(layer_);
    const auto passages = static_cast<double>(tokens.size());
    rest_.advance_to(static_cast<double>(finished_ + 1) / passages);
    if (++finished_ == tokens.size()) end_layer();
  }
  /// Share of the rest of layer() that is done, in [0, 1].
  double rest_progress() const { return rest_.done() ? 0 : rest_.progress(); }
  /// Ends the pass without the steps that are left.
  void end() {
    layer_ = model_.layers();
    memory_.clear();
  }

 private:
  /// Enters the next layer.
  void end_layer() {
    unit_ = finished_ = 0;
    ++layer_;
    if (done()) return end();
    enter_layer();
  }
  void enter_layer() {
    for (std::size_t k = 0; k < memory_.size(); ++k) memory_[k].enter(model_, layer_, tokens[k]);
  }

  const Transformer& model_;
  std::vector<PassageMemory> memory_;  // by passage
  int layer_ = 0;
  std::size_t units_, unit_ = 0, finished_ = 0;
  LayerRest rest_;
};

}  // namespace eigenscope

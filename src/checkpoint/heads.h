// The attention heads of a checkpoint, one after another: a job that reads only the query and key
// weights, a head at a time.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/config.h"
#include "checkpoint/family.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// The factors of one head's query-key matrix W = W_Q W_K^T, without biases and without the
/// temperature 1/sqrt(d_h). All entries are finite.
struct HeadFactors {
  int layer;              ///< as numbered in the file
  int head;               ///< from 0
  Eigen::MatrixXd query;  ///< W_Q, d x d_h: the transpose of the head's rows in torch's out x in
  Eigen::MatrixXd key;    ///< W_K, d x d_h
};

/// A head that was left out because some of its weights are not finite.
struct ExcludedHead {
  int layer;
  int head;
  std::uint64_t nan_values;       ///< in its part of both weights
  std::uint64_t infinite_values;  ///< likewise

  /// "layer 3 head 7: 2 NaN and 1 infinite weights".
  std::string text() const;
};

/// One layer as the scan reads it. Sizes are kept by layer, as families will have them differ.
struct LayerPlan {
  LayerTensors tensors;
  int width;       ///< d, inputs of the weights
  int head_width;  ///< d_h
  int heads;
};

/// Yields the heads of a checkpoint, layer by layer in the order of their numbers. The whole plan
/// is checked on construction, from names and shapes alone, before any weight is read.
/// The only memory it needs is for the heads that it returns and the reader's buffer.
class HeadScan {
 public:
  /// `tensors` must not be null. The number of heads in each layer is `heads` when given, else it
  /// comes from `config` when that is not null.
  /// Throws InvalidArgument with field "heads" when `heads` is out of range or does not divide the
  /// rows of the weights, or when there is neither `heads` nor a config that tells; FormatError,
  /// naming the tensor (or the key of the config), when the family is unknown, a partner is
  /// missing, a weight is not a matrix of numbers, the shapes of queries and keys or of two layers
  /// disagree, a bias does not fit its weight, or the config does not fit the weights.
  HeadScan(std::shared_ptr<const Safetensors> tensors, const Config* config,
           std::optional<int> heads = std::nullopt);

  /// Reads the next `most` heads, but not past the end of the current layer; 0 is for all that are
  /// left in the layer. Returns those that are finite, so perhaps none; nothing when done.
  /// Throws FormatError naming the tensor or the file when reading fails; the same heads are then
  /// read again by the next call.
  std::vector<HeadFactors> advance(int most = 0);

  bool done() const noexcept { return layer_ == plan_.size(); }
  /// Heads in all layers together.
  int total_heads() const noexcept { return total_heads_; }
  /// Heads read so far, excluded ones included; from 0 to total_heads().
  int heads_read() const noexcept { return heads_read_; }
  /// Bytes that the file has delivered so far, its header included.
  std::uint64_t bytes_read() const noexcept { return tensors_->bytes_read(); }

  const Family& family() const noexcept { return *family_; }
  const std::vector<LayerPlan>& plan() const noexcept { return plan_; }
  /// Heads met so far whose weights are not all finite.
  const std::vector<ExcludedHead>& excluded() const noexcept { return excluded_; }

 private:
  HeadFactors read_head(const LayerPlan& layer, int head) const;
  Eigen::MatrixXd read_factor(const std::string& name, Projection projection,
                              const LayerPlan& layer, int head) const;

  std::shared_ptr<const Safetensors> tensors_;
  const Family* family_ = nullptr;
  std::vector<LayerPlan> plan_;
  std::vector<ExcludedHead> excluded_;
  std::size_t layer_ = 0;  // index in plan_
  int head_ = 0;           // next head of that layer
  int heads_read_ = 0;
  int total_heads_ = 0;
};

}  // namespace eigenscope

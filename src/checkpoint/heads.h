// The attention heads of a checkpoint, one after another: a job that reads only the query and key
// weights, a head at a time.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "checkpoint/head_plan.h"
#include "checkpoint/latent_factors.h"

namespace eigenscope {

/// The input of a projection that reads the output of a norm: with n the output before the norm's gain and bias,
/// |n|^2 <= d, the query or key is (diag(gain) W)^T n + shift.
struct ProjectionInput {
  Eigen::VectorXd gain = {};  ///< d; empty where it is folded into W
  Eigen::VectorXd shift =
      {};  ///< d_h: W^T times the norm's bias, plus the projection's; turned as W is
};

/// The factors of one head's query-key matrix W = W_Q W_K^T, without biases and without the temperature
/// 1/sqrt(d_h), with the gains that were folded, rotary positions at the offset that was asked for, and
/// what else the model multiplies its logits by. All entries are finite. Norms between projections and
/// attention, where a family has them, divide queries and keys by their lengths: of these only the gains
/// are in W.
template <class Scalar>
struct FactorsOf {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

  int layer;                ///< as numbered in the file
  int head;                 ///< from 0
  Matrix query;             ///< W_Q, d x d_h: the transpose of the head's rows in torch's out x in
  Matrix key;               ///< W_K, d x d_h
  std::string stack = {};   ///< empty in a family with one stack
  std::string folded = {};  ///< names of the norms whose gains were folded, such as "ln_1"
  bool rotary = false;      ///< whether W depends on the offset
  /// ||b|| / ||W_Q||_F, with the input's gain in W_Q where it was folded; NaN without a bias.
  double bias_query = std::numeric_limits<double>::quiet_NaN();
  double bias_key = std::numeric_limits<double>::quiet_NaN();  ///< likewise
  /// Absent where the projections read something else than a norm's output (or its gain is not folded), queries and
  /// keys are normalized, or W is an average over offsets.
  std::optional<ProjectionInput> query_input = {}, key_input = {};
  /// The bound of logit_bound() for a head of latent attention, where it is computed from norms of the compressions;
  /// NaN for other heads and where it is not known.
  double latent_bound = std::numeric_limits<double>::quiet_NaN();
  /// Learned logit that joins the softmax of every row; NaN without one.
  double sink_logit = std::numeric_limits<double>::quiet_NaN();
  bool known_scale =
      true;  ///< else the model may multiply its logits by something that is not in W
  bool same_tokens = true;  ///< else queries and keys are made of different tokens
  /// The compressions of a layer of latent attention; null unless only products of the factors were asked for. Where it
  /// is set, `query` and `key` are B_Q and B_K of products_of_latents().
  std::shared_ptr<const LatentFactors<Scalar>> latents = {};

  Eigen::Index width() const { return latents ? latents->width : query.rows(); }  ///< d
};
using HeadFactors = FactorsOf<double>;

/// The factors of a head, in single precision where both weights are BF16, which has 8 of its 24 bits, unless a
/// gain or a rotation takes an entry out of its range; else in double.
using ScannedHead = std::variant<HeadFactors, FactorsOf<float>>;

/// The parts of heads that a caller needs: their factors, the products of these and the bound of the logits, or
/// products alone.
enum class Needed { factors, bounded_products, products };

/// The head's factors in double precision; `head` must not have `latents`.
HeadFactors in_double(ScannedHead head);

/// Counts of weights that exclude a head.
struct NonFinite {
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
};

/// One projection of one head, with its gains, as HeadScan reads it.
template <class Scalar>
struct HeadPart {
  typename FactorsOf<Scalar>::Matrix weight;
  double bias = std::numeric_limits<double>::quiet_NaN();  ///< its norm over that of the weight
  NonFinite faults = {};
  std::optional<ProjectionInput> input = {};
  /// A latent head's projections of the compression, with its gain: rank x d_h of queries, turned and scaled
  /// as they are, or empty where they read the tokens; rank x coordinates of keys.
  typename FactorsOf<Scalar>::Matrix latent = {};
};

/// A head that was left out because some of its weights are not finite.
struct ExcludedHead {
  std::string stack;
  int layer;
  int head;
  NonFinite faults;  ///< in its part of both weights and of their gains

  /// "layer 3 head 7: 2 NaN and 1 infinite weights"; the stack comes first where it has a name.
  std::string text() const;
};

/// Yields the heads of a checkpoint, layer by layer in the order of the plan. The only memory it needs
/// is for the heads that it returns, one key head and the reader's buffer.
class HeadScan {
 public:
  /// `tensors` must not be null; `config` may be. Throws as plan_heads does.
  HeadScan(std::shared_ptr<const Safetensors> tensors, const Config* config,
           const HeadSettings& settings = {});

  /// Reads the next `most` heads, but not past the end of the current layer; 0 is for all that are
  /// left in the layer. Returns those that are finite, so perhaps none; nothing when done.
  /// Heads of latent attention may come with `latents` where the caller does not need their factors, which saves most
  /// of the work. Throws FormatError naming the tensor or the file when reading fails; the same heads are then read
  /// again by the next call.
  std::vector<ScannedHead> advance(int most = 0, Needed needed = Needed::factors);

  /// Keeps the layers of part `number` (from 0) of `parts` consecutive parts of the checkpoint with about as many heads
  /// each; perhaps none. Must be called before the first head is read.
  void keep_part(int number, int parts);

  bool done() const noexcept { return layer_ == plan_.layers.size(); }
  /// Heads in all layers together.
  int total_heads() const noexcept { return total_heads_; }
  /// Heads read so far, excluded ones included; from 0 to total_heads().
  int heads_read() const noexcept { return heads_read_; }
  /// Bytes that the file has delivered so far, its header included.
  std::uint64_t bytes_read() const noexcept { return tensors_->bytes_read(); }

  const std::vector<LayerPlan>& plan() const noexcept { return plan_.layers; }
  /// See HeadPlan.
  const std::vector<std::string>& notes() const noexcept { return plan_.notes; }
  /// The table of token embeddings, see HeadPlan.
  const std::string& embeddings() const noexcept { return plan_.embeddings; }
  /// Heads met so far whose weights are not all finite.
  const std::vector<ExcludedHead>& excluded() const noexcept { return excluded_; }

 private:
  /// The key that the heads of a group share.
  struct SharedKey {
    std::size_t layer;
    std::uint64_t first;  // its first output
    std::variant<HeadPart<double>, HeadPart<float>> part;
  };

  /// Factors of a head; nothing when some entry is not finite, which `faults` counts.
  template <class Scalar>
  std::optional<FactorsOf<Scalar>> read_head(const LayerPlan& layer, int head, NonFinite& faults);
  /// Factors of a head of latent attention, with `latents`. Nothing when some entry is not finite or the compressions
  /// are nearly singular.
  template <class Scalar>
  std::optional<FactorsOf<Scalar>> read_compressed(const LayerPlan& layer, int head, bool bounded);
  template <class Scalar>
  HeadPart<Scalar> read_key(const LayerPlan& layer, int head);
  /// The columns of B_Q or of the upper part of B_K that a head's weights make, with the gain of the compression's
  /// norm.
  template <class Scalar>
  typename FactorsOf<Scalar>::Matrix read_decompression(const LayerPlan& layer,
                                                        Projection projection, int head,
                                                        NonFinite& faults) const;
  /// The part of a head of latent attention, d x d_h, with the coordinates that turn first; without the gain of the
  /// norm before it.
  template <class Scalar>
  HeadPart<Scalar> read_latent(const LayerPlan& layer, Projection projection, int head);
  /// A weight that compresses the tokens, d x rank, which all heads of the current layer share.
  template <class Scalar>
  const typename FactorsOf<Scalar>::Matrix& read_compression(const std::string& name);
  template <class Scalar>
  HeadPart<Scalar> read_part(const LayerPlan& layer, Projection projection, int head);
  template <class Scalar>
  typename FactorsOf<Scalar>::Matrix read_weight(const std::string& name, std::uint64_t first,
                                                 const LayerPlan& layer) const;
  /// Rows of a weight in torch's out x in, as the columns of inputs x rows.
  template <class Scalar>
  typename FactorsOf<Scalar>::Matrix read_outputs(const std::string& name, std::uint64_t first,
                                                  Eigen::Index rows) const;
  Eigen::VectorXd read_gain(const LayerPlan& layer, const std::string& name, std::uint64_t first,
                            int size, NonFinite& faults) const;
  /// The input of a projection with `bias` (perhaps empty), before W is turned; `weight` is W before its gain, which is
  /// read only for the bias of the norm.
  ProjectionInput read_input(const LayerPlan& layer, const ProjectionTensors& names,
                             const Eigen::MatrixXd& weight, const Eigen::VectorXd& bias);
  /// A vector that all heads of the current layer share.
  const Eigen::VectorXd& read_shared(const std::string& name, int size);

  std::shared_ptr<const Safetensors> tensors_;
  HeadPlan plan_;
  RotaryOffset offset_;
  std::optional<SharedKey> key_;
  std::map<std::string, Eigen::VectorXd> shared_;  // vectors of the current layer
  std::map<std::string, std::variant<Eigen::MatrixXd, Eigen::MatrixXf>> compressions_;  // likewise
  /// Compressions of the current layer, null where they are nearly singular; empty before they are read.
  std::optional<std::variant<std::shared_ptr<const LatentFactors<double>>,
                             std::shared_ptr<const LatentFactors<float>>>>
      latents_;
  std::vector<ExcludedHead> excluded_;
  std::size_t layer_ = 0;  // index in the plan
  int head_ = 0;           // next head of that layer
  int heads_read_ = 0;
  int total_heads_ = 0;
};

}  // namespace eigenscope

// The decoder-only language model.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/heads.h"
#include "nn/attention.h"
#include "nn/dropout.h"
#include "nn/mlp.h"
#include "nn/rotary.h"
#include "nn/tokens.h"
#include "training/settings.h"

namespace eigenscope {

/// One tensor among the parameters, which are one long vector: column-major rows x columns. A weight
/// is out x in, an embedding d x V or d x T; so their numbers lie as GPT-2's files have them.
struct Block {
  std::string name;  ///< GPT-2's
  Eigen::Index rows = 0, columns = 0;
  Eigen::Index offset = 0;
  Eigen::Index layer = -1;  ///< from 0; -1 for a block of no layer
  bool vector = false;      ///< a gain or bias: one dimension in a file, and no weight decay

  Eigen::Index size() const { return rows * columns; }
};

/// Offsets of one layer's blocks among the parameters; -1 for a block that the layer lacks.
struct LayerOffsets {
  Eigen::Index norm1, fused, fused_bias, projection, projection_bias;
  Eigen::Index norm1_bias = -1;                 ///< RMSNorm has none
  Eigen::Index query_norm = -1, key_norm = -1;  ///< gains of QK-norm
  Eigen::Index norm2 = -1, norm2_bias = -1, up = -1, up_bias = -1, down = -1, down_bias = -1;
  Eigen::Index gate = -1;      ///< gate matrix of a gated MLP
  Eigen::Index relative = -1;  ///< relative position biases, as OffsetTerms::bias
};

/// Places of all parameters. Grouped keys have GPT-2's names too, with a narrower c_attn; rotary
/// and relative positions have no wpe, and post-LayerNorm no ln_f.
struct ParameterLayout {
  explicit ParameterLayout(const ModelSettings& settings);

  std::vector<Block> blocks;
  std::vector<LayerOffsets> layers;
  Eigen::Index embedding = 0, positions = -1, final_norm = -1, final_bias = -1;
  Eigen::Index output = 0;        ///< the embedding's, when tied
  Eigen::Index offset_mask = -1;  ///< by distance the logit of the probability to be kept, T
  Eigen::Index size = 0;

  const LayerOffsets& at(Eigen::Index layer) const {
    return layers[static_cast<std::size_t>(layer)];
  }
};

/// Changes of the attention of a trained model in evaluation, where attention depends on queries and keys.
template <class Scalar>
struct Intervention {
  /// The reading of each head, layer by layer; empty for the readings as trained. Soft where the settings have terms by
  /// offset.
  std::vector<HeadReading<Scalar>> readings;
  /// The places of the tokens of the batch; empty for positions in order and all earlier keys. Positions are below
  /// the sequence length of the model.
  std::vector<TokenPlace> places = {};
  /// Whether keys at the distances 0 to T - 1 from the query are seen, in all sequences (T) or in each
  /// (T x B); empty for those of the model. Attention must be softmax.
  std::vector<char> kept = {};
};

/// The model with its parameters, the gradient of its last loss, and the activations of its last
/// batch. N = B T tokens, one a column.
template <class Scalar>
class Model {
 public:
  /// Parameters are zero. Throws as check_model does.
  explicit Model(const ModelSettings& settings);

  const ModelSettings& settings() const { return settings_; }
  const ParameterLayout& layout() const { return layout_; }
  Vector<Scalar>& parameters() { return parameters_; }
  const Vector<Scalar>& parameters() const { return parameters_; }
  Vector<Scalar>& gradient() { return gradient_; }
  const Vector<Scalar>& gradient() const { return gradient_; }

  /// Runs sequences of `length` tokens, one after another in `tokens`; at most the model's length where positions
  /// are learned or relative or a distance is hidden. Throws InvalidArgument ("tokens") for a token that is not in
  /// the vocabulary, "length", "places" that are not as many as tokens, that the model does not have, or where
  /// positions are not rotary, attention is not causal softmax or distances are hidden, and "kept" of another size
  /// or without softmax. `dropout` is of the embeddings and of what attention and MLP add.
  void forward(std::span<const TokenId> tokens, Eigen::Index length,
               const Intervention<Scalar>& intervention = {}, const Dropout& dropout = {});
  /// Mean cross-entropy in nats of the last batch, whose logits it overwrites, over the targets other than
  /// kNoTarget. With `gradient`, backward may follow. `each`, if not empty, gets the loss of every token.
  double loss(std::span<const TokenId> targets, bool gradient = false, std::span<double> each = {});
  /// The gradient of that loss by every parameter, without intervention other than `kept`; zero for query and
  /// key biases (or all linear biases) where the settings have none. The gradient by the offset mask is that
  /// of the expected loss, with the loss linear in the heads' outputs, estimated from the kept distances. The term of
  /// `prior` is added to the loss in every head; attention must be softmax.
  void backward(const KeyPrior& prior = {});

  /// About how many multiply-adds the forward pass of a token costs in a sequence of the model's length.
  double work_per_token() const {
    return static_cast<double>(layout_.size) +
           static_cast<double>(2 * settings_.depth * settings_.width * settings_.length);
  }

  /// V x N, until loss() is called.
  const Matrix<Scalar>& logits() const { return logits_; }
  /// Shape of the last batch.
  const AttentionShape& shape() const { return shape_; }
  /// T x B H T, see attention_forward.
  const Matrix<Scalar>& attention(Eigen::Index layer) const { return at(layer).weights; }
  /// The reading of every head as trained, layer by layer.
  std::vector<HeadReading<Scalar>> readings() const;
  /// Whether keys at the distances 0 to T - 1 are seen: those whose learned probability is at least 1/2, and not
  /// `dropped_distance`. Empty without such settings.
  std::vector<char> kept() const;
  /// The input of attention in the last batch, d x N: with pre-LayerNorm the output of the norm.
  const Matrix<Scalar>& attention_input(Eigen::Index layer) const {
    return settings_.norm == BlockNorm::pre ? at(layer).norm1 : output_of(layer);
  }
  /// Queries, keys and values as attention reads them, (H + 2 G) d_h x N: after QK-norm and rotation.
  const Matrix<Scalar>& fused(Eigen::Index layer) const { return at(layer).fused; }
  /// The contribution to fused() of a part of attention's input (d x N; null for none), and of the biases with `bias`.
  /// With the norms of the last batch the map is linear: the contributions of all parts add up to fused().
  Matrix<Scalar> fused_part(Eigen::Index layer, const Matrix<Scalar>* part, bool bias) const;
  /// Tokens after `layer` layers, d x N; 0 for the embeddings.
  const Matrix<Scalar>& output_of(Eigen::Index layer) const;
  /// W_Q and W_K of a head (d x d_h), without LayerNorm's gain.
  HeadFactors head(Eigen::Index layer, Eigen::Index head) const {
    return this->head(layer, head, parameters_);
  }
  /// W_Q and W_K of a head among other `parameters` of the model's layout.
  HeadFactors head(Eigen::Index layer, Eigen::Index head, const Vector<Scalar>& parameters) const;

 private:
  struct Layer {
    Matrix<Scalar> norm1, statistics1, fused, weights, attended, sum1;
    Matrix<Scalar> projected, inverse;  // QK-norm: its input, and 1/RMS of each head
    Matrix<Scalar> norm2, statistics2, up, active, sum2;
    Matrix<Scalar> gate;  // gate x of a gated MLP
  };
  const Layer& at(Eigen::Index layer) const { return layers_[static_cast<std::size_t>(layer)]; }
  Layer& at(Eigen::Index layer) { return layers_[static_cast<std::size_t>(layer)]; }
  MlpWeights<Scalar> mlp_of(const LayerOffsets& offsets) const {
    return {at_offset(offsets.up), at_offset(offsets.up_bias), at_offset(offsets.down),
            at_offset(offsets.down_bias), Activation::gelu_new};
  }
  const Scalar* at_offset(Eigen::Index offset) const { return parameters_.data() + offset; }
  Scalar* slope_at(Eigen::Index offset) { return gradient_.data() + offset; }

  void resize(Eigen::Index tokens);
  void check_places(const Intervention<Scalar>& intervention, Eigen::Index tokens) const;
  OffsetTerms<Scalar> offset_terms(Eigen::Index layer) const;
  void run_layer(Eigen::Index layer, const Intervention<Scalar>& intervention);
  void attend(Eigen::Index layer, const Matrix<Scalar>& in,
              const Intervention<Scalar>& intervention);
  void run_mlp(Eigen::Index layer, const Matrix<Scalar>& in, const Matrix<Scalar>& skip);
  void norm_forward(Eigen::Index gain, Eigen::Index bias, const Matrix<Scalar>& x,
                    Matrix<Scalar>& y, Matrix<Scalar>& statistics) const;
  void norm_backward(Eigen::Index gain, Eigen::Index bias, const Matrix<Scalar>& x,
                     const Matrix<Scalar>& statistics, Matrix<Scalar>& gradient);
  void gated_mlp_back(Eigen::Index layer, const Matrix<Scalar>& in);
  void freeze_biases();
  void layer_back(Eigen::Index layer);
  void attend_back(Eigen::Index layer, const Matrix<Scalar>& in);
  void mlp_back(Eigen::Index layer, const Matrix<Scalar>& in);
  const Matrix<Scalar>& dropped_flow(std::uint64_t place);

  ModelSettings settings_;
  ParameterLayout layout_;
  Vector<Scalar> parameters_, gradient_;
  AttentionShape shape_;
  RotaryTurns turns_;  // for at least the model's positions; none with learned positions
  std::vector<TokenId> tokens_;
  std::vector<char> kept_;      // see Intervention
  Vector<Scalar> kept_slopes_;  // see OffsetSlopes
  KeyPrior prior_;              // for the backward pass
  std::vector<Layer> layers_;
  Matrix<Scalar> embedded_, final_, final_statistics_, logits_;
  // Gradients on their way back: by a layer's output, by a block's input, by attention's and the MLP's.
  Matrix<Scalar> flow_, inner_, dattended_, dfused_, dactive_;
  Matrix<Scalar> dgate_, inner_gate_;  // for a gated MLP
  Dropout dropout_;
  Matrix<Scalar> dropped_;  // flow_ through a mask
};

/// Draws every matrix from streams of `seed`, W_Q and W_K by the settings; gains 1, biases 0. The matrices
/// whose products are added to the residual stream are smaller by sqrt(2 depth), as in GPT-2.
template <class Scalar>
void initialize(Model<Scalar>& model, const RegularizerSettings& settings, std::uint64_t seed);

}  // namespace eigenscope

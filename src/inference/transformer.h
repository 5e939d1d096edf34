// A trained transformer whose forward pass reads its weights layer by layer, in ranges. Its layers, rules, inputs,
// heads, mixers, experts and outputs have a file each.
#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/config_keys.h"
#include "checkpoint/family_match.h"
#include "checkpoint/logit_scale.h"
#include "checkpoint/safetensors.h"
#include "inference/layer.h"
#include "inference/mixture.h"
#include "inference/patch_embedding.h"
#include "inference/text_family.h"
#include "inference/token_mixer.h"
#include "text/passages.h"

namespace eigenscope {

/// An MLP whose maps stay in the file.
struct StoredMlp {
  StoredLinear gate, up, down;  ///< `gate` may be none
};

/// The experts that a router chooses among, then those that run on every token.
struct StoredMixture {
  Router router;
  std::vector<StoredMlp> experts;
  Norm input_norm, output_norm, shared_output_norm;  ///< see ExpertNames
  Linear latent_input, latent_output;                ///< see ExpertNames; empty for none
};

/// The input of a layer (LayerInputNames), and what the layer makes of it.
struct StoredLayerInput {
  Linear projection;  ///< map of the embeddings, p x d, over sqrt(d)
  Norm norm;          ///< norm of the outputs of `projection`
  /// `up` makes the gate that multiplies the input, `down` maps the product to the term that is added to the tokens
  /// behind the MLP.
  StoredMlp maps;
};

/// The rest of a layer after its heads, if it has any, with its linear maps in the file.
struct StoredRest {
  LayerWeights norms;  ///< norms and factors; of its linear maps only `skip` may be filled
  std::shared_ptr<const TokenMixer> mixer;  ///< null for none
  std::vector<StoredLinear> mixer_inputs;   ///< maps to the projected states, one below the other
  StoredLinear attention_output;            ///< of the outputs of the heads or the mixer, if any
  StoredMlp mlp;                            ///< none where the layer has experts, or no MLP
  std::optional<StoredMixture> mixture;
  std::optional<StoredLayerInput> layer_input;
};

/// Widths of latent attention: the rank of the compression that keys and values are made of, and of each head the
/// coordinates that rotary positions turn, the other coordinates, and the values.
struct LatentWidths {
  Eigen::Index rank = 0, turned = 0, compressed = 0, values = 0;
};

/// A checkpoint of a family that reads text or pictures; pictures enter the first layer as embedded patches. Each
/// function reads the weights that it needs, and none is kept.
class Transformer {
 public:
  /// `tensors` must not be null. Throws FormatError naming the tensor or the key when no row
  /// of the table has its forward pass, a tensor is missing or of another shape than the others ask for,
  /// or the config lacks the head count or has an activation that is not known; InvalidArgument ("offset")
  /// for an unknown scaling of rotary positions.
  Transformer(std::shared_ptr<const Safetensors> tensors, const Config& config,
              ModelInput input = ModelInput::text);

  const Family& family() const { return *match_.family; }
  /// Settings of a layer, from 0 to layers() - 1, beside its weights; without heads for a layer that has none.
  const LayerRules& rules(int layer) const { return rules_[static_cast<std::size_t>(layer)]; }
  /// Whether no query sees a later token.
  bool causal() const { return rules_.front().causal; }
  /// d, the width of the tokens that leave the layers.
  Eigen::Index width() const { return width_; }
  /// The width of the token embeddings.
  Eigen::Index embedding_width() const { return embedding_width_; }
  int layers() const { return layers_; }
  /// Whether the MLP of a layer is a mixture of experts.
  bool has_mixture(int layer) const;
  bool has_mixtures() const;  ///< whether any layer has one
  /// The layers that have heads, ascending; at least one.
  const std::vector<int>& layers_with_heads() const { return layers_with_heads_; }
  bool has_heads(int layer) const { return rules(layer).heads > 0; }
  /// The number of heads in each layer that has some, and in all layers.
  int heads() const { return first_rules().heads; }
  Eigen::Index all_heads() const {
    return static_cast<Eigen::Index>(layers_with_heads_.size()) * heads();
  }
  /// The number of layers of the file beyond the count of config.json, which are left out.
  int layers_beyond() const { return static_cast<int>(stack().beyond.size()); }
  /// The number of heads in the layers before a layer.
  Eigen::Index heads_before(int layer) const;
  /// Whether layers have a TokenMixer, or no heads.
  bool has_mixers() const {
    return gates_heads() || match_.family->mixer.beside_heads ||
           std::ssize(layers_with_heads_) < layers_;
  }
  /// Whether the outputs of the heads are gated (OutputGate).
  bool gates_heads() const { return match_.family->gated() || !names().attention_gate.empty(); }
  /// The layer whose keys and values the heads of a layer use: the same layer, or an earlier one.
  int key_layer(int layer) const { return key_layers_[static_cast<std::size_t>(layer)]; }
  /// Whether a later layer uses the keys and values of a layer.
  bool lends_keys(int layer) const;
  bool has_lent_keys() const;  ///< whether any layer lends its keys
  /// Whether logits have a bias by the offset of the key (OffsetBiasNames).
  bool has_offset_bias() const {
    return names().offset_bias.slopes || !names().offset_bias.buckets.empty();
  }
  /// Whether logits are products of queries and keys that rotary positions turn, and a bias of the offset, without
  /// norms after the rotation, DisentangledTerms or a bound of queries and keys.
  bool has_plain_logits() const;
  /// Throws FormatError for a model without plain logits; `what` names what needs them.
  void check_plain_logits(std::string_view what) const;
  /// Whether layers have an input beside the tokens (LayerInputNames).
  bool has_layer_inputs() const { return layer_input_width_ > 0; }
  /// The longest passage, in tokens: with learned positions their number; with rotary ones the limit of config.json or
  /// the largest value of the parameter "length", whichever is less.
  Eigen::Index positions() const { return positions_ - first_position_; }
  /// The next token's logits l become c tanh(l/c); 0: they do not.
  float output_cap() const { return output_cap_; }
  /// Token ids are below this; 0 of a model of pictures.
  Eigen::Index vocabulary() const { return vocabulary_; }
  /// The ids from vocabulary() on that stand for pictures, which text cannot have.
  Eigen::Index picture_tokens() const {
    return patches_ ? 0 : static_cast<Eigen::Index>(names().picture_rows);
  }
  /// The patches of a model of pictures; null for text.
  const PatchEmbedding* patches() const { return patches_ ? &*patches_ : nullptr; }

  /// The tokens (as wide as embedding_width() where nothing projects them) that enter the first layer, one a column;
  /// the first of them is at position `first`. Throws InvalidArgument: "token" for an id out of range, "length" for no
  /// tokens or more than positions(); FormatError for weights that cannot be read or are not finite.
  Eigen::MatrixXf embed(std::span<const int> ids, Eigen::Index first = 0) const;
  /// The embeddings (d x T) of a passage of text, or of a picture where the model reads pictures. Throws also
  /// InvalidArgument ("image") for patches of another number or size.
  Eigen::MatrixXf embed(const Passage& passage) const;

  /// The input (p x T) of a layer of a model that has_layer_inputs(), made of the ids of a passage and `embedded`, its
  /// embed(). Throws FormatError for embeddings that cannot be read or are not finite.
  Eigen::MatrixXf layer_input(int layer, const StoredLayerInput& stored, std::span<const int> ids,
                              const Eigen::MatrixXf& embedded) const;

  /// Token embeddings of the ids [begin, end), one a row, before they are projected to width(). Throws FormatError for
  /// weights that cannot be read or are not finite.
  Eigen::MatrixXd token_embeddings(Eigen::Index begin, Eigen::Index end) const;

  /// All weights of a layer without a mixture of experts, a TokenMixer or an input, from 0 to layers() - 1, in memory.
  /// Throws FormatError naming the tensor that cannot be read, has another shape or values that are not finite.
  LayerWeights read_layer(int layer) const;
  /// Reads the weights that the heads of a layer need: queries, keys, values, and the norm of their attention.
  /// Projections with more than `most_weights` stay in the file (HeadProjection) unless a norm is of all their heads.
  LayerWeights read_heads(int layer,
                          Eigen::Index most_weights = HeadProjection::kMostWeights) const;
  /// The weights of a layer beside those of its heads. Reads norms and biases; linear maps stay in the file. Throws
  /// FormatError naming the tensor that cannot be read, has another shape or values that are not finite.
  StoredRest rest(int layer) const { return rest(layer, {}); }

  /// `tokens` after the norm that follows the last layer, where the family has one.
  Eigen::MatrixXf finished(const Eigen::MatrixXf& tokens) const;

  /// Whether the model predicts tokens: whether the checkpoint has output weights or the head of masked tokens, or the
  /// model is causal and config.json does not exclude that its token embeddings are the output weights.
  bool has_output() const;
  /// The states that the output map reads, made of `tokens` (d x T) after the last layer: finished(), and for a model
  /// of masked tokens also the linear map, activation and norm of its head. Throws FormatError for weights that cannot
  /// be read or are not finite.
  Eigen::MatrixXf output_states(const Eigen::MatrixXf& tokens) const;
  /// The output weights (vocabulary x d) and their bias, if any, by which output_states() give the logits over
  /// output_scale(): the token embeddings where the checkpoint has no others. Throws FormatError where config.json says
  /// that there are others, or where their shape is another.
  StoredLinear output() const;
  /// Factor of the logits that output() gives.
  float output_scale() const { return output_scale_; }
  /// The weights of output() in memory, times output_scale(). Throws FormatError as output(), and for weights that
  /// cannot be read or are not finite.
  Linear read_output() const;

 private:
  static constexpr Eigen::Index kAnyNumber =
      std::numeric_limits<Eigen::Index>::max();  // of weights

  const ForwardNames& names() const {
    return patches_ ? match_.family->picture : match_.family->text;
  }
  const StackMatch& stack() const {
    return patches_ ? match_.stacks.back() : match_.stacks.front();
  }
  const AttentionNames& attention() const { return *stack().names; }
  /// The rules of the first layer that has heads.
  const LayerRules& first_rules() const { return rules(layers_with_heads_.front()); }
  /// Counts the layers of the file, and lists those with heads among them.
  void find_layers();
  /// Whether the file has a mixer in the place of the heads of a layer.
  bool has_mixer(int layer) const;
  /// The first layer with one, or layers() without any.
  int first_with_mixer() const;
  /// Whether a layer has an MLP or a mixture of experts.
  bool has_mlp(int layer) const;
  /// Whether text passes over a layer.
  bool is_skipped(int layer) const;
  /// Whether a layer has a mixer, or an MLP by itself, or is skipped.
  bool lacks_heads(int layer) const;
  /// Refuses a layer of the file that has branches of which it must have one.
  void check_branches(int layer) const;
  std::string full_name(std::string_view pattern, int layer = 0) const;
  /// Whether the file has a tensor of a layer; not for an empty name.
  bool has(std::string_view pattern, int layer) const;
  /// Throws FormatError where the file has two forms of the same weights.
  void refuse_both(std::string_view one, std::string_view other, int layer) const;
  /// The name of the output weights, which the checkpoint may lack.
  std::string output_name() const;
  /// Null where the checkpoint does not predict masked tokens.
  const MaskedHead* masked_head() const;
  /// Throws FormatError naming a tensor that another forward pass has.
  void refuse_foreign() const;
  /// The widths of the tokens.
  void read_embeddings();
  /// Reads the width of the inputs of layers. Refuses a file that has factors of the tokens (layer_scale) in some
  /// layers alone.
  void read_layer_inputs(const ConfigKeys& keys);
  void read_config(const ConfigKeys& keys);
  void read_factors(const ConfigKeys& keys);
  void read_router(const ConfigKeys& keys);
  /// Refuses a layer that has `what` although config.json says by `key` that it has none (`told`), or the reverse.
  static void check_told(const ConfigKeys& keys, std::string_view key, int layer, bool told,
                         bool has, const char* what);
  /// Refuses a mixture of experts that a switch excludes, and a layer without one where it asks for all.
  void check_mixtures(const ConfigKeys& keys) const;
  /// The layers that share the weights of each one in the file.
  void read_layers(const ConfigKeys& keys);
  /// Refuses a layer without heads that config.json says to have some, and the reverse.
  void check_kind(const ConfigKeys& keys, int layer) const;
  /// Refuses a list of layers that text passes over, which are not those of the file.
  void check_skipped(const ConfigKeys& keys) const;
  /// Refuses norms on the outputs of branches where their switch is off, and a layer without them where it is on.
  void check_output_norms(const ConfigKeys& keys, int layer) const;
  /// Refuses a layer whose branches are not those of "block_configs".
  void check_block(const ConfigKeys& keys, int layer) const;
  void read_heads(const ConfigKeys& all_keys, int layer, LayerRules& rules);
  /// Refuses a layer without a window that has values where a switch makes them of the keys, or none where it does not.
  void check_values(const ConfigKeys& keys, int layer) const;
  /// Whether the values of a layer are its keys, before their norm.
  bool keys_are_values(int layer) const;
  /// Reads the settings of the bias that logits have by the offset of the key.
  void read_offset_bias(const ConfigKeys& keys);
  OffsetBias offset_bias(int layer) const;
  /// Reads whether tokens have the embedding of their type.
  void read_types(const ConfigKeys& keys);
  /// Reads which DisentangledTerms there are, and the span of their offsets.
  void read_offset_terms(const ConfigKeys& keys);
  /// The disentangled terms of all heads of a layer, whose maps are `weights`.
  DisentangledTerms offset_terms(const LayerWeights& weights, int layer) const;
  /// Reads the widths of latent attention.
  void read_latent(const ConfigKeys& keys, int layer, LayerRules& rules);
  /// Reads the settings of layers with a mixer; `of_mlp` is the activation of the MLP.
  void read_mixers(const ConfigKeys& keys, Activation of_mlp);
  /// Reads the widths of the delta rule.
  void read_delta_rule(const ConfigKeys& keys);
  /// Reads the widths of the state spaces, also from the shapes.
  void read_state_space(const ConfigKeys& keys);
  bool has_skip(int layer) const;
  /// Whether the branches of the layer have norms on their outputs.
  bool has_output_norms(int layer) const;
  /// Adds the position embeddings from `row` on.
  void add_positions(std::span<const int> ids, Eigen::Index row, Eigen::MatrixXf& tokens) const;
  /// Refuses biases of these maps where the switch `key` of config.json says that there are none.
  void check_biases(const ConfigKeys& keys, std::string_view key,
                    std::span<const std::string_view> maps) const;
  /// Refuses a bias of this map in some layers alone.
  void check_same_bias(std::string_view map) const;
  /// Refuses factors and caps of other families, which would change the tokens or their logits.
  void check_factors(const ConfigKeys& keys) const;
  /// Width of the tokens that enter a layer.
  Eigen::Index entering_width(int layer) const;
  Eigen::Index longest_passage(const ConfigKeys& keys) const;
  /// The sum of the embeddings after the norm and the projection that follow it.
  Eigen::MatrixXf end_embedding(Eigen::MatrixXf tokens) const;
  Eigen::VectorXf read_bias(const std::string& name, Eigen::Index size) const;
  /// `count` rows of embeddings from `first` on as columns.
  Eigen::MatrixXf read_rows(const std::string& name, Eigen::Index first, Eigen::Index count) const;
  StoredLinear linear(std::string_view pattern, int layer, Eigen::Index out, Eigen::Index in) const;
  /// Factors of a branch's output; empty where the file has none.
  Eigen::VectorXf read_scale(std::string_view pattern, int layer) const;
  /// A norm without a gain.
  Norm gainless_norm(Eigen::Index size) const;
  /// Reads the norm of this name over the tokens' coordinates, or makes one without a gain where the family has those.
  Norm branch_norm(std::string_view pattern, int layer = 0) const {
    return names().gainless_norms ? gainless_norm(width_) : read_norm(pattern, layer);
  }
  /// Reads a norm over the tokens' coordinates; no norm for an empty name.
  Norm read_norm(std::string_view pattern, int layer = 0) const;
  /// Reads the norm of a projection's outputs, for each of its heads or all of them; no norm where the file has none.
  Norm read_projection_norm(std::string_view pattern, int layer, Eigen::Index outputs) const;
  Norm read_norm_of(const std::string& name, Eigen::Index size) const;
  void read_projections(LayerWeights& weights, int layer, Eigen::Index most_weights) const;
  void read_latent_projections(LayerWeights& weights, int layer, Eigen::Index most_weights) const;
  /// The rest of a layer, with its norms in a copy of `weights`.
  StoredRest rest(int layer, LayerWeights weights) const;
  /// Reads the numbers of each layer's xIELU that config.json has.
  void read_xielu_numbers(const ConfigKeys& keys);
  Xielu read_xielu(int layer) const;
  void read_layer_input(StoredRest& rest, int layer) const;
  void read_mixer(StoredRest& rest, int layer) const;
  void read_output_gate(StoredRest& rest, int layer) const;
  void read_delta_rule(StoredRest& rest, int layer) const;
  void read_state_space(StoredRest& rest, int layer) const;
  void read_selective_scan(StoredRest& rest, int layer) const;
  /// Refuses counts that are not those of the file.
  void check_selective_scan(const ConfigKeys& keys) const;
  /// Refuses another number under `key` of config.json than `count`, which the file has.
  static void check_count(const ConfigKeys& keys, std::string_view key, Eigen::Index count);
  /// Reads whether a state space has a norm, and where.
  void read_space_norm(const ConfigKeys& keys);
  /// All numbers of a tensor, whose sides GGUF may have grouped.
  Eigen::VectorXf read_flat(std::string_view pattern, int layer, Eigen::Index size) const;
  /// The rates of decay of a mixer, of which there must be `count`.
  Eigen::VectorXf read_rates(int layer, Eigen::Index count) const;
  /// The number N of states of a channel in the selective scan of a layer.
  Eigen::Index states_of_channel(int layer) const;
  /// The positions that a layer's convolution of so many channels reads, by its shape.
  Eigen::Index convolved(int layer, Eigen::Index channels) const;
  CausalConvolution read_convolution(int layer, Eigen::Index channels) const;
  /// A pattern with the number of an expert for "{e}", where it has that.
  static std::string of_expert(std::string_view pattern, Eigen::Index expert);
  /// An MLP with inputs and outputs of the width `width`.
  StoredMlp mlp(const MlpNames& names, int layer, Eigen::Index width) const;
  StoredMlp stacked_mlp(int layer, Eigen::Index expert, Eigen::Index width) const;
  StoredMixture mixture(int layer) const;
  /// Whether tokens have the embedding of their position: not where positions are rotary.
  bool embeds_positions() const;
  /// Inputs and outputs of a linear layer, by the shape of its weight.
  std::array<Eigen::Index, 2> sides(std::string_view pattern, int layer) const;

  std::shared_ptr<const Safetensors> tensors_;
  FamilyMatch match_;
  std::optional<PatchEmbedding> patches_;
  std::vector<LayerRules> rules_;  // by layer
  std::vector<int> layers_with_heads_;
  Activation head_activation_ = Activation::gelu;  // of the head that predicts masked tokens
  float epsilon_ = 0, output_cap_ = 0, output_scale_ = 1;
  float projection_bound_ = 0;  // LayerWeights
  float embedding_factor_ = 1, residual_factor_ = 1;
  // Factors of the output of the attention, of the gate and the output of an MLP (ForwardNames), of the projected
  // states of a state space, z, x, B, C and the steps, and of its output (MixerNames).
  float attention_factor_ = 1;
  std::array<float, 2> mlp_factors_ = {1, 1};
  std::array<float, 5> state_factors_ = {1, 1, 1, 1, 1};
  float mixer_factor_ = 1;
  LatentWidths latent_;
  DeltaHeads delta_heads_;
  StateSpaceHeads space_;
  StepLimits space_steps_;
  bool convolution_bias_ = false;  // of all layers
  bool space_norm_first_ = false;
  RouterRules router_;
  double slope_exponent_ = 8;           // of OffsetBias::slopes
  int farthest_bucket_ = 128;           // of OffsetBias::in_buckets
  bool offset_bias_per_layer_ = false;  // each layer has buckets
  RelativeTerms relative_terms_;
  int offset_span_ = 0, farthest_offset_ = 0;  // of relative_places()
  bool normed_offsets_ = false, shared_offset_maps_ = false;
  std::vector<float> query_scales_;  // by layer, of the logits over 1/sqrt(d_h)
  std::vector<int> key_layers_;
  std::vector<std::array<std::optional<double>, 4>> xielu_numbers_;  // by layer, as kXieluNumbers
  Eigen::Index layer_input_width_ = 0;                               // p; 0 where layers have none
  bool tied_output_ = true;        // the embeddings are the output weights
  bool scaled_embedding_ = false;  // ForwardNames
  bool has_types_ = false;         // token type embeddings
  bool has_shared_expert_ = true;  // where the family has one
  bool bare_norms_ = false;        // of queries and keys, in layers with positions
  Eigen::Index width_ = 0, embedding_width_ = 0, positions_ = 0, vocabulary_ = 0;
  Eigen::Index first_position_ = 0;  // row of the position embeddings
  int layers_ = 0;
  int stored_ = 0;   // layers in the file
  int sharing_ = 1;  // layers of the model that have the weights of each of those
};

}  // namespace eigenscope

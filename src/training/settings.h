// All settings of a training run but its text.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "support/choice.h"
#include "support/gemm.h"
#include "support/parameter.h"
#include "training/parameters.h"
#include "training/regularizers/table.h"

namespace eigenscope {

enum class BlockNorm {
  pre,   ///< x + f(LayerNorm(x)), and a LayerNorm before the output
  post,  ///< LayerNorm(x + f(x))
};
enum class Positions {
  learned,  ///< a learned vector for each position, added to the token embedding
  rotary,   ///< queries and keys turned by angles in proportion to the position (RoFormer)
  relative,  ///< a bias of the logits for each layer, head and offset between key and query, initially 0
};
inline constexpr std::array kPositionsNames{
    Choice{"learned", "learned"}, Choice{"rotary", "rotary"}, Choice{"relative", "relative bias"}};
/// Output weights: the token embeddings, or separate weights.
enum class OutputKind { tied, free };
enum class Normalization { layer, rms };  ///< LayerNorm, or RMSNorm without bias
enum class MlpKind {
  gelu,   ///< down gelu(up x)
  gated,  ///< down (silu(gate x) up x), SwiGLU
};
enum class LinearBias { with, without };    ///< biases of all linear layers
enum class QueryKeyBias { with, without };  ///< biases of the query and key projections
enum class AttentionKind {
  softmax,
  none,  ///< control: all weights are 0, and so are the heads' outputs; the output bias stays
  self,  ///< control: each token has all weight on itself
  hard,  ///< all weight on the largest logit, with the gradient of softmax (straight-through)
};
/// Whether attention depends on queries and keys.
constexpr bool reads_logits(AttentionKind kind) {
  return kind == AttentionKind::softmax || kind == AttentionKind::hard;
}
enum class Objective {
  next,  ///< causal attention; each token's successor
  masked,  ///< attention to all tokens; a share of the tokens, which the last token of the vocabulary replaces
};
inline constexpr std::array kObjectiveNames{Choice{"next", "next token"},
                                            Choice{"masked", "masked tokens"}};
enum class AttentionSkip { with, without };  ///< whether attention's input is added to its output
inline constexpr std::array kAttentionSkipNames{Choice{"with", "with"},
                                                Choice{"without", "without"}};
enum class OffsetMask {
  none,
  learned,  ///< the distances |query - key| that all heads see, drawn in training with learned probabilities
};
enum class QueryKeyNorm {
  none,
  rms,  ///< each head's query and key over their root mean square, times a learned gain (QK-norm)
};

/// The decoder-only language model of GPT-2 (LayerNorm, biases, GELU), with what may differ.
struct ModelSettings {
  Eigen::Index vocabulary = 256;  ///< V, the text's, and one more with the objective `masked`
  Eigen::Index width = 64;        ///< d
  Eigen::Index depth = 2;
  Eigen::Index heads = 4;  ///< divides the width
  /// Divides heads; query head h reads key head floor(h key_heads/heads). 0 for as many as heads.
  Eigen::Index key_heads = 0;
  Eigen::Index length = 64;  ///< T
  double mlp_ratio = 4;      ///< hidden width over the width; 0 for none
  BlockNorm norm = BlockNorm::pre;
  Positions positions = Positions::learned;
  OutputKind output = OutputKind::tied;
  Normalization normalization = Normalization::layer;
  MlpKind mlp_kind = MlpKind::gelu;
  LinearBias linear_bias = LinearBias::with;         ///< without: they stay zero
  QueryKeyBias query_key_bias = QueryKeyBias::with;  ///< without: they stay zero
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  AttentionKind attention = AttentionKind::softmax;
  Objective objective = Objective::next;
  AttentionSkip attention_skip = AttentionSkip::with;
  OffsetMask offset_mask = OffsetMask::none;
  /// |query - key| at which no query sees a key; -1 for none
  Eigen::Index dropped_distance = training::kDroppedDistance.default_value;

  /// Whether attention has terms that depend on the offset alone.
  bool has_offset_terms() const {
    return positions == Positions::relative || offset_mask == OffsetMask::learned ||
           dropped_distance >= 0;
  }
  /// The keys that a query sees, without what the offset hides.
  Entries visible() const { return objective == Objective::next ? Entries::upper : Entries::all; }
  Eigen::Index head_width() const { return width / heads; }
  Eigen::Index groups() const { return key_heads == 0 ? heads : key_heads; }
  /// Rows of queries, keys and values together.
  Eigen::Index fused_width() const { return (heads + 2 * groups()) * head_width(); }
  Eigen::Index hidden() const;
};

/// Learning rate after the warm-up: half a cosine or a line down to final_rate times the largest at the last step, or
/// constant.
enum class Schedule { cosine, constant, linear };

/// AdamW (Loshchilov and Hutter, 2019) with linear warm-up and a decaying learning rate.
struct OptimizerSettings {
  Eigen::Index steps = 1000;  ///< at which the schedule ends; later steps keep its last rate
  Schedule schedule = Schedule::cosine;
  double learning_rate = training::kLearningRate.default_value;
  double final_rate = training::kFinalRate.default_value;  ///< last learning rate over the largest
  Eigen::Index warmup = training::kWarmup.default_value;   ///< steps
  /// Decoupled weight decay of matrices, not of gains and biases
  double weight_decay = training::kWeightDecay.default_value;
  double beta1 = training::kBeta1.default_value, beta2 = training::kBeta2.default_value;
  double epsilon = training::kEpsilon.default_value;
  double clip = training::kClip.default_value;  ///< largest norm of the whole gradient; 0 for any
  /// QK-Clip (Kimi K2, arXiv:2507.20534): after a step in which a head had a larger logit, its W_Q and
  /// W_K are scaled down until that logit would be this one; 0 for none.
  double qk_clip = 0;
  /// AdamW^2 (arXiv:2505.21910): largest ratio of the spectral norm of a step of a projection matrix to
  /// that of the matrix; a larger step is scaled down; 0 for none.
  double growth_limit = training::kGrowthLimit.default_value;
  /// Rate of relative position biases and of a learned offset mask over that of the other parameters.
  double bias_rate = training::kBiasRate.default_value;
};

enum class TargetKind {
  given,    ///< m* is `target`
  initial,  ///< m* is each head's mean at initialization
};
enum class Initialization {
  normal,   ///< every matrix N(0, (0.02 sqrt(768/d))^2), which is GPT-2's at its width
  mimetic,  ///< beside it, W_Q W_K^T is near a multiple of the identity on its subspace, such that
            ///< tr(W)/d is near `target` (Trockman and Kolter, 2023)
  correlated,  ///< W_K = s A, W_Q = s (alpha A + sqrt(1 - alpha^2) C), entries of A and C N(0, 1/d):
               ///< alpha moves the eigenspectrum's mean, E tr(W)/d = s^2 alpha d_h/d, at the energy
               ///< E ||W_Q||_F^2 = E ||W_K||_F^2 = s^2 d_h
  mimetic_zero,  ///< control: as mimetic, with the same norms and singular values of W in law, and a
                 ///< mean eigenvalue of zero
};

struct RegularizerSettings {
  RegularizerKind kind = RegularizerKind::none;
  double mean_weight = training::kMeanWeight.default_value;    ///< c_mean
  double scale_weight = training::kScaleWeight.default_value;  ///< c_scale
  TargetKind target_kind = TargetKind::given;
  double target = training::kTarget.default_value;  ///< m*
  /// Heads of each layer, the first ones, on which LocAteR acts and to which mimetic initialization gives
  /// the target; 0 for all.
  Eigen::Index target_heads = training::kTargetHeads.default_value;
  /// Steps of the run, the first ones, in which LocAteR acts; 0 for all.
  Eigen::Index target_steps = training::kTargetSteps.default_value;
  /// Weight decay of W_Q and W_K in addition to `weight_decay`, in units of 1/(learning rate).
  double qk_decay = training::kQkDecay.default_value;
  double prior_weight = 1;  ///< c of the attention prior
  /// Distance of the attention prior's key from the query; 1 for the previous token
  Eigen::Index prior_distance = training::kPriorDistance.default_value;
  Initialization initialization = Initialization::normal;
  double alpha = training::kAlpha.default_value;           ///< correlation alpha, in [-1, 1]
  double init_scale = training::kInitScale.default_value;  ///< s of Initialization::correlated

  /// Number of the first `heads` of a layer on which LocAteR acts.
  Eigen::Index acting(Eigen::Index heads) const { return target_heads == 0 ? heads : target_heads; }
};

/// Fault that is injected into a run; see training/fault.h.
enum class FaultKind {
  none,
  learning_rate,    ///< the learning rate times `size`
  query_key_scale,  ///< once, before the first of its steps: W_Q, W_K and their biases times `size`
  rounded_logits,   ///< logits of attention with `size` significant bits in the forward pass
  repeated_tokens,  ///< each sequence of a batch is its first token, repeated
  random_tokens,    ///< tokens of a batch are uniformly random
  reversed_tokens,  ///< each sequence of a batch is read backwards: another text of the same tokens
};
struct FaultSettings {
  FaultKind kind = FaultKind::none;
  Eigen::Index first = training::kFaultStep.default_value;  ///< completed steps before it
  /// Steps that it lasts; 0 for all that follow.
  Eigen::Index steps = training::kFaultSteps.default_value;
  double size = training::kFaultSize.default_value;
};

/// The validation text of the evaluation after the last step.
enum class FinalEvaluation {
  sample,  ///< the batches that every evaluation reads
  whole,
};

struct TrainSettings {
  ModelSettings model;
  OptimizerSettings optimizer;
  RegularizerSettings regularizer;
  FaultSettings fault;
  Eigen::Index batch = training::kBatch.default_value;  ///< sequences a step
  /// Dropout rate of the embeddings and of the outputs of attention and MLP.
  double dropout = training::kDropout.default_value;
  /// Temperature of the softmax of attention over sqrt(d_h); see scale_queries
  double attention_temperature = training::kAttentionTemperature.default_value;
  /// Share of the tokens of a sequence that are masked and predicted, with Objective::masked.
  double masked_share = training::kMaskedShare.default_value;
  /// Penalty in nats for each kept entry of an attention row, with OffsetMask::learned.
  double entry_penalty = training::kEntryPenalty.default_value;
  Eigen::Index log_every = training::kLogEvery.default_value;  ///< steps
  /// Batches of validation text that an evaluation reads; 0 for all
  Eigen::Index eval_batches = training::kEvalBatches.default_value;
  /// Batches among eval_batches on which heads and layers are measured; 0 for all.
  Eigen::Index measure_batches = training::kMeasureBatches.default_value;
  FinalEvaluation final_evaluation = FinalEvaluation::sample;
  /// Evaluations without a new minimum that end the run; 0 for any
  Eigen::Index patience = training::kPatience.default_value;
  std::uint64_t seed = 1;
};

/// A number of the settings.
struct NumberField {
  using Place = std::variant<Eigen::Index*, double*, std::uint64_t*>;

  /// `At` gives the address of the number in settings.
  template <class At>
  constexpr NumberField(const Parameter& parameter, At, bool later = false)
      : name(parameter.name), at(&place<At>), later(later), parameter_(&parameter) {}

  const Parameter& parameter() const { return *parameter_; }

  std::string_view name;
  Place (*at)(TrainSettings&);
  bool later;  ///< older files lack the field: their runs had its default

 private:
  template <class At>
  static Place place(TrainSettings& settings) {
    return At{}(settings);
  }

  const Parameter* parameter_;
};
/// Every number but the vocabulary, which is the text's.
std::span<const NumberField> number_fields();
double number_of(const TrainSettings& settings, const NumberField& field);
/// Throws InvalidArgument when the value is out of range.
void set_number(TrainSettings& settings, const NumberField& field, double value);

/// A choice of the settings by name; the k-th name is the enumeration's k-th value.
struct ChoiceField {
  /// `At` gives the address of the member in settings.
  template <class At>
  constexpr ChoiceField(std::string_view name, At, Choices names, Help meaning, bool later = false)
      : name(name),
        names(names),
        get([](const TrainSettings& settings) {
          return static_cast<std::size_t>(*At{}(settings));
        }),
        put([](TrainSettings& settings, std::size_t index) {
          auto& member = *At{}(settings);
          member = static_cast<std::remove_reference_t<decltype(member)>>(index);
        }),
        meaning(meaning),
        later(later) {}

  std::string_view name;
  Choices names;
  std::size_t (*get)(const TrainSettings&);
  void (*put)(TrainSettings&, std::size_t);
  Help meaning;
  bool later;  ///< see NumberField::later
};
std::span<const ChoiceField> choice_fields();
std::string_view name_of(AttentionKind kind);
std::string_view name_of(Positions positions);
/// Throws InvalidArgument that lists the names.
void set_choice(TrainSettings& settings, const ChoiceField& field, std::string_view name);

/// Throws InvalidArgument: a number out of range; "heads" that do not divide the width, or, with rotary
/// positions, leave an odd head width; "key_heads" that do not divide the heads; what the regularizer's row
/// refuses; "qk_clip", "attention_temperature" and a "fault" of W_Q and W_K together with QK-norm, which they cannot
/// change; more "target_heads" than heads; a "fault_size" of rounded logits that is no number of bits; a setting
/// of W_QK together with an "attention" that does not read it; "patience" together with a final evaluation on the
/// whole text; "heads" that leave mimetic_zero a head width of 1; a "dropped_distance" that is not below the length;
/// "attention" other than softmax together with terms by offset.
void check_model(const ModelSettings& settings);
void check_training(const TrainSettings& settings);

}  // namespace eigenscope

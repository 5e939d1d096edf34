#include "training/settings.h"

#include <array>
#include <cmath>
#include <utility>

#include "nn/attention.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "training/regularizers/regularizer.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr NumberField kNumberFields[] = {
    {shared::kWidth, [](auto& s) { return &s.model.width; }},
    {shared::kDepth, [](auto& s) { return &s.model.depth; }},
    {shared::kHeads, [](auto& s) { return &s.model.heads; }},
    {shared::kKeyHeads, [](auto& s) { return &s.model.key_heads; }},
    {shared::kLength, [](auto& s) { return &s.model.length; }},
    {shared::kMlpRatio, [](auto& s) { return &s.model.mlp_ratio; }},
    {shared::kSteps, [](auto& s) { return &s.optimizer.steps; }},
    {training::kBatch, [](auto& s) { return &s.batch; }},
    {training::kLearningRate, [](auto& s) { return &s.optimizer.learning_rate; }},
    {training::kFinalRate, [](auto& s) { return &s.optimizer.final_rate; }},
    {training::kWarmup, [](auto& s) { return &s.optimizer.warmup; }},
    {training::kWeightDecay, [](auto& s) { return &s.optimizer.weight_decay; }},
    {training::kBeta1, [](auto& s) { return &s.optimizer.beta1; }},
    {training::kBeta2, [](auto& s) { return &s.optimizer.beta2; }},
    {training::kEpsilon, [](auto& s) { return &s.optimizer.epsilon; }, true},
    {training::kClip, [](auto& s) { return &s.optimizer.clip; }},
    {training::kQkClip, [](auto& s) { return &s.optimizer.qk_clip; }, true},
    {training::kGrowthLimit, [](auto& s) { return &s.optimizer.growth_limit; }, true},
    {training::kDropout, [](auto& s) { return &s.dropout; }, true},
    {training::kBiasRate, [](auto& s) { return &s.optimizer.bias_rate; }, true},
    {training::kAttentionTemperature, [](auto& s) { return &s.attention_temperature; }, true},
    {training::kMaskedShare, [](auto& s) { return &s.masked_share; }, true},
    {training::kDroppedDistance, [](auto& s) { return &s.model.dropped_distance; }, true},
    {training::kEntryPenalty, [](auto& s) { return &s.entry_penalty; }, true},
    {training::kMeanWeight, [](auto& s) { return &s.regularizer.mean_weight; }},
    {training::kScaleWeight, [](auto& s) { return &s.regularizer.scale_weight; }},
    {training::kTarget, [](auto& s) { return &s.regularizer.target; }},
    {training::kTargetHeads, [](auto& s) { return &s.regularizer.target_heads; }, true},
    {training::kTargetSteps, [](auto& s) { return &s.regularizer.target_steps; }, true},
    {training::kQkDecay, [](auto& s) { return &s.regularizer.qk_decay; }},
    {training::kPriorWeight, [](auto& s) { return &s.regularizer.prior_weight; }, true},
    {training::kPriorDistance, [](auto& s) { return &s.regularizer.prior_distance; }, true},
    {training::kAlpha, [](auto& s) { return &s.regularizer.alpha; }, true},
    {training::kInitScale, [](auto& s) { return &s.regularizer.init_scale; }, true},
    {training::kFaultStep, [](auto& s) { return &s.fault.first; }, true},
    {training::kFaultSteps, [](auto& s) { return &s.fault.steps; }, true},
    {training::kFaultSize, [](auto& s) { return &s.fault.size; }, true},
    {training::kLogEvery, [](auto& s) { return &s.log_every; }},
    {training::kEvalBatches, [](auto& s) { return &s.eval_batches; }},
    {training::kMeasureBatches, [](auto& s) { return &s.measure_batches; }},
    {training::kPatience, [](auto& s) { return &s.patience; }, true},
    {shared::kSeed, [](auto& s) { return &s.seed; }},
};

constexpr std::array kNorms{Choice{"pre", "pre-norm"}, Choice{"post", "post-norm"}};
constexpr std::array kOffsetMasks{Choice{"none", "none"}, Choice{"learned", "learned"}};
constexpr std::array kOutputs{Choice{"tied", "tied"}, Choice{"free", "free"}};
constexpr std::array kTargets{Choice{"given", "given mean"},
                              Choice{"own", "each head’s initial mean"}};
constexpr std::array kInitializations{Choice{"normal", "normal"}, Choice{"mimetic", "mimetic"},
                                      Choice{"correlated", "correlated"},
                                      Choice{"mimetic-zero", "control: mimetic, mean zero"}};
constexpr std::array kSchedules{Choice{"cosine", "cosine"}, Choice{"constant", "constant"},
                                Choice{"linear", "linear"}};
constexpr std::array kBiases{Choice{"with", "with"}, Choice{"without", "without"}};
constexpr std::array kNormalizations{Choice{"layer", "LayerNorm"}, Choice{"rms", "RMSNorm"}};
constexpr std::array kMlpKinds{Choice{"gelu", "GELU"}, Choice{"gated", "gated (SwiGLU)"}};
constexpr std::array kAttentionKinds{Choice{"softmax", "softmax"}, Choice{"none", "control: none"},
                                     Choice{"self", "control: self only"},
                                     Choice{"hard", "hard, straight-through"}};
constexpr std::array kFinalEvaluations{Choice{"sample", "evaluation batches"},
                                       Choice{"whole", "whole validation text"}};
constexpr std::array kFaults{Choice{"none", "none"},
                             Choice{"learning-rate", "learning rate"},
                             Choice{"query-key-scale", "scaled W_Q and W_K"},
                             Choice{"rounded-logits", "rounded logits"},
                             Choice{"repeated-tokens", "repeated tokens"},
                             Choice{"random-tokens", "random tokens"},
                             Choice{"reversed-tokens", "text read backwards"}};
constexpr std::array kQueryKeyNorms{Choice{"none", "none"}, Choice{"rms", "RMSNorm (QK-norm)"}};

constexpr ChoiceField kChoiceFields[] = {
    {"layer_norm", [](auto& s) { return &s.model.norm; }, kNorms, "place of the normalization"},
    {"positions", [](auto& s) { return &s.model.positions; }, kPositionsNames,
     "positions: learned or rotary embeddings, or a bias of the logits for each layer, head and "
     "offset (relative)"},
    {"output", [](auto& s) { return &s.model.output; }, kOutputs,
     "output weights: tied to the token embeddings, or free"},
    {"regularizer", [](auto& s) { return &s.regularizer.kind; }, kRegularizers,
     "regularizer of W_QK or reparametrization of the weights"},
    {"target_kind", [](auto& s) { return &s.regularizer.target_kind; }, kTargets,
     "LocAteR target: the given one, or each head's own mean at initialization"},
    {"initialization", [](auto& s) { return &s.regularizer.initialization; }, kInitializations,
     "initialization of W_QK: normal; mimetic with the target as mean; mimetic-zero with the "
     "same norms and mean 0; correlated with alpha and init_scale"},
    {"schedule", [](auto& s) { return &s.optimizer.schedule; }, kSchedules,
     "learning-rate schedule after the warm-up", true},
    {"query_key_bias", [](auto& s) { return &s.model.query_key_bias; }, kBiases,
     "biases of the query and key projections", true},
    {"query_key_norm", [](auto& s) { return &s.model.query_key_norm; }, kQueryKeyNorms,
     "normalization of each head's queries and keys", true},
    {"normalization", [](auto& s) { return &s.model.normalization; }, kNormalizations,
     "kind of normalization: LayerNorm or RMSNorm", true},
    {"mlp_kind", [](auto& s) { return &s.model.mlp_kind; }, kMlpKinds,
     "MLP: GELU as in GPT-2, or gated as in LLaMA", true},
    {"linear_bias", [](auto& s) { return &s.model.linear_bias; }, kBiases,
     "biases of the linear layers", true},
    {"attention", [](auto& s) { return &s.model.attention; }, kAttentionKinds,
     "attention weights: softmax; all on the largest logit with the gradient of softmax (hard, "
     "straight-through); as controls all zero (none) or each token on itself (self)",
     true},
    {"objective", [](auto& s) { return &s.model.objective; }, kObjectiveNames,
     "what is predicted: the next token with causal attention, or masked tokens with attention "
     "to all tokens",
     true},
    {"attention_skip", [](auto& s) { return &s.model.attention_skip; }, kAttentionSkipNames,
     "skip connection around attention", true},
    {"offset_mask", [](auto& s) { return &s.model.offset_mask; }, kOffsetMasks,
     "differentiable mask over the distances between query and key, learned beside the model",
     true},
    {"fault", [](auto& s) { return &s.fault.kind; }, kFaults,
     "injected fault, from fault_step on for fault_steps: learning rate times fault_size; W_Q, W_K "
     "and their biases times fault_size, once; logits rounded to fault_size bits; batches of "
     "repeated, of uniformly random or of reversed tokens",
     true},
    {"final_evaluation", [](auto& s) { return &s.final_evaluation; }, kFinalEvaluations,
     "validation text of the last evaluation: the batches of the other evaluations, or "
     "the whole text",
     true},
};

// Most parameters: more do not fit into 32-bit memory with the optimizer's state.
constexpr double kMostNumbers = 2e8;

void must_divide(const char* field, Index value, const char* whole, Index of) {
  if (of % value == 0) return;
  throw InvalidArgument(
      field, std::string("divide the ") + whole,
      std::string(whole) + " " + std::to_string(of) + ", " + field + " " + std::to_string(value));
}

// Without softmax attention does not read W_QK, and settings of W_QK would have no effect.
void check_controls(const TrainSettings& settings) {
  const AttentionKind attention = settings.model.attention;
  if (reads_logits(attention)) return;
  const RegularizerSettings& regularizer = settings.regularizer;
  const std::string name(name_of(attention));
  const auto refuse_unless = [&](bool allowed, const char* field, const std::string& value,
                                 const std::string& instead) {
    if (allowed) return;
    throw InvalidArgument(
        field,
        "be " + instead + " with attention " + name + ", which does not depend on W_Q and W_K",
        "found " + value);
  };
  std::string others;
  for (const RegularizerRow& row : kRegularizers) {
    if (!row.facts.of_query_key) others += (others.empty() ? "" : " or ") + std::string(row.name);
  }
  const RegularizerRow& row = regularizer_row(regularizer.kind);
  refuse_unless(!row.facts.of_query_key, "regularizer", std::string(row.name), others);
  refuse_unless(
      regularizer.initialization == Initialization::normal, "initialization",
      std::string(kInitializations[static_cast<std::size_t>(regularizer.initialization)].name),
      "normal");
  refuse_unless(settings.optimizer.qk_clip == 0, "qk_clip", shown(settings.optimizer.qk_clip), "0");
  refuse_unless(settings.attention_temperature == 1, "attention_temperature",
                shown(settings.attention_temperature), "1");
  refuse_unless(settings.model.query_key_norm == QueryKeyNorm::none, "query_key_norm", "rms",
                "none");
  const FaultKind fault = settings.fault.kind;
  refuse_unless(fault != FaultKind::query_key_scale && fault != FaultKind::rounded_logits, "fault",
                std::string(kFaults[static_cast<std::size_t>(fault)].name),
                "none or of the learning rate or the tokens");
}

void check_fault(const TrainSettings& settings) {
  const FaultSettings& fault = settings.fault;
  if (fault.kind != FaultKind::none && fault.first >= settings.optimizer.steps) {
    throw InvalidArgument("fault_step", "be below the steps of the run",
                          "steps " + std::to_string(settings.optimizer.steps) + ", fault_step " +
                              std::to_string(fault.first));
  }
  const bool normalized = settings.model.query_key_norm != QueryKeyNorm::none;
  if (fault.kind == FaultKind::query_key_scale &&
      (normalized || settings.regularizer.kind == RegularizerKind::sigma_reparam)) {
    throw InvalidArgument("fault",
                          "be another with " +
                              std::string(normalized ? "QK-norm" : "sigma-reparam") +
                              ", which sets the norms of W_Q and W_K itself",
                          "found query-key-scale");
  }
  if (fault.kind == FaultKind::rounded_logits) {
    if (fault.size > kMostLogitBits || fault.size != std::round(fault.size)) {
      throw InvalidArgument(
          "fault_size",
          "be an integer from 1 to " + std::to_string(kMostLogitBits) + " for rounded logits",
          "found " + shown(fault.size));
    }
    if (settings.model.attention == AttentionKind::hard) {
      throw InvalidArgument("fault", "be another with hard attention", "found rounded-logits");
    }
  }
}

}  // namespace

Index ModelSettings::hidden() const {
  return static_cast<Index>(std::round(mlp_ratio * static_cast<double>(width)));
}

std::span<const NumberField> number_fields() { return kNumberFields; }
std::span<const ChoiceField> choice_fields() { return kChoiceFields; }
std::string_view name_of(AttentionKind kind) {
  return kAttentionKinds[static_cast<std::size_t>(kind)].name;
}
std::string_view name_of(Positions positions) {
  return kPositionsNames[static_cast<std::size_t>(positions)].name;
}

double number_of(const TrainSettings& settings, const NumberField& field) {
  TrainSettings copy = settings;  // the fields give places that can be written
  return std::visit([](auto* place) { return static_cast<double>(*place); }, field.at(copy));
}

void set_number(TrainSettings& settings, const NumberField& field, double value) {
  checked(field.parameter(), value);
  std::visit(
      [&](auto* place) { *place = static_cast<std::remove_reference_t<decltype(*place)>>(value); },
      field.at(settings));
}

void set_choice(TrainSettings& settings, const ChoiceField& field, std::string_view name) {
  field.put(settings, field.names.index_of(field.name, name));
}

void check_model(const ModelSettings& settings) {
  const auto width = static_cast<double>(settings.width);
  const double parameters = width * (static_cast<double>(settings.vocabulary + settings.length) +
                                     static_cast<double>(settings.depth) *
                                         (4 * width + 3 * static_cast<double>(settings.hidden())));
  if (parameters > kMostNumbers) {
    throw InvalidArgument(
        "width", "give a model of at most " + shown(kMostNumbers) + " parameters",
        "width " + std::to_string(settings.width) + " gives about " + shown(parameters));
  }
  must_divide("heads", settings.heads, "width", settings.width);
  must_divide("key_heads", settings.groups(), "heads", settings.heads);
  if (settings.positions == Positions::rotary && settings.head_width() % 2 != 0) {
    throw InvalidArgument("heads", "leave an even head width for rotary positions",
                          "heads " + std::to_string(settings.heads) + ", head width " +
                              std::to_string(settings.head_width()));
  }
  if (settings.dropped_distance >= settings.length) {
    throw InvalidArgument("dropped_distance", "be below the length",
                          "length " + std::to_string(settings.length) + ", dropped_distance " +
                              std::to_string(settings.dropped_distance));
  }
  if (settings.has_offset_terms() && settings.attention != AttentionKind::softmax) {
    throw InvalidArgument(
        "attention", "be softmax with relative positions, an offset mask or a dropped distance",
        "found " + std::string(name_of(settings.attention)));
  }
}

void check_training(const TrainSettings& settings) {
  for (const NumberField& field : kNumberFields)
    checked(field.parameter(), number_of(settings, field));
  check_model(settings.model);
  const RegularizerFacts& regularizer = regularizer_row(settings.regularizer.kind).facts;
  if (regularizer.check != nullptr) regularizer.check(settings);
  if (settings.optimizer.qk_clip > 0 && settings.model.query_key_norm != QueryKeyNorm::none) {
    throw InvalidArgument(
        "qk_clip",
        "be 0 with QK-norm, under which the logits do not depend on the norms of W_Q and W_K",
        "found " + shown(settings.optimizer.qk_clip));
  }
  const double temperature = settings.attention_temperature;
  const bool normalized = settings.model.query_key_norm != QueryKeyNorm::none;
  if (temperature != 1 &&
      (normalized || settings.regularizer.kind == RegularizerKind::sigma_reparam)) {
    throw InvalidArgument("attention_temperature",
                          "be 1 with " + std::string(normalized ? "QK-norm" : "sigma-reparam") +
                              ", which sets the norms of the queries itself",
                          "found " + shown(temperature));
  }
  if (settings.regularizer.target_heads > settings.model.heads) {
    throw InvalidArgument("target_heads", "be at most the heads of a layer (0 means all)",
                          "heads " + std::to_string(settings.model.heads) + ", target_heads " +
                              std::to_string(settings.regularizer.target_heads));
  }
  check_controls(settings);
  check_fault(settings);
  if (settings.final_evaluation == FinalEvaluation::whole && settings.patience > 0) {
    throw InvalidArgument("patience",
                          "be 0 with final_evaluation whole, because early stopping makes the last "
                          "evaluation unknown in advance",
                          "found " + std::to_string(settings.patience));
  }
  if (settings.regularizer.initialization == Initialization::mimetic_zero &&
      settings.model.head_width() < 2) {
    throw InvalidArgument("heads", "leave a head width of at least 2 with mimetic-zero",
                          "heads " + std::to_string(settings.model.heads) + ", head width 1");
  }
  const ModelSettings& m = settings.model;
  const auto width = static_cast<double>(m.width), hidden = static_cast<double>(m.hidden());
  const auto depth = static_cast<double>(m.depth), length = static_cast<double>(m.length);
  const double tokens = static_cast<double>(settings.batch) * length;
  const double numbers =
      tokens * (static_cast<double>(m.vocabulary) +
                depth * (9 * width + 2 * hidden + static_cast<double>(m.heads) * length));
  if (numbers > kMostNumbers) {
    throw InvalidArgument("batch", "keep at most " + shown(kMostNumbers) + " numbers",
                          std::to_string(settings.batch) + " sequences of " +
                              std::to_string(m.length) + " keep " + shown(numbers));
  }
}

}  // namespace eigenscope

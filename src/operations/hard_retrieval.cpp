// Hard retrieval: what it costs trained models to read only the key with the largest logit, head by head.
#include "labs/hard_retrieval.h"

#include <array>
#include <vector>

#include "operations/estimates.h"
#include "operations/operations.h"
#include "operations/train_input.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

struct HardRetrievalInput : RunsInput<HardRetrieval, HardRetrievalSettings> {};

void describe(InputFields& f, HardRetrievalInput& in) {
  f.files(FieldSource::runs, "runs", in.runs,
          "model.safetensors or weights.safetensors of training runs");
  f.bytes("text", in.text, "text whose last tenth is the validation text",
          FieldSource::text_option);
  f.number(kSequences, in.sequences);
  f.number(kPeakWeight, in.peak_weight);
  f.number(shared::kSeed, in.seed);
}

struct LocalizationKind {
  bool predicted;
  RetrievalCorrelation correlation;
};
constexpr std::array kLocalizationNames{Choice{"measured", "measured"},
                                        Choice{"predicted", "predicted"}};

struct HardRetrievalResult {
  std::vector<RetrievalHead> heads;
  std::vector<RetrievalModel> models;
  Eigen::Index worse;
  Estimate agreement;
  std::vector<LocalizationKind> correlations;
  RetrievalLosses losses;
};

constexpr std::array kTrainedNames{Choice{"softmax", "softmax"},
                                   Choice{"hard", "hard, straight-through"}};

void describe_head(ResultFields& out, const RetrievalHead& head) {
  out.integer("seed", static_cast<Eigen::Index>(head.seed), "seed of the training run");
  out.integer("layer", head.layer, "layer, from 0");
  out.integer("head", head.head, "head in the layer, from 0");
  out.number("predicted", head.predicted,
             "share P(max S > c) of attention rows with a weight above the peak weight, for "
             "independent normal tokens after the norm of the layer");
  out.number("measured", head.measured, "the same share on the text");
  describe(out, "hard", head.loss(Replacement::hard),
           "loss with hard attention in this head minus the loss as trained, bits per token");
  describe(out, "uniform", head.loss(Replacement::uniform),
           "the same with uniform attention weights");
  describe(out, "random", head.loss(Replacement::random), "the same with a random visible key");
}

void describe_model(ResultFields& out, const RetrievalModel& model) {
  out.choice("trained", model.trained == AttentionKind::hard, kTrainedNames,
             "attention weights in training");
  out.integer("seed", static_cast<Eigen::Index>(model.seed), "seed of the training run");
  out.integer("steps", model.steps, "training steps");
  describe(out, "soft", model.soft, "loss with softmax in all heads, bits per token");
  const auto loss = [&](Replacement kind) { return model.losses[static_cast<std::size_t>(kind)]; };
  describe(out, "hard", loss(Replacement::hard), "loss with hard attention in all heads");
  describe(out, "uniform", loss(Replacement::uniform), "loss with uniform weights in all heads");
  describe(out, "random", loss(Replacement::random), "loss with a random key in all heads");
}

void describe_correlation(ResultFields& out, const LocalizationKind& kind) {
  const RetrievalCorrelation& correlation = kind.correlation;
  out.choice("localization", kind.predicted, kLocalizationNames,
             "source of P(max S > c): measured on the text, or predicted from the weights");
  describe(out, "cost", correlation.cost,
           "rank correlation over the heads of a model of P(max S > c) with the loss added by "
           "hard attention, mean over models");
  describe(
      out, "share", correlation.share,
      "the same with this loss over that added by uniform weights; without heads whose uniform "
      "weights add less than two standard errors");
  out.nullable("null", correlation.null,
               "mean of `share` with the costs permuted over the heads of a model");
  out.nullable("null_low", correlation.null_low, "2.5th percentile of the same");
  out.nullable("null_high", correlation.null_high, "97.5th percentile of the same");
  out.nullable("p", correlation.p, "share of permutations with at most `share`");
}

void describe(ResultFields& out, const HardRetrievalResult& result) {
  out.list("heads", result.heads, "each head of the models trained with softmax", describe_head);
  out.list("models", result.models, "each model", describe_model);
  out.integer("worse", result.worse,
              "heads in which hard attention adds more loss than uniform weights");
  describe(out, "agreement", result.agreement,
           "rank correlation over the heads of a model of predicted with measured P(max S > c), "
           "mean over models");
  out.list("correlations", result.correlations, "localization and the cost of hard attention",
           describe_correlation);
  const RetrievalLosses& losses = result.losses;
  describe(out, "soft", losses.soft,
           "loss of the models trained with softmax, bits per token, mean over models");
  describe(out, "read_hard", losses.read_hard, "loss that hard attention in all their heads adds");
  describe(out, "hard", losses.hard, "loss of the models trained with hard attention");
  describe(out, "trained_hard", losses.trained_hard,
           "the same minus the loss of the softmax model with the same seed");
  describe(out, "hard_read_soft", losses.hard_read_soft,
           "loss that softmax adds to the models trained with hard attention");
}

HardRetrievalResult hard_retrieval_result(const HardRetrieval& lab) {
  return {lab.heads(),
          lab.models(),
          lab.worse(),
          lab.agreement(),
          {{false, lab.correlation(false)}, {true, lab.correlation(true)}},
          lab.losses()};
}

}  // namespace

const Operation hard_retrieval_operation =
    operation<HardRetrievalInput, JobOf<&hard_retrieval_result>>(
        "hard-retrieval",
        "Loss of trained language models whose heads read only the key with the largest logit",
        "eigenscope hard-retrieval --csv\n"
        "eigenscope hard-retrieval web/models/hard-retrieval/softmax-seed1.safetensors "
        "--sequences 512",
        "heads");

}  // namespace eigenscope

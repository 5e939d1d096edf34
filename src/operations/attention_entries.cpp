// Attention entries: which distances between query and key trained models can do without.
#include "labs/attention_entries.h"

#include <vector>

#include "operations/estimates.h"
#include "operations/operations.h"
#include "operations/train_input.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

struct AttentionEntriesInput : RunsInput<AttentionEntries, AttentionEntriesSettings> {};

void describe(InputFields& f, AttentionEntriesInput& in) {
  f.files(FieldSource::runs, "runs", in.runs,
          "model.safetensors or weights.safetensors of training runs with relative positions");
  f.bytes("text", in.text, "text on whose last tenth the models are evaluated",
          FieldSource::text_option);
  f.choice("objective", in.objective, kObjectiveNames, "objective of the models that are read");
  f.choice("attention_skip", in.attention_skip, kAttentionSkipNames,
           "skip connection around attention in the models that are read");
  f.number(kSequences, in.sequences);
  f.number(shared::kSeed, in.seed);
}

using DiagonalCorrelation = PropertyCorrelation<DiagonalProperty>;

struct AttentionEntriesResult {
  Eigen::Index models;
  Estimate loss;
  std::vector<EntryRow> rows;
  std::vector<LearnedDistance> learned;
  std::vector<MaskRow> masks;
  std::vector<DiagonalHead> heads;
  DiagonalErrors errors;
  std::vector<DiagonalCorrelation> correlations;
};

void describe_entry_row(ResultFields& out, const EntryRow& row) {
  out.integer("distance", row.distance, "distance between query and key; 0 for the diagonal");
  out.number("entries", row.entries, "entries of an attention row at this distance, on average");
  describe(out, "ablated", row.ablated,
           "loss that models trained with all entries gain without this distance in all heads, "
           "bits per predicted token");
  describe(out, "over_diagonal", row.over_diagonal, "the same minus that of the diagonal");
  describe(out, "trained", row.trained,
           "loss of models trained without this distance minus that of the model with the same "
           "seed");
  out.integer("trainings", row.trainings, "pairs of these models");
}

void describe_learned_distance(ResultFields& out, const LearnedDistance& learned) {
  out.number("penalty", learned.penalty, "penalty of training, nats for each kept entry of a row");
  out.integer("distance", learned.distance, "distance between query and key");
  out.number("entries", learned.entries,
             "entries of an attention row at this distance, on average");
  describe(out, "kept", learned.kept, "learned probability to be kept, mean over models");
}

void describe_mask_row(ResultFields& out, const MaskRow& row) {
  out.number("penalty", row.penalty, "penalty of the learned mask");
  out.choice("kept", static_cast<std::size_t>(row.kept), kKeptDistancesNames,
             "distances that are kept");
  out.number("entries", row.entries, "entries of an attention row that are kept, on average");
  describe(out, "added", row.added,
           "loss that models trained with all entries gain with these alone");
  describe(out, "trained", row.trained,
           "loss of the models that learned the mask minus that of the model with the same seed");
}

void describe_diagonal_head(ResultFields& out, const DiagonalHead& head) {
  out.integer("seed", static_cast<Eigen::Index>(head.seed), "seed of the training run");
  out.integer("layer", head.layer, "layer, from 0");
  out.integer("head", head.head, "head in the layer, from 0");
  out.number("trace", head.trace,
             "tr(W_QK Sigma)/sqrt(d_h) with the covariance Sigma of tokens within other passages");
  out.number("excess", head.excess,
             "logit of a token with itself minus the mean with the others, without position bias");
  out.number("mass", head.mass, "weight on the diagonal");
  out.number("bias_mass", head.bias_mass, "weight on the diagonal that position bias predicts");
  out.number("predicted", head.predicted,
             "weight on the diagonal that position bias and trace predict");
}

void describe_diagonal_correlation(ResultFields& out, const DiagonalCorrelation& row) {
  out.choice("property", static_cast<std::size_t>(row.property), kDiagonalPropertyNames,
             "quantities of a head");
  describe(out, "correlation", row.correlation.value,
           "their rank correlation over the heads of a model, mean over models");
  describe_null(out, row.correlation);
}

void describe(ResultFields& out, const AttentionEntriesResult& result) {
  out.integer("models", result.models, "models trained with all entries");
  describe(out, "loss", result.loss, "their loss, bits per predicted token");
  out.list("rows", result.rows, "each evaluated distance", describe_entry_row);
  out.list("learned", result.learned, "each distance in the learned masks",
           describe_learned_distance);
  out.list("masks", result.masks, "models trained with all entries under masks", describe_mask_row);
  out.list("heads", result.heads, "each head of the models trained with all entries",
           describe_diagonal_head);
  const DiagonalErrors& errors = result.errors;
  describe(out, "trace_difference", errors.trace,
           "mean of |trace - excess| over that of |excess|, over the heads of a model");
  describe(out, "predicted_difference", errors.predicted,
           "mean of |predicted - mass| over that of mass");
  describe(out, "bias_difference", errors.bias, "mean of |bias_mass - mass| over that of mass");
  out.list("correlations", result.correlations, "what explains the weight on the diagonal",
           describe_diagonal_correlation);
}

AttentionEntriesResult attention_entries_result(const AttentionEntries& lab) {
  return {
      lab.models(), lab.loss(),  lab.rows(),   lab.learned(),
      lab.masks(),  lab.heads(), lab.errors(), by_property<DiagonalProperty>(lab.correlations())};
}

}  // namespace

const Operation attention_entries_operation =
    operation<AttentionEntriesInput, JobOf<&attention_entries_result>>(
        "attention-entries",
        "Loss of trained language models without the attention entries at a distance between query "
        "and key",
        "eigenscope attention-entries --csv\n"
        "eigenscope attention-entries --objective next --attention-skip without",
        "rows");

}  // namespace eigenscope

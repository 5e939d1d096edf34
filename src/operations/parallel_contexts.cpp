// Parallel contexts: what it costs trained models to read their context in blocks that do not see each other.
#include "labs/parallel_contexts.h"

#include <array>
#include <vector>

#include "operations/estimates.h"
#include "operations/operations.h"
#include "operations/train_input.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

struct ParallelContextsInput : RunsInput<ParallelContexts, ParallelContextsSettings> {};

void describe(InputFields& f, ParallelContextsInput& in) {
  f.files(FieldSource::runs, "runs", in.runs,
          "model.safetensors or weights.safetensors of training runs with rotary positions");
  f.bytes("text", in.text, "text whose last tenth is the validation text",
          FieldSource::text_option);
  f.number(kSequences, in.sequences);
  f.number(kKeptBlocks, in.kept_blocks);
  f.number(kSharedPrefix, in.shared_prefix);
  f.number(shared::kSeed, in.seed);
}

using HeadCorrelation = PropertyCorrelation<HeadProperty>;

struct ParallelContextsResult {
  std::vector<ContextRow> rows;
  std::vector<PassageCorrelation> passages;
  std::vector<ContextHead> heads;
  std::vector<HeadCorrelation> properties;
};

void describe_reading(ResultFields& out, const ContextRow& row) {
  out.choice("reading", static_cast<std::size_t>(row.reading), kContextReadingNames,
             "context and positions of the last block");
  out.integer("blocks", row.blocks, "blocks that are read in parallel");
  out.number("loss", row.loss,
             "loss in the last block, bits per token, mean over models and passages");
  describe(out, "added", row.added, "the same minus that with one block");
  describe(out, "added_early", row.added_early, "the same in the first quarter of the last block");
  describe(out, "added_late", row.added_late, "the same in the rest of it");
  out.number("entropy", row.entropy,
             "entropy of the attention rows of the last block in nats, mean over heads");
  describe(out, "entropy_added", row.entropy_added, "the same minus that with one block");
  describe(out, "first_layer_added", row.first_layer_added, "the same in the first layer");
  describe(out, "last_layer_added", row.last_layer_added, "the same in the last layer");
  out.number("factor", row.factor, "factor of the logits of the last block, mean over models");
}

void describe_correlation_of_passages(ResultFields& out, const PassageCorrelation& row) {
  out.integer("blocks", row.blocks, "blocks that are read in parallel");
  describe(out, "correlation", row.correlation.value,
           "rank correlation over passages of added entropy with added loss, mean over models");
  describe_null(out, row.correlation);
}

void describe_read_head(ResultFields& out, const ContextHead& head) {
  out.integer("seed", static_cast<Eigen::Index>(head.seed), "seed of the training run");
  out.integer("layer", head.layer, "layer, from 0");
  out.integer("head", head.head, "head in the layer, from 0");
  out.number("mean", head.mean, "mean of the eigenspectrum of W_QK without rotation");
  out.number("variance", head.variance, "its variance (trace)");
  out.number("entropy", head.entropy, "entropy of the rows of the last block with one block, nats");
  describe(out, "entropy_added", head.entropy_added,
           "entropy with eight blocks and reset positions minus that");
}

void describe_head_property(ResultFields& out, const HeadCorrelation& row) {
  out.choice("property", static_cast<std::size_t>(row.property), kHeadPropertyNames,
             "property of a head");
  describe(out, "correlation", row.correlation.value,
           "its rank correlation with the added entropy over the heads of a model, mean over "
           "models");
  describe_null(out, row);
}

void describe(ResultFields& out, const ParallelContextsResult& result) {
  out.list("rows", result.rows, "each reading of the context", describe_reading);
  out.list("passages", result.passages, "added entropy and added loss with reset positions",
           describe_correlation_of_passages);
  out.list("heads", result.heads, "each head", describe_read_head);
  out.list("properties", result.properties,
           "properties of heads and their correlation with the added entropy",
           describe_head_property);
}

ParallelContextsResult parallel_contexts_result(const ParallelContexts& lab) {
  return {lab.rows(), lab.passages(), lab.heads(), by_property<HeadProperty>(lab.properties())};
}

}  // namespace

const Operation parallel_contexts_operation =
    operation<ParallelContextsInput, JobOf<&parallel_contexts_result>>(
        "parallel-contexts",
        "Loss and attention entropy of trained language models that read their context in parallel "
        "blocks",
        "eigenscope parallel-contexts --csv\n"
        "eigenscope parallel-contexts --kept-blocks 4 --sequences 512",
        "rows");

}  // namespace eigenscope

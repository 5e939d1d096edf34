#include "operations/attend_result.h"

#include "operations/reader.h"

namespace eigenscope {
namespace {

using Eigen::Index;

void describe_layer(ResultFields& out, const LayerOnText& row) {
  out.integer("layer", row.layer, "layer, from 0");
  out.number("outlier_ratio", row.outlier.ratio,
             "largest |coordinate| of the layer's input tokens over that of the median token");
  out.integer("outlier_coordinate", row.outlier.coordinate, "index of the largest coordinate");
  out.integer("outlier_position", row.outlier.position,
              "position of the token with the largest coordinate");
}

void describe_head_on_text(ResultFields& out, const HeadOnTextRow& head_row) {
  const HeadOnText& row = head_row.head;
  const HeadMeasures& it = row.measures;
  out.integer("layer", row.layer, "layer, from 0");
  out.integer("head", row.head, "head in the layer, from 0");
  out.integer("queries", it.queries,
              "number of averaged queries, those with at least two visible keys");
  out.number("entropy", it.row.entropy, "row entropy over the log of the number of visible keys");
  out.number("participation", it.row.participation,
             "participation ratio 1/(n sum p^2) of a row with n visible keys");
  out.number("distance", it.distance,
             "mean distance between query and key, weighted by attention; tokens");
  out.number("decay", it.decay,
             "exponent of a power law fitted to the mean weight of keys against their distance");
  out.number("rotary_decay", head_row.rotary_decay,
             "decay exponent predicted from the rotary base alone, equal for all heads of a layer");
  out.number("previous_token", row.patterns.previous_token,
             "previous-token score: attention to the previous token");
  out.number("duplicate_token", row.patterns.duplicate_token,
             "duplicate-token score: attention to all earlier occurrences of the query's token");
  out.number("induction", row.patterns.induction,
             "induction score: attention to the token after the last earlier occurrence of the "
             "query's token");
  out.number("localization", it.localization,
             "localization index of the share of queries with the key in the linear range");
  out.number("sensitivity_localization", it.sensitivity_localization,
             "localization index of the sensitivity E[p (1 - p)]");
  out.number("self_logit", it.self_logit,
             "self-attention excess: logit of a token with itself minus its mean logit with the "
             "other keys");
  out.number("self_weight", it.self_weight, "self-attention excess of the attention weights");
  out.number("sink", it.row.sink(), "attention to the first token and the separator together");
  out.number("sink_first", it.row.sink_first, "sink score: attention to the first token");
  out.number("sink_separator", it.row.sink_separator, "attention to the separator");
  out.nullable(
      "learned_sink", it.learned_sink,
      "attention to a learned sink (gpt-oss), which other measures leave out; null without "
      "one");
  out.number("layer_outlier_ratio", row.outlier_ratio, "`outlier_ratio` of the layer");
  out.nullable("loss_change", head_row.loss_change,
               "loss without the head minus `loss`, with `ablate` each; nats per predicted token");
  out.nullable("output_change", head_row.output_change,
               "`output_change` without the head, with `ablate` each");
}

void describe_prediction(ResultFields& out, const PredictedToken& it) {
  out.integer("id", it.id, "token id");
  out.text("token", it.token, "the token");
  out.number("probability", it.probability, "probability by the model as trained");
  out.nullable("probability_without", it.probability_without,
               "probability without the heads of `ablate`");
}

void describe_passage_tokens(ResultFields& out, const TokenList& it) {
  const Dimension token{"token", static_cast<Index>(it.ids.size())};
  out.counts("ids", ids_of({Passage{it.ids}}), {token},
             "token ids; of a picture the positions of its tokens");
  // Text that is not UTF-8 cannot occur: byte-level tokens are written in characters for bytes.
  out.texts(
      "tokens", it.tokens, token,
      "the tokens; of a picture [CLS] and, in DeiT, [DIST], then the patches, each as its row "
      "and column, from 0");
}

void describe_weights(ResultFields& out, const HeadWeights& it) {
  out.integer("passage", static_cast<Index>(it.passage), "passage, from 0");
  out.integer("layer", it.layer, "layer, from 0");
  out.integer("head", it.head, "head in the layer, from 0");
  out.array("weights", it.weights, {{"query", it.weights.cols()}, {"key", it.weights.rows()}},
            "attention weights");
}

void describe_largest(ResultFields& out, const LargestWeight& it) {
  out.integer("layer", it.layer, "layer, from 0");
  out.integer("head", it.head, "head in the layer, from 0");
  out.integer("passage", static_cast<Index>(it.passage), "passage, from 0");
  out.integer("query", it.query, "position of the query in the passage, from 0");
  out.integer("key", it.key, "position of the key in the passage, from 0");
  out.number("weight", it.weight, "attention weight of the key");
}

void describe_picture(ResultFields& out, const Picture& it) {
  const auto rgb = Eigen::Map<const Eigen::Array<std::uint8_t, Eigen::Dynamic, 1>>(
      it.rgb.data(), static_cast<Index>(it.rgb.size()));
  out.counts("rgb", rgb.cast<double>().matrix(),
             {{"row", it.height}, {"column", it.width}, {"channel", 3}},
             "red, green and blue of each pixel, from 0 to 255");
}

}  // namespace

void describe(ResultFields& out, const AttendResult& result) {
  static const std::vector<HeadWeights> none;
  out.list("passages", result.passages, "measured passages", describe_passage_tokens);
  out.integer("text_passages", result.text_passages,
              "number of passages in the text, or of pictures");
  out.integer("patch_side", result.patch_side, "patches along each side of a picture; 0 for text");
  out.list("layers", result.layers, "one row per finished layer", describe_layer);
  out.list("heads", result.heads, "one row per finished head, means over the queries",
           describe_head_on_text);
  out.list("weights", result.weights ? *result.weights : none,
           "one matrix per passage and finished head if requested; empty until done if all of them "
           "are larger than 16 MiB",
           describe_weights);
  out.list("largest_weights", result.largest,
           "for each finished head the passages with its largest weights, the largest first; the "
           "key is neither the query's own token nor a sink: the first token, or a special token "
           "at the start or the end",
           describe_largest);
  static const std::vector<Picture> no_pictures;
  out.list("pictures", result.pictures ? *result.pictures : no_pictures,
           "the pictures in the model's size, if the weights are requested", describe_picture);
  out.choice("outcome", static_cast<std::size_t>(result.outcome), kOutcomeNames,
             "what the model makes of a text");
  out.nullable(
      "loss", result.loss,
      "mean of -log probability of the predicted tokens, nats; null unless requested, and for a "
      "model that is not causal");
  out.nullable("loss_without", result.loss_without, "`loss` without the heads of `ablate`");
  out.nullable(
      "output_change", result.output_change,
      "1 - cosine of the mean token after the last layer without the heads of `ablate` with the "
      "same as trained, mean over the passages");
  out.list(
      "predictions", result.predictions,
      "most probable tokens after the last passage, or at its first mask, as trained and without "
      "the "
      "heads of `ablate`, the most probable as trained first; empty for a model without output "
      "weights",
      describe_prediction);
  const auto read = static_cast<Index>(result.passages.size());
  if (result.patch_side > 0 && !result.preprocessed) {
    out.note(
        "without preprocessor_config.json, pictures are resized bilinearly and normalized by "
        "mean 0.5 and standard deviation 0.5");
  }
  if (const int beyond = result.model ? result.model->layers_beyond() : 0; beyond > 0) {
    out.note("layers of the file beyond those that config.json counts are left out: " +
             std::to_string(beyond));
  }
  if (!result.repeated && read < result.text_passages) {
    out.note("of " + std::to_string(result.text_passages) + " passages the first " +
             std::to_string(read) + " are measured");
  }
}

}  // namespace eigenscope

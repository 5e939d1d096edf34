// The jobs of the page's third section, Train: train, speak, attend.
#include <array>

#include "bindings/convert.h"
#include "bindings/job.h"
#include "support/error.h"
#include "support/parameter.h"
#include "transformer/speaker.h"
#include "transformer/trainer.h"

namespace eigenscope::bindings {
namespace {

std::shared_ptr<const Text> text_of(const val& input) {
  const std::vector<std::byte> bytes = bytes_of(input, "text");
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string tokenizer = text(input, "tokenizer");
  if (tokenizer == "words") {
    return std::make_shared<const Text>(word_text(view, integer(input, "min_count")));
  }
  return std::make_shared<const Text>(byte_text(view));
}

TrainSettings settings_of(const val& input) {
  TrainSettings settings;
  for (const NumberField& field : number_fields()) {
    set_number(settings, field, number(input, std::string(field.name).c_str()));
  }
  for (const ChoiceField& field : choice_fields()) {
    set_choice(settings, field, text(input, std::string(field.name).c_str()));
  }
  return settings;
}

Safetensors checkpoint_of(const val& input) {
  return Safetensors(
      std::make_shared<MemorySource>("the checkpoint", bytes_of(input, "checkpoint")));
}

class TrainJob final : public Job {
 public:
  explicit TrainJob(const val& input)
      : trainer_(input["checkpoint"].isNull() ? Trainer(settings_of(input), text_of(input))
                                              : Trainer(checkpoint_of(input), text_of(input))),
        first_(trainer_.steps_done()),
        more_(std::min(static_cast<Eigen::Index>(checked("steps", input["more"].as<double>())),
                       trainer_.steps_wanted() - first_)) {}

  bool advance(double work) override {
    const Eigen::Index left = more_ - (trainer_.steps_done() - first_);
    const auto steps = 1 + static_cast<Eigen::Index>(work / trainer_.work_per_step());
    const bool over = trainer_.advance(std::min(left, steps));
    for (LogRow& row : trainer_.take_log()) rows_.push_back(std::move(row));
    done_ = over || trainer_.steps_done() - first_ >= more_;
    return done_;
  }
  double progress() const override {
    return more_ > 0
               ? static_cast<double>(trainer_.steps_done() - first_) / static_cast<double>(more_)
               : 1;
  }
  val output() override {
    val out = val::object();
    out.set("step", static_cast<double>(trainer_.steps_done()));
    out.set("steps", static_cast<double>(trainer_.steps_wanted()));
    out.set("failure", trainer_.failure());
    out.set("layers", static_cast<double>(trainer_.settings().model.depth));
    out.set("heads", static_cast<double>(trainer_.settings().model.heads));
    out.set("rows", rows_value());
    out.set("checkpoint", done_ ? array_of(trainer_.checkpoint()) : val::null());
    return out;
  }

 private:
  // A typed array of `entry(row, k)` for all rows and, in each, k below `count`.
  template <class Entry>
  val table(std::size_t count, Entry entry) const {
    Eigen::VectorXd numbers(static_cast<Eigen::Index>(rows_.size() * count));
    for (std::size_t i = 0; i < rows_.size() * count; ++i) {
      numbers[static_cast<Eigen::Index>(i)] = entry(rows_[i / count], i % count);
    }
    return array_of(numbers);
  }

  val rows_value() const {
    val rows = val::object(), run = val::object(), layers = val::object(), heads = val::object();
    rows.set("step", table(1, [](const LogRow& row, std::size_t) {
               return static_cast<double>(row.step);
             }));
    for (std::size_t m = 0; m < kRunMeasures.size(); ++m) {
      run.set(std::string(kRunMeasures[m]),
              table(1, [m](const LogRow& row, std::size_t) { return row.run[m]; }));
    }
    const auto depth = static_cast<std::size_t>(trainer_.settings().model.depth);
    for (std::size_t m = 0; m < kRunLayerMeasures.size(); ++m) {
      layers.set(std::string(kRunLayerMeasures[m]),
                 table(depth, [m](const LogRow& row, std::size_t k) { return row.layers[k][m]; }));
    }
    const std::size_t all = depth * static_cast<std::size_t>(trainer_.settings().model.heads);
    for (std::size_t m = 0; m < kRunHeadMeasures.size(); ++m) {
      heads.set(std::string(kRunHeadMeasures[m]),
                table(all, [m](const LogRow& row, std::size_t k) { return row.heads[k][m]; }));
    }
    rows.set("run", run);
    rows.set("layers", layers);
    rows.set("heads", heads);
    return rows;
  }

  Trainer trainer_;
  Eigen::Index first_, more_;
  std::vector<LogRow> rows_;
  bool done_ = false;
};

class SpeakJob final : public Job {
 public:
  explicit SpeakJob(const val& input) : speaker_(made(input)) {}

  bool advance(double work) override {
    return speaker_.advance(1 + static_cast<Eigen::Index>(work / speaker_.work_per_step()));
  }
  double progress() const override {
    const auto wanted = static_cast<double>(speaker_.steps_wanted());
    return wanted > 0 ? static_cast<double>(speaker_.steps_done()) / wanted : 1;
  }
  val output() override {
    const std::string spoken = speaker_.text();
    val out = val::object();
    out.set("text", array_of(std::vector<std::uint8_t>(spoken.begin(), spoken.end())));
    return out;
  }

 private:
  static Speaker made(const val& input) {
    TrainedModel trained = read_model(checkpoint_of(input));
    const Intervention<float> intervention =
        intervention_of_name(text(input, "intervention"), number(input, "tame"), trained.model);
    return Speaker(std::move(trained), text(input, "prompt"), integer(input, "generated"),
                   number(input, "temperature"), static_cast<std::uint64_t>(number(input, "seed")),
                   intervention);
  }

  Speaker speaker_;
};

class AttendJob final : public Job {
 public:
  explicit AttendJob(const val& input)
      : trained_(read_model(checkpoint_of(input))),
        found_(attend_to(trained_, text(input, "prompt"),
                         intervention_of_name(text(input, "intervention"), number(input, "tame"),
                                              trained_.model))) {}

  bool advance(double) override { return true; }
  double progress() const override { return 1; }
  val output() override {
    val tokens = val::array();
    for (const std::string& token : found_.tokens) {
      tokens.call<void>("push", array_of(std::vector<std::uint8_t>(token.begin(), token.end())));
    }
    val out = val::object();
    out.set("tokens", tokens);
    out.set("layers", static_cast<double>(found_.layers));
    out.set("heads", static_cast<double>(found_.heads));
    out.set("weights", array_of(found_.weights));
    out.set("entropy",
            array_of(Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(
                found_.entropies.data(), static_cast<Eigen::Index>(found_.entropies.size())))));
    return out;
  }

 private:
  TrainedModel trained_;
  Attended found_;
};

std::unique_ptr<Job> make_train_job(const std::string& name, const val& input) {
  if (name == "train") return std::make_unique<TrainJob>(input);
  if (name == "speak") return std::make_unique<SpeakJob>(input);
  if (name == "attend") return std::make_unique<AttendJob>(input);
  return nullptr;
}

}  // namespace

std::span<const JobMaker> job_makers() {
  static constexpr std::array<JobMaker, 1> kMakers{make_train_job};
  return kMakers;
}

}  // namespace eigenscope::bindings

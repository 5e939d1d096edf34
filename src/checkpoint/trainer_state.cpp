#include "checkpoint/trainer_state.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "io/file_format.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

bool is_step(std::uint64_t number) {
  return static_cast<double>(number) <= shared::kSteps.range.maximum;
}

/// Keeps the step, the last losses of log_history, and whether a best checkpoint is named.
class TrainerStateReader final : public JsonEvents {
 public:
  explicit TrainerStateReader(const std::string& file) : file_(file) {}

  void begin_object() override { open("an object"); }
  void begin_array() override { open("an array"); }
  void end_object() override { --depth_; }
  void end_array() override { --depth_; }

  void key(std::string&& name) override {
    if (depth_ == 1) top_ = std::move(name);
    if (depth_ == kEntry) entry_ = std::move(name);
  }

  void string(std::string&& value) override {
    if (depth_ == 1 && top_ == "best_model_checkpoint") names_best_ = true;
    scalar("'" + shown_name(value) + "'");
  }
  void natural(std::uint64_t value) override {
    if (!at_step()) return scalar(std::to_string(value), static_cast<double>(value));
    if (step_ || !is_step(value)) refuse_step(step_ ? "two" : std::to_string(value));
    step_ = static_cast<Eigen::Index>(value);
  }
  void other_scalar(std::string&& text) override {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (*end == '\0') {
      scalar(text, number);
    } else {
      scalar(text);
    }
  }
  void null() override {
    if (at_step()) refuse_step("null");
  }

  /// After the last event.
  Eigen::Index step() const {
    if (!step_) refuse_step("none");
    return *step_;
  }
  bool names_best() const { return names_best_; }
  /// Puts in the losses, and a note for one that is not finite.
  void give(TrainingProgress& progress) const {
    const std::array<double*, 2> losses{&progress.loss, &progress.eval_loss};
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (!is_logged_[i]) continue;
      *losses[i] = numbers_[i];
      if (std::isfinite(numbers_[i])) continue;
      *losses[i] = std::numeric_limits<double>::quiet_NaN();
      progress.note =
          std::string(kLosses[i]) + " is null: the last one in " + file_ + " is not finite";
    }
  }

 private:
  static constexpr int kEntry = 3;  // depth of the values in the objects of log_history
  static constexpr std::array<const char*, 2> kLosses{"loss", "eval_loss"};

  bool at_step() const { return depth_ == 1 && top_ == "global_step"; }

  void open(const char* kind) {
    scalar(kind);
    if (++depth_ == kEntry) entry_.clear();
  }

  void scalar(const std::string& shown) {
    if (at_step()) refuse_step(shown);
    if (loss() < kLosses.size())
      refuse_item(file_, {"log_history must have numbers as '", entry_, "': found ", shown});
  }
  void scalar(const std::string& shown, double number) {
    if (at_step()) refuse_step(shown);
    if (const std::size_t i = loss(); i < kLosses.size()) {
      numbers_[i] = number;
      is_logged_[i] = true;
    }
  }

  /// Which loss the value that has come is.
  std::size_t loss() const {
    std::size_t i = depth_ == kEntry && top_ == "log_history" ? 0 : kLosses.size();
    while (i < kLosses.size() && entry_ != kLosses[i]) ++i;
    return i;
  }

  [[noreturn]] void refuse_step(const std::string& actual) const {
    throw FormatError(file_,
                      "global_step must be " + allowed_range(shared::kSteps) + ": found " + actual);
  }

  std::string file_, top_, entry_;
  int depth_ = 0;
  std::optional<Eigen::Index> step_;
  std::array<double, 2> numbers_{};
  std::array<bool, 2> is_logged_{};
  bool names_best_ = false;
};

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

}  // namespace

std::optional<Eigen::Index> step_in_name(std::string_view name) {
  for (const std::string_view word : {"checkpoint", "step"}) {
    for (std::size_t at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
      if (at > 0 && name[at - 1] != '-' && name[at - 1] != '_') continue;
      std::string_view rest = name.substr(at + word.size());
      if (rest.starts_with('-') || rest.starts_with('_')) rest.remove_prefix(1);
      std::size_t digits = 0;
      while (digits < rest.size() && is_digit(rest[digits])) ++digits;
      const std::string_view behind = rest.substr(digits);
      if (digits == 0 || !(behind.empty() || behind.starts_with("-tokens"))) continue;
      std::uint64_t number = 0;
      const auto read = std::from_chars(rest.data(), rest.data() + digits, number);
      if (read.ec != std::errc() || !is_step(number))
        refuse_item(name, "the step in the name must be " + allowed_range(shared::kSteps));
      return static_cast<Eigen::Index>(number);
    }
  }
  return std::nullopt;
}

TrainingProgress training_progress(const std::string& name, ByteSource* trainer_state) {
  TrainingProgress progress;
  progress.step = step_in_name(name);
  if (trainer_state == nullptr) return progress;
  const std::string& file = trainer_state->name();
  TrainerStateReader reader(file);
  parse_python_json(read_json_text(*trainer_state, kLargestTrainerState, "a training state"), file,
                    reader);
  const Eigen::Index step = reader.step();
  if (progress.step && step != *progress.step) {
    throw FormatError(file, "global_step must be the step in the name of its folder, '" +
                                shown_name(name) + "': found " + std::to_string(step));
  }
  if (!progress.step && reader.names_best()) {
    progress.note = "step is null, because the weights may be those of best_model_checkpoint in " +
                    file + ", not of its global_step";
    return progress;
  }
  progress.step = step;
  reader.give(progress);
  return progress;
}

}  // namespace eigenscope

// A training run as a job in steps that logs measures of the heads.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/safetensors.h"
#include "propagation/logit_law.h"
#include "training/adamw.h"
#include "training/log_row.h"
#include "training/measures.h"
#include "training/model.h"
#include "training/regularizers/regularizer.h"
#include "training/text.h"
#include "training/training_file.h"

namespace eigenscope {

/// Settings and text determine every number: draw s B + b of the seed is the start of sequence b of step s, and sums
/// have a fixed order.
class Trainer {
 public:
  /// A new run; the vocabulary is the text's. Throws InvalidArgument as check_training does, and
  /// ("text") when its training part is shorter than a batch or its validation part than a sequence;
  /// ("validation") for a separate validation text.
  Trainer(const TrainSettings& settings, std::shared_ptr<const Text> text);
  /// Resumes exactly at the step of `checkpoint`. Throws FormatError naming what is wrong in the
  /// file or does not fit the text.
  Trainer(const Safetensors& checkpoint, std::shared_ptr<const Text> text);

  /// Sets the fault of the following steps, as if the run had it from its beginning. Does nothing for FaultKind::none
  /// and for the fault of the settings. Throws InvalidArgument ("fault") when the fault of the settings has begun,
  /// ("fault_step") when the steps before `fault` are fewer than those done, and as check_training does.
  void inject(const FaultSettings& fault);
  /// Does up to `steps` more; true when the run is done, stopped early or broken.
  bool advance(Eigen::Index steps);
  Eigen::Index steps_done() const { return step_; }
  Eigen::Index steps_wanted() const { return settings_.optimizer.steps; }
  /// About how many multiply-adds one step costs.
  double work_per_step() const;
  /// The reason why the run failed, with its step, or "". Rows logged before stay.
  const std::string& failure() const { return failure_; }

  const Tokenizer& tokenizer() const { return text_->tokenizer; }
  const TrainSettings& settings() const { return settings_; }
  const Model<float>& model() const { return model_; }
  /// True if the validation loss had no new minimum for `patience` evaluations.
  bool stopped_early() const;
  /// Rows since the last call: every log_every steps from step 0 (where a resumed run has none) on,
  /// and the last step.
  std::vector<LogRow> take_log() { return std::exchange(log_, {}); }
  /// The row of the present state, with the training measures of the last step. `intervention` changes the model on the
  /// validation text, but not the heads' traces and bound.
  LogRow evaluate(const Intervention<float>& intervention = {});
  /// The bytes of a .safetensors file (training_file.h); `extra` is added to its metadata.
  std::vector<std::byte> checkpoint(const std::map<std::string, std::string>& extra = {}) const;
  /// The bytes of a file with the named weights alone, rounded to `format`; it cannot be resumed.
  std::vector<std::byte> weights(TensorFormat format) const;

 private:
  Trainer(TrainingState state, std::shared_ptr<const Text> text);
  void prepare();
  void step();
  void log_state();
  void stop_at(Eigen::Index step, const std::string& what);
  void read_batch();
  std::span<const TokenId> sequence_at(const std::vector<TokenId>& text, Eigen::Index start) const;
  void set_targets();
  void move(const Vector<float>& gradient, float shrink);
  struct ValidationLoss {
    double mean, error;               // nats a token, its standard error over the sequences
    double unigram, bigram, trigram;  // losses of n-gram models on the same tokens
  };
  std::vector<Eigen::Index> evaluated_starts() const;
  ValidationLoss validation_loss(LogRow& row, const Intervention<float>& intervention);
  Eigen::Index trained_size() const;
  Vector<float> decay() const;
  Vector<float> rates() const;
  TrainingState state() const;

  TrainSettings settings_;
  std::shared_ptr<const Text> text_;
  Model<float> model_;
  std::unique_ptr<Regularizer<float>> regularizer_;
  Reparametrization<float>* reparam_ = nullptr;  // the regularizer's; null for none
  Vector<float> raw_;     // numbers that the optimizer trains, with a reparametrization
  Vector<float> before_;  // the model's parameters before the last step, if that step is logged
  AdamW optimizer_;
  std::vector<double> targets_;  // m* of every head, layer by layer
  CentredKernel kernel_;
  Eigen::Index step_ = 0;
  double train_loss_, rate_, gradient_norm_;  // values of the last step
  double lowest_loss_;                        // lowest validation loss, and its step
  Eigen::Index lowest_step_ = 0;
  GradientNorms gradients_;
  std::vector<TokenId> inputs_, outputs_;
  std::vector<LogRow> log_;
  std::string failure_;
};

}  // namespace eigenscope

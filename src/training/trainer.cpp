#include "training/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <tuple>
#include <utility>

#include "nn/tokens.h"
#include "statistics/estimate.h"
#include "support/error.h"
#include "support/parameter.h"
#include "support/random.h"
#include "training/fault.h"
#include "training/offset_mask.h"
#include "training/projections.h"
#include "training/text.h"
#include "training/training_file.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kBatchStream = std::uint64_t{1} << 41;
constexpr std::uint64_t kValidationSeed = 1;  // seed of the masks, the same for every run
constexpr double kLargestLoss = 1000;         // nats a token; a model that knows nothing has log V

TrainSettings with_vocabulary(TrainSettings settings, const Text& text) {
  settings.model.vocabulary = model_vocabulary(settings.model, text.tokenizer.vocabulary());
  check_training(settings);
  return settings;
}

void check_text(const Text& text, const TrainSettings& settings) {
  const Index length = settings.model.length;
  const auto training = static_cast<Index>(text.training.size());
  const auto validation = static_cast<Index>(text.validation.size());
  const std::string sequences =
      std::to_string(settings.batch) + " sequences of " + std::to_string(length);
  if (training < settings.batch * length + 1) {
    throw InvalidArgument(
        "text",
        "have at least " + std::to_string(settings.batch * length + 1) +
            (text.separate_validation ? " tokens" : " tokens in its first nine tenths") +
            " for a batch of " + sequences,
        "found " + std::to_string(training));
  }
  if (validation < length + 1) {
    throw InvalidArgument(
        text.separate_validation ? "validation" : "text",
        "have at least " + std::to_string(length + 1) +
            (text.separate_validation ? " tokens"
                                      : " tokens in its last tenth, which is for validation,") +
            " for a sequence of " + std::to_string(length),
        "found " + std::to_string(validation));
  }
}

// Adds `share` times the measures of a batch.
void add_share(LogRow& sum, const LogRow& batch, double share) {
  const auto add = [share](auto& to, const auto& from) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      for (std::size_t k = 0; k < to[i].size(); ++k) to[i][k] += share * from[i][k];
    }
  };
  add(sum.layers, batch.layers);
  add(sum.heads, batch.heads);
}

}  // namespace

Trainer::Trainer(const TrainSettings& settings, std::shared_ptr<const Text> text)
    : settings_(with_vocabulary(settings, *text)),
      text_(std::move(text)),
      model_(settings_.model),
      optimizer_(settings_.optimizer, {}),
      gradients_(settings_.model.depth) {
  check_text(*text_, settings_);
  initialize(model_, settings_.regularizer, settings_.seed);
  scale_queries(settings_.model, model_.layout(),
                static_cast<float>(1 / settings_.attention_temperature), model_.parameters());
  prepare();
  if (reparam_) {
    reparam_->begin(raw_);
    reparam_->apply(raw_, model_.parameters());
  }
  set_targets();
  log_state();
}

void Trainer::set_targets() {
  if (regularizer_->observes()) {
    read_batch();
    regularizer_->observe(model_, /*first=*/true);
  }
  const RegularizerSettings& regularizer = settings_.regularizer;
  for (Index layer = 0; layer < settings_.model.depth; ++layer) {
    for (Index head = 0; head < settings_.model.heads; ++head) {
      targets_.push_back(regularizer.target_kind == TargetKind::given
                             ? regularizer.target
                             : regularizer_->mean(model_, layer, head));
    }
  }
}

Trainer::Trainer(const Safetensors& checkpoint, std::shared_ptr<const Text> text)
    : Trainer(read_training_file(checkpoint), std::move(text)) {}

Trainer::Trainer(TrainingState state, std::shared_ptr<const Text> text)
    : settings_(state.settings),
      text_(std::move(text)),
      model_(settings_.model),
      optimizer_(settings_.optimizer, {}),
      gradients_(settings_.model.depth) {
  if (!(state.tokenizer == text_->tokenizer)) {
    throw FormatError("tokenizer",
                      "it must be that of the text, but the run was trained on another text");
  }
  check_text(*text_, settings_);
  prepare();
  std::copy(state.regularizer.begin(), state.regularizer.end(), regularizer_->state().begin());
  if (reparam_) {
    raw_ = std::move(state.parameters);
    reparam_->apply(raw_, model_.parameters());
  } else {
    model_.parameters() = std::move(state.parameters);
  }
  optimizer_.first = std::move(state.first);
  optimizer_.second = std::move(state.second);
  targets_ = std::move(state.targets);
  step_ = state.step;
  lowest_loss_ = state.lowest_loss;
  lowest_step_ = state.lowest_step;
}

// Initialization that new and resumed runs share.
void Trainer::prepare() {
  kernel_ = centred_kernel(token_process("normalized-walk", settings_.model.length, 0));
  train_loss_ = rate_ = gradient_norm_ = lowest_loss_ = kNaN;
  regularizer_ = make_regularizer<float>(settings_, model_.layout());
  reparam_ = regularizer_->reparametrization();
  if (reparam_) {
    raw_.resize(trained_size());
    raw_ << model_.parameters(), Vector<float>::Ones(reparam_->gains());
  }
  optimizer_ = AdamW(settings_.optimizer, decay(), rates());
}

Vector<float> Trainer::rates() const {
  const ParameterLayout& layout = model_.layout();
  Vector<float> rates = Vector<float>::Ones(trained_size());
  const auto bias_rate = static_cast<float>(settings_.optimizer.bias_rate);
  for (const Block& block : layout.blocks) {
    const bool relative = block.layer >= 0 && block.offset == layout.at(block.layer).relative;
    if (relative || block.offset == layout.offset_mask) {
      rates.segment(block.offset, block.size()).setConstant(bias_rate);
    }
  }
  scale_queries(settings_.model, layout, static_cast<float>(1 / settings_.attention_temperature),
                rates);
  return rates;
}

Index Trainer::trained_size() const {
  return model_.layout().size + (reparam_ ? reparam_->gains() : 0);
}

Vector<float> Trainer::decay() const {
  const ParameterLayout& layout = model_.layout();
  Vector<float> decay = Vector<float>::Zero(trained_size());
  const auto general = static_cast<float>(settings_.optimizer.weight_decay);
  for (const Block& block : layout.blocks) {
    if (!block.vector) decay.segment(block.offset, block.size()).setConstant(general);
  }
  regularizer_->add_decay(decay);
  scale_queries(settings_.model, layout, static_cast<float>(settings_.attention_temperature),
                decay);
  return decay;
}

void Trainer::inject(const FaultSettings& fault) {
  const FaultSettings& present = settings_.fault;
  const auto parts = [](const FaultSettings& of) {
    return std::tuple(of.kind, of.first, of.steps, of.size);
  };
  if (fault.kind == FaultKind::none || parts(fault) == parts(present)) return;
  if (present.kind != FaultKind::none && present.first < step_) {
    throw InvalidArgument("fault", "be none or that of the run, which has begun",
                          "another at step " + std::to_string(step_));
  }
  if (fault.first < step_) {
    throw InvalidArgument(
        "fault_step", "be at least the completed steps of the run",
        "completed " + std::to_string(step_) + ", fault_step " + std::to_string(fault.first));
  }
  TrainSettings changed = settings_;
  changed.fault = fault;
  check_training(changed);
  settings_ = changed;
}

double Trainer::work_per_step() const {
  const auto tokens = static_cast<double>(settings_.batch * settings_.model.length);
  return 3 * tokens * model_.work_per_token();
}

bool Trainer::advance(Index steps) {
  const auto done = [&] { return step_ >= steps_wanted() || !failure_.empty() || stopped_early(); };
  for (; steps > 0 && !done(); --steps) step();
  return done();
}

bool Trainer::stopped_early() const {
  return settings_.patience > 0 &&
         (step_ - lowest_step_) / settings_.log_every >= settings_.patience;
}

void Trainer::stop_at(Index step, const std::string& what) {
  failure_ =
      "step " + std::to_string(step) + ": " + what +
      "; the run stops at this step, and the log has the steps before it. A learning_rate below " +
      shown(settings_.optimizer.learning_rate) + " may help";
}

// The tokens of the example at `start`, and the one that follows.
std::span<const TokenId> Trainer::sequence_at(const std::vector<TokenId>& text, Index start) const {
  return std::span(text).subspan(static_cast<std::size_t>(start),
                                 static_cast<std::size_t>(settings_.model.length) + 1);
}

// The forward pass of the batch of the next step.
void Trainer::read_batch() {
  const Index length = settings_.model.length;
  const auto starts =
      static_cast<std::uint64_t>(text_->training.size()) - static_cast<std::uint64_t>(length);
  inputs_.clear();
  outputs_.clear();
  for (Index b = 0; b < settings_.batch; ++b) {
    const auto draw =
        static_cast<std::uint64_t>(step_) * static_cast<std::uint64_t>(settings_.batch) +
        static_cast<std::uint64_t>(b);
    const auto start = random_bits(settings_.seed, kBatchStream, draw) % starts;
    const auto tokens = sequence_at(text_->training, static_cast<Index>(start));
    const std::vector<TokenId> faulty = faulty_tokens(settings_.fault, step_, settings_.seed, draw,
                                                      tokens, text_->tokenizer.vocabulary());
    add_example(settings_, faulty.empty() ? tokens : faulty, settings_.seed, draw, inputs_,
                outputs_);
  }
  const auto step = static_cast<std::uint64_t>(step_);
  model_.forward(inputs_, length,
                 {faulty_readings(settings_.fault, step_, model_),
                  {},
                  draw_kept(model_, settings_.batch, settings_.seed, step)},
                 {settings_.dropout, settings_.seed, step});
}

void Trainer::step() {
  const FaultSettings& fault = settings_.fault;
  if (fault.kind == FaultKind::query_key_scale && step_ == fault.first) {
    scale_queries_and_keys(settings_.model, model_.layout(), static_cast<float>(fault.size),
                           model_.parameters());
  }
  read_batch();
  const double loss = model_.loss(outputs_, true);
  if (!std::isfinite(loss)) return stop_at(step_ + 1, "the loss is NaN or infinite");
  if (loss > kLargestLoss)
    return stop_at(step_ + 1, "the loss of " + shown(loss) + " nats per token diverges");
  model_.backward(regularizer_->prior(model_.shape()));
  add_entry_penalty(settings_.entry_penalty, model_);
  regularizer_->observe(model_, /*first=*/false);
  const Index acting = settings_.regularizer.target_steps;
  if (acting == 0 || step_ < acting) regularizer_->add_penalty(targets_, model_);
  Vector<float> pulled;
  if (reparam_) reparam_->pull_back(raw_, model_.gradient(), pulled);
  const Vector<float>& gradient = reparam_ ? pulled : model_.gradient();
  const double norm = gradient_norm(gradient.data(), gradient.size());
  if (!std::isfinite(norm)) return stop_at(step_ + 1, "the gradient is NaN or infinite");
  const double clip = settings_.optimizer.clip;
  const bool logged = (step_ + 1) % settings_.log_every == 0 || step_ + 1 == steps_wanted();
  before_ = logged ? model_.parameters() : Vector<float>();
  move(gradient, static_cast<float>(clip > 0 && norm > clip ? clip / norm : 1));
  train_loss_ = loss;
  gradient_norm_ = norm;
  ++step_;
  if (logged) {
    gradients_ = GradientNorms(settings_.model, model_.layout(), gradient);
    log_state();
  }
}

// One step of the optimizer with the gradient times `shrink`, then the limits on steps and logits in the settings.
void Trainer::move(const Vector<float>& gradient, float shrink) {
  const OptimizerSettings& optimizer = settings_.optimizer;
  const double factor = rate_factor(settings_.fault, step_);
  rate_ = factor * learning_rate_at(optimizer, step_);
  Vector<float>& trained = reparam_ ? raw_ : model_.parameters();
  const Vector<float> before = optimizer.growth_limit > 0 ? trained : Vector<float>();
  optimizer_.step(step_, shrink, gradient, trained, factor);
  if (reparam_) {
    reparam_->follow(raw_);
    reparam_->apply(raw_, model_.parameters());
  }
  if (optimizer.growth_limit > 0) limit_growth(optimizer.growth_limit, model_, before, trained);
  if (optimizer.qk_clip > 0) clip_queries_and_keys(optimizer.qk_clip, model_);
}

void Trainer::log_state() {
  try {
    LogRow row = evaluate();
    if (std::isfinite(row.measure("loss"))) {
      if (!(row.measure("loss") >= lowest_loss_)) {
        row.measure("lowest_loss") = lowest_loss_ = row.measure("loss");
        lowest_step_ = step_;
        row.measure("lowest_step") = static_cast<double>(step_);
      }
      return log_.push_back(std::move(row));
    }
    stop_at(step_, "the validation loss is NaN or infinite");
  } catch (const FormatError& error) {
    stop_at(step_, error.what());
  }
}

LogRow Trainer::evaluate(const Intervention<float>& intervention) {
  LogRow row;
  row.step = step_;
  row.layers.resize(static_cast<std::size_t>(settings_.model.depth));
  row.heads.resize(static_cast<std::size_t>(settings_.model.depth * settings_.model.heads));
  const ValidationLoss loss = validation_loss(row, intervention);
  row.run = {train_loss_,
             loss.mean,
             loss.mean / std::numbers::ln2 / text_->bytes_per_token,
             loss.error / std::numbers::ln2 / text_->bytes_per_token,
             loss.unigram,
             loss.bigram,
             loss.trigram,
             std::exp(loss.mean),
             rate_,
             gradient_norm_,
             lowest_loss_,
             static_cast<double>(lowest_step_),
             gradients_.embedding,
             gradients_.query_key,
             gradients_.value,
             gradients_.mlp,
             gradients_.vectors};
  return row;
}

// Starts of the evaluated sequences of validation text, at even distances.
std::vector<Index> Trainer::evaluated_starts() const {
  const Index length = settings_.model.length;
  const auto last = static_cast<Index>(text_->validation.size()) - 1 - length;
  const Index most = 1 + last / length;
  const bool whole =
      settings_.eval_batches == 0 ||
      (settings_.final_evaluation == FinalEvaluation::whole && step_ == steps_wanted());
  const Index count = whole ? most : std::min(settings_.eval_batches * settings_.batch, most);
  std::vector<Index> starts;
  for (Index k = 0; k < count; ++k) starts.push_back(count == 1 ? 0 : last * k / (count - 1));
  return starts;
}

// The heads and layers are measured on the first batches of the sequences.
Trainer::ValidationLoss Trainer::validation_loss(LogRow& row,
                                                 const Intervention<float>& intervention) {
  const Index length = settings_.model.length;
  const std::vector<Index> starts = evaluated_starts();
  const auto sequences = static_cast<Index>(starts.size());
  const Index measurable = settings_.measure_batches * settings_.batch;
  const Index measured = measurable > 0 ? std::min(measurable, sequences) : sequences;
  LogRow batch = row;
  double sum = 0;
  MeanSums sequence_losses;
  std::vector<double> tokens;  // losses of a batch's tokens
  std::vector<std::size_t>
      evaluated;  // the token at i + 1 of the text is the i-th that may have a loss
  for (Index first = 0; first < sequences; first += settings_.batch) {
    const Index end = std::min(first + settings_.batch, sequences);
    inputs_.clear();
    outputs_.clear();
    for (Index k = first; k < end; ++k) {
      const Index start = starts[static_cast<std::size_t>(k)];
      add_example(settings_, sequence_at(text_->validation, start), kValidationSeed,
                  static_cast<std::uint64_t>(start), inputs_, outputs_);
    }
    model_.forward(inputs_, length, intervention);
    if (first < measured) {
      measure_layers(model_, gradients_, batch);
      measure_heads(model_, kernel_, before_, batch);
      add_share(row, batch, static_cast<double>(end - first) / static_cast<double>(measured));
    }
    tokens.resize(outputs_.size());
    sum += model_.loss(outputs_, false, tokens) * static_cast<double>(end - first);
    for (Index k = first; k < end; ++k) {
      const Index start = starts[static_cast<std::size_t>(k)];
      double total = 0, predicted = 0;
      for (Index i = 0; i < length; ++i) {
        const auto at = static_cast<std::size_t>((k - first) * length + i);
        if (outputs_[at] == kNoTarget) continue;
        total += tokens[at];
        predicted += 1;
        evaluated.push_back(static_cast<std::size_t>(start + i));
      }
      sequence_losses.add(total / predicted);
    }
  }
  const auto count = static_cast<double>(sequences);
  const auto reference = [&](const std::vector<double>& losses) {
    double total = 0;
    for (const std::size_t at : evaluated) total += losses[at];
    return total / static_cast<double>(evaluated.size());
  };
  const NgramLosses& references = text_->references;
  return {sum / count, sequence_losses.estimate().error, reference(references.unigram),
          reference(references.bigram), reference(references.trigram)};
}

TrainingState Trainer::state() const {
  TrainingState state;
  state.settings = settings_;
  state.tokenizer = text_->tokenizer;
  state.text = fingerprint(*text_);
  state.step = step_;
  state.targets = targets_;
  state.parameters = reparam_ ? raw_ : model_.parameters();
  state.first = optimizer_.first;
  state.second = optimizer_.second;
  const std::span<float> kept = regularizer_->state();
  state.regularizer.assign(kept.begin(), kept.end());
  state.lowest_loss = lowest_loss_;
  state.lowest_step = lowest_step_;
  return state;
}

std::vector<std::byte> Trainer::checkpoint(const std::map<std::string, std::string>& extra) const {
  return write_training_file(state(), model_, extra);
}

std::vector<std::byte> Trainer::weights(TensorFormat format) const {
  return write_model_file(state(), model_, format);
}

}  // namespace eigenscope

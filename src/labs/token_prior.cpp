#include "labs/token_prior.h"

#include <algorithm>
#include <limits>

#include "support/error.h"
#include "support/random.h"
#include "support/shared_parameters.h"
#include "training/parameters.h"
#include "training/text.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr Index kContext = 32;  // tokens of a sequence
static_assert(kContext / 2 == 16, "the label of TokenPriorKind::far");
constexpr Index kEvaluated = 20;  // steps between evaluations

/// Draws of a training run.
enum class TokenPriorDraw : std::uint64_t { text, seed };

TrainSettings model_of_bytes(const TokenPriorSettings& chosen, TokenPriorKind prior) {
  TrainSettings settings;
  settings.model.width = 32;
  settings.model.length = kContext;
  settings.model.positions = chosen.positions;
  settings.batch = 8;
  settings.optimizer.steps = chosen.steps;
  settings.optimizer.learning_rate = 1e-2;
  settings.log_every = kEvaluated;
  settings.eval_batches = 8;
  if (prior != TokenPriorKind::none) {
    settings.regularizer.kind = RegularizerKind::attention_prior;
    settings.regularizer.prior_weight = chosen.prior_weight;
    settings.regularizer.prior_distance = prior == TokenPriorKind::far ? kContext / 2 : 1;
  }
  return settings;
}

/// Loss of the validation text, bits per byte, as with early stopping, since small training texts are soon overfitted.
double lowest_loss(const std::vector<LogRow>& log) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const LogRow& row : log) lowest = std::min(lowest, row.measure("bits_per_byte"));
  return lowest;
}

/// Mean weight on the previous token in every head, over the last batch of the model.
Eigen::VectorXd weights_on_previous(const Model<float>& model) {
  const AttentionShape& shape = model.shape();
  const Index depth = model.settings().depth;
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(depth * shape.heads);
  for (Index layer = 0; layer < depth; ++layer) {
    for (Index sequence = 0; sequence < shape.batch; ++sequence) {
      for (Index head = 0; head < shape.heads; ++head) {
        const Index first = shape.weights_column(sequence, head);
        for (Index query = 1; query < shape.length; ++query) {
          weights[layer * shape.heads + head] += model.attention(layer)(query - 1, first + query);
        }
      }
    }
  }
  return weights / static_cast<double>(shape.batch * (shape.length - 1));
}

}  // namespace

TokenPriors::TokenPriors(std::string_view text, const TokenPriorSettings& settings,
                         SeedPartition partition)
    : settings_(settings),
      training_(text.substr(0, validation_start(text, /*words=*/false))),
      validation_(text.substr(training_.size())),
      runs_(kTokenPriorNames.size(), settings.bytes.size(), settings.trainings, settings.steps,
            partition) {
  checked(training::kPriorWeight, settings.prior_weight);
  checked(shared::kSteps, static_cast<double>(settings.steps));
  checked(kTrainings, static_cast<double>(settings.trainings));
  check_ascending(kTrainingBytes, settings.bytes);
  if (settings.bytes.back() > static_cast<double>(training_.size())) {
    throw InvalidArgument("bytes",
                          "be at most the " + std::to_string(training_.size()) +
                              " bytes of the first nine tenths of the text",
                          "found " + shown(settings.bytes.back()));
  }
}

TokenPriors::Run TokenPriors::begin() {
  const auto drawn = [&](std::uint64_t count, TokenPriorDraw draw) {
    return random_below(count, settings_.seed, static_cast<std::uint64_t>(draw), runs_.seed());
  };
  if (runs_.first_of_seed()) {
    const auto most = static_cast<std::size_t>(settings_.bytes.back());
    const std::size_t start = drawn(training_.size() - most + 1, TokenPriorDraw::text);
    texts_.clear();
    for (const double bytes : settings_.bytes) {
      const auto training_text =
          std::string_view(training_).substr(start, static_cast<std::size_t>(bytes));
      texts_.push_back(std::make_shared<const Text>(
          tokenized_texts("bytes", training_text, validation_, /*min_count=*/1)));
    }
  }
  TrainSettings settings = model_of_bytes(settings_, static_cast<TokenPriorKind>(runs_.kind()));
  settings.seed = drawn(std::uint64_t{1} << 32, TokenPriorDraw::seed);
  return {std::make_unique<Trainer>(settings, texts_[runs_.point()])};
}

bool TokenPriors::advance(double work) {
  return runs_.advance(
      work, [&] { return begin(); },
      [](Run& run) {
        run.trainer->advance(1);
        return run.trainer->work_per_step();
      },
      [](Run& run, Measures& measures) {
        // The model's last batch is one of the evaluation after the last step.
        const Eigen::VectorXd weights = weights_on_previous(run.trainer->model());
        measures = {lowest_loss(run.trainer->take_log()), weights.maxCoeff(), weights.mean()};
        return run.trainer->work_per_step();
      });
}

std::vector<TokenPriorRow> TokenPriors::rows() const {
  constexpr auto kNone = static_cast<std::size_t>(TokenPriorKind::none);
  std::vector<TokenPriorRow> rows;
  for (std::size_t prior = 0; prior < kTokenPriorNames.size(); ++prior) {
    for (std::size_t at = 0; at < settings_.bytes.size(); ++at) {
      const auto of = [&](double Measures::*member) { return runs_.over(at, prior, member); };
      TokenPriorRow row;
      row.prior = static_cast<TokenPriorKind>(prior);
      row.bytes = static_cast<Index>(settings_.bytes[at]);
      row.trainings = static_cast<Index>(runs_.finished(at, prior));
      row.loss = of(&Measures::loss);
      row.added = runs_.over(at, prior, kNone, [](const Measures& trained, const Measures& none) {
        return trained.loss - none.loss;
      });
      row.largest_weight = of(&Measures::largest_weight);
      row.mean_weight = of(&Measures::mean_weight);
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace eigenscope

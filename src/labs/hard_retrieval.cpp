#include "labs/hard_retrieval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "statistics/bootstrap.h"
#include "statistics/estimate.h"
#include "statistics/rank_correlation.h"
#include "support/error.h"
#include "support/normal_matrix.h"
#include "support/random.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr std::size_t kReplacements = kReplacementNames.size();
constexpr std::size_t kPermutations = 2000;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

HeadReading<float> reading_of(Replacement replacement) {
  switch (replacement) {
    case Replacement::hard:
      return {Retrieval::hard};
    case Replacement::uniform:
      return {Retrieval::soft, 0};
    case Replacement::random:
      return {Retrieval::random};
  }
  return {};
}

// The mean over models of the rank correlation in each; those where it is not defined are left out.
Estimate mean_correlation(const std::vector<Eigen::VectorXd>& a,
                          const std::vector<Eigen::VectorXd>& b) {
  MeanSums sums;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double correlation = rank_correlation(a[i], b[i]);
    if (std::isfinite(correlation)) sums.add(correlation);
  }
  return sums.estimate();
}

}  // namespace

// Adds to `counts` by head the peaked rows of T x B H T weights, without the first row of a sequence.
void HardRetrieval::count_peaked(const AttentionShape& shape, const Matrix<float>& weights,
                                 double* counts) const {
  const auto peak = static_cast<float>(settings_.peak_weight);
  for (Index sequence = 0; sequence < shape.batch; ++sequence) {
    for (Index head = 0; head < shape.heads; ++head) {
      const Index first = shape.weights_column(sequence, head);
      for (Index query = 1; query < shape.length; ++query) {
        counts[head] += weights.col(first + query).head(query + 1).maxCoeff() > peak;
      }
    }
  }
}

std::size_t HardRetrieval::Subject::heads() const {
  return static_cast<std::size_t>(trained.settings.model.depth * trained.settings.model.heads);
}

std::size_t HardRetrieval::Subject::wanted() const {
  const bool soft = trained.settings.model.attention == AttentionKind::softmax;
  return 1 + kReplacements * (1 + (soft ? heads() : 0));
}

Estimate HardRetrieval::Subject::loss(std::size_t evaluation) const {
  return evaluation < done.size() ? estimate_of(done[evaluation]) : Estimate{};
}

Estimate HardRetrieval::Subject::added(std::size_t evaluation) const {
  if (evaluation >= done.size()) return {};
  return estimate_over(done[0].size(),
                       [&](std::size_t i) { return done[evaluation][i] - done[0][i]; });
}

HardRetrieval::HardRetrieval(std::vector<TrainedModel> models, std::string_view text,
                             const HardRetrievalSettings& settings)
    : settings_(settings) {
  checked(kSequences, static_cast<double>(settings.sequences));
  checked(kPeakWeight, settings.peak_weight);
  const auto is_soft = [](const Subject& subject) {
    return subject.trained.settings.model.attention == AttentionKind::softmax;
  };
  for (TrainedModel& model : models) {
    const TrainSettings& training = model.settings;
    if (!reads_logits(training.model.attention)) {
      throw InvalidArgument(
          "runs", "have softmax or hard attention, whose weights depend on queries and keys");
    }
    if (training.model.objective != Objective::next || training.model.has_offset_terms()) {
      throw InvalidArgument(
          "runs", "have the objective next, all distances and learned or rotary positions");
    }
    for (const Subject& other : subjects_) {
      if (other.trained.settings.seed == training.seed &&
          other.trained.settings.model.attention == training.model.attention) {
        throw InvalidArgument("runs", "differ in attention or seed",
                              "two have seed " + std::to_string(training.seed));
      }
    }
    EvaluatedPassages passages(model, text, settings.sequences, settings.seed);
    subjects_.push_back({std::move(model), std::move(passages), {}, {}, {}});
  }
  if (std::none_of(subjects_.begin(), subjects_.end(), is_soft)) {
    throw InvalidArgument("runs", "have one that is trained with softmax");
  }
  std::stable_partition(subjects_.begin(), subjects_.end(), is_soft);
}

Intervention<float> HardRetrieval::intervention_of(const Subject& subject) const {
  std::vector<HeadReading<float>> readings(subject.heads());
  const std::size_t evaluation = subject.done.size();
  if (evaluation > 0) {
    const std::size_t number = evaluation - 1;
    const auto reading = reading_of(static_cast<Replacement>(number % kReplacements));
    const std::size_t place = number / kReplacements;  // 0 for all heads
    if (place == 0) {
      std::fill(readings.begin(), readings.end(), reading);
    } else {
      readings[place - 1] = reading;
    }
  }
  return {std::move(readings)};
}

// P(max S > c) if the tokens of each layer, before its norm's gain and bias, were independent and normal.
void HardRetrieval::predict(Subject& subject) const {
  Model<float>& model = subject.trained.model;
  const AttentionShape shape = model.shape();
  const Index width = model.settings().width, tokens = shape.length * shape.batch;
  const std::vector<HeadReading<float>> readings(static_cast<std::size_t>(shape.heads));
  Matrix<float> weights(shape.length, tokens * shape.heads), out(width, tokens);
  std::vector<double> counts(subject.heads());
  for (Index layer = 0; layer < model.settings().depth; ++layer) {
    Matrix<float> drawn =
        normal_matrix(width, tokens, settings_.seed, static_cast<std::uint64_t>(layer));
    const LayerOffsets& offsets = model.layout().layers[static_cast<std::size_t>(layer)];
    drawn.array().colwise() *= model.parameters().segment(offsets.norm1, width).array();
    if (offsets.norm1_bias >= 0)
      drawn.colwise() += model.parameters().segment(offsets.norm1_bias, width);
    attention_forward<float>(shape, model.fused_part(layer, &drawn, /*bias=*/true), readings,
                             weights, out);
    count_peaked(shape, weights, counts.data() + layer * shape.heads);
  }
  const auto rows = static_cast<double>(shape.batch * (shape.length - 1));
  for (const double count : counts) subject.predicted.push_back(count / rows);
}

void HardRetrieval::evaluate_chunk(Subject& subject) {
  Model<float>& model = subject.trained.model;
  const Index length = model.settings().length;
  const bool begins = current_.empty();
  subject.passages.evaluate_next(model, intervention_of(subject), current_);
  if (subject.done.empty()) {
    peaked_.resize(subject.heads(), 0);
    for (Index layer = 0; layer < model.settings().depth; ++layer) {
      count_peaked(model.shape(), model.attention(layer),
                   peaked_.data() + layer * model.settings().heads);
    }
    if (begins) predict(subject);
  }
  if (std::ssize(current_) < subject.passages.count()) return;
  if (subject.done.empty()) {
    const auto rows = static_cast<double>(subject.passages.count() * (length - 1));
    for (const double peaked : peaked_) subject.measured.push_back(peaked / rows);
    peaked_.clear();
  }
  subject.done.push_back(std::move(current_));
  current_.clear();
}

double HardRetrieval::chunk_work(const Subject& subject) const {
  const Index tokens = EvaluatedPassages::kAtOnce * subject.trained.settings.model.length;
  return static_cast<double>(tokens) * subject.trained.model.work_per_token();
}

bool HardRetrieval::advance(double work) {
  for (double spent = 0; at_ < subjects_.size();) {
    if (spent >= work) return false;
    Subject& subject = subjects_[at_];
    spent += chunk_work(subject);
    evaluate_chunk(subject);
    if (subject.done.size() == subject.wanted()) ++at_;
  }
  return true;
}

double HardRetrieval::progress() const {
  double done = 0, wanted = 0;
  for (const Subject& subject : subjects_) {
    const double work = chunk_work(subject) * static_cast<double>(subject.passages.count());
    done += work * static_cast<double>(subject.done.size());
    wanted += work * static_cast<double>(subject.wanted());
  }
  return done / wanted;
}

std::vector<RetrievalHead> HardRetrieval::heads() const {
  std::vector<RetrievalHead> heads;
  for (const Subject& subject : subjects_) {
    const ModelSettings& architecture = subject.trained.settings.model;
    if (architecture.attention != AttentionKind::softmax) continue;
    for (std::size_t place = 0; place < subject.heads(); ++place) {
      const std::size_t first = 1 + kReplacements * (1 + place);
      if (subject.done.size() < first + kReplacements) break;
      RetrievalHead head{subject.trained.settings.seed,
                         static_cast<Index>(place) / architecture.heads,
                         static_cast<Index>(place) % architecture.heads,
                         subject.predicted[place],
                         subject.measured[place],
                         {}};
      for (std::size_t k = 0; k < kReplacements; ++k) head.losses[k] = subject.added(first + k);
      heads.push_back(head);
    }
  }
  return heads;
}

Index HardRetrieval::worse() const {
  const std::vector<RetrievalHead> all = heads();
  return std::count_if(all.begin(), all.end(), [](const RetrievalHead& head) {
    return head.loss(Replacement::hard).value > head.loss(Replacement::uniform).value;
  });
}

std::vector<RetrievalModel> HardRetrieval::models() const {
  std::vector<RetrievalModel> models;
  for (const Subject& subject : subjects_) {
    if (subject.done.size() < 1 + kReplacements) continue;
    const TrainSettings& training = subject.trained.settings;
    RetrievalModel model{
        training.model.attention, training.seed, training.optimizer.steps, subject.loss(0), {}};
    for (std::size_t k = 0; k < kReplacements; ++k) model.losses[k] = subject.loss(1 + k);
    models.push_back(model);
  }
  return models;
}

RetrievalLosses HardRetrieval::losses() const {
  constexpr auto kHard = static_cast<std::size_t>(Replacement::hard);
  std::vector<double> soft, read_hard, hard, trained_hard, hard_read_soft;
  const std::vector<RetrievalModel> all = models();
  for (const RetrievalModel& model : all) {
    const double read_hard_loss = model.losses[kHard].value;
    if (model.trained == AttentionKind::softmax) {
      soft.push_back(model.soft.value);
      read_hard.push_back(read_hard_loss - model.soft.value);
      continue;
    }
    hard.push_back(read_hard_loss);
    hard_read_soft.push_back(model.soft.value - read_hard_loss);
    for (const RetrievalModel& other : all) {
      if (other.trained == AttentionKind::softmax && other.seed == model.seed) {
        trained_hard.push_back(read_hard_loss - other.soft.value);
      }
    }
  }
  return {estimate_of(soft), estimate_of(read_hard), estimate_of(hard), estimate_of(trained_hard),
          estimate_of(hard_read_soft)};
}

std::vector<std::vector<RetrievalHead>> HardRetrieval::heads_by_model() const {
  std::vector<std::vector<RetrievalHead>> all;
  const std::vector<RetrievalHead> measured = heads();
  for (const Subject& subject : subjects_) {
    if (subject.trained.settings.model.attention != AttentionKind::softmax) continue;
    std::vector<RetrievalHead> of_model;
    for (const RetrievalHead& head : measured) {
      if (head.seed == subject.trained.settings.seed) of_model.push_back(head);
    }
    if (of_model.size() == subject.heads()) all.push_back(std::move(of_model));
  }
  return all;
}

Estimate HardRetrieval::agreement() const {
  std::vector<Eigen::VectorXd> predicted, measured;
  for (const std::vector<RetrievalHead>& of_model : heads_by_model()) {
    predicted.push_back(vector_over(of_model, &RetrievalHead::predicted));
    measured.push_back(vector_over(of_model, &RetrievalHead::measured));
  }
  return mean_correlation(predicted, measured);
}

RetrievalCorrelation HardRetrieval::correlation(bool predicted) const {
  std::vector<Eigen::VectorXd> peaked, costs, worths;  // by model
  for (std::vector<RetrievalHead> of_model : heads_by_model()) {
    // Without what the head is worth there is no share of it.
    std::erase_if(of_model, [](const RetrievalHead& head) {
      const Estimate& worth = head.loss(Replacement::uniform);
      return !(worth.value > 2 * worth.error);
    });
    const auto loss = [](Replacement replacement) {
      return [replacement](const RetrievalHead& head) { return head.loss(replacement).value; };
    };
    peaked.push_back(
        vector_over(of_model, predicted ? &RetrievalHead::predicted : &RetrievalHead::measured));
    costs.push_back(vector_over(of_model, loss(Replacement::hard)));
    worths.push_back(vector_over(of_model, loss(Replacement::uniform)));
  }
  RetrievalCorrelation result{mean_correlation(peaked, costs), {}, kNaN, kNaN, kNaN, kNaN};
  const auto share = [&](const std::vector<Eigen::VectorXd>& cost) {
    std::vector<Eigen::VectorXd> shares;
    for (std::size_t i = 0; i < cost.size(); ++i)
      shares.push_back(cost[i].cwiseQuotient(worths[i]));
    return mean_correlation(peaked, shares);
  };
  result.share = share(costs);
  if (!std::isfinite(result.share.value)) return result;
  std::vector<double> drawn;
  std::vector<Eigen::VectorXd> permuted = costs;
  std::uint64_t draw = 0;
  for (std::size_t k = 0; k < kPermutations; ++k) {
    for (Eigen::VectorXd& cost : permuted) {
      for (Index i = cost.size() - 1; i > 0; --i) {  // Fisher-Yates
        const auto count = static_cast<std::uint64_t>(i + 1);
        const auto at = random_below(count, settings_.seed, std::uint64_t{1} << 44, draw++);
        std::swap(cost[i], cost[static_cast<Index>(at)]);
      }
    }
    drawn.push_back(share(permuted).value);
  }
  const auto below = std::count_if(drawn.begin(), drawn.end(),
                                   [&](double share) { return share <= result.share.value; });
  const double mean = std::accumulate(drawn.begin(), drawn.end(), 0.0) / kPermutations;
  const Interval interval = percentile_interval(mean, std::move(drawn));
  result.null = mean;
  result.null_low = interval.low;
  result.null_high = interval.high;
  result.p = (1.0 + static_cast<double>(below)) / (1.0 + kPermutations);
  return result;
}

}  // namespace eigenscope

#include "labs/attention_entries.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "statistics/estimate.h"
#include "support/argsort.h"
#include "support/error.h"
#include "support/random.h"
#include "support/vector_of.h"
#include "training/offset_mask.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kRandomMasks = 4;
constexpr std::uint64_t kEntryStream = std::uint64_t{1} << 49;
/// Distances that are evaluated, where sequences are long enough.
constexpr std::array<Index, 14> kDistances{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 28};

std::string named(std::uint64_t seed) { return "seed " + std::to_string(seed); }

bool has_mask(const TrainedModel& trained) {
  return trained.settings.model.offset_mask == OffsetMask::learned;
}

// True if both models were trained with the same entries: dropped distance, and learned mask with its penalty.
bool same_kind(const TrainedModel& a, const TrainedModel& b) {
  return a.settings.model.dropped_distance == b.settings.model.dropped_distance &&
         has_mask(a) == has_mask(b) &&
         (!has_mask(a) || a.settings.entry_penalty == b.settings.entry_penalty);
}

}  // namespace

bool AttentionEntries::Subject::is_full() const {
  return trained.settings.model.dropped_distance < 0 && !has_mask(trained);
}

const AttentionEntries::Losses* AttentionEntries::Subject::losses(const Plan& plan) const {
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (plans[i].same(plan)) return &done[i];
  }
  return nullptr;
}

AttentionEntries::AttentionEntries(std::vector<TrainedModel> models, std::string_view text,
                                   const AttentionEntriesSettings& settings)
    : settings_(settings) {
  checked(kSequences, static_cast<double>(settings.sequences));
  for (TrainedModel& model : models) {
    const ModelSettings& architecture = model.settings.model;
    if (architecture.objective == settings.objective &&
        architecture.attention_skip == settings.attention_skip) {
      add(std::move(model));
    }
  }
  std::stable_partition(subjects_.begin(), subjects_.end(),
                        [](const Subject& subject) { return subject.is_full(); });
  if (subjects_.empty() || !subjects_.front().is_full()) {
    throw InvalidArgument(
        "runs", "have one with this objective and attention_skip, trained with all entries");
  }
  model_ = subjects_.front().trained.settings.model;
  for (const Subject& subject : subjects_) {
    const TrainSettings& training = subject.trained.settings;
    if (full_of(training.seed) == nullptr) {
      throw InvalidArgument("runs", "have a model trained with all entries for each seed",
                            "none with " + named(training.seed));
    }
    if (has_mask(subject.trained)) penalties_.push_back(training.entry_penalty);
  }
  sort_up(penalties_);
  penalties_.erase(std::unique(penalties_.begin(), penalties_.end()), penalties_.end());
  for (const Index distance : kDistances) {
    if (distance < model_.length) distances_.push_back(distance);
  }
  for (Subject& subject : subjects_) plan(subject);
  passages_ =
      EvaluatedPassages(subjects_.front().trained, text, settings_.sequences, settings_.seed);
}

void AttentionEntries::check_model(const TrainedModel& trained) const {
  const ModelSettings& architecture = trained.settings.model;
  if (architecture.positions != Positions::relative ||
      architecture.query_key_norm != QueryKeyNorm::none) {
    throw InvalidArgument("runs", "have relative positions and no QK-norm");
  }
  if (has_mask(trained) && architecture.dropped_distance >= 0) {
    throw InvalidArgument("runs", "have no dropped distance with a learned mask");
  }
  if (subjects_.empty()) return;
  const TrainedModel& first = subjects_.front().trained;
  if (architecture.length != first.settings.model.length ||
      !(trained.tokenizer == first.tokenizer) ||
      trained.settings.masked_share != first.settings.masked_share) {
    throw InvalidArgument("runs",
                          "have the same sequence length, vocabulary and share of masked tokens");
  }
}

void AttentionEntries::add(TrainedModel trained) {
  check_model(trained);
  const std::uint64_t seed = trained.settings.seed;
  for (const Subject& other : subjects_) {
    if (other.trained.settings.seed == seed && same_kind(other.trained, trained)) {
      throw InvalidArgument("runs", "differ in the seed or the entries of training",
                            "two with " + named(seed));
    }
  }
  subjects_.push_back({std::move(trained), {}, {}, {}});
}

const AttentionEntries::Subject* AttentionEntries::full_of(std::uint64_t seed) const {
  for (const Subject& subject : subjects_) {
    if (subject.is_full() && subject.trained.settings.seed == seed) return &subject;
  }
  return nullptr;
}

double AttentionEntries::entries_of(const Kept& kept) const {
  double sum = 0;
  for (Index distance = 0; distance < std::ssize(kept); ++distance) {
    if (kept[static_cast<std::size_t>(distance)] != 0) sum += entries_at(model_, distance);
  }
  return sum;
}

AttentionEntries::Kept AttentionEntries::first_of(const std::vector<Index>& order,
                                                  double entries) const {
  Kept kept(static_cast<std::size_t>(model_.length), 0);
  double sum = 0;
  for (const Index distance : order) {
    const double entries_here = entries_at(model_, distance);
    if (sum + entries_here / 2 > entries) break;
    kept[static_cast<std::size_t>(distance)] = 1;
    sum += entries_here;
  }
  return kept;
}

// A model with all entries is also read without each distance, and with the learned masks of its seed and their
// controls.
void AttentionEntries::plan(Subject& subject) const {
  subject.plans = {{}};
  if (!subject.is_full()) return;
  for (const Index distance : distances_) {
    Kept kept(static_cast<std::size_t>(model_.length), 1);
    kept[static_cast<std::size_t>(distance)] = 0;
    subject.plans.push_back({distance, -1, KeptDistances::learned, 0, std::move(kept)});
  }
  for (const Subject& other : subjects_) {
    const TrainSettings& training = other.trained.settings;
    if (has_mask(other.trained) && training.seed == subject.trained.settings.seed) {
      plan_masks(other.trained.model, training.entry_penalty, subject);
    }
  }
}

void AttentionEntries::plan_masks(const Model<float>& masked, double penalty,
                                  Subject& subject) const {
  const auto add = [&](KeptDistances mask, Index draw, Kept kept) {
    subject.plans.push_back({-1, penalty, mask, draw, std::move(kept)});
  };
  const Kept learned = masked.kept();
  const double entries = entries_of(learned);
  std::vector<Index> order = in_order(model_.length);
  add(KeptDistances::learned, 0, learned);
  add(KeptDistances::nearest, 0, first_of(order, entries));
  const std::uint64_t stream = kEntryStream + subject.trained.settings.seed;
  for (Index draw = 0; draw < kRandomMasks; ++draw) {
    shuffle_range(order, settings_.seed, stream, static_cast<std::uint64_t>(draw) * order.size());
    add(KeptDistances::random, draw, first_of(order, entries));
  }
}

bool AttentionEntries::advance(double work) {
  for (double spent = 0; at_ < subjects_.size();) {
    if (spent >= work) return false;
    Subject& subject = subjects_[at_];
    evaluate_chunk(subject);
    spent += static_cast<double>(EvaluatedPassages::kAtOnce * model_.length) *
             subject.trained.model.work_per_token();
    if (std::ssize(current_) < passages_.count()) continue;
    if (subject.done.empty() && subject.is_full()) {
      subject.heads = sums_.heads(subject.trained.model, subject.trained.settings.seed);
    }
    subject.done.push_back(std::exchange(current_, {}));
    if (subject.done.size() == subject.plans.size()) ++at_;
  }
  return true;
}

double AttentionEntries::progress() const {
  double done = static_cast<double>(current_.size()) / static_cast<double>(passages_.count()),
         all = 0;
  for (const Subject& subject : subjects_) {
    done += static_cast<double>(subject.done.size());
    all += static_cast<double>(subject.plans.size());
  }
  return done / all;
}

void AttentionEntries::evaluate_chunk(Subject& subject) {
  Model<float>& model = subject.trained.model;
  const bool begins = current_.empty();
  const std::size_t number = subject.done.size();
  passages_.evaluate_next(model, {{}, {}, subject.plans[number].kept}, current_);
  if (number == 0 && subject.is_full()) {
    if (begins) sums_ = DiagonalSums(model_);
    sums_.add(model);
  }
}

namespace {

// Models x passages, from a row of losses of each model.
MatrixXd stacked(const std::vector<VectorXd>& rows) {
  if (rows.empty()) return {};
  MatrixXd matrix(std::ssize(rows), rows.front().size());
  for (Index i = 0; i < matrix.rows(); ++i) matrix.row(i) = rows[static_cast<std::size_t>(i)];
  return matrix;
}

}  // namespace

MatrixXd AttentionEntries::added(const Plan& plan, const Plan& to) const {
  std::vector<VectorXd> rows;
  for (const Subject& subject : subjects_) {
    const Losses *const losses = subject.losses(plan), *const reference = subject.losses(to);
    if (!subject.is_full() || losses == nullptr || reference == nullptr) continue;
    rows.push_back(vector_of(*losses) - vector_of(*reference));
  }
  return stacked(rows);
}

template <class Kind>
MatrixXd AttentionEntries::added_in_training(const Kind& kind) const {
  std::vector<VectorXd> rows;
  for (const Subject& subject : subjects_) {
    if (subject.is_full() || !kind(subject.trained)) continue;
    const Losses* const losses = subject.losses({});
    const Losses* const reference = full_of(subject.trained.settings.seed)->losses({});
    if (losses == nullptr || reference == nullptr) continue;
    rows.push_back(vector_of(*losses) - vector_of(*reference));
  }
  return stacked(rows);
}

Index AttentionEntries::models() const {
  return std::count_if(subjects_.begin(), subjects_.end(),
                       [](const Subject& subject) { return subject.is_full(); });
}

Estimate AttentionEntries::loss() const {
  std::vector<VectorXd> rows;
  for (const Subject& subject : subjects_) {
    const Losses* const losses = subject.losses({});
    if (subject.is_full() && losses != nullptr) rows.push_back(vector_of(*losses));
  }
  return estimate_over_both(stacked(rows));
}

std::vector<EntryRow> AttentionEntries::rows() const {
  std::vector<EntryRow> rows;
  for (const Index distance : distances_) {
    const MatrixXd trained = added_in_training([&](const TrainedModel& model) {
      return model.settings.model.dropped_distance == distance && !has_mask(model);
    });
    rows.push_back({distance, entries_at(model_, distance),
                    estimate_over_both(added({distance}, {})),
                    estimate_over_both(added({distance}, {distances_.front()})),
                    estimate_over_both(trained), trained.rows()});
  }
  return rows;
}

std::vector<LearnedDistance> AttentionEntries::learned() const {
  std::vector<LearnedDistance> distances;
  for (const double penalty : penalties_) {
    std::vector<const Model<float>*> models;
    for (const Subject& subject : subjects_) {
      const TrainedModel& trained = subject.trained;
      if (has_mask(trained) && trained.settings.entry_penalty == penalty)
        models.push_back(&trained.model);
    }
    for (Index distance = 0; distance < model_.length; ++distance) {
      const Estimate kept = estimate_over(models.size(), [&](std::size_t i) {
        return static_cast<double>(keep_probability(*models[i], distance));
      });
      distances.push_back({penalty, distance, entries_at(model_, distance), kept});
    }
  }
  return distances;
}

std::vector<MaskRow> AttentionEntries::masks() const {
  std::vector<MaskRow> rows;
  for (const double penalty : penalties_) {
    for (std::size_t kind = 0; kind < kKeptDistancesNames.size(); ++kind) {
      const auto mask = static_cast<KeptDistances>(kind);
      const Index draws = mask == KeptDistances::random ? kRandomMasks : 1;
      const auto share = static_cast<double>(draws);
      MatrixXd sum;
      double entries = 0, readings = 0;
      for (Index draw = draws; draw-- > 0;) {  // the last draw is done for the fewest models
        const Plan read_with{-1, penalty, mask, draw};
        const MatrixXd one = added(read_with, {});
        sum = sum.size() == 0 ? MatrixXd(one / share)
                              : MatrixXd(sum + one.topRows(sum.rows()) / share);
        for (const Subject& subject : subjects_) {
          for (const Plan& plan : subject.plans) {
            if (!plan.same(read_with)) continue;
            entries += entries_of(plan.kept);
            readings += 1;
          }
        }
      }
      const MatrixXd trained = added_in_training([&](const TrainedModel& model) {
        return mask == KeptDistances::learned && has_mask(model) &&
               model.settings.entry_penalty == penalty;
      });
      rows.push_back({penalty, mask, entries / readings, estimate_over_both(sum),
                      estimate_over_both(trained)});
    }
  }
  return rows;
}

std::vector<std::vector<DiagonalHead>> AttentionEntries::heads_by_model() const {
  std::vector<std::vector<DiagonalHead>> all;
  for (const Subject& subject : subjects_) {
    if (!subject.heads.empty()) all.push_back(subject.heads);
  }
  return all;
}

std::vector<DiagonalHead> AttentionEntries::heads() const {
  std::vector<DiagonalHead> all;
  for (const auto& of_model : heads_by_model())
    all.insert(all.end(), of_model.begin(), of_model.end());
  return all;
}

std::array<PermutedCorrelation, kDiagonalPropertyNames.size()> AttentionEntries::correlations()
    const {
  return diagonal_correlations(heads_by_model(), settings_.seed);
}

DiagonalErrors AttentionEntries::errors() const { return diagonal_errors(heads_by_model()); }

}  // namespace eigenscope

#include "labs/parallel_contexts.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "attention/softmax.h"
#include "spectrum/traces.h"
#include "statistics/estimate.h"
#include "support/argsort.h"
#include "support/error.h"
#include "support/random.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kMostFactor = 4;  // largest factor of the logits that is tried to match an entropy
constexpr int kHalvings = 7;
constexpr Index kMatched = 16;  // passages on which it is matched

bool is_selection(ContextReading reading) {
  return reading == ContextReading::mass || reading == ContextReading::random ||
         reading == ContextReading::last;
}

double mean_of(const std::vector<double>& values, Index first, Index last) {
  return std::accumulate(values.begin() + first, values.begin() + last, 0.0) /
         static_cast<double>(last - first) / std::numbers::ln2;
}

// Values of a reading on one passage: losses of the first quarter of the last block and of the rest, and mean entropy.
constexpr auto kEarlyLoss = [](const auto& reading, Index passage) {
  return reading.early[static_cast<std::size_t>(passage)];
};
constexpr auto kLateLoss = [](const auto& reading, Index passage) {
  return reading.late[static_cast<std::size_t>(passage)];
};
constexpr auto kPassageEntropy = [](const auto& reading, Index passage) {
  return reading.entropies.col(passage).mean();
};

}  // namespace

ParallelContexts::ParallelContexts(std::vector<TrainedModel> models, std::string_view text,
                                   const ParallelContextsSettings& settings)
    : settings_(settings), plans_(plans()) {
  checked(kSequences, static_cast<double>(settings.sequences));
  checked(kKeptBlocks, static_cast<double>(settings.kept_blocks));
  checked(kSharedPrefix, static_cast<double>(settings.shared_prefix));
  if (models.empty()) throw InvalidArgument("runs", "have a model");
  const TrainedModel& first = models.front();
  length_ = first.settings.model.length;
  for (const TrainedModel& model : models) {
    const ModelSettings& architecture = model.settings.model;
    if (architecture.positions != Positions::rotary ||
        architecture.attention != AttentionKind::softmax ||
        architecture.objective != Objective::next || architecture.has_offset_terms()) {
      throw InvalidArgument(
          "runs", "have rotary positions, softmax attention, all distances and the objective next");
    }
    if (architecture.length != length_ || !(model.tokenizer == first.tokenizer)) {
      throw InvalidArgument("runs", "have the same sequence length and vocabulary");
    }
  }
  if (length_ - last_block() < settings.shared_prefix + kMostBlocks || last_block() < 4) {
    throw InvalidArgument("runs",
                          "have room for " + std::to_string(kMostBlocks) + " blocks, a prefix of " +
                              std::to_string(settings.shared_prefix) + " and a last quarter",
                          "their sequences have " + std::to_string(length_) + " tokens");
  }
  passages_ = validation_passages(first.tokenizer, text, length_, settings.sequences);
  for (TrainedModel& model : models) {
    for (const Subject& other : subjects_) {
      if (other.trained.settings.seed == model.settings.seed) {
        throw InvalidArgument("runs", "differ in their seeds",
                              "two have " + std::to_string(model.settings.seed));
      }
    }
    subjects_.push_back({std::move(model), {}});
  }
}

std::vector<ParallelContexts::Plan> ParallelContexts::plans() {
  std::vector<Plan> plans{{ContextReading::full, 1}, {ContextReading::none, 0}};
  for (const auto reading : {ContextReading::reset, ContextReading::kept, ContextReading::prefix,
                             ContextReading::sharpened}) {
    for (Index blocks = 2; blocks <= kMostBlocks; blocks *= 2) plans.push_back({reading, blocks});
  }
  for (const auto reading : {ContextReading::mass, ContextReading::random, ContextReading::last}) {
    plans.push_back({reading, kMostBlocks});
  }
  return plans;
}

std::size_t ParallelContexts::number_of(ContextReading reading, Index blocks) const {
  const auto place = std::find_if(plans_.begin(), plans_.end(), [&](const Plan& plan) {
    return plan.reading == reading && plan.blocks == blocks;
  });
  return static_cast<std::size_t>(place - plans_.begin());
}

std::vector<Index> ParallelContexts::chosen(const Subject& subject, const Plan& plan,
                                            Index passage) const {
  if (!is_selection(plan.reading)) return in_order(plan.blocks);
  VectorXd order(plan.blocks);  // the largest are kept
  for (Index block = 0; block < plan.blocks; ++block) order[block] = static_cast<double>(block);
  if (plan.reading == ContextReading::random) {
    for (Index block = 0; block < plan.blocks; ++block) {
      order[block] = random_unit(settings_.seed, std::uint64_t{1} << 46,
                                 static_cast<std::uint64_t>(passage * plan.blocks + block));
    }
  }
  if (plan.reading == ContextReading::mass) {
    order = subject.done[number_of(ContextReading::reset, plan.blocks)].masses.col(passage);
  }
  order = -order;
  const auto count = static_cast<std::size_t>(plan.blocks);
  const std::vector<std::size_t> places = argsort({order.data(), count});
  std::vector<bool> kept(count);
  for (std::size_t k = 0; k < count && static_cast<Index>(k) < settings_.kept_blocks; ++k) {
    kept[places[k]] = true;
  }
  std::vector<Index> blocks;
  for (std::size_t block = 0; block < count; ++block) {
    if (kept[block]) blocks.push_back(static_cast<Index>(block));
  }
  return blocks;
}

ParallelContexts::Sequence ParallelContexts::sequence_of(const Subject& subject, const Plan& plan,
                                                         Index passage, double factor) const {
  const std::vector<TokenId>& text = passages_[static_cast<std::size_t>(passage)];
  const Index context = length_ - last_block();
  const Index shared = plan.reading == ContextReading::prefix ? settings_.shared_prefix : 0;
  const bool kept = plan.reading == ContextReading::kept || plan.reading == ContextReading::full;
  Sequence sequence;
  // Tokens from `first` to `last` of the passage; their positions begin at `position` where they are reset.
  const auto add = [&](Index first, Index last, Index position, TokenPlace place) {
    for (Index token = first; token < last; ++token) {
      place.position = kept ? token : position + token - first;
      sequence.tokens.push_back(text[static_cast<std::size_t>(token)]);
      sequence.targets.push_back(text[static_cast<std::size_t>(token + 1)]);
      sequence.places.push_back(place);
    }
  };
  add(0, shared, 0, {});
  const auto start = [&](Index block) { return shared + (context - shared) * block / plan.blocks; };
  Index longest = 0;
  for (const Index block : chosen(subject, plan, passage)) {
    const auto first = static_cast<Index>(sequence.tokens.size());
    sequence.starts.push_back(first);
    add(start(block), start(block + 1), shared, {0, shared, first});
    longest = std::max(longest, start(block + 1) - start(block));
  }
  sequence.starts.push_back(static_cast<Index>(sequence.tokens.size()));
  add(context, length_, shared + longest, {0, 0, 0, factor});
  return sequence;
}

void ParallelContexts::evaluate(Subject& subject, const Plan& plan, Index passage,
                                Reading& reading) const {
  Model<float>& model = subject.trained.model;
  const Sequence sequence = sequence_of(subject, plan, passage, reading.factor);
  const auto length = static_cast<Index>(sequence.tokens.size());
  const Index last = sequence.starts.back(), blocks = std::ssize(sequence.starts) - 1;
  model.forward(sequence.tokens, length, {{}, sequence.places});
  const AttentionShape& shape = model.shape();
  const Index heads = model.settings().depth * shape.heads;
  if (passage == 0) {
    const auto passages = std::ssize(passages_);
    reading.entropies = MatrixXd::Zero(heads, passages);
    reading.masses = MatrixXd::Zero(blocks, passages);
  }
  for (Index place = 0; place < heads; ++place) {
    const Matrix<float>& weights = model.attention(place / shape.heads);
    const Index column = shape.weights_column(0, place % shape.heads);
    for (Index query = last; query < length; ++query) {
      const VectorXd row = weights.col(column + query).head(query + 1).cast<double>();
      reading.entropies(place, passage) += row_entropy(row) / static_cast<double>(length - last);
      for (Index block = 0; block < blocks; ++block) {
        const auto at = static_cast<std::size_t>(block);
        reading.masses(block, passage) +=
            row.segment(sequence.starts[at], sequence.starts[at + 1] - sequence.starts[at]).sum();
      }
    }
  }
  std::vector<double> each(static_cast<std::size_t>(length));
  model.loss(sequence.targets, false, each);
  const Index early = last + last_block() / 4;
  reading.early.push_back(mean_of(each, last, early));
  reading.late.push_back(mean_of(each, early, length));
}

// The factor by bisection of its logarithm, on the first passages.
double ParallelContexts::matching_factor(Subject& subject, const Plan& plan) const {
  const Index passages = std::min<Index>(kMatched, std::ssize(passages_));
  const double wanted = subject.done.front().entropies.leftCols(passages).mean();
  double low = -std::log(kMostFactor), high = -low;
  for (int k = 0; k < kHalvings; ++k) {
    Reading reading;
    reading.factor = std::exp((low + high) / 2);
    for (Index passage = 0; passage < passages; ++passage) {
      evaluate(subject, plan, passage, reading);
    }
    // A larger factor lowers the entropy.
    (reading.entropies.leftCols(passages).mean() > wanted ? low : high) = (low + high) / 2;
  }
  return std::exp((low + high) / 2);
}

double ParallelContexts::passage_work() const {
  return static_cast<double>(length_) * subjects_.front().trained.model.work_per_token();
}

bool ParallelContexts::advance(double work) {
  for (double spent = 0; at_ < subjects_.size();) {
    if (spent >= work) return false;
    Subject& subject = subjects_[at_];
    const Plan& plan = plans_[subject.done.size()];
    if (plan.reading == ContextReading::sharpened && current_.late.empty()) {
      current_.factor = matching_factor(subject, plan);
      spent += passage_work() * static_cast<double>(kMatched * kHalvings);
    }
    evaluate(subject, plan, std::ssize(current_.late), current_);
    spent += passage_work();
    if (current_.late.size() < passages_.size()) continue;
    subject.done.push_back(std::exchange(current_, {}));
    if (subject.done.size() == plans_.size()) ++at_;
  }
  return true;
}

double ParallelContexts::progress() const {
  double done = static_cast<double>(current_.late.size()) / static_cast<double>(passages_.size());
  for (const Subject& subject : subjects_) done += static_cast<double>(subject.done.size());
  return done / static_cast<double>(plans_.size() * subjects_.size());
}

double ParallelContexts::loss_of(const Reading& reading, Index passage) const {
  const auto at = static_cast<std::size_t>(passage);
  const double early = static_cast<double>(last_block() / 4) / static_cast<double>(last_block());
  return early * reading.early[at] + (1 - early) * reading.late[at];
}

template <class Value>
MatrixXd ParallelContexts::by_passage(std::size_t number, bool added, const Value& value) const {
  std::vector<const Subject*> done;
  for (const Subject& subject : subjects_) {
    if (subject.done.size() > number) done.push_back(&subject);
  }
  MatrixXd values(std::ssize(done), std::ssize(passages_));
  for (Index model = 0; model < values.rows(); ++model) {
    const std::vector<Reading>& readings = done[static_cast<std::size_t>(model)]->done;
    for (Index passage = 0; passage < values.cols(); ++passage) {
      values(model, passage) =
          value(readings[number], passage) - (added ? value(readings.front(), passage) : 0);
    }
  }
  return values;
}

std::vector<ContextRow> ParallelContexts::rows() const {
  std::vector<ContextRow> rows;
  const auto loss = [&](const Reading& reading, Index passage) {
    return loss_of(reading, passage);
  };
  const auto first = [&](const Reading& reading, Index passage) {
    return reading.entropies.col(passage)
        .head(subjects_.front().trained.settings.model.heads)
        .mean();
  };
  const auto last = [&](const Reading& reading, Index passage) {
    return reading.entropies.col(passage)
        .tail(subjects_.front().trained.settings.model.heads)
        .mean();
  };
  for (std::size_t number = 0; number < plans_.size(); ++number) {
    if (subjects_.front().done.size() <= number) break;
    double factor = 0, models = 0;
    for (const Subject& subject : subjects_) {
      if (subject.done.size() <= number) continue;
      factor += subject.done[number].factor;
      models += 1;
    }
    rows.push_back({plans_[number].reading, plans_[number].blocks,
                    by_passage(number, false, loss).mean(),
                    estimate_over_both(by_passage(number, true, loss)),
                    estimate_over_both(by_passage(number, true, kEarlyLoss)),
                    estimate_over_both(by_passage(number, true, kLateLoss)),
                    by_passage(number, false, kPassageEntropy).mean(),
                    estimate_over_both(by_passage(number, true, kPassageEntropy)),
                    estimate_over_both(by_passage(number, true, first)),
                    estimate_over_both(by_passage(number, true, last)), factor / models});
  }
  return rows;
}

std::vector<ContextHead> ParallelContexts::heads() const {
  std::vector<ContextHead> heads;
  const std::size_t number = number_of(ContextReading::reset, kMostBlocks);
  for (const Subject& subject : subjects_) {
    if (subject.done.size() < plans_.size()) break;
    const Model<float>& model = subject.trained.model;
    const ModelSettings& architecture = model.settings();
    const MatrixXd added = subject.done[number].entropies - subject.done.front().entropies;
    for (Index place = 0; place < added.rows(); ++place) {
      const Index layer = place / architecture.heads;
      const HeadFactors factors = model.head(layer, place % architecture.heads);
      const VectorXd gain = model.parameters()
                                .segment(model.layout().at(layer).norm1, architecture.width)
                                .cast<double>();
      const MatrixXd query = gain.asDiagonal() * factors.query,
                     key = gain.asDiagonal() * factors.key;
      const SpectralMoments moments = moments_of_products(products_of_factors(query, key));
      heads.push_back({subject.trained.settings.seed, layer, place % architecture.heads,
                       moments.mean(), moments.variance(),
                       subject.done.front().entropies.row(place).mean(),
                       estimate_of(added.row(place))});
    }
  }
  return heads;
}

std::vector<PassageCorrelation> ParallelContexts::passages() const {
  std::vector<PassageCorrelation> all;
  for (Index blocks = 2; blocks <= kMostBlocks; blocks *= 2) {
    const std::size_t number = number_of(ContextReading::reset, blocks);
    const MatrixXd loss = by_passage(
        number, true, [&](const Reading& reading, Index at) { return loss_of(reading, at); });
    if (loss.rows() < std::ssize(subjects_)) break;
    const MatrixXd entropy = by_passage(number, true, kPassageEntropy);
    std::vector<VectorXd> a, b;  // by model
    for (Index model = 0; model < loss.rows(); ++model) {
      a.emplace_back(entropy.row(model));
      b.emplace_back(loss.row(model));
    }
    all.push_back({blocks, permuted_correlation(a, b, Permutation::common, settings_.seed)});
  }
  return all;
}

std::array<PermutedCorrelation, kHeadPropertyNames.size()> ParallelContexts::properties() const {
  std::array<PermutedCorrelation, kHeadPropertyNames.size()> all;
  const std::vector<ContextHead> measured = heads();
  const auto count = static_cast<std::size_t>(subjects_.front().trained.settings.model.depth *
                                              subjects_.front().trained.settings.model.heads);
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<VectorXd> property, added;  // by model
    for (std::size_t first = 0; first < measured.size(); first += count) {
      const auto of_model = std::span(measured).subspan(first, count);
      property.push_back(vector_over(of_model, [&](const ContextHead& head) {
        return std::array{head.mean, head.variance, head.entropy}[k];
      }));
      added.push_back(
          vector_over(of_model, [](const ContextHead& head) { return head.entropy_added.value; }));
    }
    all[k] = permuted_correlation(property, added, Permutation::separate, settings_.seed);
  }
  return all;
}

}  // namespace eigenscope

#include "labs/attention_explanation.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "labs/head_outputs.h"
#include "statistics/estimate.h"
#include "statistics/rank_correlation.h"
#include "support/error.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

// Minus the log of each id's share of the content tokens of a text.
std::vector<double> frequencies_of(const std::vector<Passage>& text) {
  std::vector<double> counts;
  double total = 0;
  for (const Passage& passage : text) {
    for (auto id = passage.ids.begin() + passage.leading;
         id != passage.ids.end() - passage.trailing; ++id) {
      const auto at = static_cast<std::size_t>(*id);
      if (at >= counts.size()) counts.resize(at + 1, 0);
      counts[at] += 1;
      total += 1;
    }
  }
  for (double& count : counts) count = -std::log(count / total);
  return counts;
}

VectorXd row_correlations(const MatrixXd& rows, const VectorXd& change) {
  VectorXd correlations(rows.rows());
  for (Index row = 0; row < rows.rows(); ++row) {
    correlations[row] = rank_correlation(rows.row(row), change);
  }
  return correlations;
}

}  // namespace

AttentionExplanation::AttentionExplanation(std::shared_ptr<const Transformer> model,
                                           const std::vector<Passage>& text,
                                           std::vector<Passage> measured, std::optional<int> mask,
                                           std::uint64_t seed)
    : model_(std::move(model)),
      measured_(std::move(measured)),
      mask_(mask),
      content_(content_of(measured_, *model_)),
      seed_(seed),
      frequencies_(frequencies_of(text)) {}

Index AttentionExplanation::heads_count() const { return model_->layers() * model_->heads(); }

std::vector<Passage> AttentionExplanation::variants() const {
  const auto removed = static_cast<std::size_t>(content_.count);
  std::vector<Passage> all(1 + removed, passage());  // the unchanged passage, then each key dropped
  for (Index k = 0; mask_ && k < content_.count; ++k) {
    Passage masked = passage();
    masked.ids[static_cast<std::size_t>(content_.first + k)] = *mask_;
    all.push_back(std::move(masked));
  }
  return all;
}

void AttentionExplanation::begin_passage() {
  pass_.emplace(model_, variants());
  current_ = {};
  current_.attention.resize(heads_count(), content_.count);
  current_.norm.resize(heads_count(), content_.count);
  current_.entropy.resize(heads_count());
  current_.sink.resize(heads_count());
  current_.frequency.resize(content_.count);
  current_.position =
      VectorXd::LinSpaced(content_.count, 0, static_cast<double>(content_.count - 1));
  for (Index k = 0; k < content_.count; ++k) {
    const int id = passage().ids[static_cast<std::size_t>(content_.first + k)];
    current_.frequency[k] = frequencies_[static_cast<std::size_t>(id)];
  }
}

double AttentionExplanation::run_next() {
  if (pass_->passage() == 0) output_ = model_->rest(pass_->layer()).attention_output.read();
  return pass_->advance(visitors());
}

PassageVisitors AttentionExplanation::visitors() {
  PassageVisitors visitors;
  visitors.edit = [this](std::size_t at) -> AttentionEdit {
    const auto variant = static_cast<Index>(at);
    if (variant == 0) {
      return {.tokens = [this](HeadTokens& tokens) { values_ = tokens.values; }};
    }
    if (variant <= content_.count) return {.dropped_key = content_.first + variant - 1};
    return {};
  };
  visitors.head = [this, layer = pass_->layer()](std::size_t variant, int head,
                                                 const HeadTrace& trace) {
    if (variant == 0) measure_attention(layer, head, trace.weights);
  };
  return visitors;
}

void AttentionExplanation::measure_attention(int layer, int head, const MatrixXf& weights) {
  const LayerRules& rules = model_->rules(layer);
  const Index place = layer * rules.heads + head;
  const MatrixXf values = projected_values(output_, rules, head, values_);
  for (Index k = 0; k < content_.count; ++k) {
    const Index key = content_.first + k;
    const double attention = received(weights, key, rules);
    current_.attention(place, k) = attention;
    current_.norm(place, k) = attention * static_cast<double>(values.col(key).norm());
  }
  current_.entropy[place] = mean_entropy(weights, rules);
  current_.sink[place] = received(weights, 0, rules);
}

void AttentionExplanation::end_passage() {
  const MatrixXf before = model_->finished(pass_->tokens(0));
  for (int removal = 0; removal < removals(); ++removal) {
    const auto at = static_cast<std::size_t>(removal);
    VectorXd& changes = current_.changes[at];
    changes.resize(content_.count);
    for (Index k = 0; k < content_.count; ++k) {
      const auto variant = static_cast<std::size_t>(1 + removal * content_.count + k);
      const Index key = content_.first + k;
      const VectorXd mean = mean_token(before, key);
      const VectorXd after = mean_token(model_->finished(pass_->tokens(variant)), key);
      changes[k] = (after - mean).norm() / mean.norm();
    }
    current_.attention_correlation[at] = row_correlations(current_.attention, changes);
    current_.norm_correlation[at] = row_correlations(current_.norm, changes);
  }
  results_.push_back(std::move(current_));
  pass_.reset();
}

bool AttentionExplanation::advance(double work) {
  for (double left = work; left >= 0 && results_.size() < measured_.size();) {
    if (!pass_) begin_passage();
    left -= run_next();
    if (pass_->done()) end_passage();
  }
  const bool done = results_.size() == measured_.size();
  if (done && nulls_.empty()) conclude();
  return done;
}

Index AttentionExplanation::steps_wanted() const {
  const Index variants = 1 + removals() * content_.count;
  return model_->layers() * variants * std::ssize(measured_);
}

Index AttentionExplanation::steps_done() const {
  const Index per_passage = steps_wanted() / std::ssize(measured_);
  return per_passage * std::ssize(results_) + (pass_ ? pass_->steps_done() : 0);
}

std::vector<ExplanationHead> AttentionExplanation::heads() const {
  std::vector<ExplanationHead> heads;
  if (results_.empty()) return heads;
  const auto over = [&](const auto& value) {
    return estimate_over(results_.size(), [&](std::size_t i) { return value(results_[i]); });
  };
  for (Index place = 0; place < heads_count(); ++place) {
    ExplanationHead head;
    head.layer = place / model_->heads();
    head.head = place % model_->heads();
    for (std::size_t removal = 0; removal < static_cast<std::size_t>(removals()); ++removal) {
      head.attention[removal] = over([&](const PassageResults& passage) {
        return passage.attention_correlation[removal][place];
      });
      head.norm[removal] = over(
          [&](const PassageResults& passage) { return passage.norm_correlation[removal][place]; });
    }
    head.entropy =
        over([&](const PassageResults& passage) { return passage.entropy[place]; }).value;
    head.sink = over([&](const PassageResults& passage) { return passage.sink[place]; }).value;
    heads.push_back(head);
  }
  return heads;
}

Index AttentionExplanation::best_head(std::size_t passage, Removal removal, bool norm) const {
  const auto at = static_cast<std::size_t>(removal);
  VectorXd total = VectorXd::Zero(heads_count());
  for (std::size_t other = (passage + 1) % 2; other < results_.size(); other += 2) {
    const PassageResults& measured = results_[other];
    total += norm ? measured.norm_correlation[at] : measured.attention_correlation[at];
  }
  Index best = 0;
  total.maxCoeff(&best);
  return best;
}

VectorXd AttentionExplanation::explained_by(Explanation explanation, Removal removal,
                                            std::size_t passage) const {
  const PassageResults& measured = results_[passage];
  const Index heads = model_->heads();
  switch (explanation) {
    case Explanation::best:
      return measured.attention.row(best_head(passage, removal, false));
    case Explanation::best_norm:
      return measured.norm.row(best_head(passage, removal, true));
    case Explanation::last_layer:
      return measured.attention.bottomRows(heads).colwise().mean();
    case Explanation::last_layer_norm:
      return measured.norm.bottomRows(heads).colwise().mean();
    case Explanation::all:
      return measured.attention.colwise().mean();
    case Explanation::all_norm:
      return measured.norm.colwise().mean();
    case Explanation::frequency:
      return measured.frequency;
    case Explanation::position:
      return measured.position;
  }
  return {};
}

template <class Value>
Estimate AttentionExplanation::correlation_of(Explanation explanation, Removal removal,
                                              const Value& value) const {
  const bool is_best = explanation == Explanation::best || explanation == Explanation::best_norm;
  if (results_.size() < 1 + static_cast<std::size_t>(is_best)) return {};
  if (removal == Removal::masked && !mask_) return {};
  return estimate_over(results_.size(), [&](std::size_t passage) {
    const PassageResults& measured = results_[passage];
    const VectorXd explained = explained_by(explanation, removal, passage);
    const VectorXd& change = measured.changes[static_cast<std::size_t>(removal)];
    return value(explained, change, measured.frequency);
  });
}

std::vector<ExplanationRow> AttentionExplanation::rows() const {
  const auto whole = [](const VectorXd& explained, const VectorXd& change, const VectorXd&) {
    return rank_correlation(explained, change);
  };
  const auto partial = [](const VectorXd& explained, const VectorXd& change,
                          const VectorXd& frequency) {
    return partial_correlation(rank_correlation(explained, change),
                               rank_correlation(explained, frequency),
                               rank_correlation(change, frequency));
  };
  const auto gain = [](const VectorXd& explained, const VectorXd& change,
                       const VectorXd& frequency) {
    return rank_correlation(explained, change) - rank_correlation(frequency, change);
  };
  std::vector<ExplanationRow> rows;
  for (std::size_t k = 0; !results_.empty() && k < kExplanationNames.size(); ++k) {
    const auto explanation = static_cast<Explanation>(k);
    ExplanationRow& row = rows.emplace_back();
    row.explanation = explanation;
    for (const Removal removal : {Removal::dropped, Removal::masked}) {
      ExplanationAgreement& agreement = row.agreement[static_cast<std::size_t>(removal)];
      agreement.whole = correlation_of(explanation, removal, whole);
      if (explanation == Explanation::frequency) continue;
      agreement.partial = correlation_of(explanation, removal, partial);
      agreement.gain = correlation_of(explanation, removal, gain);
    }
  }
  return rows;
}

std::array<Estimate, 2> AttentionExplanation::changes() const {
  std::array<Estimate, 2> all;
  for (std::size_t removal = 0; removal < static_cast<std::size_t>(removals()); ++removal) {
    all[removal] = estimate_over(
        results_.size(), [&](std::size_t i) { return results_[i].changes[removal].mean(); });
  }
  return all;
}

Estimate AttentionExplanation::agreement() const {
  if (!mask_) return {};
  return estimate_over(results_.size(), [&](std::size_t i) {
    return rank_correlation(results_[i].changes[0], results_[i].changes[1]);
  });
}

void AttentionExplanation::conclude() {
  const std::vector<ExplanationHead> heads = this->heads();
  for (std::size_t removal = 0; removal < static_cast<std::size_t>(removals()); ++removal) {
    for (const bool norm : {false, true}) {
      std::vector<MatrixXd> explained;  // by passage
      std::vector<VectorXd> changes;
      for (const PassageResults& measured : results_) {
        explained.push_back(norm ? measured.norm : measured.attention);
        changes.push_back(measured.changes[removal]);
      }
      ExplanationNull null{static_cast<Removal>(removal), norm,
                           farthest_null(explained, changes, seed_)};
      for (const ExplanationHead& head : heads) {
        const double correlation = (norm ? head.norm : head.attention)[removal].value;
        null.above += correlation > null.limit;
        null.below += correlation < -null.limit;
      }
      nulls_.push_back(null);
    }
  }
  const VectorXd correlation =
      vector_over(heads, [](const ExplanationHead& head) { return head.attention.front().value; });
  for (const VectorXd& trait :
       {vector_over(heads, &ExplanationHead::entropy), vector_over(heads, &ExplanationHead::sink),
        vector_over(heads, &ExplanationHead::layer)}) {
    traits_.push_back(permuted_correlation({trait}, {correlation}, Permutation::separate, seed_));
  }
}

}  // namespace eigenscope

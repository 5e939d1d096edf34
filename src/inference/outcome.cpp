#include "inference/outcome.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace eigenscope {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

std::vector<int> most_probable(const VectorXf& log_probabilities, Index count) {
  std::vector<int> ids(static_cast<std::size_t>(log_probabilities.size()));
  std::iota(ids.begin(), ids.end(), 0);
  const auto middle = ids.begin() + std::min<Index>(count, std::ssize(ids));
  std::partial_sort(ids.begin(), middle, ids.end(), [&](int a, int b) {
    return std::pair(-log_probabilities[a], a) < std::pair(-log_probabilities[b], b);
  });
  ids.erase(middle, ids.end());
  return ids;
}

OutcomeReader::OutcomeReader(std::shared_ptr<const Transformer> model, std::optional<int> mask)
    : model_(std::move(model)), mask_(mask) {
  if (model_->has_output()) output_ = model_->output();
}

OutcomeReader::Columns OutcomeReader::columns_of(const Passage& passage, const MatrixXf& tokens,
                                                 bool keeps) const {
  Columns columns;
  std::vector<Index> positions;
  if (model_->causal()) {
    const Index last = passage.length() - 1 - passage.trailing;
    for (Index t = std::max<Index>(0, passage.leading - 1); t < last; ++t) {
      positions.push_back(t);
      columns.targets.push_back(passage.ids[static_cast<std::size_t>(t + 1)]);
    }
    if (keeps && last >= 0) {
      positions.push_back(last);
      columns.targets.push_back(-1);
      columns.kept = std::ssize(positions) - 1;
    }
  } else if (mask_ && keeps) {
    const auto masked = std::find(passage.ids.begin(), passage.ids.end(), *mask_);
    if (masked != passage.ids.end()) {
      positions.push_back(masked - passage.ids.begin());
      columns.targets.push_back(-1);
      columns.kept = 0;
    }
  }
  const auto count = std::ssize(positions);
  if (count == 0) return columns;
  columns.states.resize(tokens.rows(), count);
  for (Index k = 0; k < count; ++k) {
    columns.states.col(k) = tokens.col(positions[static_cast<std::size_t>(k)]);
  }
  columns.states = model_->output_states(columns.states);
  columns.largest = ArrayXd::Constant(count, -std::numeric_limits<double>::infinity());
  columns.sum = columns.of_target = ArrayXd::Zero(count);
  if (columns.kept >= 0) columns.logits.resize(output_.outputs());
  return columns;
}

void OutcomeReader::start(const std::vector<Passage>& passages, const std::vector<MatrixXf>& tokens,
                          const std::vector<bool>& predicted) {
  outcomes_.clear();
  columns_.clear();
  passage_ = 0;
  row_ = rows_ = 0;
  for (std::size_t k = 0; k < passages.size(); ++k) {
    Outcome& outcome = outcomes_.emplace_back();
    outcome.mean_token = model_->finished(tokens[k]).cast<double>().rowwise().mean();
    if (!model_->has_output()) continue;
    columns_.push_back(columns_of(passages[k], tokens[k], predicted[k]));
    if (!columns_.back().targets.empty()) rows_ = output_.outputs();
  }
}

double OutcomeReader::advance() {
  if (passage_ == 0) output_.read_block(row_, block_);
  Columns& columns = columns_[passage_];
  const Index count = columns.states.cols();
  if (count > 0) {
    MatrixXf logits(block_.count, count);
    block_.apply(factor(columns.states.data(), columns.states.rows()), count, logits.data(),
                 block_.count);
    logits *= model_->output_scale();
    cap_logits<float>(model_->output_cap(),
                      {logits.data(), static_cast<std::size_t>(logits.size())});
    add_logits(columns, logits, row_);
  }
  const double work =
      static_cast<double>(block_.count) * static_cast<double>(columns.states.size());
  if (++passage_ < columns_.size()) return work;
  passage_ = 0;
  row_ += block_.count;
  if (done()) finish();
  return work;
}

void OutcomeReader::add_logits(Columns& columns, const MatrixXf& logits, Index first) {
  for (Index k = 0; k < logits.cols(); ++k) {
    const ArrayXd block = logits.col(k).cast<double>();
    const double largest = std::max(columns.largest[k], block.maxCoeff());
    columns.sum[k] =
        columns.sum[k] * std::exp(columns.largest[k] - largest) + (block - largest).exp().sum();
    columns.largest[k] = largest;
    const Index target = columns.targets[static_cast<std::size_t>(k)] - first;
    if (target >= 0 && target < block.size()) columns.of_target[k] = block[target];
    if (k == columns.kept) columns.logits.segment(first, block.size()) = logits.col(k);
  }
}

void OutcomeReader::finish() {
  for (std::size_t passage = 0; passage < columns_.size(); ++passage) {
    Columns& columns = columns_[passage];
    Outcome& outcome = outcomes_[passage];
    const ArrayXd normalizer = columns.largest + columns.sum.log();
    for (std::size_t k = 0; k < columns.targets.size(); ++k) {
      if (columns.targets[k] < 0) continue;
      const auto at = static_cast<Index>(k);
      outcome.loss += normalizer[at] - columns.of_target[at];
      ++outcome.targets;
    }
    if (columns.kept < 0) continue;
    outcome.log_probabilities =
        (columns.logits.array() - static_cast<float>(normalizer[columns.kept])).matrix();
  }
  columns_.clear();
}

double OutcomeReader::progress() const {
  if (done()) return 1;
  const double share = static_cast<double>(passage_) / static_cast<double>(columns_.size());
  return (static_cast<double>(row_) + share * static_cast<double>(block_.count)) /
         static_cast<double>(rows_);
}

}  // namespace eigenscope

#include "simulation/row_entropy.h"

#include <algorithm>

namespace eigenscope {

RowEntropies::RowEntropies(const std::vector<double>& lengths,
                           const std::vector<double>& logit_stds, Eigen::Index samples,
                           std::uint64_t seed) {
  std::vector<TracedHead> heads;
  for (const double std : logit_stds) heads.push_back({{0, 0, std * std}, 1});
  for (const double length : lengths) {
    const auto keys = static_cast<Eigen::Index>(length);
    for (const double std : logit_stds) {
      rows_.push_back({keys, std, random_energy_entropy(std, keys), {}, {}});
    }
    // Independent keys: AR(1) tokens without correlation, and no part of W that the query shares.
    samplers_.emplace_back(token_process("ar1", keys, 0), heads, samples, seed);
  }
}

bool RowEntropies::advance(double work) {
  if (exact_ < rows_.size()) {
    RowEntropy& row = rows_[exact_++];
    row.exact = independent_row(row.logit_std, row.length);
    return false;
  }
  GaussianRows& sampler = samplers_[next_];
  if (sampler.advance(1 + static_cast<Eigen::Index>(work / sampler.work_per_step()))) ++next_;
  return next_ == samplers_.size();
}

double RowEntropies::progress() const {
  double done = static_cast<double>(exact_) / static_cast<double>(rows_.size());
  for (const GaussianRows& sampler : samplers_) {
    done += static_cast<double>(sampler.steps_done()) / static_cast<double>(sampler.steps_wanted());
  }
  return done / static_cast<double>(1 + samplers_.size());
}

std::vector<RowEntropy> RowEntropies::rows() const {
  std::vector<RowEntropy> rows = rows_;
  const std::size_t each = rows.size() / std::max<std::size_t>(samplers_.size(), 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].sampled = samplers_[i / each].estimate(i % each);
  }
  return rows;
}

}  // namespace eigenscope

#include "simulation/gaussian_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/gemm.h"
#include "support/random.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

// Apart from the streams of Simulation, so that theory and simulation share no draw.
constexpr std::uint64_t kFirstStream = std::uint64_t{1} << 61;

}  // namespace

GaussianRows::GaussianRows(const TokenProcess& tokens, std::vector<TracedHead> heads,
                           Eigen::Index samples, std::uint64_t seed, QueryRange queries)
    : seed_(static_cast<std::uint64_t>(checked(shared::kSeed, static_cast<double>(seed)))),
      wanted_(static_cast<Eigen::Index>(checked(shared::kSamples, static_cast<double>(samples)))),
      queries_(checked_queries(tokens, queries)),
      kernels_(centred_kernels(tokens, queries_)),
      factor_(tokens, queries_.last),
      heads_(std::move(heads)) {
  for (const TracedHead& head : heads_) {
    statistics_.emplace_back(logit_law(kernels_, head.traces).mean, head.temperature);
  }
}

bool GaussianRows::advance(Eigen::Index samples) {
  Eigen::VectorXf draws(queries_.last);
  Eigen::VectorXd across(queries_.last), row;
  const Eigen::Index stop = done_ + std::min(samples, wanted_ - done_);
  for (; done_ < stop; ++done_) {
    const auto sample = static_cast<std::uint64_t>(done_);
    const Eigen::Index query = queries_.of_sample(sample);
    const CentredKernel& kernel = kernels_[static_cast<std::size_t>(query - queries_.first)];
    const double size = std::sqrt(kernel.query_variance);
    NormalStream(seed_, kFirstStream + sample)
        .fill({draws.data(), static_cast<std::size_t>(query)});
    across = draws.head(query).cast<double>();
    // sqrt(K(q,q)) L u is column q of K; centred it is kernel.cross.
    const Eigen::VectorXd along = factor_.row(query - 1);
    const double along_query = inner_product(along.data(), across.data(), query) / size;
    factor_.multiply(across);
    double sum = 0;
    for (const double z : across) sum += z;  // in this order on every platform
    const double mean = sum / static_cast<double>(query);
    across = size * (across.array() - mean) - along_query * kernel.cross.array();
    for (std::size_t k = 0; k < heads_.size(); ++k) {
      const Traces& w = heads_[k].traces;
      const double other = std::sqrt(w.eta_f);
      const double same = w.xi + std::sqrt(std::max(0.0, w.eta_f + w.eta_s)) * along_query;
      row = other * across + same * kernel.cross;
      statistics_[k].add(row);
    }
  }
  return done_ == wanted_;
}

double GaussianRows::work_per_step() const {
  const auto t = static_cast<double>(queries_.last);
  constexpr double kRow = 20;  // one key of one row
  return kRow * t * static_cast<double>(1 + heads_.size());
}

}  // namespace eigenscope

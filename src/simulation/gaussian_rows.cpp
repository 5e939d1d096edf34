#include "simulation/gaussian_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/parameter.h"
#include "support/random.h"

namespace eigenscope {
namespace {

// Apart from the streams of Simulation, so that theory and simulation share no draw.
constexpr std::uint64_t kFirstStream = std::uint64_t{1} << 61;

}  // namespace

GaussianRows::GaussianRows(const TokenProcess& tokens, std::vector<TracedHead> heads,
                           Eigen::Index samples, std::uint64_t seed)
    : seed_(static_cast<std::uint64_t>(checked("seed", static_cast<double>(seed)))),
      wanted_(static_cast<Eigen::Index>(checked("samples", static_cast<double>(samples)))),
      kernel_(centred_kernel(tokens)),
      factor_(tokens),
      heads_(std::move(heads)) {
  for (const TracedHead& head : heads_) {
    statistics_.emplace_back(logit_law(kernel_, head.traces).mean, head.temperature);
  }
}

bool GaussianRows::advance(Eigen::Index samples) {
  const Eigen::Index length = kernel_.cross.size();
  const double last = std::sqrt(kernel_.query_variance);
  const Eigen::VectorXd unit = factor_.last_row() / last;
  Eigen::VectorXf draws(length);
  Eigen::VectorXd row(length);
  const Eigen::Index stop = done_ + std::min(samples, wanted_ - done_);
  for (; done_ < stop; ++done_) {
    NormalStream(seed_, kFirstStream + static_cast<std::uint64_t>(done_))
        .fill({draws.data(), static_cast<std::size_t>(length)});
    const Eigen::VectorXd z = draws.cast<double>();
    // sqrt(K(T,T)) L u is the last column of K; centred it is kernel_.cross.
    const double along_query = unit.dot(z);
    Eigen::VectorXd across = z;
    factor_.multiply(across);
    across.array() -= across.mean();
    across = last * across - along_query * kernel_.cross;
    for (std::size_t k = 0; k < heads_.size(); ++k) {
      const Traces& w = heads_[k].traces;
      row = std::sqrt(w.eta_f) * across +
            (w.xi + std::sqrt(std::max(0.0, w.eta_f + w.eta_s)) * along_query) * kernel_.cross;
      statistics_[k].add(row);
    }
  }
  return done_ == wanted_;
}

double GaussianRows::work_per_step() const {
  const auto t = static_cast<double>(kernel_.cross.size());
  constexpr double kRow = 20;  // one key of one row
  return kRow * t * static_cast<double>(1 + heads_.size());
}

}  // namespace eigenscope

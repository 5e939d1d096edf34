#include "simulation/logit_sampler.h"

#include <array>

#include "support/normal_matrix.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;

// A dot product in eight lanes, in the same order on every platform.
float dot_product(const float* a, const float* b, Index size) {
  constexpr Index kLanes = 8;
  std::array<float, kLanes> lanes{};
  Index i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      lanes[static_cast<std::size_t>(lane)] += a[i + lane] * b[i + lane];
    }
  }
  float sum = 0;
  for (; i < size; ++i) sum += a[i] * b[i];
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7])) + sum;
}

}  // namespace

Eigen::MatrixXd sample_tokens(const TokenProcess& process, Index width, std::uint64_t seed,
                              std::uint64_t sample) {
  checked(shared::kWidth, static_cast<double>(width));
  const KernelFactor factor(process);
  Eigen::MatrixXd by_token =
      normal_matrix(width, process.length, seed, sample).cast<double>().transpose();
  for (auto coordinate : by_token.colwise()) factor.multiply(coordinate);
  return by_token.transpose();
}

LogitSampler::LogitSampler(Index width, const TokenProcess& process, Index last, std::uint64_t seed)
    : seed_(seed),
      factor_(process, last),
      innovations_(static_cast<Index>(checked(shared::kWidth, static_cast<double>(width))), last),
      query_(width),
      centre_direction_(width),
      spread_direction_(width) {}

void LogitSampler::draw(const Ensemble& ensemble, std::uint64_t sample, Index query,
                        Eigen::VectorXd& centre, Eigen::VectorXd& spread) {
  NormalStream(seed_, sample)
      .fill({innovations_.data(), static_cast<std::size_t>(innovations_.rows() * query)});
  const Eigen::VectorXf weights = factor_.row(query - 1).cast<float>();
  query_.setZero();
  for (Index t = 0; t < query; ++t) query_ += weights[t] * innovations_.col(t);
  ensemble.apply(query_, centre_direction_, spread_direction_);
  row_of(centre_direction_, query, centre);
  row_of(spread_direction_, query, spread);
}

// x_i . direction for every key i, centred. As X = E L^T, it is L (E^T direction): the tokens
// themselves are never formed.
void LogitSampler::row_of(const Eigen::VectorXf& direction, Index keys, Eigen::VectorXd& row) {
  row.resize(keys);
  for (Index t = 0; t < keys; ++t) {
    row[t] = dot_product(innovations_.col(t).data(), direction.data(), direction.size());
  }
  factor_.multiply(row);
  double sum = 0;
  for (const double logit : row) sum += logit;
  row.array() -= sum / static_cast<double>(keys);
}

}  // namespace eigenscope

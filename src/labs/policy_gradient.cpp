#include "labs/policy_gradient.h"

#include <numeric>

#include "nn/attention.h"
#include "support/random.h"

namespace eigenscope {

using Eigen::Index;

template <class Scalar>
std::vector<TokenId> sampled_actions(const Matrix<Scalar>& logits, std::uint64_t seed,
                                     std::uint64_t stream, std::uint64_t first) {
  Matrix<Scalar> shares = logits;
  std::vector<TokenId> actions;
  softmax_columns<Scalar>(1, Entries::all,
                          Eigen::Map<Matrix<Scalar>>(shares.data(), shares.rows(), shares.cols()));
  for (Index b = 0; b < shares.cols(); ++b) {
    double left = random_unit(seed, stream, first + static_cast<std::uint64_t>(b));
    Index action = 0;
    while (action + 1 < shares.rows()) {
      left -= static_cast<double>(shares(action, b));
      if (left < 0) break;
      ++action;
    }
    actions.push_back(static_cast<TokenId>(action));
  }
  return actions;
}

template <class Scalar>
std::vector<Scalar> advantages_of(std::span<const Scalar> rewards) {
  const Scalar sum = std::accumulate(rewards.begin(), rewards.end(), Scalar(0));
  const auto others = static_cast<Scalar>(rewards.size() - 1);
  std::vector<Scalar> advantages;
  for (const Scalar reward : rewards) advantages.push_back(reward - (sum - reward) / others);
  return advantages;
}

template std::vector<TokenId> sampled_actions(const Matrix<float>&, std::uint64_t, std::uint64_t,
                                              std::uint64_t);
template std::vector<TokenId> sampled_actions(const Matrix<double>&, std::uint64_t, std::uint64_t,
                                              std::uint64_t);
template std::vector<float> advantages_of(std::span<const float>);
template std::vector<double> advantages_of(std::span<const double>);

}  // namespace eigenscope

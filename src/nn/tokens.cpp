#include "nn/tokens.h"

#include <algorithm>
#include <cmath>

#include "support/lanes.h"
#include "support/vector_math.h"

namespace eigenscope {

using Eigen::Index;

template <class Scalar>
void embedding_forward(std::span<const TokenId> tokens, Index length, const Scalar* embedding,
                       const Scalar* positions, Matrix<Scalar>& x) {
  const Index d = x.rows();
  for (Index t = 0; t < x.cols(); ++t) {
    const Scalar* const token = embedding + tokens[static_cast<std::size_t>(t)] * d;
    Scalar* const out = x.data() + t * d;
    std::copy_n(token, d, out);
    if (positions == nullptr) continue;
    const Scalar* const position = positions + (t % length) * d;
    for (Index i = 0; i < d; ++i) out[i] += position[i];
  }
}

template <class Scalar>
void embedding_backward(std::span<const TokenId> tokens, Index length, const Matrix<Scalar>& dx,
                        Scalar* dembedding, Scalar* dpositions) {
  const Index d = dx.rows();
  for (Index t = 0; t < dx.cols(); ++t) {
    const Scalar* const gradient = dx.data() + t * d;
    Scalar* const token = dembedding + tokens[static_cast<std::size_t>(t)] * d;
    for (Index i = 0; i < d; ++i) token[i] += gradient[i];
    if (dpositions == nullptr) continue;
    Scalar* const position = dpositions + (t % length) * d;
    for (Index i = 0; i < d; ++i) position[i] += gradient[i];
  }
}

template void embedding_forward(std::span<const TokenId>, Index, const float*, const float*,
                                Matrix<float>&);
template void embedding_backward(std::span<const TokenId>, Index, const Matrix<float>&, float*,
                                 float*);
template void embedding_forward(std::span<const TokenId>, Index, const double*, const double*,
                                Matrix<double>&);
template void embedding_backward(std::span<const TokenId>, Index, const Matrix<double>&, double*,
                                 double*);

template <class Scalar>
double cross_entropy(std::span<const TokenId> targets, bool gradient, Matrix<Scalar>& logits,
                     std::span<double> each) {
  const Index vocabulary = logits.rows();
  const auto counted = targets.size() - static_cast<std::size_t>(
                                            std::count(targets.begin(), targets.end(), kNoTarget));
  const Scalar share = 1 / static_cast<Scalar>(counted);
  double loss = 0;
  for (Index t = 0; t < logits.cols(); ++t) {
    Scalar* const column = logits.data() + t * vocabulary;
    const Index target = targets[static_cast<std::size_t>(t)];
    if (target == kNoTarget) {
      std::fill_n(column, gradient ? vocabulary : 0, Scalar(0));
      if (!each.empty()) each[static_cast<std::size_t>(t)] = 0;
      continue;
    }
    const Scalar logit = column[target];
    const Scalar largest = lane_largest(column, vocabulary);
    for (Index i = 0; i < vocabulary; ++i) column[i] = exp_nonpositive(column[i] - largest);
    const Scalar total = lane_sum<Scalar>(vocabulary, [&](Index i) { return column[i]; });
    const double term = std::log(static_cast<double>(total)) + static_cast<double>(largest - logit);
    loss += term;
    if (!each.empty()) each[static_cast<std::size_t>(t)] = term;
    if (!gradient) continue;
    const Scalar factor = share / total;
    for (Index i = 0; i < vocabulary; ++i) column[i] *= factor;
    column[target] -= share;
  }
  return loss / static_cast<double>(counted);
}

template double cross_entropy(std::span<const TokenId>, bool, Matrix<float>&, std::span<double>);
template double cross_entropy(std::span<const TokenId>, bool, Matrix<double>&, std::span<double>);

}  // namespace eigenscope

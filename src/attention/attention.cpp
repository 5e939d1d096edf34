#include "attention/attention.h"

#include <vector>

#include "support/error.h"
#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The entries of a query's column in some ranges of keys, one behind the other.
template <class Ranges>
VectorXd gathered(const Eigen::Ref<const MatrixXd>& matrix, Index query, const Ranges& ranges) {
  Index count = 0;
  for (const KeyRange& range : ranges) count += range.count;
  VectorXd entries(count);
  Index at = 0;
  for (const KeyRange& range : ranges) {
    entries.segment(at, range.count) = matrix.col(query).segment(range.first, range.count);
    at += range.count;
  }
  return entries;
}

// The prefix, the block of the query, and the earlier blocks to which the exact softmax over all keys up to the query
// gives the largest sums of weights.
std::vector<KeyRange> selected_ranges(const Eigen::Ref<const MatrixXd>& logits, Index query,
                                      double temperature, const Mask& mask) {
  const Index length = logits.rows();
  const VectorXd weights = softmax(logits.col(query).head(query + 1), temperature);
  std::vector<KeyRange> ranges(static_cast<std::size_t>(mask.blocks));
  VectorXd sums = VectorXd::Zero(mask.blocks);
  for (Index key = mask.prefix; key <= query; ++key) {
    const Index block = mask.block_of(key, length);
    KeyRange& range = ranges[static_cast<std::size_t>(block)];
    if (range.count++ == 0) range.first = key;
    sums[block] += weights[key];
  }
  VectorXd left = sums.head(mask.blocks - 1);
  for (Index i = 0; i < mask.selected; ++i) {
    Index best = 0;
    left.maxCoeff(&best);
    left[best] = -1;  // chosen: no sum of weights is negative
  }
  std::vector<KeyRange> chosen{{0, mask.prefix}};
  for (Index block = 0; block < mask.blocks - 1; ++block) {
    if (left[block] < 0) chosen.push_back(ranges[static_cast<std::size_t>(block)]);
  }
  chosen.push_back(ranges.back());
  return chosen;
}

VectorXd weights_of(const VectorXd& logits, double temperature, SoftmaxKind kind) {
  switch (kind) {
    case SoftmaxKind::exact:
      return softmax(logits, temperature);
    case SoftmaxKind::piecewise_linear:
      return piecewise_linear_softmax(logits, temperature);
    case SoftmaxKind::hard:
      return hard_softmax(logits);
  }
  return {};
}

}  // namespace

MatrixXd attention_logits(const MatrixXd& tokens, const MatrixXd& query_key) {
  if (query_key.rows() != tokens.rows() || query_key.cols() != tokens.rows()) {
    throw InvalidArgument("query_key", "be d x d for tokens of d x T");
  }
  return transposed_times(tokens, times(query_key, tokens));
}

MatrixXd attention_weights(const Eigen::Ref<const MatrixXd>& logits, double temperature,
                           SoftmaxKind kind, const Mask& mask) {
  const Index length = logits.rows();
  if (logits.cols() > length) {
    throw InvalidArgument("logits", "have a key for every query");
  }
  MatrixXd weights = MatrixXd::Zero(length, logits.cols());
  const auto fill = [&](Index query, const auto& ranges) {
    const VectorXd row = weights_of(gathered(logits, query, ranges), temperature, kind);
    Index at = 0;
    for (const KeyRange& range : ranges) {
      weights.col(query).segment(range.first, range.count) = row.segment(at, range.count);
      at += range.count;
    }
  };
  for (Index query = 0; query < logits.cols(); ++query) {
    if (mask.selects(query, length)) {
      fill(query, selected_ranges(logits, query, temperature, mask));
    } else {
      fill(query, mask.visible(query, length));
    }
  }
  return weights;
}

VectorXd visible_weights(const MatrixXd& weights, Index query, const Mask& mask) {
  return gathered(weights, query, mask.visible(query, weights.rows()));
}

VectorXd query_entropies(const MatrixXd& weights, const Mask& mask) {
  return VectorXd::NullaryExpr(weights.cols(), [&](Index query) {
    const VectorXd row = visible_weights(weights, query, mask);
    return normalized_entropy(row / row.sum());
  });
}

}  // namespace eigenscope

#include "attention/attention.h"

#include <array>
#include <vector>

#include "attention/softmax.h"
#include "support/error.h"
#include "support/names.h"

namespace eigenscope {
namespace {

std::vector<Eigen::Index> visible_keys(Eigen::Index query, Eigen::Index length, const Mask& mask) {
  std::vector<Eigen::Index> keys;
  for (Eigen::Index key = 0; key < length; ++key) {
    if (mask.sees(query, key, length)) keys.push_back(key);
  }
  return keys;
}

Eigen::VectorXd row_weights(const Eigen::VectorXd& logits, double temperature, SoftmaxKind kind) {
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

struct SoftmaxName {
  SoftmaxKind kind;
  std::string_view name;
};
constexpr std::array kSoftmaxNames{SoftmaxName{SoftmaxKind::exact, "exact"},
                                   SoftmaxName{SoftmaxKind::piecewise_linear, "piecewise-linear"},
                                   SoftmaxName{SoftmaxKind::hard, "hard"}};

}  // namespace

SoftmaxKind softmax_of_name(std::string_view name) {
  for (const SoftmaxName& entry : kSoftmaxNames) {
    if (entry.name == name) return entry.kind;
  }
  refuse_name("softmax", name, kSoftmaxNames);
}

Eigen::MatrixXd attention_logits(const Eigen::MatrixXd& tokens, const Eigen::MatrixXd& query_key) {
  if (query_key.rows() != tokens.rows() || query_key.cols() != tokens.rows()) {
    throw InvalidArgument("query_key", "it must be d x d for tokens of d x T");
  }
  // (X^T W X)_{it} is key i against query t; a row of attention belongs to a query.
  return (query_key * tokens).transpose() * tokens;
}

Eigen::MatrixXd attention_weights(const Eigen::MatrixXd& logits, double temperature,
                                  SoftmaxKind kind, const Mask& mask) {
  if (logits.rows() > logits.cols()) {
    throw InvalidArgument("logits", "there must be a key for every query");
  }
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(logits.rows(), logits.cols());
  for (Eigen::Index t = 0; t < logits.rows(); ++t) {
    const auto keys = visible_keys(t, logits.cols(), mask);
    weights.row(t)(keys) = row_weights(logits.row(t)(keys).transpose(), temperature, kind);
  }
  return weights;
}

Eigen::VectorXd visible_weights(const Eigen::MatrixXd& weights, Eigen::Index query,
                                const Mask& mask) {
  return weights.row(query)(visible_keys(query, weights.cols(), mask)).transpose();
}

Eigen::VectorXd row_entropies(const Eigen::MatrixXd& weights, const Mask& mask) {
  return Eigen::VectorXd::NullaryExpr(weights.rows(), [&](Eigen::Index t) {
    const Eigen::VectorXd row = visible_weights(weights, t, mask);
    return normalized_entropy(row / row.sum());
  });
}

}  // namespace eigenscope

#include "attention/attention.h"

#include <string>

#include "attention/softmax.h"
#include "support/error.h"

namespace eigenscope {
namespace {

Eigen::Index visible_keys(Eigen::Index query, Eigen::Index keys, Mask mask) {
  return mask == Mask::causal ? query + 1 : keys;
}

[[noreturn]] void refuse(const char* field, std::string_view name, const char* known) {
  throw InvalidArgument(field,
                        "'" + std::string(name) + "' is not allowed; it must be one of " + known);
}

}  // namespace

SoftmaxKind softmax_of_name(std::string_view name) {
  if (name == "exact") return SoftmaxKind::exact;
  if (name == "piecewise-linear") return SoftmaxKind::piecewise_linear;
  refuse("softmax", name, "exact, piecewise-linear");
}

Mask mask_of_name(std::string_view name) {
  if (name == "causal") return Mask::causal;
  if (name == "full") return Mask::full;
  refuse("mask", name, "causal, full");
}

Eigen::MatrixXd attention_logits(const Eigen::MatrixXd& tokens, const Eigen::MatrixXd& query_key) {
  if (query_key.rows() != tokens.rows() || query_key.cols() != tokens.rows()) {
    throw InvalidArgument("query_key", "it must be d x d for tokens of d x T");
  }
  // (X^T W X)_{it} is key i against query t; a row of attention belongs to a query.
  return (query_key * tokens).transpose() * tokens;
}

Eigen::MatrixXd attention_weights(const Eigen::MatrixXd& logits, double temperature,
                                  SoftmaxKind kind, Mask mask) {
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(logits.rows(), logits.cols());
  for (Eigen::Index t = 0; t < logits.rows(); ++t) {
    const Eigen::Index n = visible_keys(t, logits.cols(), mask);
    const Eigen::VectorXd row = logits.row(t).head(n);
    weights.row(t).head(n) = kind == SoftmaxKind::exact
                                 ? softmax(row, temperature).transpose()
                                 : piecewise_linear_softmax(row, temperature).transpose();
  }
  return weights;
}

Eigen::VectorXd row_entropies(const Eigen::MatrixXd& weights, Mask mask) {
  return Eigen::VectorXd::NullaryExpr(weights.rows(), [&](Eigen::Index t) {
    const Eigen::VectorXd row = weights.row(t).head(visible_keys(t, weights.cols(), mask));
    return normalized_entropy(row / row.sum());
  });
}

}  // namespace eigenscope

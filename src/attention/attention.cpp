#include "attention/attention.h"

#include <array>

#include "attention/softmax.h"
#include "support/error.h"
#include "support/names.h"

namespace eigenscope {
namespace {

Eigen::Index visible_keys(Eigen::Index query, Eigen::Index keys, Mask mask) {
  return mask == Mask::causal ? query + 1 : keys;
}

struct SoftmaxName {
  SoftmaxKind kind;
  std::string_view name;
};
constexpr std::array kSoftmaxNames{SoftmaxName{SoftmaxKind::exact, "exact"},
                                   SoftmaxName{SoftmaxKind::piecewise_linear, "piecewise-linear"}};

struct MaskName {
  Mask mask;
  std::string_view name;
};
constexpr std::array kMaskNames{MaskName{Mask::causal, "causal"}, MaskName{Mask::full, "full"}};

}  // namespace

SoftmaxKind softmax_of_name(std::string_view name) {
  for (const SoftmaxName& entry : kSoftmaxNames) {
    if (entry.name == name) return entry.kind;
  }
  refuse_name("softmax", name, kSoftmaxNames);
}

Mask mask_of_name(std::string_view name) {
  for (const MaskName& entry : kMaskNames) {
    if (entry.name == name) return entry.mask;
  }
  refuse_name("mask", name, kMaskNames);
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
  if (mask == Mask::causal && logits.rows() > logits.cols()) {
    throw InvalidArgument("logits", "a causal mask needs a key for every query");
  }
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

#include "labs/head_outputs.h"

#include <algorithm>
#include <string>

#include "attention/softmax.h"
#include "support/error.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXd;

KeyRange content_of(const std::vector<Passage>& passages, const Transformer& model) {
  if (passages.empty()) throw InvalidArgument("passages", "have at least one");
  if (model.has_mixers()) {
    throw FormatError(std::string(model.family().name),
                      "labs on text need heads in every layer, whose outputs are not gated");
  }
  const Passage& passage = passages.front();
  const Index first = std::max<Index>(1, passage.leading);
  const Index last = std::max<Index>(model.causal() ? 1 : 0, passage.trailing);
  const Index count = passage.length() - first - last;
  if (count < kLeastContent) {
    throw InvalidArgument("length",
                          "leave room for " + std::to_string(kLeastContent) +
                              " content tokens to which others attend",
                          "found " + std::to_string(std::max<Index>(0, count)));
  }
  return {first, count};
}

double received(const MatrixXf& weights, Index key, const LayerRules& rules) {
  double sum = 0, count = 0;
  for (Index query = 0; query < weights.cols(); ++query) {
    if (query == key || !rules.seen(query, weights.rows()).contains(key)) continue;
    sum += static_cast<double>(weights(key, query));
    count += 1;
  }
  return sum / count;
}

double mean_entropy(const MatrixXf& weights, const LayerRules& rules) {
  double sum = 0, count = 0;
  for (Index query = 1; query < weights.cols(); ++query) {
    const KeyRange seen = rules.seen(query, weights.rows());
    if (seen.count < 2) continue;
    VectorXd row = weights.col(query).segment(seen.first, seen.count).cast<double>();
    if (rules.learned_sinks) row /= row.sum();
    sum += normalized_entropy(row);
    count += 1;
  }
  return sum / count;
}

MatrixXf projected_values(const Linear& output, const LayerRules& rules, int head,
                          const MatrixXf& values) {
  const Index width = rules.value_width;
  return output.weight.middleCols(head * width, width) *
         values.middleRows(rules.key_head(head) * width, width);
}

VectorXd mean_token(const MatrixXf& tokens, std::optional<Index> left_out) {
  VectorXd sum = tokens.cast<double>().rowwise().sum();
  if (left_out) sum -= tokens.col(*left_out).cast<double>();
  return sum / static_cast<double>(tokens.cols() - (left_out ? 1 : 0));
}

double cosine(const VectorXd& a, const VectorXd& b) { return a.dot(b) / (a.norm() * b.norm()); }

}  // namespace eigenscope

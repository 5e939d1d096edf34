#include "labs/head_outputs.h"

#include "attention/softmax.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXd;

double layer_work(Index width, Index length) {
  const auto d = static_cast<double>(width), t = static_cast<double>(length);
  return t * d * (12 * d + 2 * t);
}

double received(const MatrixXf& weights, Index key, bool causal) {
  double sum = 0, count = 0;
  for (Index query = causal ? key + 1 : 0; query < weights.cols(); ++query) {
    if (query == key) continue;
    sum += static_cast<double>(weights(key, query));
    count += 1;
  }
  return sum / count;
}

double mean_entropy(const MatrixXf& weights, bool causal) {
  double sum = 0;
  for (Index query = 1; query < weights.cols(); ++query) {
    const Index visible = causal ? query + 1 : weights.rows();
    sum += normalized_entropy(weights.col(query).head(visible).cast<double>());
  }
  return sum / static_cast<double>(weights.cols() - 1);
}

MatrixXf projected_values(const LayerWeights& layer, const LayerRules& rules, int head,
                          const MatrixXf& values) {
  const Index width = rules.head_width;
  return layer.attention_output.weight.middleCols(head * width, width) *
         values.middleRows(rules.key_head(head) * width, width);
}

VectorXd mean_token(const MatrixXf& tokens, std::optional<Index> left_out) {
  VectorXd sum = tokens.cast<double>().rowwise().sum();
  if (left_out) sum -= tokens.col(*left_out).cast<double>();
  return sum / static_cast<double>(tokens.cols() - (left_out ? 1 : 0));
}

double cosine(const VectorXd& a, const VectorXd& b) { return a.dot(b) / (a.norm() * b.norm()); }

}  // namespace eigenscope

#include "checkpoint/layer_scores.h"

#include "spectrum/directionality.h"
#include "support/gemm.h"

namespace eigenscope {
namespace {

void score(const Eigen::MatrixXd& matrix, LayerScore& layer) {
  const double all = matrix.squaredNorm();
  layer.symmetry = matrix.cwiseProduct(matrix.transpose()).sum() / all;
  layer.directionality = directionality(matrix.rowwise().norm(), matrix.colwise().norm());
}

}  // namespace

void LayerScores::add(const ScannedHead& head) {
  const HeadFactors own = in_double(head);
  if (scores_.empty() || scores_.back().layer != own.layer || scores_.back().stack != own.stack) {
    if (!scores_.empty()) score(sum_, scores_.back());
    scores_.push_back({own.stack, own.layer});
    sum_ = Eigen::MatrixXd::Zero(own.query.rows(), own.query.rows());
  }
  sum_ += times(own.query, own.key.transpose());
  ++scores_.back().heads;
}

std::vector<LayerScore> LayerScores::result() const {
  std::vector<LayerScore> scores = scores_;
  if (!scores.empty()) score(sum_, scores.back());
  return scores;
}

}  // namespace eigenscope

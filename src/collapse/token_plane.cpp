#include "collapse/token_plane.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/attention.h"
#include "collapse/geometry.h"
#include "support/decompositions.h"
#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::Matrix2d;
using Eigen::Matrix2Xd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Coordinates along the first two principal axes of centred tokens, from the smaller Gram matrix; an axis that does not
// exist has zeros.
Matrix2Xd principal_coordinates(const MatrixXd& centred) {
  const bool wide = centred.rows() <= centred.cols();
  const MatrixXd gram =
      wide ? times(centred, centred.transpose()) : transposed_times(centred, centred);
  const SymmetricEigen eigen = symmetric_eigen(gram);
  Matrix2Xd place = Matrix2Xd::Zero(2, centred.cols());
  for (Index axis = 0; axis < std::min<Index>(2, gram.rows()); ++axis) {
    const Index column = gram.rows() - 1 - axis;
    const auto vector = eigen.vectors.col(column);
    if (wide) {
      place.row(axis) = vector.transpose() * centred;
    } else {
      place.row(axis) = std::sqrt(std::max(0.0, eigen.values[column])) * vector.transpose();
    }
  }
  return place;
}

// The rotation or reflection R that minimizes ||R place - target||_F: the one with the larger trace of R place target^T
// (orthogonal Procrustes in the plane).
Matrix2d nearest_turn(const Matrix2Xd& place, const Matrix2Xd& target) {
  const Matrix2d m = target * place.transpose();
  const double cosine = m(0, 0) + m(1, 1), sine = m(1, 0) - m(0, 1);
  const double mirrored_cosine = m(0, 0) - m(1, 1), mirrored_sine = m(1, 0) + m(0, 1);
  const double rotated = std::hypot(cosine, sine);
  const double mirrored = std::hypot(mirrored_cosine, mirrored_sine);
  Matrix2d turn = Matrix2d::Identity();
  if (rotated >= mirrored && rotated > 0) {
    turn << cosine, -sine, sine, cosine;
    turn /= rotated;
  } else if (mirrored > 0) {
    turn << mirrored_cosine, mirrored_sine, mirrored_sine, -mirrored_cosine;
    turn /= mirrored;
  }
  return turn;
}

// The mean over heads and queries, without queries that see one key.
double mean_entropy(const std::vector<MatrixXd>& attention, const Mask& mask) {
  double sum = 0, queries = 0;
  for (const MatrixXd& weights : attention) {
    for (const double entropy : query_entropies(weights, mask)) {
      if (std::isnan(entropy)) continue;
      sum += entropy;
      queries += 1;
    }
  }
  return queries > 0 ? sum / queries : kNaN;
}

}  // namespace

Matrix2Xd plane_of(const MatrixXd& tokens, const Matrix2Xd* previous) {
  const double residual = tokens.allFinite() ? token_geometry(tokens).residual : kNaN;
  if (std::isnan(residual)) return Matrix2Xd::Constant(2, tokens.cols(), kNaN);
  const MatrixXd scaled = tokens / tokens.cwiseAbs().maxCoeff();  // their squares stay in range
  Matrix2Xd place = principal_coordinates(scaled.colwise() - scaled.rowwise().mean());
  const double norm = place.norm();
  if (norm > 0) place *= residual * std::sqrt(static_cast<double>(tokens.cols())) / norm;
  if (previous && previous->allFinite()) return nearest_turn(place, *previous) * place;
  for (Index axis = 0; axis < 2; ++axis) {
    Index largest = 0;
    place.row(axis).cwiseAbs().maxCoeff(&largest);
    if (place(axis, largest) < 0) place.row(axis) *= -1;
  }
  return place;
}

TokenPlane::TokenPlane(const StackSettings& settings, const SpectrumPoint& point)
    : run_(settings, point, settings.depth), mask_(settings.mask) {
  measure();
}

bool TokenPlane::advance(Index layers) {
  for (; layers > 0 && steps_done() < steps_wanted(); --layers) {
    if (run_.tokens().allFinite()) run_.advance();
    measure();
  }
  return steps_done() == steps_wanted();
}

void TokenPlane::measure() {
  const MatrixXd& tokens = run_.tokens();
  const Index length = tokens.cols();
  PlaneLayer layer{plane_of(tokens, layers_.empty() ? nullptr : &layers_.back().place), kNaN, kNaN,
                   VectorXd::Zero(length), VectorXd::Zero(length)};
  if (tokens.allFinite()) layer.residual = token_geometry(tokens).residual;
  const std::vector<MatrixXd>& attention = run_.attention();
  if (!attention.empty() && tokens.allFinite()) {
    layer.entropy = mean_entropy(attention, mask_);
    MatrixXd mean = attention.front();
    for (std::size_t head = 1; head < attention.size(); ++head) mean += attention[head];
    mean /= static_cast<double>(attention.size());
    for (Index query = 0; query < length; ++query) {
      Index key = 0;
      const double weight = mean.col(query).maxCoeff(&key);
      if (!(weight > 0)) continue;
      layer.key[query] = static_cast<double>(key + 1);
      layer.weight[query] = weight;
    }
  }
  layers_.push_back(std::move(layer));
}

}  // namespace eigenscope

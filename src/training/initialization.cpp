#include <algorithm>
#include <cmath>

#include "support/normal_matrix.h"
#include "training/model.h"

namespace eigenscope {

using Eigen::Index;

namespace {

// `count` orthonormal vectors of `size` coordinates, by Gram and Schmidt in plain loops: the same bits
// everywhere.
Eigen::MatrixXd orthonormal(Index size, Index count, std::uint64_t seed, std::uint64_t stream) {
  Eigen::MatrixXd basis = normal_matrix(size, count, seed, stream).cast<double>();
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double product = 0;
      for (Index k = 0; k < size; ++k) product += basis(k, i) * basis(k, j);
      if (i != j) {
        basis.col(i) -= product * basis.col(j);
      } else {
        basis.col(i) /= std::sqrt(product);
      }
    }
  }
  return basis;
}

// Adds sqrt(c) U to the queries and keys of every group, U of orthonormal columns, so that their W is
// near c U U^T, with c = m* d / d_h for a mean of m* over all d eigenvalues; in the first `acting` heads.
// With `zero_mean` the keys take the columns of U in the next one's place: W is near c U P U^T for a
// cyclic permutation P, of the same singular values, whose eigenvalues add up to zero.
template <class Scalar>
void add_mimetic(Model<Scalar>& model, double target, Index acting, bool zero_mean,
                 std::uint64_t seed) {
  const ModelSettings& settings = model.settings();
  const Index d = settings.width, width = settings.head_width();
  const AttentionShape shape{settings.heads, settings.groups(), width, 1, 1};
  const double c = target * static_cast<double>(d) / static_cast<double>(width);
  const double root = std::sqrt(std::abs(c));
  const std::uint64_t first_stream = model.layout().blocks.size();
  for (Index layer = 0; layer < settings.depth; ++layer) {
    Eigen::Map<Matrix<Scalar>> fused(model.parameters().data() + model.layout().at(layer).fused,
                                     shape.fused(), d);
    const Index members = settings.heads / settings.groups();
    for (Index group = 0; group * members < acting; ++group) {
      const auto stream =
          first_stream + static_cast<std::uint64_t>(layer * settings.groups() + group);
      Matrix<Scalar> rows =
          (root * orthonormal(d, width, seed, stream).transpose()).template cast<Scalar>();
      const Index end = std::min((group + 1) * members, acting);
      for (Index head = group * members; head < end; ++head) {
        fused.middleRows(head * width, width) += c < 0 ? Matrix<Scalar>(-rows) : rows;
      }
      for (Scalar* column = rows.data(); zero_mean && column < rows.data() + rows.size();
           column += width) {
        std::rotate(column, column + 1, column + width);
      }
      fused.middleRows(shape.key_row(group * members), width) += rows;
    }
  }
}

// Replaces the queries Q and keys K, drawn from N(0, std^2), by factor (alpha K + sqrt(1 - alpha^2) Q) and factor K.
template <class Scalar>
void correlate(Model<Scalar>& model, double alpha, double factor) {
  const ModelSettings& settings = model.settings();
  const Index d = settings.width, width = settings.head_width();
  const AttentionShape shape{settings.heads, settings.groups(), width, 1, 1};
  const auto keep = static_cast<Scalar>(factor * std::sqrt(1 - alpha * alpha));
  for (const LayerOffsets& layer : model.layout().layers) {
    Eigen::Map<Matrix<Scalar>> fused(model.parameters().data() + layer.fused, shape.fused(), d);
    for (Index head = 0; head < settings.heads; ++head) {
      const auto keys = fused.middleRows(shape.key_row(head), width);
      fused.middleRows(head * width, width) = (keep * fused.middleRows(head * width, width) +
                                               static_cast<Scalar>(factor * alpha) * keys)
                                                  .eval();
    }
    fused.middleRows(settings.heads * width, settings.groups() * width) *=
        static_cast<Scalar>(factor);
  }
}

}  // namespace

template <class Scalar>
void initialize(Model<Scalar>& model, const RegularizerSettings& settings, std::uint64_t seed) {
  const ModelSettings& shape = model.settings();
  const float std = 0.02f * std::sqrt(768.0f / static_cast<float>(shape.width));
  const float residual =
      std / std::sqrt(2.0f * static_cast<float>(std::max<Index>(1, shape.depth)));
  const auto& blocks = model.layout().blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    auto values = model.parameters().segment(block.offset, block.size());
    const bool gain = block.vector && block.name.ends_with(".weight");
    values.setConstant(gain ? Scalar(1) : Scalar(0));
    if (block.vector) continue;
    const float scale = block.name.ends_with("c_proj.weight") ? residual : std;
    values = (scale * normal_matrix(block.size(), 1, seed, i)).template cast<Scalar>();
  }
  const bool zero_mean = settings.initialization == Initialization::mimetic_zero;
  if (zero_mean || settings.initialization == Initialization::mimetic) {
    add_mimetic(model, settings.target, settings.acting(shape.heads), zero_mean, seed);
  }
  if (settings.initialization == Initialization::correlated) {
    correlate(model, settings.alpha, settings.init_scale / training::kNormalInitScale);
  }
}

template void initialize(Model<float>&, const RegularizerSettings&, std::uint64_t);
template void initialize(Model<double>&, const RegularizerSettings&, std::uint64_t);

}  // namespace eigenscope

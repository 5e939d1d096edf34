#include "labs/diagonal_heads.h"

#include <cmath>

#include "statistics/estimate.h"
#include "support/vector_of.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::array<PermutedCorrelation, kDiagonalPropertyNames.size()> diagonal_correlations(
    const std::vector<std::vector<DiagonalHead>>& models, std::uint64_t seed) {
  constexpr std::array<std::pair<double DiagonalHead::*, double DiagonalHead::*>,
                       kDiagonalPropertyNames.size()>
      kMembers{{{&DiagonalHead::trace, &DiagonalHead::excess},
                {&DiagonalHead::trace, &DiagonalHead::mass},
                {&DiagonalHead::bias_mass, &DiagonalHead::mass},
                {&DiagonalHead::predicted, &DiagonalHead::mass}}};
  std::array<PermutedCorrelation, kDiagonalPropertyNames.size()> all;
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<VectorXd> a, b;  // by model
    for (const std::vector<DiagonalHead>& heads : models) {
      a.push_back(vector_over(heads, kMembers[k].first));
      b.push_back(vector_over(heads, kMembers[k].second));
    }
    all[k] = permuted_correlation(a, b, Permutation::separate, seed);
  }
  return all;
}

DiagonalErrors diagonal_errors(const std::vector<std::vector<DiagonalHead>>& models) {
  const auto over = [&](double DiagonalHead::*of, double DiagonalHead::*measured) {
    return estimate_over(models.size(), [&](std::size_t i) {
      const VectorXd expected = vector_over(models[i], measured);
      return (vector_over(models[i], of) - expected).lpNorm<1>() / expected.lpNorm<1>();
    });
  };
  return {over(&DiagonalHead::trace, &DiagonalHead::excess),
          over(&DiagonalHead::predicted, &DiagonalHead::mass),
          over(&DiagonalHead::bias_mass, &DiagonalHead::mass)};
}

DiagonalSums::DiagonalSums(const ModelSettings& settings)
    : covariances_(static_cast<std::size_t>(settings.depth),
                   MatrixXd::Zero(settings.width, settings.width)),
      excess_(VectorXd::Zero(settings.depth * settings.heads)),
      mass_(excess_) {}

void DiagonalSums::add(const Model<float>& model) {
  const AttentionShape& shape = model.shape();
  for (Index sequence = 0; sequence < shape.batch; ++sequence) {
    // Every other passage.
    const bool traced = traced_ < measured_;
    (traced ? traced_ : measured_) += 1;
    for (Index layer = 0; layer < model.settings().depth; ++layer) {
      if (!traced) {
        add_rows(model, layer, sequence);
        continue;
      }
      MatrixXd tokens = model.attention_input(layer)
                            .middleCols(sequence * shape.length, shape.length)
                            .cast<double>();
      tokens.colwise() -= tokens.rowwise().mean().eval();
      covariances_[static_cast<std::size_t>(layer)] +=
          tokens * tokens.transpose() / static_cast<double>(shape.length - 1);
    }
  }
}

void DiagonalSums::add_rows(const Model<float>& model, Index layer, Index sequence) {
  const AttentionShape& shape = model.shape();
  const Index length = shape.length, width = shape.head_width;
  const auto rows = static_cast<double>(length - 1);
  const MatrixXd fused = model.fused(layer).middleCols(sequence * length, length).cast<double>();
  for (Index head = 0; head < shape.heads; ++head) {
    const MatrixXd logits = fused.middleRows(shape.key_row(head), width).transpose() *
                            fused.middleRows(head * width, width) /
                            std::sqrt(static_cast<double>(width));
    const Index place = layer * shape.heads + head;
    const Index column = shape.weights_column(sequence, head);
    for (Index t = 1; t < length; ++t) {
      const Index keys = shape.keys(t);
      const double logit = logits(t, t), others = logits.col(t).head(keys).sum() - logit;
      excess_[place] += (logit - others / static_cast<double>(keys - 1)) / rows;
      mass_[place] += static_cast<double>(model.attention(layer)(t, column + t)) / rows;
    }
  }
}

std::vector<DiagonalHead> DiagonalSums::heads(const Model<float>& model, std::uint64_t seed) const {
  const ModelSettings& settings = model.settings();
  const AttentionShape& shape = model.shape();
  const Index length = settings.length;
  const Index offsets = OffsetTerms<float>{length}.rows(shape.visible), zero = length - 1;
  std::vector<DiagonalHead> all;
  for (Index place = 0; place < mass_.size(); ++place) {
    DiagonalHead diagonal{seed, place / settings.heads, place % settings.heads};
    const HeadFactors factors = model.head(diagonal.layer, diagonal.head);
    const auto layer = static_cast<std::size_t>(diagonal.layer);
    diagonal.trace = (factors.query.transpose() * covariances_[layer] * factors.key).trace() /
                     traced_ / std::sqrt(static_cast<double>(shape.head_width));
    diagonal.excess = excess_[place] / measured_;
    diagonal.mass = mass_[place] / measured_;
    const VectorXd bias =
        model.parameters()
            .segment(model.layout().layers[layer].relative + diagonal.head * offsets, offsets)
            .cast<double>();
    const auto rows = static_cast<double>(length - 1);
    for (Index t = 1; t < length; ++t) {
      double others = 0;
      for (Index key = 0; key < shape.keys(t); ++key) {
        if (key != t) others += std::exp(bias[zero + key - t] - bias[zero]);
      }
      diagonal.bias_mass += 1 / (1 + others) / rows;
      diagonal.predicted += 1 / (1 + others * std::exp(-diagonal.trace)) / rows;
    }
    all.push_back(diagonal);
  }
  return all;
}

}  // namespace eigenscope

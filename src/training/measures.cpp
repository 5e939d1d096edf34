#include "training/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/attention.h"
#include "collapse/geometry.h"
#include "propagation/propagation.h"
#include "propagation/theory_range.h"
#include "spectrum/eigenvalues.h"
#include "spectrum/traces.h"
#include "spectrum/weighted_spectrum.h"
#include "support/error.h"
#include "training/adamw.h"
#include "training/logit_parts.h"
#include "training/projections.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Norm of the rows `first` to `last` of a rows x columns matrix.
double norm_of_rows(const float* matrix, Index rows, Index columns, Index first, Index last) {
  double square = 0;
  for (Index column = 0; column < columns; ++column) {
    const double norm = gradient_norm(matrix + column * rows + first, last - first);
    square += norm * norm;
  }
  return std::sqrt(square);
}

// Means over the rows of a head's attention, each but the first of its sequence.
struct RowMeans {
  double entropy = 0, bound = 0, self_mass = 0, self_reference = 0, sensitivity = 0, sink = 0;
};

RowMeans row_means(const Model<float>& model, const std::vector<double>& token_norms,
                   const HeadFactors& factors, double frobenius, double bias, double self_excess) {
  const AttentionShape& shape = model.shape();
  const Matrix<float>& in = model.attention_input(factors.layer);
  if (model.settings().attention == AttentionKind::none)
    return {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN};
  RowMeans mean;
  double count = 0;
  for (Index sequence = 0; sequence < shape.batch; ++sequence) {
    const double norm = token_norms[static_cast<std::size_t>(sequence)];
    for (Index t = 1; t < shape.length; ++t) {
      const Index column = shape.weights_column(sequence, factors.head) + t;
      const Index keys = shape.keys(t);
      const auto others = static_cast<double>(keys - 1);
      const Eigen::VectorXd weights =
          model.attention(factors.layer).col(column).head(keys).cast<double>();
      const double query = in.col(sequence * shape.length + t).cast<double>().norm();
      const double logits =
          norm * (frobenius * query + bias) / std::sqrt(static_cast<double>(shape.head_width));
      mean.entropy += normalized_entropy(weights);
      mean.bound += entropy_lower_bound(logits, keys) / std::log(static_cast<double>(keys));
      mean.self_mass += weights[t];
      mean.sink += weights[0];
      mean.self_reference += 1 / (1 + others * std::exp(-self_excess));
      double square = 0;
      for (Index k = 0; k < keys; ++k) square += weights[k] * weights[k];
      mean.sensitivity += 1 - square;
      count += 1;
    }
  }
  for (double* sum : {&mean.entropy, &mean.bound, &mean.self_mass, &mean.self_reference,
                      &mean.sensitivity, &mean.sink}) {
    *sum /= count;
  }
  return mean;
}

struct Spectrum {
  SpectralMoments moments;
  double modulus = 0, localization = 0, largest = 0;
};

// Throws FormatError naming layer and head for weights that the theory does not allow.
Spectrum spectrum_of(const HeadFactors& factors, const CentredKernel& kernel) {
  const std::string name =
      "layer " + std::to_string(factors.layer) + " head " + std::to_string(factors.head);
  if (!factors.query.allFinite() || !factors.key.allFinite()) {
    throw FormatError(name, "its weights are not finite");
  }
  return within_theory(name, [&]() -> Spectrum {
    const FactorProducts products = products_of_factors(factors.query, factors.key);
    const SpectralMoments moments = moments_of_products(products);
    const double temperature = std::sqrt(static_cast<double>(factors.query.cols()));
    return {moments, variance_modulus(eigenvalues_of_matrix(products.core), moments.width),
            propagate(kernel, moments.traces, temperature).localization,
            largest_singular_value(products)};
  });
}

// The change of W in a step.
struct Update {
  double ratio = kNaN, entropy = kNaN;
};

// From factors: W - W' = [W_Q - W_Q', W_Q'] [W_K, W_K - W_K']^T.
Update update_of(const HeadFactors& now, const HeadFactors& before, double norm) {
  const Index d = now.query.rows(), width = now.query.cols();
  MatrixXd query(d, 2 * width), key(d, 2 * width);
  query << now.query - before.query, before.query;
  key << now.key, now.key - before.key;
  const Eigen::ArrayXd squares = squared_singular_values(products_of_factors(query, key));
  const double total = squares.sum();
  if (!(total > 0)) return {0, kNaN};
  double entropy = 0;
  for (const double square : squares) {
    if (square > 0) entropy -= square / total * std::log(square / total);
  }
  return {std::sqrt(total) / norm, entropy / std::log(2.0 * static_cast<double>(width))};
}

// Covariance of the columns of a matrix.
MatrixXd covariance_of(const MatrixXd& columns) {
  const MatrixXd centred = columns.colwise() - columns.rowwise().mean();
  return centred * centred.transpose() / static_cast<double>(columns.cols());
}

}  // namespace

GradientNorms::GradientNorms(Index depth)
    : embedding(kNaN),
      query_key(kNaN),
      value(kNaN),
      mlp(kNaN),
      vectors(kNaN),
      layers(static_cast<std::size_t>(depth), kNaN),
      layers_query_key(layers) {}

GradientNorms::GradientNorms(const ModelSettings& settings, const ParameterLayout& layout,
                             const Vector<float>& gradient)
    : GradientNorms(settings.depth) {
  // Sums of squares first.
  embedding = query_key = value = mlp = vectors = 0;
  std::fill(layers.begin(), layers.end(), 0.0);
  std::fill(layers_query_key.begin(), layers_query_key.end(), 0.0);
  const Index query_key_rows = settings.width + settings.groups() * settings.head_width();
  for (const Block& block : layout.blocks) {
    const float* const slopes = gradient.data() + block.offset;
    const double norm = gradient_norm(slopes, block.size());
    const auto layer = static_cast<std::size_t>(block.layer);
    if (block.layer >= 0) layers[layer] += norm * norm;
    if (block.vector) {
      vectors += norm * norm;
    } else if (block.layer < 0) {
      embedding += norm * norm;
    } else if (block.offset == layout.layers[layer].fused) {
      const double first = norm_of_rows(slopes, block.rows, block.columns, 0, query_key_rows);
      const double rest =
          norm_of_rows(slopes, block.rows, block.columns, query_key_rows, block.rows);
      layers_query_key[layer] = first * first;
      query_key += first * first;
      value += rest * rest;
    } else {
      (block.offset == layout.layers[layer].projection ? value : mlp) += norm * norm;
    }
  }
  for (double* square : {&embedding, &query_key, &value, &mlp, &vectors}) {
    *square = std::sqrt(*square);
  }
  for (double& square : layers) square = std::sqrt(square);
  for (double& square : layers_query_key) square = std::sqrt(square);
}

void measure_layers(const Model<float>& model, const GradientNorms& gradients, LogRow& row) {
  const AttentionShape& shape = model.shape();
  for (Index layer = 0; layer < model.settings().depth; ++layer) {
    const MatrixXd tokens = model.output_of(layer + 1).cast<double>();
    double residual = 0, rank = 0;
    for (Index sequence = 0; sequence < shape.batch; ++sequence) {
      const TokenGeometry geometry =
          token_geometry(tokens.middleCols(sequence * shape.length, shape.length));
      residual += geometry.residual / static_cast<double>(shape.batch);
      rank += geometry.effective_rank / static_cast<double>(shape.batch);
    }
    const auto number = static_cast<std::size_t>(layer);
    row.layers[number] = {residual, rank, gradients.layers[number],
                          gradients.layers_query_key[number]};
  }
}

void measure_heads(const Model<float>& model, const CentredKernel& kernel,
                   const Vector<float>& before, LogRow& row) {
  const AttentionShape& shape = model.shape();
  const ModelSettings& settings = model.settings();
  const bool bounded = settings.positions == Positions::learned && !settings.has_offset_terms() &&
                       settings.query_key_norm == QueryKeyNorm::none &&
                       settings.attention == AttentionKind::softmax;
  const std::vector<double> largest = largest_logits(model);
  for (Index layer = 0; layer < settings.depth; ++layer) {
    const MatrixXd covariance = covariance_of(model.attention_input(layer).cast<double>());
    std::vector<double> token_norms;
    for (Index sequence = 0; sequence < shape.batch; ++sequence) {
      const Matrix<float>& in = model.attention_input(layer);
      token_norms.push_back(
          spectral_norm(in.middleCols(sequence * shape.length, shape.length).cast<double>()));
    }
    const std::vector<LogitStatistics> logits = logit_statistics(model, layer);
    const Index bias = model.layout().at(layer).fused_bias;
    for (Index head = 0; head < settings.heads; ++head) {
      const HeadFactors factors = model.head(layer, head);
      const auto [moments, modulus, localization, sigma] = spectrum_of(factors, kernel);
      const double frobenius = std::sqrt(moments.traces.eta_f);
      const double eta_f =
          covariance.allFinite()
              ? products_of_factors(factors.query, factors.key, covariance).traces().eta_f
              : kNaN;
      const Update update = before.size() > 0
                                ? update_of(factors, model.head(layer, head, before), frobenius)
                                : Update{};
      const Eigen::VectorXd query_bias =
          model.parameters()
              .segment(bias + head * shape.head_width, shape.head_width)
              .cast<double>();
      const LogitStatistics& statistics = logits[static_cast<std::size_t>(head)];
      const RowMeans means = row_means(model, token_norms, factors, frobenius,
                                       (factors.key * query_bias).norm(), statistics.self_excess);
      row.heads[static_cast<std::size_t>(layer * settings.heads + head)] = {
          moments.mean(),
          moments.variance(),
          modulus,
          moments.variance_frobenius(),
          moments.traces.eta_s,
          moments.traces.eta_f,
          localization,
          means.entropy,
          bounded ? means.bound : kNaN,
          means.self_mass,
          statistics.self_excess,
          means.self_reference,
          means.sensitivity,
          statistics.variance,
          statistics.parts[0],
          statistics.parts[1],
          statistics.parts[2],
          statistics.parts[3],
          statistics.parts[4],
          means.sink,
          largest[static_cast<std::size_t>(layer * settings.heads + head)],
          std::sqrt(eta_f / static_cast<double>(shape.head_width)),
          sigma,
          moments.traces.eta_f / (sigma * sigma),
          update.ratio,
          update.entropy};
    }
  }
}

}  // namespace eigenscope

#include "training/projections.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/gemm.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;

// The first `rows` of queries, keys and values in every layer.
void scale_rows(Index rows, const ModelSettings& settings, const ParameterLayout& layout,
                float factor, Vector<float>& numbers) {
  const Index fused = settings.fused_width();
  for (const LayerOffsets& layer : layout.layers) {
    for (Index j = 0; j < settings.width; ++j) {
      numbers.segment(layer.fused + j * fused, rows) *= factor;
    }
    numbers.segment(layer.fused_bias, rows) *= factor;
  }
}

double largest_logit(const Model<float>& model, Index layer, Index head, Matrix<float>& logits) {
  const AttentionShape& shape = model.shape();
  const Matrix<float>& fused = model.fused(layer);
  float largest = -std::numeric_limits<float>::infinity();
  for (Index sequence = 0; sequence < shape.batch; ++sequence) {
    const float* const column = fused.data() + sequence * shape.length * fused.rows();
    multiply(shape.length, shape.length, shape.head_width,
             factor(column + shape.key_row(head), fused.rows()).transposed(),
             factor(column + head * shape.head_width, fused.rows()), logits.data(), shape.length);
    for (Index t = 0; t < shape.length; ++t) {
      const float* const keys = logits.data() + t * shape.length;
      largest = std::max(largest, *std::max_element(keys, keys + shape.keys(t)));
    }
  }
  return static_cast<double>(largest) / std::sqrt(static_cast<double>(shape.head_width));
}

// The spectral norm of the rows x columns matrix at `w`, from below.
double norm_of(const float* w, const ProjectionPlace& place) {
  constexpr int kIterations = 8;
  constexpr std::uint64_t kStart = 11;  // any numbers: the first vector is the same in every step
  std::vector<double> u(static_cast<std::size_t>(place.rows)),
      v(static_cast<std::size_t>(place.columns));
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = random_unit(kStart, 0, i) - 0.5;
  double norm = 0;
  for (int k = 0; k < kIterations; ++k) {
    double square = 0, along = 0;
    for (const double entry : u) square += entry * entry;
    for (Index j = 0; j < place.columns; ++j) {
      const float* const column = w + j * place.leading;
      double sum = 0;
      for (Index i = 0; i < place.rows; ++i) {
        sum += static_cast<double>(column[i]) * u[static_cast<std::size_t>(i)];
      }
      v[static_cast<std::size_t>(j)] = sum;
      along += sum * sum;
    }
    norm = square > 0 ? std::sqrt(along / square) : 0;
    if (along == 0) return norm;
    std::fill(u.begin(), u.end(), 0.0);
    const double inverse = 1 / std::sqrt(along);
    for (Index j = 0; j < place.columns; ++j) {
      const float* const column = w + j * place.leading;
      const double entry = v[static_cast<std::size_t>(j)] * inverse;
      for (Index i = 0; i < place.rows; ++i) {
        u[static_cast<std::size_t>(i)] += static_cast<double>(column[i]) * entry;
      }
    }
  }
  return norm;
}

}  // namespace

std::vector<ProjectionPlace> projections_of(const ModelSettings& settings,
                                            const ParameterLayout& layout) {
  const Index d = settings.width, fused = settings.fused_width();
  const Index keys = settings.groups() * settings.head_width();
  std::vector<ProjectionPlace> all;
  for (const LayerOffsets& layer : layout.layers) {
    all.push_back({layer.fused, d, d, fused});
    all.push_back({layer.fused + d, keys, d, fused});
    all.push_back({layer.fused + d + keys, keys, d, fused});
    all.push_back({layer.projection, d, d, d});
    if (layer.up < 0) continue;
    all.push_back({layer.up, settings.hidden(), d, settings.hidden()});
    if (layer.gate >= 0) all.push_back({layer.gate, settings.hidden(), d, settings.hidden()});
    all.push_back({layer.down, d, settings.hidden(), d});
  }
  return all;
}

void scale_queries(const ModelSettings& settings, const ParameterLayout& layout, float factor,
                   Vector<float>& numbers) {
  scale_rows(settings.width, settings, layout, factor, numbers);
}

void scale_queries_and_keys(const ModelSettings& settings, const ParameterLayout& layout,
                            float factor, Vector<float>& numbers) {
  const Index rows = settings.width + settings.groups() * settings.head_width();
  scale_rows(rows, settings, layout, factor, numbers);
}

std::vector<double> largest_logits(const Model<float>& model) {
  std::vector<double> all;
  Matrix<float> logits(model.shape().length, model.shape().length);
  for (Index layer = 0; layer < model.settings().depth; ++layer) {
    for (Index head = 0; head < model.settings().heads; ++head) {
      all.push_back(largest_logit(model, layer, head, logits));
    }
  }
  return all;
}

void clip_queries_and_keys(double limit, Model<float>& model) {
  const AttentionShape& shape = model.shape();
  const Index d = model.settings().width, width = shape.head_width;
  const bool grouped = shape.groups != shape.heads;
  const std::vector<double> logits = largest_logits(model);
  for (Index layer = 0; layer < model.settings().depth; ++layer) {
    const LayerOffsets& offsets = model.layout().at(layer);
    Eigen::Map<Matrix<float>> fused(model.parameters().data() + offsets.fused, shape.fused(), d);
    for (Index head = 0; head < shape.heads; ++head) {
      const double largest = logits[static_cast<std::size_t>(layer * shape.heads + head)];
      if (!(largest > limit)) continue;
      const double ratio = limit / largest;
      const auto part = static_cast<float>(grouped ? ratio : std::sqrt(ratio));
      const auto shrink = [&](Index row) {
        fused.middleRows(row, width) *= part;
        model.parameters().segment(offsets.fused_bias + row, width) *= part;
      };
      shrink(head * width);
      if (!grouped) shrink(shape.key_row(head));
    }
  }
}

void limit_growth(double limit, const Model<float>& model, const Vector<float>& before,
                  Vector<float>& parameters) {
  const Vector<float> update = parameters - before;
  for (const ProjectionPlace& place : projections_of(model.settings(), model.layout())) {
    const double step = norm_of(update.data() + place.offset, place);
    const double most = limit * norm_of(before.data() + place.offset, place);
    if (step <= most) continue;
    const auto share = static_cast<float>(most / step);
    for (Index j = 0; j < place.columns; ++j) {
      const Index column = place.offset + j * place.leading;
      parameters.segment(column, place.rows) =
          before.segment(column, place.rows) + share * update.segment(column, place.rows);
    }
  }
}

}  // namespace eigenscope

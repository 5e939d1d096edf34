// Rank and entropy over the depth of a stack of attention blocks: at given points of the plane of
// eigenspectra (`collapse`), after the last layer over a grid (`collapse-map`); of one sampled stack the
// cosines of its tokens (`cosines`) and their places in a plane, layer by layer (`token-plane`).
#include "collapse/collapse.h"

#include <array>
#include <string>

#include "collapse/geometry.h"
#include "collapse/token_plane.h"
#include "operations/estimates.h"
#include "operations/operations.h"
#include "operations/theory_fields.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr Parameter kLayer{"layer", integers(0, 512), 12,
                           "layer of the stack; 0 is the input; at most the depth"};
constexpr std::array kSharingNames{Choice{"fresh", "new each layer"},
                                   Choice{"shared", "shared by all"}};

struct StackInput {
  EnsembleInput ensemble;
  TokensInput tokens;
  StackSettings settings;

  StackSettings stack() const {
    StackSettings stack = settings;
    stack.weights.ensemble = ensemble.settings();
    stack.tokens = tokens.process();
    return stack;
  }
};

void describe(InputFields& f, StackInput& in) {
  StackSettings& s = in.settings;
  describe(f, in.ensemble);
  describe(f, in.tokens);
  describe(f, s.mask);
  f.number(shared::kDepth, s.depth);
  f.number(shared::kHeads, s.weights.heads);
  f.number(kResidualWeight, s.residual_weight);
  f.number(shared::kMlpRatio, s.weights.mlp_ratio);
  f.choice("layer_norm", s.place, kNormPlaceNames, "place of the normalization");
  f.choice("norm", s.norm, kNormNames, "kind of normalization");
  f.choice("values", s.weights.values, kValueNames, "value matrix W_V");
  f.number(kShear, s.weights.shear);
  f.choice("weights", s.weights.shared, kSharingNames,
           "weights drawn anew in each layer or shared by all");
  f.choice("softmax", s.softmax, kSoftmaxNames, "form of the softmax");
  f.number(shared::kTemperature, s.temperature);
}

/// Settings and range of the stacks, and the measured layers.
struct StacksInput {
  StackInput stack;
  StackRange range;
  MeasuredLayers layers = MeasuredLayers::all;

  Collapse at(std::vector<SpectrumPoint> points) const {
    return Collapse(stack.stack(), std::move(points), range, layers);
  }
};

void describe(InputFields& f, StacksInput& in) {
  describe(f, in.stack);
  f.number(kStacks, in.range.count);
  f.number(kFirstStack, in.range.first);
  f.choice("layers", in.layers, kMeasuredLayersNames, "layers to measure");
}

struct CollapseResult {
  std::vector<SpectrumPoint> points;
  VectorXd layer, samples;
  std::array<VectorXd, kLayerMeasures.size()> value, error;  ///< points x layers
  std::vector<std::string> refused;
  VectorXd overflow;
};

void describe(ResultFields& out, const CollapseResult& result) {
  const auto points = static_cast<Index>(result.points.size());
  const Dimension point{"point", points}, layer{"layer", result.layer.size()};
  const VectorXd means = vector_over(result.points, &SpectrumPoint::mean);
  const VectorXd variances = vector_over(result.points, &SpectrumPoint::variance);
  out.array("mean", means, {point}, "mean of the eigenspectrum");
  out.array("variance", variances, {point}, "variance of the eigenspectrum");
  out.counts("layer", result.layer, {layer}, "layer; 0 is the input, which has no attention");
  out.counts("samples", result.samples, {point, layer},
             "sampled stacks with finite values in this layer");
  for (std::size_t k = 0; k < kLayerMeasures.size(); ++k) {
    const std::string name(kLayerMeasures[k].name);
    out.array(name.c_str(), result.value[k], {point, layer}, kLayerMeasures[k].label);
    out.array((name + "_error").c_str(), result.error[k], {point, layer}, "its standard error");
  }
  out.texts("refused", result.refused, point,
            "reason why the ensemble does not exist at this point; empty if it does");
  out.counts("overflow", result.overflow, {point}, "first layer with overflow; 0 without overflow");
  for (Index i = 0; i < result.overflow.size(); ++i) {
    if (result.overflow[i] == 0) continue;
    out.note("at mean " + shown(means[i]) + " and variance " + shown(variances[i]) +
             " the tokens overflow in layer " + shown(result.overflow[i]) +
             "; later layers have fewer samples or none");
  }
}

/// Points x layers, point after point.
template <class Entry>
VectorXd stacks_table(const Collapse& collapse, Entry entry) {
  const Index rows = collapse.rows();
  VectorXd entries(rows * static_cast<Index>(collapse.points().size()));
  for (Index i = 0; i < entries.size(); ++i) {
    entries[i] = entry(static_cast<std::size_t>(i / rows), i % rows);
  }
  return entries;
}

CollapseResult collapse_result(const Collapse& collapse) {
  const Index rows = collapse.rows();
  CollapseResult result{collapse.points(), VectorXd(rows), {}, {}, {}, {}, {}};
  for (Index row = 0; row < rows; ++row) {
    result.layer[row] = static_cast<double>(collapse.layer_of(row));
  }
  result.samples = stacks_table(collapse, [&](std::size_t point, Index row) {
    return static_cast<double>(collapse.samples(point, row));
  });
  for (std::size_t k = 0; k < kLayerMeasures.size(); ++k) {
    const auto part = [&](double Estimate::*member) {
      return stacks_table(collapse, [&](std::size_t point, Index row) {
        return collapse.estimate(point, row, static_cast<LayerMeasure>(k)).*member;
      });
    };
    result.value[k] = part(&Estimate::value);
    result.error[k] = part(&Estimate::error);
  }
  result.overflow.resize(static_cast<Index>(result.points.size()));
  for (std::size_t point = 0; point < result.points.size(); ++point) {
    result.refused.push_back(collapse.refused(point));
    result.overflow[static_cast<Index>(point)] =
        static_cast<double>(collapse.overflow_layer(point));
  }
  return result;
}

struct CollapseInput {
  StacksInput stacks;
  std::optional<double> mean, variance;
  std::vector<double> means, variances;

  Collapse begin() const {
    const EnsembleInput& ensemble = stacks.stack.ensemble;
    if (means.empty() && variances.empty()) {
      const SpectrumPoint point = SpectrumInput{ensemble, mean, variance}.point();
      Ensemble(ensemble.settings()).weights(point.mean, point.variance);  // refuses in its words
      return stacks.at({point});
    }
    if (means.size() != variances.size()) {
      throw InvalidArgument("variances", "have one for every mean, and at least one");
    }
    std::vector<SpectrumPoint> points;
    for (std::size_t i = 0; i < means.size(); ++i) points.push_back({means[i], variances[i]});
    return stacks.at(std::move(points));
  }
};

void describe(InputFields& f, CollapseInput& in) {
  f.number(shared::kMean, in.mean);
  f.number(shared::kVariance, in.variance);
  f.numbers("means", shared::kMean, in.means, "means of several points, in place of one mean");
  f.numbers("variances", shared::kVariance, in.variances, "variances of these points");
  f.excludes("means", "mean");
  f.excludes("variances", "variance");
  describe(f, in.stacks);
}

struct CollapseMapInput {
  StacksInput stacks;
  std::vector<double> means{0, 0.125, 0.25, 0.5, 1}, variances{0.01, 0.1, 1, 10};

  Collapse begin() const {
    std::vector<SpectrumPoint> points;
    for (const double mean : means) {
      for (const double variance : variances) points.push_back({mean, variance});
    }
    return stacks.at(std::move(points));
  }
};

void describe(InputFields& f, CollapseMapInput& in) {
  in.stacks.layers = MeasuredLayers::last;
  f.numbers("means", shared::kMean, in.means, "means of the grid");
  f.numbers("variances", shared::kVariance, in.variances, "variances of the grid");
  describe(f, in.stacks);
}

/// One sampled stack at one mean and variance.
struct OneStackInput {
  StackInput stack;
  std::optional<double> mean, variance;

  SpectrumPoint point() const { return SpectrumInput{stack.ensemble, mean, variance}.point(); }
  TokenPlane begin() const { return {stack.stack(), point()}; }
};

void describe(InputFields& f, OneStackInput& in) {
  f.number(shared::kMean, in.mean);
  f.number(shared::kVariance, in.variance);
  describe(f, in.stack);
}

struct CosinesInput {
  OneStackInput one;
  Index layer = 0;

  StackRun begin() const { return {one.stack.stack(), one.point(), layer}; }
};

void describe(InputFields& f, CosinesInput& in) {
  describe(f, in.one);
  f.number(kLayer, in.layer);
}

struct CosinesResult {
  Eigen::MatrixXd cosines;
};

void describe(ResultFields& out, const CosinesResult& result) {
  const Index length = result.cosines.cols();
  out.integer("length", length, "sequence length T");
  out.array_f32("cosines", result.cosines, {{"token", length}, {"other_token", length}},
                "cosine of every pair of tokens");
  if (result.cosines.hasNaN()) out.note("the tokens overflow");
}

CosinesResult cosines_result(const StackRun& run) { return {cosine_matrix(run.tokens())}; }

struct TokenPlaneResult {
  std::vector<PlaneLayer> layers;
};

/// Layers x tokens, layer after layer.
template <class RowOf>
VectorXd layers_table(const std::vector<PlaneLayer>& layers, Index length, RowOf row_of) {
  VectorXd table(static_cast<Index>(layers.size()) * length);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    table.segment(static_cast<Index>(i) * length, length) = row_of(layers[i]);
  }
  return table;
}

void describe(ResultFields& out, const TokenPlaneResult& result) {
  const std::vector<PlaneLayer>& layers = result.layers;
  const auto count = static_cast<Index>(layers.size());
  const Index length = layers.empty() ? 0 : layers.front().place.cols();
  const Dimension layer{"layer", count}, token{"token", length};
  out.integer("length", length, "sequence length T");
  out.counts("layer", VectorXd::LinSpaced(count, 0, static_cast<double>(count - 1)), {layer},
             "layer; 0 is the input, which has no attention");
  out.array("residual", vector_over(layers, &PlaneLayer::residual), {layer},
            "||X - mean 1^T||_F / ||X||_F of the layer's output; 0 is rank collapse");
  out.array("entropy", vector_over(layers, &PlaneLayer::entropy), {layer},
            "attention entropy over the log of the visible keys, mean over queries and heads");
  const auto table = [&](auto row_of) { return layers_table(layers, length, row_of); };
  out.array("x", table([](const PlaneLayer& layer) { return layer.place.row(0).transpose(); }),
            {layer, token},
            "coordinate of the token in the plane of the first two principal axes of the layer's "
            "tokens minus their mean, turned to the layer before; root mean square distance from "
            "the origin: residual");
  out.array("y", table([](const PlaneLayer& layer) { return layer.place.row(1).transpose(); }),
            {layer, token}, "the other coordinate");
  out.counts("key", table([](const PlaneLayer& layer) { return layer.key; }), {layer, token},
             "position, from 1, of the key with the largest weight, mean over heads; 0 for none");
  out.array("weight", table([](const PlaneLayer& layer) { return layer.weight; }), {layer, token},
            "this weight");
  if (count > 0 && !layers.back().place.allFinite()) out.note("the tokens overflow");
}

TokenPlaneResult token_plane_result(const TokenPlane& plane) { return {plane.layers()}; }

}  // namespace

const Operation collapse_operation = operation<CollapseInput, JobOf<&collapse_result>>(
    "collapse", "Rank and entropy of stacks of random attention blocks, by layer",
    "# Pure attention collapses fast, a skip connection slows it\n"
    "eigenscope collapse --residual-weight 0 --layer-norm none --mask full --tokens ar1 --csv\n"
    "eigenscope collapse --residual-weight 1 --layer-norm none --mask full --tokens ar1 --csv");

const Operation collapse_map_operation = operation<CollapseMapInput, JobOf<&collapse_result>>(
    "collapse-map", "Rank and entropy after the last layer over a grid of means and variances",
    "eigenscope collapse-map --depth 12 --width 64 --length 64 --stacks 4 --csv");

const Operation cosines_operation = operation<CosinesInput, JobOf<&cosines_result>>(
    "cosines", "Cosine of every pair of tokens after one layer of a sampled stack",
    "eigenscope cosines --depth 12 --layer 6 --length 16 --csv");

const Operation token_plane_operation = operation<OneStackInput, JobOf<&token_plane_result>>(
    "token-plane", "Tokens of a sampled stack in a plane, layer by layer",
    "eigenscope token-plane --depth 12 --length 16 --csv");

}  // namespace eigenscope

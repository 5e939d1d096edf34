#include "prediction/statistics_levels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "prediction/levels.h"
#include "propagation/theory_range.h"
#include "simulation/gaussian_rows.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

TokenProcess theory_tokens(Index length) { return token_process("normalized-walk", length, 0); }

/// The products of W_QK / sqrt(d_h).
FactorProducts scaled_products(const HeadProjections& head) {
  FactorProducts products =
      products_of_factors(MatrixXd(head.query.transpose()), MatrixXd(head.key.transpose()));
  const auto width = static_cast<double>(head.query.rows());
  products.core /= std::sqrt(width);
  products.query /= width;
  return products;
}

/// The largest norm that a head's part of a norm's output can have.
double largest_output(const Norm& norm) {
  const double gain = norm.gain.cwiseAbs().maxCoeff(), bias = norm.bias.norm();
  return std::sqrt(static_cast<double>(norm.gain.size())) * gain + bias;
}

/// The largest squared norm of a token.
double largest_square(const std::vector<MatrixXf>& states) {
  double most = 0;
  for (const MatrixXf& passage : states) {
    most = std::max(most, passage.cast<double>().colwise().squaredNorm().maxCoeff());
  }
  return most;
}

/// An upper bound of the largest |logit|, without biases: by the norms of queries and keys, in latent attention by
/// these queries and keys, or else by the largest singular value of W_QK and the largest of the states.
double logit_bound(const LayerWeights& weights, const LayerRules& rules, int head,
                   const std::vector<MatrixXf>& states) {
  const Index width = rules.head_width;
  if (!weights.query_norm.is_none()) {
    const int key_head = rules.key_head(head);
    return largest_output(weights.query_norm.of_head(head)) *
           largest_output(weights.key_norm.of_head(key_head)) /
           std::sqrt(static_cast<double>(width));
  }
  if (!weights.key_input.is_none()) {
    double query = 0, key = 0;
    for (const HeadTokens& tokens : head_tokens(weights, rules, head, states)) {
      query = std::max(query, static_cast<double>(tokens.queries.colwise().norm().maxCoeff()));
      key = std::max(key, static_cast<double>(tokens.keys.colwise().norm().maxCoeff()));
    }
    return rules.rotary.logit_factor * query * key / std::sqrt(static_cast<double>(width));
  }
  const auto rows = [&](const HeadProjection& from, int number) -> MatrixXd {
    return from.head(number).weight.cast<double>();
  };
  // The states have the gain of a pre-norm already.
  const FactorProducts products =
      scaled_products({rows(weights.query, head), rows(weights.key, rules.key_head(head))});
  return weighted_spectrum(products).singular_values[0] * largest_square(states);
}

/// Throws FormatError naming layer and head for weights whose traces leave the range of the theory.
HeadTheory theory_of(const HeadProjections& head, const CentredKernel& kernel, int layer,
                     int number) {
  const std::string name = "layer " + std::to_string(layer) + " head " + std::to_string(number);
  return within_theory(name, [&]() -> HeadTheory {
    const FactorProducts products =
        products_of_factors(MatrixXd(head.query.transpose()), MatrixXd(head.key.transpose()));
    const SpectralMoments moments = moments_of_products(products);
    const double temperature = std::sqrt(static_cast<double>(head.query.rows()));
    return {moments, propagate(kernel, moments.traces, temperature).localization};
  });
}

}  // namespace

StatisticsLevels::StatisticsLevels(std::shared_ptr<const Transformer> model,
                                   const PredictionPassages& passages,
                                   const PredictionSettings& settings)
    : model_(std::move(model)),
      passages_(passages.statistics),
      same_text_(passages.same_text),
      rows_(*model_, passages_, settings),
      kernel_(centred_kernel(theory_tokens(walk_length()))),
      pass_(*model_, passages_.size(), static_cast<std::size_t>(model_->heads())) {}

Index StatisticsLevels::steps_wanted() const {
  const auto passages = static_cast<Index>(passages_.size());
  const std::vector<int>& layers = model_->layers_with_heads();
  // Passages enter each of these layers, and leave all before the last of them.
  return model_->all_heads() + (std::ssize(layers) + layers.back()) * passages;
}

double StatisticsLevels::work_per_step() const {
  const auto width = static_cast<double>(model_->width());
  const auto length = static_cast<double>(rows_.length());
  const double passage = passage_work(rows_.length(), model_->width());
  if (pass_.heads_done()) return 3 * passage / 4;
  if (states_.size() < passages_.size()) return length * length * width;
  // A quarter of a layer, covariances in the head's coordinates, then a row for each query and level.
  const auto head_width = static_cast<double>(model_->rules(pass_.layer()).head_width);
  return static_cast<double>(passages_.size()) *
             (passage / 4 / static_cast<double>(model_->heads()) +
              length * head_width * head_width) +
         static_cast<double>(kLevels.size()) * rows_.work();
}

void StatisticsLevels::do_step(std::vector<HeadPrediction>& heads) {
  if (steps_done() == 0) pass_.embed(passages_);
  if (pass_.heads_done()) {
    states_.clear();
    weights_ = {};
    pass_.finish_passage();
  } else if (states_.size() < passages_.size()) {
    enter_passage();
  } else {
    HeadStates states;
    const HeadMeasures sequences = run_passages(states);
    heads.push_back(predict_head(states, sequences));
    pass_.end_units();
  }
}

void StatisticsLevels::enter_passage() {
  const std::size_t passage = states_.size();
  const int layer = pass_.layer();
  if (passage == 0) {
    weights_ = model_->read_heads(layer);
    const Index walk = walk_length();
    rows_.enter(model_->rules(layer));
    if (walk_length() != walk) kernel_ = centred_kernel(theory_tokens(walk_length()));
  }
  pass_.read[passage].resize(model_->heads() * model_->rules(layer).value_width, rows_.length());
  states_.push_back(pass_.states(weights_, passage));
  if (states_.size() < passages_.size()) return;
  correlations_ = correlations_of(weights_, states_, rows_.sinks());
}

HeadMeasures StatisticsLevels::run_passages(HeadStates& states) {
  const LayerRules& rules = rows_.rules();
  HeadMeter meter;
  std::vector<HeadTokens> tokens = head_tokens(weights_, rules, head(), states_);
  for (std::size_t k = 0; k < passages_.size(); ++k) {
    states.add(tokens[k]);
    const HeadTrace trace =
        run_head(std::move(tokens[k]), rules, rows_.turns(), head(), pass_.read[k]);
    HeadMeter passage;  // added up as the measured passages are, for the same bits
    passage.add(trace.logits, trace.weights, rules, rows_.sinks());
    meter += passage;
  }
  return meter.measures();
}

HeadPrediction StatisticsLevels::predict_head(const HeadStates& states,
                                              const HeadMeasures& sequences) const {
  HeadPrediction prediction(pass_.layer(), head());
  if (same_text_) prediction.ceiling = sequences;
  const HeadProjections folded = folded_projections(weights_, rows_.rules(), head());
  prediction.report = theory_of(folded, kernel_, pass_.layer(), head());
  if (!computes_keys()) prediction.report.localization = std::numeric_limits<double>::quiet_NaN();
  const double bound = logit_bound(weights_, rows_.rules(), head(), states_);
  prediction.in(Metric::bare) = head_in_identity(
      scaled_products(folded), rows_.largest_turn() * bound + states.largest_offset_bias());
  prediction.in(Metric::weighted) = head_in_metric(states, rows_.sinks(), rows_.largest_turn());
  prediction.at(Level::isotropic) = isotropic(prediction.report.moments.traces);
  const std::vector<HeadQuery> queries = rows_.queries(states);
  predict_normal({states, rows_.sinks(), correlations_, rows_.turns(), folded}, queries,
                 prediction);
  prediction.at(Level::keys) = rows_.over_keys(states, queries);
  prediction.at(Level::sequences) = sequences;
  return prediction;
}

void StatisticsLevels::predict_normal(const HeadPredictor& predictor,
                                      const std::vector<HeadQuery>& queries,
                                      HeadPrediction& prediction) const {
  constexpr auto kFirst = static_cast<std::size_t>(Level::spectrum);
  constexpr auto kEnd = static_cast<std::size_t>(Level::keys);
  std::array<HeadMeter, kEnd> meters;
  double leading = 0, trailing = 0, rows = 0;
  const SinkKeys& sinks = rows_.sinks();
  rows_.each(queries, [&](std::size_t j, const RowPlace& place, std::span<const float> normal) {
    for (std::size_t level = kFirst; level < kEnd; ++level) {
      VectorXd logits =
          predictor.normal_logits(static_cast<Level>(level), queries[j], place.seen, normal);
      rows_.cap(logits);
      meters[level].add_row(logits, softmax(logits, 1), place, sinks);
    }
    // Before level 4 keys are alike: the expected weight is known, and the drawn one only noise.
    const auto visible = static_cast<double>(place.seen.count);
    const SinkKeys seen = sinks.among(place);
    leading += static_cast<double>(seen.leading) / visible;
    trailing += static_cast<double>(seen.trailing) / visible;
    rows += 1;
  });
  for (std::size_t level = kFirst; level < kEnd; ++level) {
    HeadMeasures& measures = prediction.levels[level] = meters[level].measures();
    if (static_cast<Level>(level) >= Level::sink || !predictor.keys_are_alike()) continue;
    measures.row.sink_first = leading / rows;
    measures.row.sink_separator = trailing / rows;
  }
  prediction.gaussian_by_distance = meters[kEnd - 1].by_distance();
}

HeadMeasures StatisticsLevels::isotropic(const Traces& traces) const {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  HeadMeasures measures;
  measures.row = {kUnknown, kUnknown, kUnknown, kUnknown};
  // The theory has neither caps nor biases of offsets, and one set of tokens.
  const bool plain = rows_.rules().attention_cap == 0 && weights_.offset_bias.is_none();
  if (!plain || !computes_keys()) return measures;
  const double temperature = std::sqrt(static_cast<double>(rows_.rules().head_width));
  const auto& [queries, seed] = rows_.settings();
  GaussianRows rows(theory_tokens(walk_length()), {{traces, temperature}}, queries, seed);
  rows.advance(queries);
  const RowStatistics& statistics = rows.statistics(0);
  measures.row.entropy = statistics.entropy().value;
  measures.row.participation = statistics.participation().value;
  return measures;
}

}  // namespace eigenscope

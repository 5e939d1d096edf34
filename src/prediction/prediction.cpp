#include "prediction/prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "attention/softmax.h"
#include "simulation/gaussian_rows.h"
#include "support/error.h"
#include "support/parameter.h"
#include "support/random.h"
#include "support/widened.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

constexpr Index kFewestContent = 4;

/// Refuses passages that differ in what their statistics or measurements need alike.
void check_passages(const PredictionPassages& passages) {
  if (passages.statistics.empty()) {
    throw InvalidArgument("passages", "there must be some for the statistics");
  }
  const Passage& first = passages.statistics.front();
  for (const auto* group : {&passages.statistics, &passages.measured, &passages.ceiling}) {
    for (const Passage& other : *group) {
      if (other.length() != first.length() || other.leading != first.leading ||
          other.trailing != first.trailing) {
        throw InvalidArgument("passages", "all must have the same length and special tokens");
      }
    }
  }
  const SinkKeys sinks = SinkKeys::of(first);
  if (first.length() < sinks.leading + sinks.trailing + kFewestContent) {
    throw InvalidArgument("length", "passages need at least " + std::to_string(kFewestContent) +
                                        " tokens beside the special ones");
  }
}

ForwardPass statistics_pass(std::shared_ptr<const TextModel> model,
                            const PredictionPassages& passages) {
  check_passages(passages);
  return {std::move(model), passages.statistics, LayerEnd::heads};
}

TokenProcess theory_tokens(Index length) { return token_process("normalized-walk", length, 0); }

/// The same with the gain of a norm before them folded in.
HeadProjections folded(const HeadProjections& head, const VectorXd& gain) {
  return {head.query * gain.asDiagonal(), head.query_bias, head.key * gain.asDiagonal(),
          head.key_bias, head.turns};
}

/// Throws FormatError naming layer and head for weights whose traces leave the range of the theory.
HeadTheory theory_of(const HeadProjections& head, const CentredKernel& kernel, int layer,
                     int number) {
  try {
    const FactorProducts products =
        products_of_factors(MatrixXd(head.query.transpose()), MatrixXd(head.key.transpose()));
    const SpectralMoments moments = moments_of_products(products);
    const double temperature = std::sqrt(static_cast<double>(head.width()));
    return {moments, propagate(kernel, moments.traces, temperature).localization};
  } catch (const InvalidArgument& refusal) {
    throw FormatError("layer " + std::to_string(layer) + " head " + std::to_string(number),
                      std::string("its weights are too large: ") + refusal.what());
  }
}

}  // namespace

Prediction::Prediction(std::shared_ptr<const TextModel> model, const PredictionPassages& passages,
                       const PredictionSettings& settings)
    : pass_(statistics_pass(model, passages)),
      mean_field_(pass_.model(), passages.statistics, settings.seed),
      settings_(settings),
      measured_passages_(passages.measured.size()),
      same_text_(passages.same_text),
      length_(passages.statistics.front().length()),
      sinks_(SinkKeys::of(passages.statistics.front())),
      kernel_(centred_kernel(theory_tokens(length_))),
      turns_(pass_.model().rules().rotary, length_),
      statistics_(0, length_, sinks_) {
  checked("queries", static_cast<double>(settings.queries));
  const auto passage_count = static_cast<Index>(passages.statistics.size());
  std::vector<float> normal = normals();
  for (Index j = 0; j < settings.queries; ++j) {
    draw(j, normal);
    places_.push_back(uniform_index(normal.back(), passage_count * length_));
  }
  std::vector<Passage> others = passages.measured;
  for (const Passage& passage : passages.ceiling) others.push_back(passage);
  if (!others.empty()) {
    measuring_ =
        std::make_unique<ForwardPass>(std::move(model), std::move(others), LayerEnd::heads);
  }
}

bool Prediction::advance(Index steps) {
  for (; steps > 0 && !done(); --steps) {
    if (!through_ && pass_.done()) {
      measure_passage();
    } else if (!through_) {
      run_passage();
    } else if (!through_->mean_field) {
      run_mean_field();
    } else {
      predict_next();
    }
  }
  return done();
}

bool Prediction::done() const {
  return pass_.done() && !through_ && (!measuring_ || measuring_->done());
}

Index Prediction::steps_done() const {
  const auto heads = static_cast<Index>(heads_.size()), all = Index{pass_.model().heads()};
  const Index mean_fields = heads / all + (through_ && through_->mean_field ? 1 : 0);
  return pass_.steps_done() + mean_fields + heads + (measuring_ ? measuring_->steps_done() : 0);
}

Index Prediction::steps_wanted() const {
  return pass_.steps_wanted() + Index{pass_.model().layers()} * (1 + pass_.model().heads()) +
         (measuring_ ? measuring_->steps_wanted() : 0);
}

double Prediction::work_per_step() const {
  const auto width = static_cast<double>(pass_.model().width());
  const auto length = static_cast<double>(length_);
  const double passage = length * width * (12 * width + 2 * length);
  if (!through_) return passage;
  if (!through_->mean_field) return 2 * passage * static_cast<double>(pass_.passages().size());
  const auto head_width = static_cast<double>(pass_.model().head_width());
  // Statistics in the head's coordinates, then a row for each query and level: its law, then as much
  // for drawing and softmax as some twenty products a key.
  const double row = head_width * (width + head_width + length) + 20 * length;
  return 6 * width * width * head_width +
         static_cast<double>(settings_.queries * static_cast<Index>(kLevels.size())) * row;
}

void Prediction::run_passage() {
  const std::size_t passage = pass_.passage();
  const int layer = pass_.layer();
  if (passage == 0) begin_layer();
  const bool last = passage + 1 == pass_.passages().size();
  // The pass forgets a layer's weights when it is through.
  LayerWeights weights = last ? pass_.weights() : LayerWeights();
  const AttentionTrace trace = pass_.advance();
  statistics_.add(trace.states);
  add(trace, sequences_);
  if (last) {
    LayerClouds clouds(statistics_);
    through_ = Through{std::move(weights), layer, std::move(statistics_), std::move(clouds), {}};
  }
}

void Prediction::measure_passage() {
  const std::size_t passage = measuring_->passage();
  const auto layer = static_cast<std::size_t>(measuring_->layer());
  if (passage == 0) {
    reset(measured_);
    reset(ceiling_);
  }
  add(measuring_->advance(), passage < measured_passages_ ? measured_ : ceiling_);
  if (passage + 1 < measuring_->passages().size()) return;
  for (std::size_t number = 0; number < measured_.size(); ++number) {
    HeadPrediction& head = heads_[layer * measured_.size() + number];
    head.measured = measured_[number].measures();
    head.measured_by_distance = measured_[number].by_distance();
    if (!same_text_) head.ceiling = ceiling_[number].measures();
  }
}

void Prediction::add(const AttentionTrace& trace, std::vector<HeadMeter>& meters) const {
  for (std::size_t head = 0; head < meters.size(); ++head) {
    meters[head].add(trace.logits[head], trace.weights[head], pass_.model().rules().causal, sinks_);
  }
}

void Prediction::reset(std::vector<HeadMeter>& meters) const {
  meters.assign(static_cast<std::size_t>(pass_.model().heads()), HeadMeter());
}

void Prediction::run_mean_field() {
  through_->mean_field = mean_field_.states(through_->weights);
  if (through_->layer + 1 < pass_.model().layers()) mean_field_.advance(through_->weights);
}

void Prediction::begin_layer() {
  statistics_ = TokenStatistics(pass_.model().width(), length_, sinks_);
  reset(sequences_);
}

void Prediction::predict_next() {
  const auto all = static_cast<std::size_t>(pass_.model().heads());
  heads_.push_back(predict_head(*through_, static_cast<int>(heads_.size() % all)));
  if (heads_.size() % all == 0) through_.reset();
}

HeadProjections Prediction::projections(const LayerWeights& weights, int head) const {
  const LayerRules& rules = pass_.model().rules();
  const Index width = rules.head_width, first = head * width, key = rules.key_head(head) * width;
  const auto bias = [&](const Linear& of, Index begin) -> VectorXd {
    if (of.bias.size() == 0) return VectorXd::Zero(width);
    return of.bias.segment(begin, width).cast<double>();
  };
  return {weights.query.weight.middleRows(first, width).cast<double>(), bias(weights.query, first),
          weights.key.weight.middleRows(key, width).cast<double>(),
          turns_.is_none() ? VectorXd() : bias(weights.key, key), &turns_};
}

HeadPrediction Prediction::predict_head(const Through& through, int head) const {
  const HeadProjections projected = projections(through.weights, head);
  const VectorXd gain = pass_.model().rules().pre_norm
                            ? VectorXd(through.weights.attention_norm.gain.cast<double>())
                            : VectorXd::Ones(pass_.model().width());
  const auto number = static_cast<std::size_t>(head);
  HeadPrediction prediction;
  prediction.layer = through.layer;
  prediction.head = head;
  prediction.measured = HeadMeter().measures();
  prediction.ceiling = (same_text_ ? sequences_[number] : HeadMeter()).measures();
  const HeadProjections whole = folded(projected, gain);
  prediction.report = theory_of(whole, kernel_, through.layer, head);
  const auto at = [&](Level level) -> HeadMeasures& {
    return prediction.levels[static_cast<std::size_t>(level)];
  };
  at(Level::isotropic) = isotropic(prediction.report.moments.traces);
  const States& states = through.statistics.states();
  predict_normal(HeadPredictor(through.clouds, projected, whole), queries(states, projected),
                 prediction);
  at(Level::keys) = predict_real(states, projected);
  at(Level::mean_field) = predict_real(*through.mean_field, projected);
  at(Level::sequences) = sequences_[number].measures();
  return prediction;
}

std::vector<float> Prediction::normals() const {
  return std::vector<float>(static_cast<std::size_t>(length_) + 1);
}

void Prediction::draw(Index query, std::vector<float>& normal) const {
  NormalStream(settings_.seed, static_cast<std::uint64_t>(query)).fill(normal);
}

std::vector<HeadQuery> Prediction::queries(const States& from, const HeadProjections& head) const {
  constexpr std::size_t kAtOnce = 256;  // so many states are held in double precision
  std::vector<HeadQuery> found;
  for (std::size_t begin = 0; begin < places_.size(); begin += kAtOnce) {
    const auto places =
        std::span(places_).subspan(begin).first(std::min(kAtOnce, places_.size() - begin));
    MatrixXd states(pass_.model().width(), static_cast<Index>(places.size()));
    std::vector<Index> positions;
    for (const Index place : places) {
      const MatrixXf& passage = from[static_cast<std::size_t>(place / length_)];
      widen(&passage(0, place % length_), passage.rows(),
            &states(0, static_cast<Index>(positions.size())));
      positions.push_back(place % length_);
    }
    for (HeadQuery& query : queries_of(head, states, positions)) found.push_back(std::move(query));
  }
  return found;
}

template <class Draw>
void Prediction::each_row(const std::vector<HeadQuery>& queries, const Draw& draw_row) const {
  std::vector<float> normal = normals();
  for (std::size_t j = 0; j < queries.size(); ++j) {
    const Index visible = pass_.model().rules().causal ? queries[j].position + 1 : length_;
    if (visible < 2) continue;
    draw(static_cast<Index>(j), normal);
    draw_row(j, std::span<const float>(normal).first(static_cast<std::size_t>(visible)));
  }
}

void Prediction::predict_normal(const HeadPredictor& predictor,
                                const std::vector<HeadQuery>& queries,
                                HeadPrediction& prediction) const {
  constexpr auto kFirst = static_cast<std::size_t>(Level::spectrum);
  constexpr auto kEnd = static_cast<std::size_t>(Level::keys);
  std::array<HeadMeter, kEnd> meters;
  double leading = 0, trailing = 0, rows = 0;
  each_row(queries, [&](std::size_t j, std::span<const float> normal) {
    const HeadQuery& query = queries[j];
    for (std::size_t level = kFirst; level < kEnd; ++level) {
      const VectorXd logits = predictor.normal_logits(static_cast<Level>(level), query, normal);
      meters[level].add_row(logits, softmax(logits, 1), query.position, sinks_, length_);
    }
    // Where all keys are alike the expected weight is known, and the drawn one only noise.
    const auto visible = static_cast<Index>(normal.size());
    const SinkKeys seen = sinks_.among(visible, length_);
    leading += static_cast<double>(seen.leading) / static_cast<double>(visible);
    trailing += static_cast<double>(seen.trailing) / static_cast<double>(visible);
    rows += 1;
  });
  for (std::size_t level = kFirst; level < kEnd; ++level) {
    HeadMeasures& measures = prediction.levels[level] = meters[level].measures();
    if (static_cast<Level>(level) >= Level::sink) continue;
    measures.row.sink_first = leading / rows;
    measures.row.sink_separator = trailing / rows;
  }
  prediction.gaussian_by_distance = meters[kEnd - 1].by_distance();
}

HeadMeasures Prediction::predict_real(const States& states, const HeadProjections& head) const {
  const std::vector<MatrixXd> keys = keys_of(head, states);
  const std::vector<HeadQuery> drawn = queries(states, head);
  HeadMeter meter;
  each_row(drawn, [&](std::size_t j, std::span<const float> normal) {
    const VectorXd logits = real_logits(head, keys, drawn[j], places_[j] / length_, normal);
    meter.add_row(logits, softmax(logits, 1), drawn[j].position, sinks_, length_);
  });
  return meter.measures();
}

HeadMeasures Prediction::isotropic(const Traces& traces) const {
  const double temperature = std::sqrt(static_cast<double>(pass_.model().head_width()));
  GaussianRows rows(theory_tokens(length_), {{traces, temperature}}, settings_.queries,
                    settings_.seed);
  rows.advance(settings_.queries);
  const RowStatistics& found = rows.statistics(0);
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  HeadMeasures measures;
  measures.row = {found.entropy().value, found.participation().value, kUnknown, kUnknown};
  return measures;
}

}  // namespace eigenscope

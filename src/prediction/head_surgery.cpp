#include "prediction/head_surgery.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "prediction/head_metrics.h"
#include "support/error.h"
#include "support/gemm.h"
#include "support/parts_as_bytes.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

MatrixXd identity(Index size) { return MatrixXd::Identity(size, size); }

ContentStatistics statistics_of(const HeadStates& states, const SinkKeys& sinks,
                                std::size_t passages) {
  const Moments moments = stacked_moments(states.queries, states.keys, sinks, passages);
  const MatrixXd covariance = moments.covariance();
  const Index width = covariance.rows() / 2;
  const VectorXd means = moments.mean();
  const MatrixXd keys = covariance.bottomRightCorner(width, width);
  return {means.head(width), means.tail(width), keys,
          covariance.bottomLeftCorner(width, width).trace(),
          std::sqrt(trace_of_product(covariance.topLeftCorner(width, width), keys))};
}

HeadStates states_of(const std::vector<HeadTokens>& tokens, Index passages) {
  HeadStates states;
  for (Index k = 0; k < passages; ++k) states.add(tokens[static_cast<std::size_t>(k)]);
  return states;
}

// Visits each number and array of a head on which edits depend.
template <class Head, class Visit>
void each_edit_part(Head& head, const Visit& visit) {
  visit(head.rules.head_width);
  visit(head.rules.causal);
  visit(head.rules.attention_cap);
  visit(head.rules.reach);
  visit(head.sinks.leading);
  visit(head.sinks.trailing);
  visit(head.settings.queries);
  visit(head.settings.seed);
  visit(head.statistics);
  visit(head.measured);
  visit(head.correlations);
}

void check_model(const Transformer& model) {
  if (model.has_mixers()) {
    throw FormatError(std::string(model.family().name),
                      "surgery needs heads in every layer, whose outputs are not gated");
  }
  if (model.has_offset_bias()) {
    throw FormatError(
        std::string(model.family().name),
        "surgery needs logits of queries and keys alone, without a bias of their offset");
  }
  model.check_plain_logits("surgery");
  for (int layer = 0; layer < model.layers(); ++layer) {
    if (model.rules(layer).rotary.pairs == RotaryPairs::kNone) continue;
    throw FormatError("layer " + std::to_string(layer),
                      "surgery needs a W_QK of its own, but rotary positions give each distance "
                      "another one");
  }
}

std::vector<Passage> joined(const std::vector<Passage>& statistics,
                            const std::vector<Passage>& measured,
                            const std::optional<Passage>& sentence) {
  std::vector<Passage> all = statistics;
  all.insert(all.end(), measured.begin(), measured.end());
  if (sentence) all.push_back(*sentence);
  return all;
}

// Whether the passages of a head have the lengths and widths that its numbers say.
bool is_whole(const PreparedHead& head) {
  const Index count = std::ssize(head.tokens), passages = head.statistics + head.measured;
  if (head.statistics < 1 || head.measured < 1 || head.statistics > count ||
      head.measured > count - head.statistics || head.rules.head_width < 1 ||
      head.rules.reach < 1) {
    return false;
  }
  for (Index k = 0; k < count; ++k) {
    const HeadTokens& tokens = head.tokens[static_cast<std::size_t>(k)];
    const Index length = k < passages ? head.correlations.size() : tokens.queries.cols();
    if (tokens.queries.rows() != head.rules.head_width ||
        tokens.keys.rows() != head.rules.head_width || tokens.queries.cols() != length ||
        tokens.keys.cols() != length || length < (k < passages ? 2 : 1)) {
      return false;
    }
  }
  const Index length = head.correlations.size();
  const auto [leading, trailing] = head.sinks;
  return leading >= 1 && trailing >= 0 && leading < length && trailing < length - leading;
}

}  // namespace

MatrixXd QueryEdit::queries(const MatrixXd& q, const MatrixXd& k, const MatrixXd& y) const {
  MatrixXd edited = times(query, q) + times(key, k);
  if (random.size() > 0) edited += times(random, y);
  return edited.colwise() + shift;
}

SpectrumChange::SpectrumChange(double trace, double norm, double rank, double added_mean,
                               double shrunk) {
  const double m = trace / rank, kept = 1 - shrunk;
  // ||kept A + shrunk m P||_F, with <A, P> = tr(A).
  const double after = std::sqrt(kept * kept * norm * norm + (1 - kept * kept) * m * m * rank);
  const double a = added_mean * after / std::sqrt(rank);
  const double alpha = after / std::sqrt(after * after + 2 * a * trace + a * a * rank);
  query = alpha * kept;
  key = alpha * (shrunk * m + a);
  mean = alpha * (m + a);
  variance = after * after / rank - mean * mean;
}

double trace_of_product(const MatrixXd& a, const MatrixXd& b) { return a.cwiseProduct(b).sum(); }

MatrixXd inverse_of_keys(const MatrixXd& keys) {
  const Eigen::LLT<MatrixXd> factors(keys);
  if (factors.info() != Eigen::Success) {
    throw InvalidArgument("passages", "have content whose keys span the " +
                                          std::to_string(keys.rows()) + " dimensions of each head");
  }
  return factors.solve(identity(keys.rows()));
}

QueryEdit edit_around_means(const ContentStatistics& content, double query, const MatrixXd& key) {
  return {query * identity(content.query_mean.size()),
          key,
          {},
          (1 - query) * content.query_mean - key * content.key_mean};
}

std::vector<std::byte> bytes_of(const PreparedHead& head) {
  std::vector<std::byte> bytes;
  const PartWriter write(bytes);
  each_edit_part(head, write);
  write(head.tokens.size());
  for (const HeadTokens& tokens : head.tokens) {
    write(tokens.queries);
    write(tokens.keys);
    write(tokens.sink.has_value());
    write(tokens.sink.value_or(0));
  }
  return bytes;
}

PreparedHead prepared_head_of(std::span<const std::byte> bytes) {
  PreparedHead head;
  const PartReader read(bytes);
  each_edit_part(head, read);
  std::size_t count = 0;
  read(count);
  while (head.tokens.size() < count) {
    HeadTokens& tokens = head.tokens.emplace_back();
    bool has_sink = false;
    float sink = 0;
    read(tokens.queries);
    read(tokens.keys);
    read(has_sink);
    read(sink);
    if (has_sink) tokens.sink = sink;
  }
  if (!bytes.empty() || !is_whole(head)) PartReader::refuse();
  return head;
}

MatrixXd content_of(const MatrixXd& passage, const SinkKeys& sinks) {
  return passage.middleCols(sinks.leading, passage.cols() - sinks.leading - sinks.trailing);
}

Moments stacked_moments(const std::vector<MatrixXd>& above, const std::vector<MatrixXd>& below,
                        const SinkKeys& sinks, std::size_t passages) {
  Moments moments(above.front().rows() + below.front().rows());
  for (std::size_t k = 0; k < passages; ++k) {
    MatrixXd both(moments.mean().size(), above[k].cols());
    both << above[k], below[k];
    moments.add(content_of(both, sinks));
  }
  return moments;
}

HeadSurgery::HeadSurgery(PreparedHead head)
    : head_(std::move(head)),
      drawn_(head_.rules, head_.correlations.size(), head_.sinks, head_.statistics, head_.settings),
      states_(states_of(head_.tokens, std::ssize(head_.tokens))),
      statistics_(states_of(head_.tokens, head_.statistics)),
      turns_(head_.rules.rotary, drawn_.length()),
      predictor_(statistics_, head_.sinks, head_.correlations, turns_),
      content_(statistics_of(states_, head_.sinks, static_cast<std::size_t>(head_.statistics))) {}

HeadTrace HeadSurgery::trace(std::size_t passage, const MatrixXd& queries) const {
  HeadTokens after = head_.tokens[passage];
  after.queries = (std::sqrt(static_cast<double>(queries.rows())) * queries).cast<float>();
  after.values = after.keys;  // what the head reads is not asked for
  MatrixXf read(queries.rows(), queries.cols());
  return run_head(std::move(after), head_.rules, turns_, 0, read);
}

HeadMeasures HeadSurgery::predict(const HeadStates& edited) const {
  const std::vector<HeadQuery> queries = drawn_.queries(edited);
  HeadMeter meter;
  drawn_.each(queries, [&](std::size_t j, const RowPlace& place, std::span<const float> normal) {
    VectorXd logits = predictor_.normal_logits(Level::neighbours, queries[j], place.seen, normal);
    drawn_.cap(logits);
    meter.add_row(logits, softmax(logits, 1), place, head_.sinks);
  });
  return meter.measures();
}

HeadEffect HeadSurgery::effect(const QueryEdit& edit, const std::vector<MatrixXd>& features) const {
  const auto statistics = static_cast<std::size_t>(head_.statistics);
  const std::size_t passages = statistics + static_cast<std::size_t>(head_.measured);
  const MatrixXd none;
  HeadStates edited = statistics_;
  std::vector<MatrixXd> change;
  HeadMeter meter;
  for (std::size_t k = 0; k < passages; ++k) {
    MatrixXd queries =
        edit.queries(states_.queries[k], states_.keys[k], features.empty() ? none : features[k]);
    if (k < statistics) {
      change.push_back(queries - states_.queries[k]);
      edited.queries[k] = std::move(queries);
    } else {
      const HeadTrace after = trace(k, queries);
      meter.add(after.logits, after.weights, head_.rules, head_.sinks);
    }
  }
  const Index width = content_.key_mean.size();
  const MatrixXd moved =
      stacked_moments(change, states_.keys, head_.sinks, statistics).covariance();
  HeadEffect effect;
  effect.size =
      std::sqrt(trace_of_product(moved.topLeftCorner(width, width), content_.key_covariance)) /
      content_.norm;
  effect.predicted = predict(edited);
  effect.measured = meter.measures();
  effect.traces = content_products(edited, head_.sinks).traces();
  return effect;
}

MatrixXf HeadSurgery::weights(const QueryEdit& edit) const {
  const std::size_t last = head_.tokens.size() - 1;
  return trace(last, edit.queries(states_.queries[last], states_.keys[last], {})).weights;
}

double HeadSurgery::work() const {
  const auto length = static_cast<double>(drawn_.length());
  const auto passages = static_cast<double>(head_.statistics + head_.measured);
  return passages * length * length * static_cast<double>(head_.rules.head_width) + drawn_.work();
}

SurgeryPass::SurgeryPass(std::shared_ptr<const Transformer> model,
                         const std::vector<Passage>& statistics,
                         const std::vector<Passage>& measured,
                         const std::optional<Passage>& sentence, const PredictionSettings& settings)
    : model_(model),
      settings_(settings),
      statistics_(statistics.size()),
      measured_(measured.size()),
      sinks_(SinkKeys::of(statistics.front())),
      pass_(model, joined(statistics, measured, sentence)),
      states_(pass_.passages().size()) {
  check_model(*model);
}

double SurgeryPass::progress() const {
  return static_cast<double>(collected_) / static_cast<double>(states_.size());
}

double SurgeryPass::advance() {
  if (!ready()) return collect();
  const double work = pass_.advance();
  if (pass_.layer() == layer_) return work;
  layer_ = pass_.layer();
  collected_ = 0;
  return work;
}

double SurgeryPass::collect() {
  if (collected_ == 0) {
    weights_ = pass_.model().read_heads(layer_);
    if (!weights_.has_linear_heads()) {
      throw FormatError("layer " + std::to_string(layer_),
                        "surgery needs queries and keys that are linear in the tokens, but it "
                        "normalizes them");
    }
  }
  const std::size_t count = pass_.passages_of_step();
  const double work = pass_.advance({.states = [this](std::size_t passage, const MatrixXf& states) {
    states_[passage] = states;
  }});
  collected_ += count;
  if (ready()) {
    const auto end = states_.begin() + static_cast<std::ptrdiff_t>(statistics_);
    correlations_ = correlations_of({states_.begin(), end}, sinks_);
  }
  return work;
}

PreparedHead SurgeryPass::head(int number) const {
  const LayerRules& rules = pass_.model().rules(layer_);
  PreparedHead head{rules,
                    sinks_,
                    settings_,
                    static_cast<Index>(statistics_),
                    static_cast<Index>(measured_),
                    correlations_,
                    head_tokens(weights_, rules, number, states_)};
  for (HeadTokens& tokens : head.tokens) tokens.values.resize(0, 0);
  return head;
}

}  // namespace eigenscope

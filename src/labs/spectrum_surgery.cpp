#include "labs/spectrum_surgery.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "prediction/folded_projections.h"
#include "prediction/head_metrics.h"
#include "support/error.h"
#include "support/gemm.h"
#include "support/normal_matrix.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t kSurgeryStream =
    0x7375726700000000;  // "surg", with room for heads and draws

// tr(cov(a) b) of symmetric matrices.
double traced(const MatrixXd& a, const MatrixXd& b) { return a.cwiseProduct(b).sum(); }

MatrixXd identity(Index size) { return MatrixXd::Identity(size, size); }

// The edit by `query` q + `key` k around the means, which keeps the mean query.
QueryEdit around_means(const SurgeryFrame& frame, Surgery surgery, double dose, double query,
                       const MatrixXd& key) {
  const Index width = frame.query_mean.size();
  return {surgery,
          dose,
          0,
          query * identity(width),
          key,
          MatrixXd::Zero(width, width),
          (1 - query) * frame.query_mean - key * frame.key_mean};
}

// alpha and a of Surgery::mean, for a matrix of this trace and norm and rank d_h.
struct AddedMean {
  AddedMean(double dose, double trace, double norm, double rank)
      : a(dose * norm / std::sqrt(rank)) {
    alpha = norm / std::sqrt(norm * norm + 2 * a * trace + a * a * rank);
  }
  double a, alpha;
};

// The random change of this norm, from features of one draw.
QueryEdit random_edit(const SurgeryFrame& frame, const MatrixXd& inverse, Surgery surgery,
                      double dose, int draw, double norm) {
  const auto at = static_cast<std::size_t>(draw);
  const auto rank = static_cast<double>(frame.key_mean.size());
  // G^T M G = 1, so that G y has the norm of y in the metric.
  const MatrixXd root = Eigen::LLT<MatrixXd>(frame.key_covariance).matrixL();
  const MatrixXd turned =
      root.transpose().triangularView<Eigen::Upper>().solve(identity(frame.key_mean.size()));
  const double trace = (turned * frame.features_keys[at]).trace();
  const double spread = std::sqrt(frame.features[at].trace() - trace * trace / rank);
  QueryEdit edit =
      around_means(frame, surgery, dose, 1, -(norm / spread) * (trace / rank) * inverse);
  edit.draw = draw;
  edit.random = (norm / spread) * turned;
  return edit;
}

MatrixXd content_of(const MatrixXd& passage, const SinkKeys& sinks) {
  return passage.middleCols(sinks.leading, passage.cols() - sinks.leading - sinks.trailing);
}

// Covariance over the content of matrices of one head, stacked.
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

void check_model(const Transformer& model) {
  for (int layer = 0; layer < model.layers(); ++layer) {
    if (model.rules(layer).rotary.pairs == RotaryPairs::kNone) continue;
    throw FormatError("layer " + std::to_string(layer),
                      "surgery needs a W_QK of its own, but rotary positions give each distance "
                      "another one");
  }
}

}  // namespace

MatrixXd QueryEdit::queries(const MatrixXd& q, const MatrixXd& k, const MatrixXd& y) const {
  return (times(query, q) + times(key, k) + times(random, y)).colwise() + shift;
}

std::vector<QueryEdit> surgery_edits(const SurgeryFrame& frame) {
  const Index width = frame.key_mean.size();
  const auto rank = static_cast<double>(width);
  const Eigen::LLT<MatrixXd> keys(frame.key_covariance), bare_keys(frame.bare_keys);
  if (keys.info() != Eigen::Success || bare_keys.info() != Eigen::Success) {
    throw InvalidArgument("passages", "have content whose keys span the " + std::to_string(width) +
                                          " dimensions of each head");
  }
  const MatrixXd inverse = keys.solve(identity(width)), bare = bare_keys.solve(identity(width));
  std::vector<QueryEdit> edits{
      around_means(frame, Surgery::none, 0, 1, MatrixXd::Zero(width, width))};
  const auto add_random = [&](Surgery surgery, double dose, double norm) {
    for (std::size_t draw = 0; draw < frame.features.size(); ++draw) {
      edits.push_back(random_edit(frame, inverse, surgery, dose, static_cast<int>(draw), norm));
    }
  };
  for (const double dose : kMeanDoses) {
    const AddedMean added(dose, frame.trace, frame.norm, rank),
        of_bare(dose, frame.bare_trace, frame.bare_norm, rank);
    edits.push_back(
        around_means(frame, Surgery::mean, dose, added.alpha, added.alpha * added.a * inverse));
    edits.push_back(around_means(frame, Surgery::bare_mean, dose, of_bare.alpha,
                                 of_bare.alpha * of_bare.a * bare));
    // ||alpha (A + a P) - A||^2, with <A, P> = tr(A).
    const double less = added.alpha - 1, more = added.alpha * added.a;
    add_random(Surgery::random_mean, dose,
               std::sqrt(less * less * frame.norm * frame.norm + 2 * less * more * frame.trace +
                         more * more * rank));
  }
  const double mean = frame.trace / rank, bare_mean = frame.bare_trace / rank;
  const double deviation = std::sqrt(frame.norm * frame.norm - mean * mean * rank);
  const VectorXd sink = frame.sink.normalized();
  for (const double dose : kShrinkDoses) {
    edits.push_back(around_means(frame, Surgery::shrink, dose, 1 - dose, dose * mean * inverse));
    edits.push_back(
        around_means(frame, Surgery::bare_shrink, dose, 1 - dose, dose * bare_mean * bare));
    add_random(Surgery::random_shrink, dose, std::abs(dose) * deviation);
    QueryEdit removed = edits.front();
    removed.surgery = Surgery::sink;
    removed.dose = dose;
    removed.query -= dose * sink * sink.transpose();
    edits.push_back(std::move(removed));
  }
  return edits;
}

SpectrumSurgery::SpectrumSurgery(std::shared_ptr<const Transformer> model,
                                 std::vector<Passage> statistics, std::vector<Passage> measured,
                                 const SurgerySettings& settings)
    : settings_(settings),
      statistics_(statistics.size()),
      pass_(model,
            [&] {
              std::vector<Passage> all = statistics;
              all.insert(all.end(), measured.begin(), measured.end());
              return all;
            }()),
      drawn_(*model, statistics, {settings.queries, settings.seed}),
      turns_(model->rules(0).rotary, statistics.front().length()),
      kernel_(centred_kernel(
          token_process("normalized-walk", model->rules(0).most_seen(drawn_.length()), 0))),
      sinks_(drawn_.sinks()) {
  checked(kSurgeryDraws, static_cast<double>(settings.draws));
  check_model(*model);
}

bool SpectrumSurgery::done() const {
  return layer_ + 1 == pass_.model().layers() && head_ == pass_.model().heads();
}

Index SpectrumSurgery::steps_done() const { return std::ssize(rows_); }
Index SpectrumSurgery::steps_wanted() const {
  const auto edits = static_cast<Index>(kMeanDoses.size() * 2 + kShrinkDoses.size() * 3) + 1 +
                     settings_.draws * static_cast<Index>(kMeanDoses.size() + kShrinkDoses.size());
  return pass_.model().layers() * pass_.model().heads() * edits;
}

bool SpectrumSurgery::advance(double work) {
  const std::size_t passages = pass_.passages().size();
  for (double left = work; left >= 0 && !done();) {
    if (collected_ < passages) {
      left -= collect();
    } else if (head_ < pass_.model().heads()) {
      left -= operate();
      ++head_;
    } else {
      left -= pass_.advance();
      if (pass_.layer() == layer_) continue;
      layer_ = pass_.layer();
      head_ = 0;
      collected_ = 0;
    }
  }
  return done();
}

double SpectrumSurgery::collect() {
  if (collected_ == 0) {
    weights_ = pass_.model().read_heads(layer_);
    if (!weights_.query_norm.is_none() || !weights_.key_norm.is_none()) {
      throw FormatError("layer " + std::to_string(layer_),
                        "surgery needs queries and keys that are linear in the tokens, but it "
                        "normalizes them");
    }
    states_.assign(pass_.passages().size(), {});
  }
  const std::size_t count = pass_.passages_of_step();
  const double work =
      pass_.advance({.states = [this](std::size_t passage, const Eigen::MatrixXf& states) {
        states_[passage] = states;
      }});
  collected_ += count;
  if (collected_ == states_.size()) enter_layer();
  return work;
}

void SpectrumSurgery::enter_layer() {
  drawn_.enter(pass_.model().rules(layer_));
  const auto statistics = states_.begin() + static_cast<std::ptrdiff_t>(statistics_);
  correlations_ = correlations_of({states_.begin(), statistics}, sinks_);
  Moments moments(states_.front().rows());
  for (auto passage = states_.begin(); passage != statistics; ++passage) {
    moments.add(content_of(passage->cast<double>(), sinks_));
  }
  mean_ = moments.mean();
}

SurgeryFrame SpectrumSurgery::frame_of(const HeadStates& states,
                                       const std::vector<std::vector<MatrixXd>>& y) {
  SurgeryFrame frame;
  const Moments moments = stacked_moments(states.queries, states.keys, sinks_, statistics_);
  const MatrixXd covariance = moments.covariance();
  const Index width = covariance.rows() / 2;
  const VectorXd means = moments.mean();
  frame.query_mean = means.head(width);
  frame.key_mean = means.tail(width);
  frame.key_covariance = covariance.bottomRightCorner(width, width);
  frame.trace = covariance.bottomLeftCorner(width, width).trace();
  frame.norm = std::sqrt(traced(covariance.topLeftCorner(width, width), frame.key_covariance));
  const HeadProjections folded = folded_projections(weights_, drawn_.rules(), head_);
  const double scale = std::sqrt(static_cast<double>(width));
  const MatrixXd queries = folded.query / scale;
  frame.bare_keys = folded.key * folded.key.transpose();
  frame.bare_trace = traced(queries, folded.key);
  frame.bare_norm = std::sqrt(traced(queries * queries.transpose(), frame.bare_keys));
  frame.sink = mean_of(states.keys).leftCols(sinks_.leading).rowwise().mean() - frame.key_mean;
  for (const std::vector<MatrixXd>& features : y) {
    const MatrixXd both = stacked_moments(features, states.keys, sinks_, statistics_).covariance();
    frame.features.push_back(both.topLeftCorner(width, width));
    frame.features_keys.push_back(both.topRightCorner(width, width));
  }
  return frame;
}

HeadMeasures SpectrumSurgery::predict(const HeadStates& edited) const {
  const HeadPredictor predictor(edited, sinks_, correlations_, turns_,
                                folded_projections(weights_, drawn_.rules(), head_));
  const std::vector<HeadQuery> queries = drawn_.queries(edited);
  HeadMeter meter;
  drawn_.each(queries, [&](std::size_t j, const RowPlace& place, std::span<const float> normal) {
    VectorXd logits = predictor.normal_logits(Level::neighbours, queries[j], place.seen, normal);
    drawn_.cap(logits);
    meter.add_row(logits, softmax(logits, 1), place, sinks_);
  });
  return meter.measures();
}

double SpectrumSurgery::operate() {
  const LayerRules& rules = drawn_.rules();
  const std::size_t passages = states_.size();
  std::vector<HeadTokens> tokens = head_tokens(weights_, rules, head_, states_);
  HeadStates all, states;
  for (std::size_t k = 0; k < passages; ++k) {
    all.add(tokens[k]);
    if (k < statistics_) states.add(tokens[k]);
  }
  const Index width = rules.head_width;
  std::vector<std::vector<MatrixXd>> y;  // by draw, by passage
  for (Index draw = 0; draw < settings_.draws; ++draw) {
    const Index number =
        (layer_ * static_cast<Index>(pass_.model().heads()) + head_) * settings_.draws + draw;
    const MatrixXd normal = normal_matrix(states_.front().rows(), width, settings_.seed,
                                          kSurgeryStream + static_cast<std::uint64_t>(number))
                                .cast<double>();
    std::vector<MatrixXd>& features = y.emplace_back();
    for (const Eigen::MatrixXf& passage : states_) {
      features.push_back(transposed_times(normal, passage.cast<double>().colwise() - mean_));
    }
  }
  const SurgeryFrame frame = frame_of(states, y);
  Eigen::MatrixXf read(rules.heads * width, drawn_.length());
  const double scale = std::sqrt(static_cast<double>(width));
  for (const QueryEdit& edit : surgery_edits(frame)) {
    SurgeryRow row;
    row.layer = layer_;
    row.head = head_;
    row.surgery = edit.surgery;
    row.dose = edit.dose;
    row.draw = edit.draw;
    const std::vector<MatrixXd>& features = y[static_cast<std::size_t>(edit.draw)];
    HeadStates edited = states;
    std::vector<MatrixXd> change;
    HeadMeter meter;
    for (std::size_t k = 0; k < passages; ++k) {
      MatrixXd queries = edit.queries(all.queries[k], all.keys[k], features[k]);
      if (k < statistics_) {
        change.push_back(queries - all.queries[k]);
        edited.queries[k] = std::move(queries);
        continue;
      }
      HeadTokens after = tokens[k];
      after.queries = (scale * queries).cast<float>();
      const HeadTrace trace = run_head(std::move(after), rules, turns_, head_, read);
      meter.add(trace.logits, trace.weights, rules, sinks_);
    }
    const MatrixXd moved = stacked_moments(change, states.keys, sinks_, statistics_).covariance();
    row.size =
        std::sqrt(traced(moved.topLeftCorner(width, width), frame.key_covariance)) / frame.norm;
    row.predicted = predict(edited);
    row.measured = meter.measures();
    row.theory_localization =
        propagate(kernel_, content_products(edited, sinks_).traces(), 1).localization;
    rows_.push_back(row);
  }
  const auto length = static_cast<double>(drawn_.length());
  const double edits = static_cast<double>(steps_wanted()) /
                       static_cast<double>(pass_.model().layers() * pass_.model().heads());
  return edits * (static_cast<double>(passages) * length * length * static_cast<double>(width) +
                  drawn_.work());
}

}  // namespace eigenscope

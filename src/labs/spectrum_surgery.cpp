#include "labs/spectrum_surgery.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <utility>

#include "inference/head_ablation.h"
#include "inference/outcome.h"
#include "prediction/levels.h"
#include "support/error.h"
#include "support/gemm.h"
#include "support/normal_matrix.h"
#include "support/parameter.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t kSurgeryStream =
    0x7375726700000000;  // "surg", with room for heads and draws

SurgeryEdit named(QueryEdit edit, Surgery surgery, double dose, int draw = 0) {
  return {std::move(edit), surgery, dose, draw};
}

// The random change of this norm, from features of one draw.
SurgeryEdit random_edit(const SurgeryFrame& frame, const MatrixXd& inverse, Surgery surgery,
                        double dose, int draw, double norm) {
  const auto at = static_cast<std::size_t>(draw);
  const Index width = frame.key_mean.size();
  const auto rank = static_cast<double>(width);
  // G^T M G = 1, so that G y has the norm of y in the metric.
  const MatrixXd root = Eigen::LLT<MatrixXd>(frame.key_covariance).matrixL();
  const MatrixXd turned =
      root.transpose().triangularView<Eigen::Upper>().solve(MatrixXd::Identity(width, width));
  const double trace = (turned * frame.features_keys[at]).trace();
  const double spread = std::sqrt(frame.features[at].trace() - trace * trace / rank);
  QueryEdit edit = edit_around_means(frame, 1, -(norm / spread) * (trace / rank) * inverse);
  edit.random = (norm / spread) * turned;
  return named(std::move(edit), surgery, dose, draw);
}

}  // namespace

std::vector<SurgeryEdit> surgery_edits(const SurgeryFrame& frame) {
  const Index width = frame.key_mean.size();
  const auto rank = static_cast<double>(width);
  const MatrixXd inverse = inverse_of_keys(frame.key_covariance),
                 bare = inverse_of_keys(frame.bare_keys);
  const auto weighted_change = [&](double added, double shrunk) {
    return SpectrumChange(frame.trace, frame.norm, rank, added, shrunk);
  };
  const auto bare_change = [&](double added, double shrunk) {
    return SpectrumChange(frame.bare_trace, frame.bare_norm, rank, added, shrunk);
  };
  std::vector<SurgeryEdit> edits{
      named(edit_around_means(frame, 1, MatrixXd::Zero(width, width)), Surgery::none, 0)};
  const auto add = [&](Surgery surgery, double dose, const SpectrumChange& change,
                       const MatrixXd& of_keys) {
    edits.push_back(
        named(edit_around_means(frame, change.query, change.key * of_keys), surgery, dose));
  };
  const auto add_random = [&](Surgery surgery, double dose, double norm) {
    for (std::size_t draw = 0; draw < frame.features.size(); ++draw) {
      edits.push_back(random_edit(frame, inverse, surgery, dose, static_cast<int>(draw), norm));
    }
  };
  for (const double dose : kMeanDoses) {
    const SpectrumChange added = weighted_change(dose, 0);
    add(Surgery::mean, dose, added, inverse);
    add(Surgery::bare_mean, dose, bare_change(dose, 0), bare);
    // ||alpha (A + a P) - A||^2, with <A, P> = tr(A).
    const double less = added.query - 1, more = added.key;
    add_random(Surgery::random_mean, dose,
               std::sqrt(less * less * frame.norm * frame.norm + 2 * less * more * frame.trace +
                         more * more * rank));
  }
  const double mean = frame.trace / rank;
  const double deviation = std::sqrt(frame.norm * frame.norm - mean * mean * rank);
  const VectorXd sink = frame.sink.normalized();
  for (const double dose : kShrinkDoses) {
    add(Surgery::shrink, dose, weighted_change(0, dose), inverse);
    add(Surgery::bare_shrink, dose, bare_change(0, dose), bare);
    add_random(Surgery::random_shrink, dose, std::abs(dose) * deviation);
    SurgeryEdit removed = edits.front();
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
      measured_(measured),
      pass_(model, statistics, measured, {}, {settings.queries, settings.seed}),
      kernel_(centred_kernel(token_process(
          "normalized-walk", model->rules(0).most_seen(statistics.front().length()), 0))) {
  checked(kSurgeryDraws, static_cast<double>(settings.draws));
  if (settings.loss && !(model->causal() && model->has_output())) {
    throw InvalidArgument("loss", "be asked of a model that predicts the next token");
  }
}

bool SpectrumSurgery::done() const {
  return pass_.layer() + 1 == pass_.model().layers() && head_ == pass_.model().heads();
}

Index SpectrumSurgery::steps_done() const { return std::ssize(rows_); }
Index SpectrumSurgery::steps_wanted() const {
  const auto edits = static_cast<Index>(kMeanDoses.size() * 2 + kShrinkDoses.size() * 3) + 1 +
                     settings_.draws * static_cast<Index>(kMeanDoses.size() + kShrinkDoses.size());
  return pass_.model().layers() * pass_.model().heads() * edits;
}

bool SpectrumSurgery::advance(double work) {
  for (double left = work; left >= 0 && !done();) {
    if (pass_.ready() && head_ < pass_.model().heads()) {
      left -= operate();
      ++head_;
    } else {
      left -= pass_.advance();
      if (!pass_.ready()) head_ = 0;
    }
  }
  return done();
}

SurgeryFrame SpectrumSurgery::frame_of(const HeadSurgery& head,
                                       const std::vector<std::vector<MatrixXd>>& y) const {
  SurgeryFrame frame{head.content(), {}, 0, 0, {}, {}, {}};
  const std::vector<MatrixXd>& keys = head.states().keys;
  const std::vector<MatrixXd> statistics_keys(
      keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(pass_.statistics()));
  const Index width = frame.key_mean.size();
  const HeadProjections folded =
      folded_projections(pass_.weights(), pass_.model().rules(pass_.layer()), head_);
  const double scale = std::sqrt(static_cast<double>(width));
  const MatrixXd queries = folded.query / scale;
  frame.bare_keys = folded.key * folded.key.transpose();
  frame.bare_trace = trace_of_product(queries, folded.key);
  frame.bare_norm = std::sqrt(trace_of_product(queries * queries.transpose(), frame.bare_keys));
  frame.sink =
      mean_of(statistics_keys).leftCols(pass_.sinks().leading).rowwise().mean() - frame.key_mean;
  for (const std::vector<MatrixXd>& features : y) {
    const MatrixXd both =
        stacked_moments(features, keys, pass_.sinks(), pass_.statistics()).covariance();
    frame.features.push_back(both.topLeftCorner(width, width));
    frame.features_keys.push_back(both.topRightCorner(width, width));
  }
  return frame;
}

double SpectrumSurgery::loss_with(
    const std::function<AttentionEdit(std::size_t passage)>& edit) const {
  ForwardPass pass(pass_.shared_model(), measured_);
  while (!pass.done()) {
    PassageVisitors visitors;
    if (pass.layer() == pass_.layer()) visitors.edit = edit;
    pass.advance(visitors);
  }
  std::vector<Eigen::MatrixXf> tokens;
  for (std::size_t k = 0; k < measured_.size(); ++k) tokens.push_back(pass.tokens(k));
  OutcomeReader reader(pass_.shared_model(), {});
  reader.start(measured_, tokens, std::vector<bool>(measured_.size()));
  while (!reader.done()) reader.advance();
  double sum = 0, targets = 0;
  for (const Outcome& outcome : reader.outcomes()) {
    sum += outcome.loss;
    targets += static_cast<double>(outcome.targets);
  }
  return sum / targets;
}

double SpectrumSurgery::operate() {
  const std::vector<Eigen::MatrixXf>& states = pass_.states();
  if (head_ == 0) {
    Moments moments(states.front().rows());
    for (std::size_t k = 0; k < pass_.statistics(); ++k) {
      moments.add(content_of(states[k].cast<double>(), pass_.sinks()));
    }
    mean_ = moments.mean();
  }
  const HeadSurgery head(pass_.head(head_));
  const Index width = head.content().key_mean.size();
  std::vector<std::vector<MatrixXd>> y;  // by draw, by passage
  for (Index draw = 0; draw < settings_.draws; ++draw) {
    const Index number =
        (pass_.layer() * static_cast<Index>(pass_.model().heads()) + head_) * settings_.draws +
        draw;
    const MatrixXd normal = normal_matrix(states.front().rows(), width, settings_.seed,
                                          kSurgeryStream + static_cast<std::uint64_t>(number))
                                .cast<double>();
    std::vector<MatrixXd>& features = y.emplace_back();
    for (const Eigen::MatrixXf& passage : states) {
      features.push_back(transposed_times(normal, passage.cast<double>().colwise() - mean_));
    }
  }
  const std::vector<SurgeryEdit> edits = surgery_edits(frame_of(head, y));
  double without = SurgeryRow::kUnknown;
  if (settings_.loss) {
    const LayerRules& rules = pass_.model().rules(pass_.layer());
    without = loss_with([&](std::size_t) {
      AttentionEdit edit;
      edit.weights = [&](int number, Eigen::Ref<Eigen::MatrixXf> weights) {
        if (number == head_) ablate(Ablation::zero, rules, weights);
      };
      return edit;
    });
  }
  for (const SurgeryEdit& edit : edits) {
    const std::vector<MatrixXd>& features = y[static_cast<std::size_t>(edit.draw)];
    const HeadEffect effect = head.effect(edit, features);
    const double theory = propagate(kernel_, effect.traces, 1).localization;
    SurgeryRow row{effect, pass_.layer(), head_, edit.surgery, edit.dose, edit.draw, theory};
    row.loss_without = without;
    if (settings_.loss) {
      // The states before the layer are those of the trained model, and so are the tokens of each passage.
      row.loss = loss_with([&](std::size_t passage) {
        const std::size_t k = pass_.statistics() + passage;
        AttentionEdit change;
        change.tokens = [&, k](HeadTokens& tokens) {
          tokens.queries.middleRows(head_ * width, width) =
              (std::sqrt(static_cast<double>(width)) *
               edit.queries(head.states().queries[k], head.states().keys[k], features[k]))
                  .cast<float>();
        };
        return change;
      });
    }
    rows_.push_back(row);
  }
  return static_cast<double>(edits.size()) * head.work();
}

}  // namespace eigenscope

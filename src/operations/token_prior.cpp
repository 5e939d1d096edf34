// Token prior: loss of a small language model over the number of training bytes, with and without a prior of its
// attention on the previous token.
#include "labs/token_prior.h"

#include "operations/estimates.h"
#include "operations/operations.h"
#include "support/shared_parameters.h"
#include "training/parameters.h"

namespace eigenscope {
namespace {

struct TokenPriorInput : TokenPriorSettings {
  std::vector<std::byte> text;
};

void describe(InputFields& f, TokenPriorInput& s) {
  f.bytes(
      "text", s.text,
      "text: training texts are parts of its first nine tenths, its last tenth is for validation",
      FieldSource::text_option);
  f.choice("positions", s.positions, kPositionsNames, "position embedding of the models");
  f.numbers("bytes", kTrainingBytes, s.bytes, "numbers of training bytes, ascending");
  f.number(training::kPriorWeight, s.prior_weight);
  f.number_from(static_cast<double>(s.steps), shared::kSteps, s.steps);
  f.number(kTrainings, s.trainings,
           "training runs, each with a text and initial weights of its own");
  f.number(shared::kSeed, s.seed);
}

struct TokenPriorResult {
  std::vector<TokenPriorRow> rows;
};

void describe_token_prior_row(ResultFields& out, const TokenPriorRow& row) {
  out.choice("prior", static_cast<std::size_t>(row.prior), kTokenPriorNames,
             "key with the weight of the prior in every head");
  out.integer("bytes", row.bytes, "bytes of training text");
  out.integer("trainings", row.trainings, "training runs so far");
  describe(out, "loss", row.loss, "lowest loss on validation text during training, bits per byte");
  describe(out, "added", row.added,
           "loss minus that without a prior, with the same text and initial weights");
  describe(out, "largest_weight", row.largest_weight,
           "mean attention weight on the previous token in the head that has most of it");
  describe(out, "mean_weight", row.mean_weight,
           "mean attention weight on the previous token, over all heads");
}

void describe(ResultFields& out, const TokenPriorResult& result) {
  out.list("rows", result.rows, "one row for each prior and number of training bytes",
           describe_token_prior_row);
}

class TokenPriorJob {
 public:
  static constexpr int kPartitions = 2;

  TokenPriorJob(const TokenPriorInput& in, const Partition& partition)
      : lab_(as_text(in.text), in, seeds_of(partition)) {
    if (!partition.results.empty()) lab_.join(partition.results);
  }

  bool advance(double work) { return lab_.advance(work); }
  double progress() const { return lab_.progress(); }
  std::vector<std::byte> partial_result() const { return lab_.bytes(); }
  TokenPriorResult result() const { return {lab_.rows()}; }

 private:
  static SeedPartition seeds_of(const Partition& partition) {
    if (partition.number == Partition::kAll) return {};
    return {static_cast<std::size_t>(partition.number), kPartitions};
  }

  TokenPriors lab_;
};

}  // namespace

const Operation token_prior_operation = operation<TokenPriorInput, TokenPriorJob>(
    "token-prior",
    "Loss of a small language model that is trained with and without a prior of its attention on "
    "the previous token, over the number of training bytes",
    "eigenscope token-prior --csv\n"
    "eigenscope token-prior --positions learned --bytes 2000,128000",
    "rows");

}  // namespace eigenscope

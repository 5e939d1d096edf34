// Effect of a prior on the previous token on a small language model: loss over the number of training bytes,
// as in attention_prior.h for answers about scenes (Le et al., 2022, arXiv:2205.12616).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "labs/paired_trainings.h"
#include "statistics/estimate.h"
#include "support/choice.h"
#include "support/parameter.h"
#include "training/trainer.h"

namespace eigenscope {

/// The key that has all of the prior of every head.
enum class TokenPriorKind {
  none,      ///< no penalty
  previous,  ///< one token before the query
  far,       ///< half a sequence before the query
};
inline constexpr std::array kTokenPriorNames{Choice{"none", "no prior"},
                                             Choice{"previous", "previous token"},
                                             Choice{"far", "token 16 before"}};

inline constexpr Parameter kTrainingBytes{"bytes", integers(1000, 1e9), 2000,
                                          "bytes of training text"};

struct TokenPriorSettings {
  Positions positions = Positions::relative;
  double prior_weight = 1;
  std::vector<double> bytes{2000, 16000, 128000};  ///< ascending
  Eigen::Index steps = 200;
  Eigen::Index trainings = 5;
  std::uint64_t seed = 1;
};

/// Means for a prior and a number of training bytes, on validation text.
struct TokenPriorRow {
  TokenPriorKind prior = TokenPriorKind::none;
  Eigen::Index bytes = 0;
  Eigen::Index trainings = 0;  ///< finished so far
  Estimate loss;               ///< lowest loss of the evaluations in training, bits per byte
  Estimate added;              ///< loss minus that without a prior, same text and initial weights
  /// After the last step: mean attention weight on the previous token in the head that has most of it, and in all
  /// heads.
  Estimate largest_weight, mean_weight;
};

/// Trains a model of bytes for every prior, number of training bytes and seed. A job that advances in steps: all of
/// one seed after the other. Training texts are a random part of the first nine tenths of the text, each the beginning
/// of the larger ones; the validation text is the last tenth.
class TokenPriors {
 public:
  /// Throws InvalidArgument for settings out of range, "bytes" that do not ascend or exceed the training part of the
  /// text, and as Trainer does.
  TokenPriors(std::string_view text, const TokenPriorSettings& settings,
              SeedPartition partition = {});

  /// Does about `work` multiply-adds more; true when all is done.
  bool advance(double work);
  /// Share of the work that is done, in [0, 1].
  double progress() const { return runs_.progress(); }
  std::vector<TokenPriorRow> rows() const;
  /// See PairedTrainings::bytes and join, for seeds that are divided among workers.
  std::vector<std::byte> bytes() const { return runs_.bytes(); }
  void join(const std::vector<std::vector<std::byte>>& partitions) { runs_.join(partitions); }

 private:
  using Index = Eigen::Index;

  struct Measures {
    double loss, largest_weight, mean_weight;
  };
  struct Run {
    std::unique_ptr<Trainer> trainer;
    Index step = 0;
  };

  Run begin();

  TokenPriorSettings settings_;
  std::string training_, validation_;
  PairedTrainings<Run, Measures> runs_;             // points are numbers of bytes, kinds are priors
  std::vector<std::shared_ptr<const Text>> texts_;  // for the present seed, by point
};

}  // namespace eigenscope

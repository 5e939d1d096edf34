// Passages of a text on which labs evaluate trained language models.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/parameter.h"
#include "training/text.h"
#include "training/training_file.h"

namespace eigenscope {

inline constexpr Parameter kSequences{"sequences", integers(16, 4096), 128,
                                      "sequences of validation text"};

/// `count` passages at even distances in the last tenth of a text, fewer where they would overlap, each of `length`
/// tokens and the next one. Throws InvalidArgument ("text") where there is none.
std::vector<std::vector<TokenId>> validation_passages(const Tokenizer& tokenizer,
                                                      std::string_view text, Eigen::Index length,
                                                      Eigen::Index count);

/// Passages of the validation text as a model reads and predicts them.
class EvaluatedPassages {
 public:
  static constexpr Eigen::Index kAtOnce = 16;  ///< passages of a forward pass

  EvaluatedPassages() = default;
  /// Masked tokens are those of the seed. Throws as validation_passages does.
  EvaluatedPassages(const TrainedModel& model, std::string_view text, Eigen::Index count,
                    std::uint64_t seed);

  Eigen::Index count() const { return count_; }
  /// Runs the next kAtOnce passages, or the remaining ones, and appends their losses, in bits per predicted token, to
  /// `losses`, which has those of the passages before. `model` is of the kind that the passages are made for.
  void evaluate_next(Model<float>& model, const Intervention<float>& intervention,
                     std::vector<double>& losses) const;

 private:
  std::vector<TokenId> inputs_, targets_;
  Eigen::Index count_ = 0, length_ = 0;
};

}  // namespace eigenscope

// Text sampled from a trained model, and the attention of its heads in a sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/parameter.h"
#include "training/training_file.h"

namespace eigenscope {

/// The intervention on attention with this name: none, hard, tame. Throws
/// InvalidArgument ("intervention") that lists the names. `gamma` is TAME's.
inline constexpr std::array kInterventionNames{Choice{"none", "as trained"},
                                               Choice{"hard", "with hard attention"},
                                               Choice{"tame", "with TAME"}};
Intervention<float> intervention_of_name(std::string_view name, double gamma,
                                         const Model<float>& model);

inline constexpr Parameter kTame{"tame", reals_above(0, 1e6), 1,
                                 "TAME: gamma of W' = gamma log(tr(W^2) + 1e-6) W / sqrt(tr(W^2))"};
inline constexpr Parameter kGenerated{"generated", integers(0, 100000), 200, "tokens to sample"};

/// Samples token after token, as a job in steps of tokens. Each token depends on the last T tokens.
class TextSampler {
 public:
  /// Continues `prompt` (a line's end when it has no token) by `wanted` tokens, each drawn from
  /// softmax(logits / temperature); token k by draw k of the seed. Throws InvalidArgument
  /// ("temperature", "generated"), and ("checkpoint") for a model of masked tokens.
  TextSampler(TrainedModel trained, std::string_view prompt, Eigen::Index wanted,
              double temperature, std::uint64_t seed, const Intervention<float>& intervention = {});

  /// Samples up to `tokens` more; true when all are sampled.
  bool advance(Eigen::Index tokens);
  Eigen::Index steps_done() const { return done_; }
  Eigen::Index steps_wanted() const { return wanted_; }
  /// About how many multiply-adds one token costs.
  double work_per_step() const;
  /// The text sampled so far, without the prompt.
  std::string text() const;

 private:
  TrainedModel trained_;
  std::vector<TokenId> tokens_;
  std::size_t prompt_;
  Eigen::Index wanted_, done_ = 0;
  double temperature_;
  std::uint64_t seed_;
  Intervention<float> intervention_;
};

/// Attention weights of every head in a sentence.
struct Attended {
  std::vector<std::string> tokens;  ///< texts of the tokens; at most the model's length
  Eigen::Index layers = 0, heads = 0;
  std::vector<float> weights;     ///< layer by layer, head by head, row by row (a row is a query)
  std::vector<double> entropies;  ///< by head: mean of H/log(keys) over queries but the first
};
/// Throws InvalidArgument ("prompt") when it has fewer than two tokens.
Attended attend_to(TrainedModel& trained, std::string_view prompt,
                   const Intervention<float>& intervention = {});

}  // namespace eigenscope

// Importance of the entries of the attention matrix: distances between query and key that trained language models are
// evaluated or trained without, and a learned mask over them (Shi et al., 2021, arXiv:2102.12871).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "labs/diagonal_heads.h"
#include "labs/validation_passages.h"
#include "statistics/estimate.h"
#include "support/choice.h"
#include "training/training_file.h"

namespace eigenscope {

/// A distance k = |query - key|; the diagonal has k = 0. Losses are in bits per predicted token.
struct EntryRow {
  Eigen::Index distance = 0;
  double entries = 0;  ///< entries at this distance, mean over attention rows
  /// Loss that is added to models trained with all entries when no head sees the keys at this distance; the other
  /// weights of a row still add up to 1.
  Estimate ablated;
  Estimate over_diagonal;  ///< `ablated` minus that of the diagonal
  /// Loss of models trained without the distance minus that of the model with the same seed.
  Estimate trained;
  Eigen::Index trainings = 0;  ///< pairs of models in `trained`
};

/// A distance in the masks that were learned with a penalty: probability that it is kept, mean and standard error
/// over models.
struct LearnedDistance {
  double penalty = 0;  ///< nats for each kept entry of a row
  Eigen::Index distance = 0;
  double entries = 0;
  Estimate kept;
};

/// Distances that models trained with all entries are evaluated with.
enum class KeptDistances {
  learned,  ///< distances whose learned probability is at least 1/2, for the same seed
  nearest,  ///< control: from the diagonal on, up to as many entries
  random,   ///< control: as many entries at random distances
};
inline constexpr std::array kKeptDistancesNames{Choice{"learned", "learned mask"},
                                                Choice{"nearest", "nearest keys"},
                                                Choice{"random", "random distances"}};
struct MaskRow {
  double penalty = 0;  ///< nats for each kept entry, of the learned mask
  KeptDistances kept = KeptDistances::learned;
  double entries = 0;  ///< remaining entries of an attention row, mean over models
  Estimate added;      ///< loss minus that with all entries
  /// Loss of the models that learned the mask minus that of the model with the same seed; for `learned` only.
  Estimate trained;
};

struct AttentionEntriesSettings {
  Objective objective = Objective::masked;
  AttentionSkip attention_skip = AttentionSkip::with;
  Eigen::Index sequences = 0;
  std::uint64_t seed = 0;
};

/// A job: evaluates models of one objective, with or without skip connections around attention, on passages at even
/// distances in the last tenth of a text. Other models are left out.
class AttentionEntries {
 public:
  /// Throws InvalidArgument: "runs" without a model of this objective and skip connection that was trained with all
  /// entries; among these for positions that are not relative, QK-norm, different sequence lengths, masked shares or
  /// tokenizers, for two of one kind and seed, and one whose seed has no model with all entries; "text" where its
  /// last tenth is shorter than a passage; a setting out of range.
  AttentionEntries(std::vector<TrainedModel> models, std::string_view text,
                   const AttentionEntriesSettings& settings);

  /// Does about `work` multiply-adds more; true when done.
  bool advance(double work);
  double progress() const;

  Eigen::Index models() const;  ///< number of models trained with all entries
  Estimate loss() const;        ///< mean over those that are done, bits per predicted token
  /// The distances that are evaluated, as far as models are done with them.
  std::vector<EntryRow> rows() const;
  std::vector<LearnedDistance> learned() const;
  std::vector<MaskRow> masks() const;
  /// The heads of the models trained with all entries that are evaluated.
  std::vector<DiagonalHead> heads() const;
  /// Correlations over these heads, in the order of DiagonalProperty.
  std::array<PermutedCorrelation, kDiagonalPropertyNames.size()> correlations() const;
  DiagonalErrors errors() const;

 private:
  using Index = Eigen::Index;
  using Losses = std::vector<double>;  // by passage, bits per token
  using Kept = std::vector<char>;      // by distance

  /// An evaluation of a model.
  struct Plan {
    Index distance = -1;  ///< hidden distance; -1 for none
    double penalty = -1;  ///< penalty of the learned mask; -1 for none
    KeptDistances mask = KeptDistances::learned;
    Index draw = 0;  ///< number of the random mask
    Kept kept = {};  ///< empty for all that the model keeps

    bool same(const Plan& other) const {
      return distance == other.distance && penalty == other.penalty && mask == other.mask &&
             draw == other.draw;
    }
  };
  struct Subject {
    TrainedModel trained;
    std::vector<Plan> plans;  ///< the first is as trained
    std::vector<Losses> done;
    std::vector<DiagonalHead> heads;

    bool is_full() const;  ///< true if trained with all entries
    /// Losses of an evaluation that is done, or null.
    const Losses* losses(const Plan& plan) const;
  };

  void check_model(const TrainedModel& trained) const;
  void add(TrainedModel trained);
  void plan(Subject& subject) const;
  void plan_masks(const Model<float>& masked, double penalty, Subject& subject) const;
  /// The first distances of an order whose entries add up to about `entries`.
  Kept first_of(const std::vector<Index>& order, double entries) const;
  double entries_of(const Kept& kept) const;
  /// The model with all entries and this seed; null for none.
  const Subject* full_of(std::uint64_t seed) const;
  void evaluate_chunk(Subject& subject);
  std::vector<std::vector<DiagonalHead>> heads_by_model() const;

  /// Loss of one evaluation minus that of another one, of the models that are done with both: models x passages.
  Eigen::MatrixXd added(const Plan& plan, const Plan& to) const;
  /// Loss of the models for which `kind` holds minus that of the model with all entries and the same seed: models x
  /// passages.
  template <class Kind>
  Eigen::MatrixXd added_in_training(const Kind& kind) const;

  AttentionEntriesSettings settings_;
  ModelSettings model_;
  std::vector<Index> distances_;
  std::vector<double> penalties_;  // penalties of the learned masks
  std::vector<Subject> subjects_;  // models with all entries first
  EvaluatedPassages passages_;
  std::size_t at_ = 0;  // subject under way
  Losses current_;      // losses of its evaluation under way
  DiagonalSums sums_;   // for a model with all entries
};

}  // namespace eigenscope

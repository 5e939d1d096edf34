// The interface between regularizers of the eigenspectrum and a training run, and the table of regularizers.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "support/choice.h"
#include "training/model.h"
#include "training/settings.h"

namespace eigenscope {

/// Weights as functions of the numbers that the optimizer trains instead ("raw": the model's parameters, and behind
/// them the gains).
template <class Scalar>
class Reparametrization {
 public:
  virtual ~Reparametrization() = default;
  /// Number of gains, which begin at 1.
  virtual Eigen::Index gains() const = 0;
  /// Called before the first step.
  virtual void begin(const Vector<Scalar>& raw) = 0;
  /// Called after every step.
  virtual void follow(const Vector<Scalar>& raw) = 0;
  /// Sets the parameters of the model from `raw`.
  virtual void apply(const Vector<Scalar>& raw, Vector<Scalar>& parameters) const = 0;
  /// Sets `raw_gradient`, the gradient by `raw`, from `gradient`, that by the parameters.
  virtual void pull_back(const Vector<Scalar>& raw, const Vector<Scalar>& gradient,
                         Vector<Scalar>& raw_gradient) const = 0;
};

/// Takes part in every step of one run.
template <class Scalar>
class Regularizer {
 public:
  virtual ~Regularizer() = default;

  /// The mean of a head that is pulled to its target m*: by default tr(W)/d of W = W_Q W_K^T, d x d, without the norm's
  /// gain.
  virtual double mean(const Model<Scalar>& model, Eigen::Index layer, Eigen::Index head) const;
  /// The penalty, with its gradient added to the model's. `targets` are m* of every head, layer by layer.
  virtual double add_penalty(const std::vector<double>& /*targets*/,
                             Model<Scalar>& /*model*/) const {
    return 0;
  }
  /// The regularizer's term of the loss that depends on the attention weights of the batch; Model::backward adds it.
  virtual KeyPrior prior(const AttentionShape& /*batch*/) const { return {}; }
  /// Adds the regularizer's part to the decoupled weight decay of each trained number, in units of 1/(learning rate).
  virtual void add_decay(Vector<float>& /*decay*/) const {}

  /// True if it reads the activations of the batches.
  virtual bool observes() const { return false; }
  /// Reads the model's last batch; `first` before step 0.
  virtual void observe(const Model<Scalar>& /*model*/, bool /*first*/) {}
  /// The numbers that are kept from step to step; a checkpoint has them as RegularizerFacts::state. Their count is
  /// fixed.
  virtual std::span<Scalar> state() { return {}; }

  /// Null where the optimizer trains the model's parameters themselves.
  virtual Reparametrization<Scalar>* reparametrization() { return nullptr; }
};

/// Properties of a regularizer that do not depend on a run.
struct RegularizerFacts {
  /// Training settings that only this kind of regularizer reads.
  std::span<const std::string_view> settings = {};
  const char* state = nullptr;  ///< tensor of a checkpoint; null where there is no state
  /// True if it acts on W_Q and W_K alone, so that attention must depend on them.
  bool of_query_key = true;
  /// True if the query bias is not regularized, so that the logits can vary through it.
  bool leaves_bias = true;
  /// The variance in the log that the paper (Bao, Hataya, Karakida, ICML 2024) expects to fall, with a lower loss and
  /// a higher entropy than the baseline's; empty where it claims nothing.
  std::string_view shrinks = {};
  /// Throws InvalidArgument for settings that exclude the regularizer; null if there are none.
  void (*check)(const TrainSettings& settings) = nullptr;
};

/// Name, label, facts and constructors of a regularizer.
struct RegularizerRow : Choice {
  template <class Scalar>
  using Make = std::unique_ptr<Regularizer<Scalar>> (*)(const TrainSettings&,
                                                        const ParameterLayout&);
  RegularizerFacts facts;
  Make<float> make_float;
  Make<double> make_double;
};

/// The row of the class template `Kind`, whose constructor takes settings and layout.
template <template <class> class Kind>
constexpr RegularizerRow regularizer(const char* name, const char* label, RegularizerFacts facts) {
  return {{name, label},
          facts,
          [](const TrainSettings& settings,
             const ParameterLayout& layout) -> std::unique_ptr<Regularizer<float>> {
            return std::make_unique<Kind<float>>(settings, layout);
          },
          [](const TrainSettings& settings,
             const ParameterLayout& layout) -> std::unique_ptr<Regularizer<double>> {
            return std::make_unique<Kind<double>>(settings, layout);
          }};
}

#define EIGENSCOPE_DECLARE(kind) extern const RegularizerRow kind##_regularizer;
EIGENSCOPE_REGULARIZERS(EIGENSCOPE_DECLARE)
#undef EIGENSCOPE_DECLARE
#define EIGENSCOPE_ONE(kind) +1
inline constexpr std::size_t kRegularizerCount = 0 EIGENSCOPE_REGULARIZERS(EIGENSCOPE_ONE);
#undef EIGENSCOPE_ONE

/// The rows in the order of RegularizerKind. Constructors of static objects must not read them.
extern const std::array<RegularizerRow, kRegularizerCount> kRegularizers;
const RegularizerRow& regularizer_row(RegularizerKind kind);

/// The regularizer of the settings for a model of this layout, which must outlive the regularizer.
template <class Scalar>
std::unique_ptr<Regularizer<Scalar>> make_regularizer(const TrainSettings& settings,
                                                      const ParameterLayout& layout);

}  // namespace eigenscope

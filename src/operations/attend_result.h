// The result of `attend`: measures of heads on a text or on pictures, and the outcome of the model.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "contract/result.h"
#include "inference/head_ablation.h"
#include "inference/text_attention.h"
#include "picture/picture.h"

namespace eigenscope {

/// A measure of `attend` that was not asked for, or that the model does not have; null in results.
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// The measures of a head, and what the model loses without it.
struct HeadOnTextRow {
  HeadOnText head;
  double rotary_decay = 0;  ///< decay exponent from the layer's rotary base
  double loss_change = kNotMeasured, output_change = kNotMeasured;
};

/// A token of the vocabulary as a prediction.
struct PredictedToken {
  int id = 0;
  std::string token;
  double probability = 0, probability_without = kNotMeasured;
};

/// The tokens of a passage.
struct TokenList {
  std::vector<int> ids;
  std::vector<std::string> tokens;
};

/// The result so far.
struct AttendResult {
  std::vector<TokenList> passages;
  Eigen::Index text_passages = 0;  ///< passages of the text, measured or not; number of pictures
  Eigen::Index patch_side = 0;     ///< patches along a side of a picture; 0 for text
  bool preprocessed = false;       ///< pictures are prepared by a preprocessor_config.json
  bool repeated = false;           ///< passages of distinct tokens, each repeated twice
  std::vector<LayerOnText> layers;
  std::vector<HeadOnTextRow> heads;
  const std::vector<HeadWeights>* weights = nullptr;  ///< not a copy: they may be large
  std::vector<LargestWeight> largest;
  std::shared_ptr<const std::vector<Picture>> pictures;  ///< not a copy; null where not asked for
  std::shared_ptr<const Transformer> model;              ///< for notes; null in an empty result
  OutcomeKind outcome = OutcomeKind::embedding;
  double loss = kNotMeasured, loss_without = kNotMeasured, output_change = kNotMeasured;
  std::vector<PredictedToken> predictions;
};

void describe(ResultFields& out, const AttendResult& result);

}  // namespace eigenscope

// The plan of a scan of a checkpoint's heads, decided and checked from names, shapes and config.json
// alone, before any weight is read.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/config.h"
#include "checkpoint/family_match.h"
#include "checkpoint/mapping.h"
#include "checkpoint/rotary.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// Settings of the user for the heads of a checkpoint.
struct HeadSettings {
  /// Heads in each layer, whatever its width; by default from config.json. Where config.json gives a head
  /// width, the heads of the widest layer: narrower layers have fewer heads of that width.
  std::optional<int> heads = {};
  /// Heads per layer of the stacks of these names; `heads` is for the others.
  std::map<std::string, int> stack_heads = {};
  /// Heads of keys in each layer, 0 for as many as heads; by default from config.json or the shapes.
  std::optional<int> key_heads = {};
  /// Whether the gains of norms before and after the projections are folded into W_Q and W_K.
  bool fold_gains = true;
  RotaryOffset offset = {};
  /// The names of the tensors, in place of the known families.
  std::optional<Mapping> mapping = {};
};

/// Layout of the coordinates of a head in a layer with latent attention.
struct LatentPlan {
  int compressed =
      0;  ///< coordinates of a head whose keys are made of the compression; the others are rotary
  int key_stride = 0;  ///< outputs of a head in the weight of the keys, its values' included
};

/// One layer as the scan reads it.
struct LayerPlan {
  std::shared_ptr<const Family> family;
  LayerTensors tensors;  ///< gains that are not folded are empty
  std::string stack;     ///< empty in a file with one stack
  int width;             ///< d, inputs of the weights
  int head_width;        ///< d_h
  int heads;
  int key_heads;  ///< divides `heads`
  Rotary rotary;
  double logit_scale;  ///< factor of the logits beyond 1/sqrt(d_h), see logit_scale()
  bool known_scale;    ///< else the scale of the logits is not known, and `logit_scale` is 1
  bool same_tokens;    ///< else keys are made of those of another layer or stack
  /// Whether the projections read a norm's output, with its gain in W or in `tensors.input_gain`, and queries and keys
  /// pass no norms but those of latent attention.
  bool normed;
  LatentPlan latent = {};
};

struct HeadPlan {
  std::vector<LayerPlan> layers;  ///< stack by stack, by increasing number
  /// The table of token embeddings, by its full name; empty where no table is known, or not every part
  /// of the model reads those tokens.
  std::string embeddings;
  /// Remarks on the checkpoint for readers of its heads: layers that are left out, conventions that are not known.
  std::vector<std::string> notes;
};

/// The plan of a scan. Layers of one stack may differ in width, as in pruned models. They have heads of one width, that
/// of the widest layer, but for two cases: a count that `settings` give holds in every layer, and a list in config.json
/// has a count for each layer. `key_heads` and the offset hold for every stack. W of a model whose conventions are not
/// known (FamilyMatch::unknown) is that of the stored weights, and only with `fold_gains` off and at offset 0. Throws
/// InvalidArgument, naming the setting ("heads", "key_heads", "fold_gains", "offset", "length", "map_..."), when it is
/// out of range, does not fit the weights or would need a convention that is not known, or "heads" and "key_heads" when
/// neither they nor the config give the values that the weights need; FormatError, naming the tensor (or the key of the
/// config), when the family is unknown, a partner is missing, a weight is not a matrix of numbers, queries and keys
/// have other inputs, a bias or gain does not fit its weight, or the config does not fit the weights.
HeadPlan plan_heads(const Safetensors& file, const Config* config, const HeadSettings& settings);

}  // namespace eigenscope

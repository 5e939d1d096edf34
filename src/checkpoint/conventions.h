// Conventions of a checkpoint beyond its row of the table of families: tensors of a layer, and keys of config.json,
// that could change queries and keys and that the row does not know. They are refused rather than passed over.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checkpoint/config_keys.h"
#include "checkpoint/family_match.h"

namespace eigenscope {

/// The parts of a result that depend on the conventions of its model, beside the weights of queries and keys.
struct Claims {
  bool gains = true;  ///< of the norms before and after the projections
  bool turns = true;  ///< rotary positions at an offset other than 0
  bool scale = true;  ///< of the logits
};

/// Which tensors of a layer its row must know.
enum class LayerPart {
  attention,  ///< those of the attention, and the norms that stand beside it
  whole       ///< all
};

/// The tensors of the layers of a match that its row does not know, in the order of their names.
std::vector<std::string> unknown_tensors(const FamilyMatch& match,
                                         const std::map<std::string, TensorInfo>& tensors,
                                         LayerPart part = LayerPart::attention);

/// Throws FormatError naming the first of `unknown_tensors` that can change what is claimed: a norm where gains are,
/// any other tensor always.
void check_tensors(const FamilyMatch& match, const std::map<std::string, TensorInfo>& tensors,
                   const Claims& claims, LayerPart part = LayerPart::attention);

/// Whether the norms before the projections are part of the model, and not ones that come after its branches.
bool is_pre_norm(const Family& family, const ConfigKeys& keys);

/// Throws FormatError naming a norm before or after the projections of a stack that some of its layers lack, as a file
/// with a damaged name does, or all of them where every model of a known row has it.
void check_norms(const FamilyMatch& match, const StackMatch& stack, const ConfigKeys& keys);

/// Whether a layer of a match has a norm of queries or keys that the row does not name.
bool has_unknown_head_norm(const FamilyMatch& match,
                           const std::map<std::string, TensorInfo>& tensors);

/// The properties of a stack that the guards of config.json compare with.
struct GuardedStack {
  const Family& family;
  const StackMatch& stack;
  std::uint64_t head_width;
};

/// The list in a config.json made of other metadata of the keys there that change the attention and are not read.
inline constexpr std::string_view kUnreadKeys = "unread_keys";

/// The object in config.json with an object for each layer, by its number, that has other values than the rest of the
/// config: of a head's width and the counts of heads, which are read, and of sizes of the MLP.
inline constexpr std::string_view kLayerKeys = "per_layer_config";

/// Throws FormatError naming a key of config.json that scales, gates or turns queries and keys, which the row does not
/// know, and whose value is not the neutral one, the first of `kUnreadKeys`, or a key in `kLayerKeys` that is not read.
/// `keys` are those of part_keys.
void check_keys(const ConfigKeys& keys, const GuardedStack& stack, const Claims& claims);

}  // namespace eigenscope

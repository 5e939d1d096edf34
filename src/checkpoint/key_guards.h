// Keys of config.json beyond a row of the table of families that could change queries and keys. They are refused rather
// than passed over.
#pragma once

#include <cstdint>
#include <string_view>

#include "checkpoint/config_keys.h"
#include "checkpoint/family_match.h"
#include "checkpoint/tensor_guards.h"

namespace eigenscope {

/// The properties of a stack that the guards of config.json compare with.
struct GuardedStack {
  const Family& family;
  const StackMatch& stack;
  std::uint64_t head_width;
  LayerPart part = LayerPart::attention;  ///< what reads the keys
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

// Sliding windows: the layers in which queries see near keys only, as config.json describes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/config_keys.h"
#include "checkpoint/family.h"

namespace eigenscope {

inline constexpr std::string_view kFullAttention = "full_attention";
inline constexpr std::string_view kSlidingAttention = "sliding_attention";

/// The kind of attention of layer number `layer`, from 0, by "layer_types" or the pattern of its family; empty where
/// all layers are alike. Throws FormatError naming the key for a value that is not allowed.
std::string attention_kind(const ConfigKeys& keys, const WindowKeys& family, int layer);

/// Size w of the layer's window in tokens; nothing where its queries see all keys, as in models of a type whose code
/// reads no window, or whose config has null for its size. A causal query at position i sees the keys i - w + 1 to i; a
/// bidirectional one half as many on each side. Throws FormatError naming the key for a kind of attention that is
/// neither full nor sliding, or a size that is missing or out of range.
std::optional<std::uint64_t> attention_window(const ConfigKeys& keys, const WindowKeys& family,
                                              int layer);

}  // namespace eigenscope

// Tensors of a layer beyond its row of the table of families that could change queries and keys. They are refused
// rather than passed over.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/config_keys.h"
#include "checkpoint/family_match.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// The parts of a result that depend on the conventions of its model, beside the weights of queries and keys.
struct Claims {
  bool gains = true;  ///< of the norms before and after the projections
  bool turns = true;  ///< rotary positions at an offset other than 0
  bool scale = true;  ///< of the logits
};

/// Which tensors of a layer its row must know.
enum class LayerPart {
  attention,  ///< the attention's, and those of the norms beside it
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

/// Throws FormatError naming the gains `name` of a norm of queries or keys whose size is not that of the row, for
/// `heads` heads of `width` coordinates.
void check_norm_span(const Safetensors& file, const std::string& name, const Family& family,
                     const AttentionNames& names, std::uint64_t heads, std::uint64_t width);

/// Whether a layer of a match has a norm of queries or keys that the row does not name.
bool has_unknown_head_norm(const FamilyMatch& match,
                           const std::map<std::string, TensorInfo>& tensors);

}  // namespace eigenscope

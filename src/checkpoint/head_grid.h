// The shapes of the weights of one stack, and the heads that they hold.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/config_keys.h"
#include "checkpoint/family_match.h"
#include "checkpoint/head_plan.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// Sides of weight matrices, by their full names. Every call throws FormatError, naming the tensor, when it is missing
/// or not a matrix of numbers.
class WeightShapes {
 public:
  /// `file` must outlive this.
  WeightShapes(const Safetensors& file, std::shared_ptr<const Family> family)
      : file_(file), family_(std::move(family)) {}

  std::uint64_t inputs(const std::string& weight) const;
  std::uint64_t outputs(const std::string& weight) const;
  /// The weight that reads the tokens: with latent attention the one that compresses them.
  static const std::string& reader(const ProjectionTensors& projection) {
    return projection.latent.empty() ? projection.weight : projection.latent;
  }
  /// d, the inputs of that weight.
  std::uint64_t width_of(const ProjectionTensors& projection) const {
    return inputs(reader(projection));
  }
  /// "768 rows".
  std::string outputs_text(const std::string& weight) const;
  /// "768 x 768".
  std::string text(const std::string& weight) const { return shape_text(file_.tensor(weight)); }

 private:
  const Safetensors& file_;
  const std::shared_ptr<const Family> family_;
};

/// The keys, in keys_of_layer(), of the heads of layer number `layer`, by its kind of attention.
HeadKeys head_keys(const ConfigKeys& keys, const Family& family, const AttentionNames& stack,
                   int layer);
/// `keys`, preceded by those that config.json has for layer number `layer` alone.
ConfigKeys keys_of_layer(const ConfigKeys& keys, int layer);

/// The heads of each layer of a stack, in the order of its layers, from the user's settings, config.json and the shapes
/// of the weights; see plan_heads() for which of them decides. Throws InvalidArgument ("heads", "key_heads") when a
/// setting is out of range, is missing or does not fit; FormatError, naming the tensor or the key, when config.json
/// does not fit the shapes.
std::vector<HeadGrid> head_grids(const WeightShapes& shapes, const ConfigKeys& keys,
                                 const HeadSettings& settings, const FamilyMatch& part,
                                 const StackMatch& stack);

}  // namespace eigenscope

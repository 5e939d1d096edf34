#include "checkpoint/mapping.h"

#include "support/error.h"

namespace eigenscope {
namespace {

void check_pattern(const char* field, const std::string& pattern) {
  const std::size_t mark = pattern.find("{n}");
  if (mark == std::string::npos || pattern.find("{n}", mark + 1) != std::string::npos) {
    throw InvalidArgument(field,
                          "be the name of a weight with {n} once, for the number of the layer",
                          "found '" + pattern + "'");
  }
}

/// The texts that the views of `family` look into.
struct MappedFamily {
  Mapping mapping;
  Family family = {};
};

}  // namespace

std::shared_ptr<const Family> family_of(const Mapping& mapping) {
  const auto mapped = std::make_shared<MappedFamily>(MappedFamily{mapping});
  Family& family = mapped->family;
  const Mapping& texts = mapped->mapping;
  family.name = "mapping";
  family.layout = texts.layout;
  family.width_key = {};
  family.exact = true;
  check_pattern("map_query", texts.query);
  if (family.fused() && !texts.key.empty()) {
    throw InvalidArgument("map_key", "be empty with the layout " +
                                         std::string(name_of(texts.layout, kLayoutNames)) +
                                         ", whose keys are in the tensor of the queries");
  }
  if (!family.fused()) check_pattern("map_key", texts.key);
  if (!texts.gain.empty()) check_pattern("map_gain", texts.gain);
  AttentionNames& names = family.attentions.front();
  names.query_weight = texts.query;
  names.key_weight = texts.key;
  names.query_gain = texts.gain;
  names.head_count_key = {};
  return {mapped, &family};
}

}  // namespace eigenscope

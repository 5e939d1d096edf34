// Functions that make rows of the table of families from other rows.
#pragma once

#include "checkpoint/family.h"

namespace eigenscope::rows {

/// A row with the names of another one, for other model types.
constexpr Family variant(Family row, std::string_view name, std::string_view model_types) {
  row.name = name;
  row.model_types = model_types;
  row.others = Others::none;
  row.text.model_types = row.picture.model_types = {};
  return row;
}

/// A row without its forward pass; `others` are the other tensors of a layer (AttentionNames::others).
constexpr Family heads_only(Family row, std::string_view others) {
  row.attentions[0].others = others;
  row.text = {};
  return row;
}

}  // namespace eigenscope::rows

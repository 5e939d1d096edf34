// Words for choices by name.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "support/error.h"

namespace eigenscope {

/// Throws InvalidArgument(field): "'given' is not allowed; it must be one of a, b, c". `entries` is a
/// range of things with a `name`.
template <class Entries>
[[noreturn]] void refuse_name(std::string field, std::string_view given, const Entries& entries) {
  std::string known;
  for (const auto& entry : entries) known += (known.empty() ? "" : ", ") + std::string(entry.name);
  throw InvalidArgument(std::move(field),
                        "'" + std::string(given) + "' is not allowed; it must be one of " + known);
}

}  // namespace eigenscope

// The keys of grid files: what is there, what must be there, and of which kind.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "experiment/grid.h"

namespace eigenscope {

/// Throws InvalidArgument naming a key of `object` that is not among `known`. `where` stands before the
/// key; `file` is what the object is of, such as "a grid file".
void check_keys(const std::string& where, const OrderedJson& object, const char* file,
                std::initializer_list<std::string_view> known);

/// The value of `key` as a reference into `object`. Throws InvalidArgument (the key) "it must be
/// `what`" when it is missing or of another kind.
const OrderedJson& required(const OrderedJson& object, const char* key, const char* what,
                            bool (OrderedJson::*is)() const noexcept);

}  // namespace eigenscope

// The file of a finished cell.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "experiment/grid.h"

namespace eigenscope {

/// The JSON object in the file; nothing when there is no file. Throws FormatError when it is no object
/// with all of `keys`.
std::optional<OrderedJson> read_cell(const std::string& path,
                                     std::initializer_list<const char*> keys);

}  // namespace eigenscope

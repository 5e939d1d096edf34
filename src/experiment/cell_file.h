// The file of a finished cell.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "experiment/grid.h"

namespace eigenscope {

/// The JSON object in the file; nothing when there is no file. Throws FormatError when it cannot be read, or is no
/// object that `is_result` accepts.
std::optional<OrderedJson> read_cell(const std::string& path,
                                     const std::function<bool(const OrderedJson&)>& is_result);

}  // namespace eigenscope

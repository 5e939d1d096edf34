// JSON whose objects keep the order in which their keys were set: grids, cells and what the command line
// prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace eigenscope {

using OrderedJson = nlohmann::ordered_json;

// Parser and writer are compiled once, in json.cpp: each copy takes seconds.

/// The value of a text; a discarded one (`is_discarded`) where the text is not JSON.
OrderedJson read_json(const std::string& text);
/// The value of the text of `item`, a file or a field. Throws FormatError naming it, with line and column (counted in
/// bytes, from 1), where the text is not JSON, and for a key that an object has twice.
OrderedJson read_json(const std::string& text, const std::string& item);

/// The text of a value, on one line or with `indent` spaces a level. A number that is not finite is null,
/// what is not UTF-8 the replacement character.
std::string write_json(const OrderedJson& value, int indent = -1);

}  // namespace eigenscope

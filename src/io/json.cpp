#include "io/json.h"

#include <algorithm>

#include "support/error.h"

namespace eigenscope {
namespace {

[[noreturn]] void refuse_json(const std::string& text, const std::string& item, std::size_t byte) {
  const auto before =
      text.begin() + static_cast<std::ptrdiff_t>(std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = std::count(text.begin(), before, '\n') + 1;
  const auto line_end = std::find(std::make_reverse_iterator(before), text.rend(), '\n');
  const auto column = before - line_end.base() + 1;
  throw FormatError(item, "it must be JSON in UTF-8; the text is not, at line " +
                              std::to_string(line) + ", column " + std::to_string(column));
}

}  // namespace

OrderedJson read_json(const std::string& text) { return OrderedJson::parse(text, nullptr, false); }

OrderedJson read_json(const std::string& text, const std::string& item) {
  // The parser takes a NUL for the end of its input.
  const std::size_t nul = text.find('\0');
  if (nul != std::string::npos) refuse_json(text, item, nul + 1);
  try {
    return OrderedJson::parse(text);
  } catch (const OrderedJson::parse_error& error) {
    refuse_json(text, item, error.byte);
  }
}

std::string write_json(const OrderedJson& value, int indent) {
  return value.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace eigenscope

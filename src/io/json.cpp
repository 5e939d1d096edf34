#include "io/json.h"

#include "io/json_events.h"

namespace eigenscope {

OrderedJson read_json(const std::string& text) { return OrderedJson::parse(text, nullptr, false); }

OrderedJson read_json(const std::string& text, const std::string& item) {
  // The parser takes a NUL for the end of its input.
  const std::size_t nul = text.find('\0');
  if (nul != std::string::npos) refuse_json(text, item, nul + 1);
  try {
    return OrderedJson::parse(text);
  } catch (const OrderedJson::parse_error& error) {
    refuse_json(text, item, error.byte);
  } catch (const OrderedJson::out_of_range&) {
    refuse_json_number(item);
  }
}

std::string write_json(const OrderedJson& value, int indent) {
  return value.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace eigenscope

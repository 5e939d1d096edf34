#include "io/json.h"

#include <set>
#include <vector>

#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {

OrderedJson read_json(const std::string& text) { return OrderedJson::parse(text, nullptr, false); }

OrderedJson read_json(const std::string& text, const std::string& item) {
  // The parser takes a NUL for the end of its input.
  const std::size_t nul = text.find('\0');
  if (nul != std::string::npos) refuse_json(text, item, nul + 1);
  std::vector<std::set<std::string>> keys;  // of the objects around the present value
  const auto refuse_duplicates = [&](int, OrderedJson::parse_event_t event, OrderedJson& parsed) {
    if (event == OrderedJson::parse_event_t::object_start) keys.emplace_back();
    if (event == OrderedJson::parse_event_t::object_end) keys.pop_back();
    if (event == OrderedJson::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second)
        throw FormatError(item, "duplicate key '" + shown_name(key) + "'");
    }
    return true;
  };
  try {
    return OrderedJson::parse(text, refuse_duplicates);
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

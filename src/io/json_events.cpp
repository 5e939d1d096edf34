#include "io/json_events.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "support/error.h"

namespace eigenscope {
namespace {

/// Translates the parser's callbacks; each returns true to go on.
class Adapter {
 public:
  using Json = nlohmann::json;

  Adapter(std::string_view text, const std::string& item, JsonEvents& events)
      : text_(text), item_(item), events_(events) {}

  bool null() { return events_.null(), true; }
  bool boolean(bool value) { return events_.other_scalar(value ? "true" : "false"), true; }
  bool number_integer(Json::number_integer_t value) {
    // The parser calls this for numbers with a minus sign only.
    return events_.other_scalar(value == 0 ? "-0" : std::to_string(value)), true;
  }
  bool number_unsigned(Json::number_unsigned_t value) { return events_.natural(value), true; }
  bool number_float(Json::number_float_t, const std::string& text) {
    return events_.other_scalar(shown_name(text)), true;
  }
  bool string(std::string& value) { return events_.string(std::move(value)), true; }
  bool binary(Json::binary_t&) { return false; }  // never sent for JSON text
  bool start_object(std::size_t) { return events_.begin_object(), true; }
  bool key(std::string& name) { return events_.key(std::move(name)), true; }
  bool end_object() { return events_.end_object(), true; }
  bool start_array(std::size_t) { return events_.begin_array(), true; }
  bool end_array() { return events_.end_array(), true; }
  [[noreturn]] bool parse_error(std::size_t position, const std::string&,
                                const nlohmann::detail::exception& error) {
    if (dynamic_cast<const Json::out_of_range*>(&error)) refuse_json_number(item_);
    // The parser's own words quote the input raw, so only the place is passed on.
    refuse_json(text_, item_, position);
  }

 private:
  std::string_view text_;
  const std::string& item_;
  JsonEvents& events_;
};

}  // namespace

void refuse_json(std::string_view text, const std::string& item, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_end = before.rfind('\n');
  const std::size_t column =
      before.size() - (line_end == std::string_view::npos ? 0 : line_end + 1) + 1;
  throw FormatError(item, "it must be JSON in UTF-8; the text is not, at line " +
                              std::to_string(line) + ", column " + std::to_string(column));
}

void refuse_json_number(const std::string& item) {
  throw FormatError(item, "it must have numbers from -1.8e308 to 1.8e308, but one is beyond");
}

void parse_json(std::string_view text, const std::string& item, JsonEvents& events) {
  // The parser takes a NUL for the end of its input and would ignore all that follows.
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) refuse_json(text, item, nul + 1);
  Adapter adapter(text, item, events);
  nlohmann::json::sax_parse(text.begin(), text.end(), &adapter);
}

void refuse_item(std::string_view name, const std::string& message) {
  throw FormatError(shown_name(name), message);
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  std::size_t length = name.size();
  if (length > kLongest) {
    length = kLongest;
    // Not inside a character: 10xxxxxx bytes continue one.
    while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0u) == 0x80u) --length;
  }
  std::string shown(name.substr(0, length));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20u || c == 0x7f) c = '?';
  }
  return length < name.size() ? shown + "..." : shown;
}

}  // namespace eigenscope

#include "io/json_events.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "support/error.h"

namespace eigenscope {
namespace {

using std::literals::operator""sv;

/// Python's spellings of numbers that JSON lacks, by the place of each among all numbers of a text.
using PythonNumbers = std::map<std::size_t, std::string_view>;

/// Sets `plain` to `text` with a zero and spaces in place of Python's numbers, so that no other byte moves.
PythonNumbers take_python_numbers(std::string_view text, std::string& plain) {
  constexpr std::array kSpellings{"NaN"sv, "Infinity"sv, "-Infinity"sv};
  constexpr std::string_view kWord =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
  PythonNumbers python;
  plain = text;
  std::size_t numbers = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_not_of(kWord, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const bool is_python =
        std::find(kSpellings.begin(), kSpellings.end(), word) != kSpellings.end();
    if (is_python) {
      python.emplace(numbers, word);
      plain.replace(at, word.size(), "0" + std::string(word.size() - 1, ' '));
    }
    const bool is_number =
        is_python || (!word.empty() && "-0123456789"sv.find(word[0]) != std::string_view::npos);
    numbers += is_number ? 1 : 0;
    at = std::max(end, at + 1);
  }
  return python;
}

/// Translates the parser's callbacks; each returns true to go on.
class Adapter {
 public:
  using Json = nlohmann::json;

  Adapter(std::string_view text, const std::string& item, JsonEvents& events,
          PythonNumbers python = {})
      : text_(text), item_(item), events_(events), python_(std::move(python)) {}

  bool null() { return events_.null(), true; }
  bool boolean(bool value) { return events_.other_scalar(value ? "true" : "false"), true; }
  bool number_integer(Json::number_integer_t value) {
    // The parser calls this for numbers with a minus sign only.
    ++numbers_;
    return events_.other_scalar(value == 0 ? "-0" : std::to_string(value)), true;
  }
  bool number_unsigned(Json::number_unsigned_t value) {
    const auto python = python_.find(numbers_++);
    if (python == python_.end()) return events_.natural(value), true;
    return events_.other_scalar(std::string(python->second)), true;
  }
  bool number_float(Json::number_float_t, const std::string& text) {
    ++numbers_;
    return events_.other_scalar(shown_name(text)), true;
  }
  bool string(std::string& value) { return events_.string(std::move(value)), true; }
  bool binary(Json::binary_t&) { return false; }  // never sent for JSON text
  bool start_object(std::size_t) { return events_.begin_object(), true; }
  bool key(std::string& name) { return events_.key(std::move(name)), true; }
  bool end_object() { return events_.end_object(), true; }
  bool start_array(std::size_t) { return events_.begin_array(), true; }
  bool end_array() { return events_.end_array(), true; }
  [[noreturn]] bool parse_error(std::size_t, const std::string&, const Json::out_of_range&) {
    refuse_json_number(item_);
  }
  [[noreturn]] bool parse_error(std::size_t position, const std::string&,
                                const nlohmann::detail::exception&) {
    // The parser's message quotes the input raw, so only the position is passed on.
    refuse_json(text_, item_, position);
  }

 private:
  std::string_view text_;
  const std::string& item_;
  JsonEvents& events_;
  PythonNumbers python_;
  std::size_t numbers_ = 0;  // that have come
};

// The parser takes a NUL for the end of its input and would ignore all that follows.
void refuse_nul(std::string_view text, const std::string& item) {
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) refuse_json(text, item, nul + 1);
}

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
  refuse_nul(text, item);
  Adapter adapter(text, item, events);
  nlohmann::json::sax_parse(text.begin(), text.end(), &adapter);
}

void parse_python_json(std::string_view text, const std::string& item, JsonEvents& events) {
  refuse_nul(text, item);
  std::string plain;
  Adapter adapter(text, item, events, take_python_numbers(text, plain));
  nlohmann::json::sax_parse(plain.begin(), plain.end(), &adapter);
}

void refuse_item(std::string_view name, const std::string& message) {
  throw FormatError(shown_name(name), message);
}

void refuse_item(std::string_view name, std::initializer_list<std::string_view> parts) {
  std::string message;
  for (const std::string_view part : parts) message += part;
  refuse_item(name, message);
}

FormatError in_file(const FormatError& error, const std::string& file) {
  const std::string said = error.what();
  if (said.find(file) != std::string::npos) return error;
  return {error.item(), said.substr(error.item().size() + sizeof(": ") - 1) + ", in " + file};
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  std::size_t length = name.size();
  if (length > kLongest) {
    length = kLongest;
    // Do not cut inside a character: 10xxxxxx bytes continue one.
    while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0u) == 0x80u) --length;
  }
  std::string shown(name.substr(0, length));
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto byte = static_cast<unsigned char>(shown[i]);
    if (byte < 0x20u || byte == 0x7fu) shown[i] = '?';
    // U+0080 to U+009F are control characters too.
    if (byte == 0xc2u && i + 1 < shown.size() && static_cast<unsigned char>(shown[i + 1]) < 0xa0u)
      shown.replace(i, 2, "?");
  }
  return length < name.size() ? shown + "..." : shown;
}

}  // namespace eigenscope

// JSON as a stream of events. No tree is built: duplicate keys would vanish in one, and its depth
// and size would be the file's to choose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "support/error.h"

namespace eigenscope {

/// Receives the pieces of a JSON text in order. A handler refuses a piece by throwing FormatError,
/// which ends the parse. Strings and keys arrive decoded, as valid UTF-8, possibly with NUL inside.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void begin_object() = 0;
  virtual void end_object() = 0;
  virtual void begin_array() = 0;
  virtual void end_array() = 0;
  virtual void key(std::string&& name) = 0;
  virtual void string(std::string&& value) = 0;
  /// A number written as digits alone, up to 2^64 - 1.
  virtual void natural(std::uint64_t value) = 0;
  /// Every other number (negative, fractional, with an exponent, too large), and true and false,
  /// as text for a message.
  virtual void other_scalar(std::string&& text) = 0;
  virtual void null() = 0;
};

/// Throws FormatError naming `item`, with the line and column (counted in bytes, from 1) of a byte (counted from 1)
/// at which `text` stops being JSON.
[[noreturn]] void refuse_json(std::string_view text, const std::string& item, std::size_t byte);

/// Throws FormatError naming `item` for a number that a double cannot hold.
[[noreturn]] void refuse_json_number(const std::string& item);

/// Sends all of `text` to `events`. Throws as refuse_json does when the text is not one JSON value in UTF-8, and as
/// refuse_json_number.
/// Uses memory for the longest string and one bit for each level of nesting that `events` lets pass.
void parse_json(std::string_view text, const std::string& item, JsonEvents& events);

/// parse_json for text that may have NaN, Infinity and -Infinity in the place of numbers, which Python's json writes;
/// other_scalar receives them.
void parse_python_json(std::string_view text, const std::string& item, JsonEvents& events);

/// Throws FormatError of an item whose name comes from a file, such as a tensor or a key.
[[noreturn]] void refuse_item(std::string_view name, const std::string& message);
/// Throws such a FormatError with a message in parts.
[[noreturn]] void refuse_item(std::string_view name, std::initializer_list<std::string_view> parts);

/// The refusal of an item of `file`, which it names unless it did.
FormatError in_file(const FormatError& error, const std::string& file);

/// `name` fit to stand in a message: at most about 100 bytes, control characters replaced.
std::string shown_name(std::string_view name);

}  // namespace eigenscope

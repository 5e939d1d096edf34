// The architecture that a checkpoint's config.json describes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/byte_source.h"

namespace eigenscope {

/// The plain values of a config.json by their paths: "key" at the top, "object.key" in an object there,
/// "array.0" in an array, and so on down. Nothing is judged when parsed: a value is checked when it is
/// asked for, so that an odd field that no one needs does no harm.
class Config {
 public:
  /// The largest file that is read, in bytes; class labels make some configs a megabyte.
  static constexpr std::uint64_t kLargestFile = 16'000'000;
  /// The most values: all that the largest file could have would be a gigabyte here.
  static constexpr std::size_t kMostValues = 250'000;
  /// Longer paths, in bytes, are cut, and their values are not kept: no one asks for them, and each repeats all of its
  /// keys.
  static constexpr std::size_t kLongestPath = 250;

  /// Parses `text`, in which numbers may also be NaN, Infinity or -Infinity, as Python writes them; `name` is
  /// what messages call it. Throws FormatError for text that is not a JSON object in UTF-8, has a key twice in one
  /// object, nests deeper than 32 levels, or holds more than `kMostValues`.
  static Config parse(std::string_view text, std::string name = "config.json");

  /// Reads the config from a file. Throws FormatError also when it is larger than `kLargestFile`.
  static Config read(ByteSource& source);

  /// Its name in messages.
  const std::string& name() const noexcept { return name_; }

  /// Whether there is anything but null called `key`.
  bool has(const std::string& key) const { return values_.contains(key); }

  /// Whether `key` is there and null.
  bool is_null(const std::string& key) const { return nulls_.contains(key); }

  /// The keys of the values in `object`, a path that ends with '.', or "" for the outermost object; with those that
  /// have a '.' themselves, and the paths of values in objects there, if `with_dots`.
  std::vector<std::string> names(const std::string& object, bool with_dots = false) const;

  /// Whether `object`, a path without its last '.', has any key, also one with a '.' in its name.
  bool has_keys(const std::string& object) const;

  /// The value called `key` as messages show it, "an array" and "an object" for those; empty where it is absent or
  /// null.
  std::string value(const std::string& key) const;

  /// Sets the string called `key`, whatever it was.
  void set_text(const std::string& key, std::string text) { values_[key] = std::move(text); }

  /// The integer called `key`, from 1 to `maximum`; nothing when it is absent or null. Throws
  /// FormatError naming the key for anything else.
  std::optional<std::uint64_t> positive_integer(const std::string& key,
                                                std::uint64_t maximum) const;

  /// The number called `key`, from `minimum` to `maximum`; nothing when it is absent or null. Throws
  /// FormatError naming the key for anything else.
  std::optional<double> number(const std::string& key, double minimum, double maximum) const;

  /// The true or false called `key`; nothing when it is absent or null. Throws FormatError naming the
  /// key for anything else.
  std::optional<bool> flag(const std::string& key) const;

  /// The string called `key`, such as "model_type"; nothing when it is absent or null. Throws
  /// FormatError naming the key for anything else.
  std::optional<std::string> text(const std::string& key) const;

 private:
  friend class ConfigReader;
  struct Other {
    std::string shown;  // for messages
  };
  using Value = std::variant<std::uint64_t, std::string, Other>;
  [[noreturn]] void refuse(const std::string& key, const std::string& expected,
                           const Value& value) const;

  std::string name_;
  std::map<std::string, Value> values_;  // without null
  std::set<std::string> nulls_;
};

}  // namespace eigenscope

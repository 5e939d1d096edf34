// The keys of a config.json that may stand in one of several of its objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/config.h"
#include "checkpoint/family.h"

namespace eigenscope {

/// Of a weight matrix: no model is near this wide, and every count of a matrix's elements fits 64 bits.
inline constexpr std::uint64_t kLargestSide = std::uint64_t{1} << 24;

/// A config.json, or none, seen from some of its objects: a key is looked for in each in turn. An
/// empty key is in none.
class ConfigKeys {
 public:
  /// `config` may be null and otherwise must outlive this. `objects` are paths that end with '.', or ""
  /// for the outermost object.
  ConfigKeys(const Config* config, std::vector<std::string> objects);

  /// The same config seen from these objects in each of those.
  ConfigKeys in(const std::vector<std::string>& objects) const;

  /// The value called `key`; nothing where no object has it. Throws as the functions of Config do.
  std::optional<std::uint64_t> integer(std::string_view key, std::uint64_t maximum) const;
  std::optional<double> number(std::string_view key, double minimum, double maximum) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  /// Whether `key` is there and false.
  bool is_off(std::string_view key) const { return flag(key) == false; }

  bool has(std::string_view key) const { return object_of(key) != nullptr; }
  /// The path of `key` where it is found, or else where it is looked for first.
  std::string path(std::string_view key) const;

  /// What messages call the config. Only where there is one.
  const std::string& name() const { return config_->name(); }
  /// Whether there is a config.
  explicit operator bool() const noexcept { return config_ != nullptr; }

 private:
  const std::string* object_of(std::string_view key) const;

  const Config* config_;
  std::vector<std::string> objects_;
};

/// The objects of config.json that describe a stack. What describes the text of a model of several parts is
/// under "text_config".
std::vector<std::string> config_objects(const AttentionNames& stack);

/// The count called `key`; where the config, of a named model type, leaves it out, the family's default, if that
/// is not 0. Throws as ConfigKeys::integer does for more than the parameter heads allows.
std::optional<std::uint64_t> head_count(const ConfigKeys& keys, const std::string& key,
                                        std::uint64_t usual);

/// Throws FormatError naming the tensor `weight` of so many inputs where the config has another width under `key`.
void check_width(const ConfigKeys& keys, std::string_view key, const std::string& weight,
                 std::uint64_t inputs);

}  // namespace eigenscope

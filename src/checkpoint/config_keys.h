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

/// Largest side of a weight matrix: no model is near this wide, and every count of a matrix's elements fits 64 bits.
inline constexpr std::uint64_t kLargestSide = std::uint64_t{1} << 24;

/// The most layers that a count or a period of layers in config.json may have.
inline constexpr std::uint64_t kMostLayers = 1'000'000;

/// A config.json, or none, seen from some of its objects: a key is looked for in each in turn. An
/// empty key is in none.
class ConfigKeys {
 public:
  /// `config` may be null and otherwise must outlive this. `objects` are paths that end with '.', or ""
  /// for the outermost object.
  ConfigKeys(const Config* config, std::vector<std::string> objects);

  /// The keys of the objects `objects` inside each of these objects.
  ConfigKeys in(const std::vector<std::string>& objects) const;

  /// The value called `key`; nothing where no object has it. Throws as the functions of Config do.
  std::optional<std::uint64_t> integer(std::string_view key, std::uint64_t maximum) const;
  std::optional<double> number(std::string_view key, double minimum, double maximum) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  /// Whether `key` is there and false.
  bool is_off(std::string_view key) const { return flag(key) == false; }

  bool has(std::string_view key) const { return object_of(key) != nullptr; }
  /// Whether `key` is null where an object has it, and no object has a value.
  bool is_null(std::string_view key) const;
  /// The keys that the objects have, without those of objects in them.
  std::vector<std::string> names() const;
  /// The value called `key` as Config::value has it; empty where no object has it.
  std::string value(std::string_view key) const;
  /// The path of `key` in the first object that has it, or else in the first object.
  std::string path(std::string_view key) const;

  /// The name of the config in messages. Only where there is one.
  const std::string& name() const { return config_->name(); }
  /// Whether there is a config.
  explicit operator bool() const noexcept { return config_ != nullptr; }

 private:
  const std::string* object_of(std::string_view key) const;

  const Config* config_;
  std::vector<std::string> objects_;
};

/// The key of element `number`, from 0, of the list `list`, such as "layer_types.3"; empty, and so in no config, if
/// `list` is empty.
std::string element_key(std::string_view list, std::int64_t number);

/// The value called `key` as text, read as one of the kind of `usual` (UsualValue). Throws as
/// the functions of ConfigKeys do.
std::string value_like(const ConfigKeys& keys, std::string_view key, std::string_view usual);

/// Whether `key` has the value `usual`, or is not there.
bool is_usual(const ConfigKeys& keys, std::string_view key, std::string_view usual);

/// Throws FormatError naming `key` where its value is neither left out nor `kind`, "an object" or "an array".
void check_kind(const ConfigKeys& keys, std::string_view key, const char* kind);

/// The count called `key`; where the config leaves it out, `usual`, the default of a known model type, if that is
/// not 0. Throws as ConfigKeys::integer does for more than the parameter heads allows.
std::optional<std::uint64_t> head_count(const ConfigKeys& keys, const std::string& key,
                                        std::uint64_t usual);

/// The number of key heads by `key` and the switches of `family`; nothing where the config does not give it. That it is
/// 1 by default holds only for a `known` model type. Throws as head_count does.
std::optional<std::uint64_t> key_head_count(const ConfigKeys& keys, const Family& family,
                                            const std::string& key, bool known);

/// Throws FormatError naming the tensor `weight` where the config has another width under `key` than its `inputs`.
void check_width(const ConfigKeys& keys, std::string_view key, const std::string& weight,
                 std::uint64_t inputs);

}  // namespace eigenscope

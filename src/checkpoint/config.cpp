#include "checkpoint/config.h"

#include <cstdlib>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "checkpoint/json_events.h"
#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope {

/// Keeps the scalars of the outermost object and of the objects in it; follows the rest only to find
/// its end and its faults.
class ConfigReader final : public JsonEvents {
 public:
  explicit ConfigReader(Config& config) : config_(config) {}

  void begin_object() override { enter(true, "an object"); }
  void begin_array() override { enter(false, "an array"); }
  void end_object() override { levels_.pop_back(); }
  void end_array() override { levels_.pop_back(); }

  void key(std::string&& name) override {
    if (!levels_.back().keys.insert(name).second) {
      throw FormatError(config_.name_, "the key '" + shown_name(name) + "' is there twice");
    }
    if (levels_.size() == 1) key_ = std::move(name);
    if (levels_.size() == 2) inner_key_ = std::move(name);
  }

  void string(std::string&& value) override { keep(std::move(value)); }
  void natural(std::uint64_t value) override { keep(value); }
  void other_scalar(std::string&& text) override { keep(Config::Other{std::move(text)}); }
  void null() override {
    if (levels_.empty()) refuse_top();
  }

 private:
  static constexpr std::size_t kDeepest = 32;
  struct Level {
    bool object;
    std::set<std::string> keys;  // empty for an array
  };

  void enter(bool object, const char* kind) {
    if (levels_.empty() && !object) refuse_top();
    if (levels_.size() == kDeepest) {
      throw FormatError(config_.name_, "it nests deeper than 32 levels");
    }
    if (!levels_.empty()) keep(Config::Other{kind});
    levels_.push_back({object, {}});
  }

  void keep(Config::Value&& value) {
    if (levels_.empty()) refuse_top();
    if (levels_.size() == 1) config_.values_.emplace(key_, std::move(value));
    if (levels_.size() == 2 && levels_.back().object) {
      config_.values_.emplace(key_ + "." + inner_key_, std::move(value));
    }
  }

  [[noreturn]] void refuse_top() const {
    throw FormatError(config_.name_, "it must be a JSON object");
  }

  Config& config_;
  std::string key_;        // of the outermost object
  std::string inner_key_;  // of an object in it
  std::vector<Level> levels_;
};

Config Config::parse(std::string_view text, std::string name) {
  Config config;
  config.name_ = std::move(name);
  ConfigReader reader(config);
  parse_json(text, config.name_, reader);
  return config;
}

Config Config::read(ByteSource& source) {
  return parse(source.read_text(kLargestFile, "a configuration"), source.name());
}

namespace {

struct ShowValue {
  std::string operator()(std::uint64_t number) const { return std::to_string(number); }
  std::string operator()(const std::string& text) const { return "'" + shown_name(text) + "'"; }
  template <typename Other>
  std::string operator()(const Other& other) const {
    return other.shown;
  }
};

}  // namespace

std::optional<std::uint64_t> Config::positive_integer(const std::string& key,
                                                      std::uint64_t maximum) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  const std::uint64_t* const number = std::get_if<std::uint64_t>(&found->second);
  if (number == nullptr || *number < 1 || *number > maximum) {
    throw FormatError(shown_name(key), std::visit(ShowValue{}, found->second) + " in " + name_ +
                                           " is not an integer from 1 to " +
                                           std::to_string(maximum));
  }
  return *number;
}

std::optional<double> Config::number(const std::string& key, double minimum, double maximum) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  double value = std::numeric_limits<double>::quiet_NaN();
  if (const auto* natural = std::get_if<std::uint64_t>(&found->second)) {
    value = static_cast<double>(*natural);
  } else if (const auto* other = std::get_if<Other>(&found->second)) {
    char* end = nullptr;
    const double read = std::strtod(other->shown.c_str(), &end);
    if (end != other->shown.c_str() && *end == '\0') value = read;
  }
  if (value >= minimum && value <= maximum) return value;
  throw FormatError(shown_name(key), std::visit(ShowValue{}, found->second) + " in " + name_ +
                                         " is not a number from " + shown(minimum) + " to " +
                                         shown(maximum));
}

std::optional<bool> Config::flag(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  const Other* const other = std::get_if<Other>(&found->second);
  if (other != nullptr && (other->shown == "true" || other->shown == "false")) {
    return other->shown == "true";
  }
  throw FormatError(shown_name(key), std::visit(ShowValue{}, found->second) + " in " + name_ +
                                         " is neither true nor false");
}

std::optional<std::string> Config::text(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  const std::string* const text = std::get_if<std::string>(&found->second);
  if (text == nullptr) {
    throw FormatError(shown_name(key),
                      std::visit(ShowValue{}, found->second) + " in " + name_ + " is not a string");
  }
  return *text;
}

}  // namespace eigenscope

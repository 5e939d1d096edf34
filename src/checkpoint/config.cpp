#include "checkpoint/config.h"

#include <cstdlib>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "io/file_format.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope {

/// Keeps every scalar by its path, and for an object or an array only that it is there.
class ConfigReader final : public JsonEvents {
 public:
  explicit ConfigReader(Config& config) : config_(config) {}

  void begin_object() override { enter(true, "an object"); }
  void begin_array() override { enter(false, "an array"); }
  void end_object() override { levels_.pop_back(); }
  void end_array() override { levels_.pop_back(); }

  void key(std::string&& name) override {
    if (!levels_.back().keys.insert(name).second) {
      throw FormatError(config_.name_, "duplicate key '" + shown_name(name) + "'");
    }
    descend(name);
  }

  void string(std::string&& value) override { keep(std::move(value)); }
  void natural(std::uint64_t value) override { keep(value); }
  void other_scalar(std::string&& text) override { keep(Config::Other{std::move(text)}); }
  void null() override {
    arrive();
    if (path_.size() > Config::kLongestPath) return;
    count();
    config_.nulls_.insert(path_);
  }

 private:
  static constexpr std::size_t kDeepest = 32;
  struct Level {
    bool object;
    std::size_t path;                 // length of the path to it
    std::size_t next = 0;             // place of an array's next value
    std::set<std::string> keys = {};  // of an object
  };

  void enter(bool object, const char* kind) {
    if (levels_.empty()) {
      if (!object) refuse_top();
    } else {
      keep(Config::Other{kind});
    }
    if (levels_.size() == kDeepest) {
      throw FormatError(config_.name_, "it nests deeper than 32 levels");
    }
    levels_.push_back({object, path_.size()});
  }

  /// Sets the path to that of the member `name` of the current object or array.
  void descend(const std::string& name) {
    path_.resize(levels_.back().path);
    if (levels_.size() > 1) path_ += '.';
    path_ += name;
  }

  /// Sets the path to that of the next value; in an object key() has done so.
  void arrive() {
    if (levels_.empty()) refuse_top();
    if (!levels_.back().object) descend(std::to_string(levels_.back().next++));
  }

  void keep(Config::Value&& value) {
    arrive();
    count();
    if (path_.size() > Config::kLongestPath)
      config_.values_.emplace(path_.substr(0, Config::kLongestPath), Config::Other{"too long"});
    else
      config_.values_.emplace(path_, std::move(value));
  }

  void count() const {
    if (config_.values_.size() + config_.nulls_.size() < Config::kMostValues) return;
    throw FormatError(config_.name_,
                      "it holds more than " + std::to_string(Config::kMostValues) + " values");
  }

  [[noreturn]] void refuse_top() const {
    throw FormatError(config_.name_, "it must be a JSON object");
  }

  Config& config_;
  std::string path_;
  std::vector<Level> levels_;
};

Config Config::parse(std::string_view text, std::string name) {
  Config config;
  config.name_ = std::move(name);
  ConfigReader reader(config);
  parse_python_json(text, config.name_, reader);
  return config;
}

Config Config::read(ByteSource& source) {
  return parse(read_json_text(source, kLargestFile, "a configuration"), source.name());
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

void Config::refuse(const std::string& key, const std::string& expected, const Value& value) const {
  refuse_item(
      key, {"it must be ", expected, " in ", name_, ", but is ", std::visit(ShowValue{}, value)});
}

std::vector<std::string> Config::names(const std::string& object, bool with_dots) const {
  std::vector<std::string> names;
  for (auto at = values_.lower_bound(object); at != values_.end() && at->first.starts_with(object);
       ++at) {
    std::string name = at->first.substr(object.size());
    if (with_dots || name.find('.') == std::string::npos) names.push_back(std::move(name));
  }
  return names;
}

bool Config::has_keys(const std::string& object) const {
  const std::string before = object + ".";
  const auto value = values_.lower_bound(before);
  const auto null = nulls_.lower_bound(before);
  return (value != values_.end() && value->first.starts_with(before)) ||
         (null != nulls_.end() && null->starts_with(before));
}

std::string Config::value(const std::string& key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return {};
  const std::string* const text = std::get_if<std::string>(&entry->second);
  return text != nullptr ? *text : std::visit(ShowValue{}, entry->second);
}

std::optional<std::uint64_t> Config::positive_integer(const std::string& key,
                                                      std::uint64_t maximum) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return std::nullopt;
  const std::uint64_t* const number = std::get_if<std::uint64_t>(&entry->second);
  if (number == nullptr || *number < 1 || *number > maximum) {
    refuse(key, "an integer from 1 to " + std::to_string(maximum), entry->second);
  }
  return *number;
}

std::optional<double> Config::number(const std::string& key, double minimum, double maximum) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return std::nullopt;
  double value = std::numeric_limits<double>::quiet_NaN();
  if (const auto* natural = std::get_if<std::uint64_t>(&entry->second)) {
    value = static_cast<double>(*natural);
  } else if (const auto* other = std::get_if<Other>(&entry->second)) {
    char* end = nullptr;
    const double read = std::strtod(other->shown.c_str(), &end);
    if (end != other->shown.c_str() && *end == '\0') value = read;
  }
  if (value >= minimum && value <= maximum) return value;
  refuse(key, "a number from " + shown(minimum) + " to " + shown(maximum), entry->second);
}

std::optional<bool> Config::flag(const std::string& key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return std::nullopt;
  const Other* const other = std::get_if<Other>(&entry->second);
  if (other != nullptr && (other->shown == "true" || other->shown == "false")) {
    return other->shown == "true";
  }
  refuse(key, "true or false", entry->second);
}

std::optional<std::string> Config::text(const std::string& key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return std::nullopt;
  const std::string* const text = std::get_if<std::string>(&entry->second);
  if (text == nullptr) refuse(key, "a string", entry->second);
  return *text;
}

}  // namespace eigenscope

#include "checkpoint/config_keys.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "io/json_events.h"
#include "support/shared_parameters.h"

namespace eigenscope {

ConfigKeys::ConfigKeys(const Config* config, std::vector<std::string> objects)
    : config_(config), objects_(std::move(objects)) {}

ConfigKeys ConfigKeys::in(const std::vector<std::string>& objects) const {
  std::vector<std::string> inner;
  for (const std::string& outer : objects_) {
    for (const std::string& object : objects) inner.push_back(outer + object);
  }
  return {config_, std::move(inner)};
}

const std::string* ConfigKeys::object_of(std::string_view key) const {
  if (config_ == nullptr || key.empty()) return nullptr;
  for (const std::string& object : objects_) {
    if (config_->has(object + std::string(key))) return &object;
  }
  return nullptr;
}

bool ConfigKeys::is_null(std::string_view key) const {
  if (config_ == nullptr || key.empty() || has(key)) return false;
  return std::any_of(objects_.begin(), objects_.end(), [&](const std::string& object) {
    return config_->is_null(object + std::string(key));
  });
}

std::vector<std::string> ConfigKeys::names() const {
  std::vector<std::string> names;
  for (const std::string& object : objects_) {
    if (config_ == nullptr) break;
    for (std::string& name : config_->names(object)) names.push_back(std::move(name));
  }
  return names;
}

std::string ConfigKeys::value(std::string_view key) const {
  return has(key) ? config_->value(path(key)) : std::string();
}

std::string ConfigKeys::path(std::string_view key) const {
  const std::string* const object = object_of(key);
  return (object == nullptr ? objects_.front() : *object) + std::string(key);
}

std::optional<std::uint64_t> ConfigKeys::integer(std::string_view key,
                                                 std::uint64_t maximum) const {
  return has(key) ? config_->positive_integer(path(key), maximum) : std::nullopt;
}

std::optional<double> ConfigKeys::number(std::string_view key, double minimum,
                                         double maximum) const {
  return has(key) ? config_->number(path(key), minimum, maximum) : std::nullopt;
}

std::optional<std::string> ConfigKeys::text(std::string_view key) const {
  return has(key) ? config_->text(path(key)) : std::nullopt;
}

std::optional<bool> ConfigKeys::flag(std::string_view key) const {
  return has(key) ? config_->flag(path(key)) : std::nullopt;
}

std::string element_key(std::string_view list, std::int64_t number) {
  return list.empty() ? std::string() : std::string(list) + "." + std::to_string(number);
}

std::string value_like(const ConfigKeys& keys, std::string_view key, std::string_view usual) {
  if (usual == "true" || usual == "false") return *keys.flag(key) ? "true" : "false";
  if (std::isdigit(static_cast<unsigned char>(usual.front())) == 0) {
    return shown_name(*keys.text(key));
  }
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
  if (usual.find('.') == usual.npos) return std::to_string(*keys.integer(key, kMost));
  const double told = *keys.number(key, 0, static_cast<double>(kMost));
  return told == std::stod(std::string(usual)) ? std::string(usual) : keys.value(key);
}

bool is_usual(const ConfigKeys& keys, std::string_view key, std::string_view usual) {
  return !keys.has(key) || value_like(keys, key, usual) == usual;
}

void check_kind(const ConfigKeys& keys, std::string_view key, const char* kind) {
  const std::string value = keys.value(key);
  if (value.empty() || value == kind) return;
  refuse_item(keys.path(key),
              {"it must be ", kind, " in ", keys.name(), ", but is '", shown_name(value), "'"});
}

std::optional<std::uint64_t> head_count(const ConfigKeys& keys, const std::string& key,
                                        std::uint64_t usual) {
  const auto told = keys.integer(key, static_cast<std::uint64_t>(shared::kHeads.range.maximum));
  return told || usual == 0 ? told : usual;
}

std::optional<std::uint64_t> key_head_count(const ConfigKeys& keys, const Family& family,
                                            const std::string& key, bool known) {
  const std::string_view grouped = family.grouped_key_heads_key,
                         single = family.single_key_head_key;
  const bool is_grouped = keys.flag(grouped).value_or(false);
  if (grouped.empty() || is_grouped) {
    if (const auto told = head_count(keys, key, 0)) return told;
  }
  if (single.empty() || !known || is_grouped || keys.is_off(single)) return {};
  return 1;
}

void check_width(const ConfigKeys& keys, std::string_view key, const std::string& weight,
                 std::uint64_t inputs) {
  const auto told = keys.integer(key, kLargestSide);
  if (!told || *told == inputs) return;
  refuse_item(weight, {"its width is ", std::to_string(inputs), ", but '", key, "' in ",
                       keys.name(), " is ", std::to_string(*told)});
}

}  // namespace eigenscope

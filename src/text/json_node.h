// JSON files as trees: for files whose parts refer to each other, with limits that the file does not choose, without
// losing duplicate keys, and with the path of each value for messages.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eigenscope {

/// Every function that returns a value throws FormatError with the path ("model.vocab[3]") where the
/// value has another type. The JSON must outlive the node.
class JsonNode {
 public:
  using Json = nlohmann::json;
  JsonNode(const Json* json, std::string path) : json_(json), path_(std::move(path)) {}

  [[noreturn]] void refuse(const std::string& message) const;
  /// Shows the value, or the type of a string, array or object.
  [[noreturn]] void refuse_kind(const char* expected) const;
  /// Whether the value is null or absent.
  bool is_null() const { return json_ == nullptr || json_->is_null(); }
  bool is_text() const { return !is_null() && json_->is_string(); }
  bool is_list() const { return !is_null() && json_->is_array(); }

  /// The entry of an object; null when it is absent.
  JsonNode at(const std::string& key) const;
  std::vector<JsonNode> items() const;
  /// The items; none when the value is null.
  std::vector<JsonNode> optional_items() const;
  const Json::object_t& object() const;
  const std::string& text() const;
  std::uint64_t natural() const;
  double number() const;
  /// `standard` when the value is null.
  bool flag(bool standard) const;
  std::string text_or(const std::string& standard) const;

  /// The string "type" of an object; empty where there is none.
  std::string type() const;
  /// Refuses the string "type" with those that are supported.
  [[noreturn]] void refuse_type(const std::string& known) const;
  /// Refuses a string with those that are supported.
  [[noreturn]] void refuse_choice(const std::string& known) const;

 private:
  const Json* json_;
  std::string path_;
};

/// Parses `text`. Non-negative integers without a sign come as number_unsigned, others as number_float.
/// Throws FormatError naming `item` for what is not one JSON value in UTF-8, for an object with a key
/// twice (which the message names) and for more than `deepest` levels.
nlohmann::json read_json_tree(std::string_view text, const std::string& item,
                              std::size_t deepest = 32);

}  // namespace eigenscope

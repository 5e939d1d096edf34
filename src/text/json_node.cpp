#include "text/json_node.h"

#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {

void JsonNode::refuse(const std::string& message) const { throw FormatError(path_, message); }

void JsonNode::refuse_kind(const char* expected) const {
  const bool is_short = json_ != nullptr && json_->is_primitive() && !json_->is_string();
  refuse(std::string("it must be ") + expected + ", but is " +
         (json_ == nullptr ? "missing"
          : is_short       ? json_->dump()
                           : std::string("of type ") + json_->type_name()));
}

JsonNode JsonNode::at(const std::string& key) const {
  const std::string path = path_.empty() ? key : path_ + "." + key;
  if (!is_null() && !json_->is_object()) refuse_kind("an object");
  if (is_null() || !json_->contains(key)) return {nullptr, path};
  return {&(*json_)[key], path};
}

std::vector<JsonNode> JsonNode::items() const {
  if (!is_list()) refuse_kind("an array");
  std::vector<JsonNode> nodes;
  for (const Json& item : *json_) {
    nodes.emplace_back(&item, path_ + "[" + std::to_string(nodes.size()) + "]");
  }
  return nodes;
}

std::vector<JsonNode> JsonNode::optional_items() const {
  return is_null() ? std::vector<JsonNode>{} : items();
}

const JsonNode::Json::object_t& JsonNode::object() const {
  if (is_null() || !json_->is_object()) refuse_kind("an object");
  return json_->get_ref<const Json::object_t&>();
}

const std::string& JsonNode::text() const {
  if (!is_text()) refuse_kind("a string");
  return json_->get_ref<const std::string&>();
}

std::uint64_t JsonNode::natural() const {
  if (is_null() || !json_->is_number_unsigned()) refuse_kind("a non-negative integer");
  return json_->get<std::uint64_t>();
}

double JsonNode::number() const {
  if (is_null() || !json_->is_number()) refuse_kind("a number");
  return json_->get<double>();
}

bool JsonNode::flag(bool standard) const {
  if (is_null()) return standard;
  if (!json_->is_boolean()) refuse_kind("true or false");
  return json_->get<bool>();
}

std::string JsonNode::text_or(const std::string& standard) const {
  return is_null() ? standard : text();
}

std::string JsonNode::type() const { return is_null() ? "" : at("type").text_or(""); }

void JsonNode::refuse_type(const std::string& known) const {
  refuse("the type '" + shown_name(type()) + "' is not supported; supported: " + known);
}

void JsonNode::refuse_choice(const std::string& known) const {
  refuse("'" + shown_name(text()) + "' is not supported; supported: " + known);
}

}  // namespace eigenscope

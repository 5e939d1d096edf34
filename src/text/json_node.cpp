#include "text/json_node.h"

#include <cstdlib>
#include <utility>
#include <vector>

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

namespace {

using Json = nlohmann::json;

class TreeBuilder final : public JsonEvents {
 public:
  TreeBuilder(const std::string& item, std::size_t deepest) : item_(item), deepest_(deepest) {}

  void begin_object() override { enter(Json::object()); }
  void begin_array() override { enter(Json::array()); }
  void end_object() override { open_.pop_back(); }
  void end_array() override { open_.pop_back(); }

  void key(std::string&& name) override {
    const auto [place, is_new] = open_.back()->emplace(std::move(name), nullptr);
    if (!is_new) {
      throw FormatError(item_, "duplicate key '" + shown_name(place.key()) + "'");
    }
    slot_ = &place.value();
  }

  void string(std::string&& value) override { put(std::move(value)); }
  void natural(std::uint64_t value) override { put(value); }
  void other_scalar(std::string&& text) override {
    if (text == "true" || text == "false") {
      put(text == "true");
    } else {
      put(std::strtod(text.c_str(), nullptr));
    }
  }
  void null() override { put(nullptr); }

  Json take() { return std::move(root_); }

 private:
  Json* put(Json&& value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    *slot_ = std::move(value);
    return slot_;
  }

  void enter(Json&& container) {
    if (open_.size() == deepest_) {
      throw FormatError(item_, "it nests deeper than " + std::to_string(deepest_) + " levels");
    }
    open_.push_back(put(std::move(container)));
  }

  const std::string& item_;
  std::size_t deepest_;
  Json root_;
  std::vector<Json*> open_;  // from the root down; an array grows only while it is the last
  Json* slot_ = nullptr;     // where the value of the last key goes
};

}  // namespace

Json read_json_tree(std::string_view text, const std::string& item, std::size_t deepest) {
  TreeBuilder builder(item, deepest);
  parse_json(text, item, builder);
  return builder.take();
}

}  // namespace eigenscope

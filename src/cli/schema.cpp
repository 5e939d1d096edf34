// `eigenscope schema`: inputs and results of every operation as JSON Schema, and the options of every
// command.
#include <array>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/operation_command.h"
#include "cli/output.h"
#include "operations/operations.h"
#include "prediction/agreement.h"
#include "prediction/levels.h"
#include "tokens/kernel.h"
#include "training/regularizers/regularizer.h"

namespace eigenscope::cli {
namespace {

void describe_range(Json& json, const Parameter& p) {
  const Range& range = p.range;
  json[range.open_minimum ? "exclusiveMinimum" : "minimum"] = range.minimum;
  json[range.open_maximum ? "exclusiveMaximum" : "maximum"] = range.maximum;
}

const char* type_of(const Parameter& p) { return p.range.integer ? "integer" : "number"; }

Json type_of(const char* type, bool nullable) {
  return nullable ? Json::array({type, "null"}) : Json(type);
}

Json labels_of(Choices names) {
  Json labels = Json::object();
  for (std::size_t k = 0; k < names.size(); ++k) labels[names[k].name] = names[k].label.text();
  return labels;
}

Json names_of(Choices names) {
  Json list = Json::array();
  for (std::size_t k = 0; k < names.size(); ++k) list.push_back(names[k].name);
  return list;
}

Json schema_of(const InputField& field) {
  Json json{{"description", meaning_of(field)}};
  switch (field.kind) {
    case FieldKind::number: {
      const Parameter& p = *field.parameter;
      json["type"] = type_of(type_of(p), field.optional);
      describe_range(json, p);
      json["x-parameter"] = p.name;
      if (field.optional && !field.note.text().empty()) {
        json["x-default"] = field.note.text();
      } else {
        json["default"] = field.default_number();
      }
      return json;
    }
    case FieldKind::choice: {
      json["enum"] = names_of(field.names);
      json["default"] = field.names[static_cast<std::size_t>(field.get())].name;
      json["x-labels"] = labels_of(field.names);
      return json;
    }
    case FieldKind::flag:
      json["type"] = "boolean";
      json["default"] = false;
      return json;
    case FieldKind::text:
      json["type"] = "string";
      json["default"] = field.text();
      if (!field.note.text().empty()) json["x-default"] = field.note.text();
      return json;
    case FieldKind::numbers: {
      const Parameter& p = *field.parameter;
      json["type"] = "array";
      json["items"] = {{"type", type_of(p)}};
      describe_range(json["items"], p);
      json["items"]["x-parameter"] = p.name;
      json["default"] = field.numbers();
      return json;
    }
    case FieldKind::bytes:
    case FieldKind::pictures:
    case FieldKind::file:
      json["x-content"] = field.kind == FieldKind::file ? "file" : "bytes";
      json["x-nullable"] = true;
      return json;
    case FieldKind::files:
      json["type"] = "array";
      json["items"] = {{"x-content", "file"}};
      return json;
  }
  return json;
}

class ResultSchema final : public ResultFields {
 public:
  ResultSchema() { open_.push_back(&json_); }
  const Json& json() const { return json_; }

  bool describes() const override { return true; }
  void flag(const char* name, bool, Help meaning) override {
    add(name, {{"type", "boolean"}}, meaning);
  }
  void text(const char* name, std::string_view, Help meaning) override {
    add(name, {{"type", "string"}}, meaning);
  }
  void choice(const char* name, std::size_t, Choices names, Help meaning) override {
    add(name, {{"enum", names_of(names)}, {"x-labels", labels_of(names)}}, meaning);
  }
  void texts(const char* name, std::span<const std::string>, Dimension dimension,
             Help meaning) override {
    add(name, {{"type", "array"}, {"items", {{"type", "string"}}}, {"x-shape", {dimension.name}}},
        meaning);
  }
  void bytes(const char* name, std::span<const std::byte>, bool nullable, Help meaning) override {
    add(name, {{"x-content", "bytes"}, {"x-nullable", nullable}}, meaning);
  }

 protected:
  void put_number(const char* name, double, bool nullable, Help meaning) override {
    add(name, {{"type", type_of("number", nullable)}}, meaning);
  }
  void put_parameter(const Parameter& p, double) override {
    Json& place =
        add(p.name.data(), {{"type", type_of(p)}, {"x-range", allowed_range(p)}}, p.meaning);
    describe_range(place, p);
  }
  void put_integer(const char* name, std::optional<Eigen::Index>, bool nullable,
                   Help meaning) override {
    add(name, {{"type", type_of("integer", nullable)}}, meaning);
  }
  void put_array(const char* name, const ArrayView& array, Help meaning) override;
  void begin_object(const char* name, Help meaning) override {
    open_.push_back(&add(name, object(), meaning));
  }
  void begin_list(const char* name, Help meaning) override {
    open_.push_back(&add(name, {{"type", "array"}, {"items", object()}}, meaning));
  }
  void begin_item() override { open_.push_back(&(*open_.back())["items"]); }
  void end() override { open_.pop_back(); }

 private:
  static Json object() { return {{"type", "object"}, {"properties", Json::object()}}; }
  Json& add(const char* name, Json json, Help meaning) {
    Json& place = (*open_.back())["properties"][name];
    place = {{"description", meaning.text()}};
    place.update(json);
    return place;
  }

  Json json_ = object();
  std::vector<Json*> open_;
};

void ResultSchema::put_array(const char* name, const ArrayView& array, Help meaning) {
  static constexpr std::array kTypes{"Float64Array", "Float64Array", "Float32Array",
                                     "Float32Array", "Float64Array", "Uint8Array"};
  Json entry{{"type", type_of("number", /*nullable=*/true)}};
  if (array.element == ArrayView::Element::whole) entry = {{"type", "integer"}};
  if (array.element == ArrayView::Element::choice) {
    entry = {{"enum", names_of(array.names)}, {"x-labels", labels_of(array.names)}};
  } else if (array.element == ArrayView::Element::complex) {
    entry = {{"type", "array"}, {"items", entry}, {"minItems", 2}, {"maxItems", 2}};
  }
  Json shape = Json::array();
  for (const Dimension& dimension : array.shape) shape.push_back(dimension.name);
  for (std::size_t k = 0; k < array.shape.size(); ++k)
    entry = {{"type", "array"}, {"items", entry}};
  entry["x-shape"] = shape;
  entry["x-typed-array"] = kTypes[static_cast<std::size_t>(array.element)];
  add(name, entry, meaning);
}

Json schema_of(const Operation& operation) {
  Json input{{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  for_each_field(operation, [&](const InputField& field) {
    input["properties"][field.name] = schema_of(field);
  });
  ResultSchema result;
  operation.describe_result(result);
  return {{"description", operation.meaning.text()},
          {"type", "object"},
          {"properties", {{"input", input}, {"result", result.json()}}},
          {"x-partitions", operation.partitions},
          {"x-joins", operation.joins}};
}

/// The options in the order of their names.
Json names_of(const std::set<CLI::Option*>& options) {
  std::set<std::string> names;
  for (const CLI::Option* option : options) names.insert(option->get_name());
  return names;
}

/// The contents of `eigenscope COMMAND --help` for every command.
Json commands_of(const CLI::App& app) {
  Json commands = Json::object();
  for (const CLI::App* command : app.get_subcommands({})) {
    Json options = Json::object();
    for (const CLI::Option* option : command->get_options()) {
      if (option == command->get_help_ptr() || option->get_group().empty()) continue;
      options[option->get_name()] = {{"value", option->get_type_name()},
                                     {"required", option->get_required()},
                                     {"needs", names_of(option->get_needs())},
                                     {"excludes", names_of(option->get_excludes())},
                                     {"description", option->get_description()}};
    }
    const std::string footer = command->get_footer();  // the program's where it has none
    commands[command->get_name()] = {{"description", command->get_description()},
                                     {"footer", footer == app.get_footer() ? "" : footer},
                                     {"options", options}};
  }
  return commands;
}

/// Properties of each token process that the page uses, by name.
Json token_processes() {
  Json rows = Json::object();
  for (const TokenKernel& kernel : token_kernels()) {
    rows[kernel.name] = {{"formula", kernel.formula},
                         {"last_variance_power", last_variance_power(kernel)},
                         {"correlation", depends_on_correlation(kernel)}};
  }
  return rows;
}

/// Properties of each regularizer that the page uses, by name.
Json regularizers() {
  Json rows = Json::object();
  for (const RegularizerRow& row : kRegularizers) {
    rows[row.name] = {{"settings", row.facts.settings},
                      {"leaves_bias", row.facts.leaves_bias},
                      {"shrinks", row.facts.shrinks}};
  }
  return rows;
}

/// The quantities that are both predicted and measured for every head.
Json predicted_measures() {
  Json rows = Json::object();
  for (const PredictedMeasure& measure : kPredictedMeasures) {
    rows[measure.name] = {{"label", measure.label.text()},
                          {"meaning", measure.meaning.text()},
                          {"share", measure.share}};
  }
  return rows;
}

/// The predictor levels, from 0. Those that explain nothing are not nested.
Json predictor_levels() {
  Json rows = Json::array();
  for (const LevelInfo& level : kLevels) {
    rows.push_back({{"name", level.name},
                    {"adds", level.label.text()},
                    {"explains", level.explains ? name_of(*level.explains, kVerdictNames) : ""}});
  }
  return rows;
}

}  // namespace

void add_schema(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("schema",
                         "JSON Schema of inputs and results of every operation (names, ranges, "
                         "defaults, units, meanings), and the options of every command");
  command->callback([&app] {
    Json operations = Json::object();
    for (const Operation* operation : kOperations) {
      operations[operation->name] = schema_of(*operation);
    }
    std::cout << write_json({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                             {"title", "Eigenscope's operations"},
                             {"type", "object"},
                             {"properties", operations},
                             {"x-commands", commands_of(app)},
                             {"x-token-processes", token_processes()},
                             {"x-regularizers", regularizers()},
                             {"x-predicted-measures", predicted_measures()},
                             {"x-predictor-levels", predictor_levels()}})
              << '\n';
  });
}

}  // namespace eigenscope::cli

#include "experiment/grid.h"

#include <algorithm>
#include <set>

#include "experiment/cell.h"
#include "support/error.h"
#include "support/parameter.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Json = OrderedJson;

// One label of an axis with the options that it sets.
struct Label {
  std::string name;
  Json options;
};
struct Axis {
  std::string name;
  std::vector<Label> labels;
};

constexpr const char* kFile = "a grid file";

[[noreturn]] void refuse(const std::string& key, const std::string& must,
                         const std::string& found = "") {
  throw InvalidArgument(key, must, found);
}

void set_option(TrainSettings& settings, const std::string& name, const Json& value) {
  for (const NumberField& field : number_fields()) {
    if (field.name != name) continue;
    if (!value.is_number()) refuse(name, "be a number");
    return set_number(settings, field, value.get<double>());
  }
  for (const ChoiceField& field : choice_fields()) {
    if (field.name != name) continue;
    if (!value.is_string()) refuse(name, "be one of the option's names");
    return set_choice(settings, field, value.get<std::string>());
  }
  refuse(name, "be a training option");
}

void set_options(TrainSettings& settings, const Json& options) {
  if (!options.is_object()) refuse("settings", "be an object of options");
  for (const auto& [name, value] : options.items()) {
    if (name == "seed") refuse("seed", "be omitted, because `seeds` of the stages sets it");
    set_option(settings, name, value);
  }
}

std::string label_of(const std::string& axis, const Json& value) {
  if (!value.is_number() && !value.is_string()) refuse(axis, "have numbers or texts as values");
  return value.is_number() ? shown(value.get<double>()) : value.get<std::string>();
}

// Labels become file names.
void check_label(const std::string& axis, const std::string& label) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+-").find(c) != std::string_view::npos;
  };
  if (label.empty() || !std::all_of(label.begin(), label.end(), allowed)) {
    refuse(axis, "have labels of letters, digits and . _ + - only", "found '" + label + "'");
  }
}

Axis axis_of(const std::string& name, const Json& values) {
  check_label("axes", name);
  Axis axis{name, {}};
  if (values.is_object()) {
    for (const auto& [label, options] : values.items()) axis.labels.push_back({label, options});
  } else if (values.is_array()) {
    for (const Json& value : values) {
      axis.labels.push_back({label_of(name, value), Json{{name, value}}});
    }
  } else {
    refuse(name, "be an array of values, or an object of labels with their options");
  }
  if (axis.labels.empty()) refuse(name, "have a value");
  std::set<std::string> seen;
  for (const Label& label : axis.labels) {
    check_label(name, label.name);
    if (!seen.insert(label.name).second)
      refuse(name, "have each value once", "found '" + label.name + "' twice");
  }
  return axis;
}

// The axis with the labels that a stage names, in the axis's order.
Axis restricted(Axis axis, const Json& only) {
  if (!only.contains(axis.name)) return axis;
  std::set<std::string> wanted;
  for (const Json& value : only.at(axis.name)) wanted.insert(label_of(axis.name, value));
  std::erase_if(axis.labels, [&](const Label& label) { return wanted.erase(label.name) == 0; });
  if (!wanted.empty())
    refuse(axis.name, "have the label '" + *wanted.begin() + "', which a stage names");
  return axis;
}

class CellMaker {
 public:
  CellMaker(Grid& grid, const TrainSettings& base) : grid_(grid), base_(base) {}

  void add(const std::vector<Axis>& axes, std::uint64_t seed) {
    GridCell cell;
    cell.seed = seed;
    cell.settings = base_;
    cell.settings.seed = seed;
    add(axes, 0, cell);
  }

 private:
  void add(const std::vector<Axis>& axes, std::size_t at, const GridCell& cell) {
    if (at == axes.size()) return finish(cell);
    for (const Label& label : axes[at].labels) {
      GridCell next = cell;
      next.axes.emplace_back(axes[at].name, label.name);
      set_options(next.settings, label.options);
      add(axes, at + 1, next);
    }
  }
  void finish(GridCell cell) {
    for (const auto& [name, label] : cell.axes) cell.id += name + "=" + label + ",";
    cell.id += "seed=" + std::to_string(cell.seed);
    check_training(cell.settings);
    if (known_.insert(cell.id).second) grid_.cells.push_back(std::move(cell));
  }

  Grid& grid_;
  TrainSettings base_;
  std::set<std::string> known_;
};

// Without it no comparison would be made, and none be missed.
void check_baseline(const Grid& grid, const std::vector<Axis>& axes) {
  std::string labels;
  for (const Axis& axis : axes) {
    for (const Label& label : axis.labels) {
      if (axis.name == grid.baseline_axis && label.name == grid.baseline_label) return;
      labels += (labels.empty() ? "" : ", ") + axis.name + ": " + label.name;
    }
  }
  refuse("baseline", "be an axis of the grid and one of its labels (" + labels + ")",
         "found " + grid.baseline_axis + ": " + grid.baseline_label);
}

std::vector<std::string> names_of(const Json& source, const std::string& key) {
  std::vector<std::string> names;
  if (!source.contains(key)) return names;
  if (!source.at(key).is_array()) refuse(key, "be an array of names");
  for (const Json& name : source.at(key)) {
    if (!name.is_string()) refuse(key, "be an array of names");
    names.push_back(name.get<std::string>());
  }
  return names;
}

double number_in(const Json& object, const char* key, const Parameter& parameter) {
  return checked(parameter, required(object, key, "a number", &Json::is_number).get<double>());
}

void add_stages(Grid& grid, const TrainSettings& base, const std::vector<Axis>& axes) {
  CellMaker maker(grid, base);
  for (const Json& stage : required(grid.source, "stages", "an array", &Json::is_array)) {
    check_keys("stages: ", stage, kFile, {"seeds", "first_seed", "only"});
    const Json only = stage.value("only", Json::object());
    if (!only.is_object()) refuse("only", "be an object of axes and their labels");
    std::vector<Axis> stage_axes;
    for (const Axis& axis : axes) stage_axes.push_back(restricted(axis, only));
    for (const auto& [name, labels] : only.items()) {
      if (std::find(grid.axes.begin(), grid.axes.end(), name) == grid.axes.end() ||
          !labels.is_array()) {
        refuse("only", "have axes with arrays of their labels", "found '" + name + "'");
      }
    }
    const auto seeds = static_cast<std::uint64_t>(number_in(stage, "seeds", kSeeds));
    std::uint64_t first = 1;
    if (stage.contains("first_seed")) {
      first = static_cast<std::uint64_t>(number_in(stage, "first_seed", shared::kSeed));
    }
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) maker.add(stage_axes, seed);
  }
  if (grid.cells.empty()) refuse("stages", "make at least one run");
}

}  // namespace

Grid parse_grid(const std::string& json) {
  Grid grid;
  grid.source = read_json(json, "grid");
  if (!grid.source.is_object()) refuse("grid", "be a JSON object");
  check_keys("", grid.source, kFile,
             {"experiment", "hypothesis", "text", "validation", "tokenizer", "min_count",
              "settings", "axes", "stages", "measures", "curve", "baseline"});
  grid.experiment = required(grid.source, "experiment", "a name", &Json::is_string);
  grid.text = required(grid.source, "text", "the path of a text", &Json::is_string);
  if (grid.source.contains("validation")) {
    grid.validation = required(grid.source, "validation", "the path of a text", &Json::is_string);
  }
  if (grid.source.contains("tokenizer")) {
    grid.tokenizer = required(grid.source, "tokenizer", "bytes or words", &Json::is_string);
  }
  if (grid.source.contains("min_count")) {
    grid.min_count =
        static_cast<Eigen::Index>(number_in(grid.source, "min_count", shared::kMinCount));
  }
  TrainSettings base;
  set_options(base, grid.source.value("settings", Json::object()));
  std::vector<Axis> axes;
  for (const auto& [name, values] :
       required(grid.source, "axes", "an object", &Json::is_object).items()) {
    axes.push_back(axis_of(name, values));
    grid.axes.push_back(name);
  }
  grid.measures = names_of(grid.source, "measures");
  grid.curve = names_of(grid.source, "curve");
  if (grid.source.contains("baseline")) {
    const Json& baseline = required(grid.source, "baseline", "{axis: label}", &Json::is_object);
    if (baseline.size() != 1 || !baseline.begin().value().is_string()) {
      refuse("baseline", "be {axis: label}");
    }
    grid.baseline_axis = baseline.begin().key();
    grid.baseline_label = baseline.begin().value().get<std::string>();
  }
  add_stages(grid, base, axes);
  check_measures(grid);
  if (!grid.baseline_axis.empty()) check_baseline(grid, axes);
  return grid;
}

OrderedJson changed_settings(const TrainSettings& settings) {
  const TrainSettings defaults;
  Json changed = Json::object();
  for (const NumberField& field : number_fields()) {
    const double value = number_of(settings, field);
    if (value != number_of(defaults, field)) changed[std::string(field.name)] = value;
  }
  for (const ChoiceField& field : choice_fields()) {
    const std::size_t value = field.get(settings);
    if (value != field.get(defaults)) changed[std::string(field.name)] = field.names[value].name;
  }
  return changed;
}

void check_keys(const std::string& where, const OrderedJson& object, const char* file,
                std::initializer_list<std::string_view> known) {
  if (!object.is_object()) {
    throw InvalidArgument(where.substr(0, where.find(':')), "have objects as entries");
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string names;
    for (const std::string_view name : known)
      names += (names.empty() ? "" : ", ") + std::string(name);
    throw InvalidArgument(where + key, std::string("be a key of ") + file + ": " + names);
  }
}

const OrderedJson& required(const OrderedJson& object, const char* key, const char* what,
                            bool (OrderedJson::*is)() const noexcept) {
  if (!object.contains(key) || !(object.at(key).*is)())
    throw InvalidArgument(key, std::string("be ") + what);
  return object.at(key);
}

}  // namespace eigenscope

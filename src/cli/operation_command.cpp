#include "cli/operation_command.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <span>

#include "checkpoint/open_checkpoint.h"
#include "cli/checkpoint_options.h"
#include "cli/inputs.h"
#include "cli/json_result.h"
#include "cli/progress.h"
#include "cli/runs/checkpoint_grid.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

std::string default_of(const InputField& field) {
  if (!field.note.text().empty()) return std::string(field.note.text());
  if (field.is_number()) return shown(field.default_number());
  if (field.kind == FieldKind::choice) {
    return std::string(field.names[static_cast<std::size_t>(field.get())].name);
  }
  std::string list;
  if (field.kind == FieldKind::numbers) {
    for (const double number : field.numbers()) {
      list += (list.empty() ? "" : ",") + shown(number);
    }
  }
  return list;
}

/// Adds an option for every field.
class Options final : public InputFields {
 public:
  void visit(const InputField& field) override { fields(field); }
  void excludes(const char* name, const char* other) override { rivals.emplace_back(name, other); }
  void needs(const char* name, const char* other) override { needed.emplace_back(name, other); }

  std::function<void(const InputField&)> fields;
  std::vector<std::pair<std::string, std::string>> rivals, needed;
};

// Help text on the rows of the CSV; empty for an operation without a list of rows.
std::string rows_of(const Operation& operation) {
  if (operation.rows == nullptr) return "";
  ArrayColumns columns;
  operation.describe_result(columns);
  const std::string arrays =
      columns.any() ? "element of its arrays, or, where these are empty, each " : "";
  return ", one row for each " + arrays + "entry of `" + operation.rows + "`";
}

/// The bytes of a checkpoint, a file or a folder as for MODEL.
std::string read_checkpoint(const std::string& field, const std::string& path) {
  constexpr std::uint64_t kLargest = 4'000'000'000;
  const std::string one = only_checkpoint(field, find_checkpoints(path));
  const CheckpointFiles files = find_files(one, "", /*look_beside=*/false);
  if (files.index) throw InvalidArgument(field, "be a single file", one + " is sharded");
  open_tensors(files);  // so that a refusal names the path
  return files.model.front()->read_text(kLargest, "a checkpoint");
}

bool is_file(const InputField& field) {
  return field.kind == FieldKind::file || field.kind == FieldKind::files;
}

bool is_folder(const InputField& field) { return field.source == FieldSource::model_folder; }

}  // namespace

void print_notes(const Job& job, const std::string& model) {
  JsonResult result;
  job.write(result);
  for (const std::string& text : result.notes()) note(model + text);
}

std::string meaning_of(const InputField& field) {
  const bool is_shared = field.meaning.text().empty();
  return std::string((is_shared ? field.parameter->meaning : field.meaning).text());
}

std::string help_of(const InputField& field) {
  std::string text = meaning_of(field);
  std::string limits;
  if (field.is_number()) limits = allowed_range(*field.parameter);
  if (field.kind == FieldKind::numbers) {
    text = "comma-separated " + text;
    limits = "each " + allowed_range(*field.parameter);
  }
  if (field.kind == FieldKind::choice) text += ": " + field.names.joined("|");
  if (const std::string standard = default_of(field); !standard.empty()) {
    limits += (limits.empty() ? "default " : "; default ") + standard;
  }
  return limits.empty() ? text : text + " (" + limits + ")";
}

void TypedFields::add_to(CLI::App& app, const Describe& describe,
                         const std::set<std::string>& left_out) {
  Options options;
  options.fields = [&](const InputField& field) {
    if (is_file(field) || is_folder(field) || left_out.contains(field.name)) return;
    Typed& typed = typed_[field.name];
    const std::string name = option_name(field.name);
    if (field.kind == FieldKind::flag) {
      typed.option = app.add_flag(name, typed.flag, help_of(field));
    } else if (field.kind == FieldKind::pictures) {
      typed.option = app.add_option(name, typed.paths, help_of(field) + kPictureFiles);
    } else {
      typed.option = app.add_option(name, typed.text, help_of(field));
    }
    if (field.is_number()) typed.option->type_name("NUMBER");
    const bool is_path = field.kind == FieldKind::bytes || field.kind == FieldKind::pictures;
    if (is_path) refuse_empty(typed.option);
  };
  describe(options);
  for (const auto& [name, other] : options.rivals) {
    typed_[name].option->excludes(typed_[other].option);
  }
  for (const auto& [name, other] : options.needed) {
    typed_[name].option->needs(typed_[other].option);
  }
}

bool TypedFields::given(const std::string& name) const {
  const auto typed = typed_.find(name);
  return typed != typed_.end() && (typed->second.is_given || typed->second.option->count() > 0);
}

bool TypedFields::give(const std::string& name, std::string text) {
  const auto typed = typed_.find(name);
  if (typed == typed_.end()) return false;
  if (given(name)) return true;
  typed->second.text = std::move(text);
  typed->second.is_given = true;
  return true;
}

bool TypedFields::Reader::given_pictures() const {
  return std::any_of(typed_.typed_.begin(), typed_.typed_.end(),
                     [](const auto& typed) { return !typed.second.paths.empty(); });
}

void TypedFields::Reader::visit(const InputField& field) {
  if (is_file(field)) {
    const auto given = files.find(field.source);
    if (given == files.end()) return;
    if (field.kind == FieldKind::files) field.files() = given->second;
    if (field.kind == FieldKind::file) field.file() = given->second.front();
    return;
  }
  if (is_folder(field)) {
    field.text() = folder;
    return;
  }
  if (!typed_.given(field.name)) return set_default(field);
  const Typed& typed = typed_.typed_.find(field.name)->second;
  if (field.kind == FieldKind::pictures) {
    field.bytes() = read_pictures(typed.paths);
    return;
  }
  const std::string& text = typed.text;
  if (field.kind == FieldKind::bytes) {
    const bool is_checkpoint = field.source == FieldSource::run_option;
    const std::string content =
        is_checkpoint ? read_checkpoint(field.name, text) : cli::read_text(text);
    if (content.empty() && !is_checkpoint) {
      // An operation takes no bytes for a field that is not given.
      throw InvalidArgument(field.name, "have at least one byte", text + " has none");
    }
    const auto bytes = std::as_bytes(std::span(content));
    field.bytes() = {bytes.begin(), bytes.end()};
  } else {
    read_text(field, field.kind == FieldKind::flag ? "true" : text);
  }
}

bool reads_from(const Operation& operation, FieldSource source) {
  bool reads = false;
  for_each_field(operation, [&](const InputField& field) { reads |= field.source == source; });
  return reads;
}

void run_job(Job& job) {
  const Progress progress;
  constexpr double kWork = 2e8;  // a fraction of a second
  while (!job.advance(kWork)) {
    if (const auto parts = job.parts()) {
      progress.show(*parts, job.progress());
    } else {
      progress.show(job.progress());
    }
  }
}

std::string footer_of(const Operation& operation) {
  const std::string lines(operation.example.text());
  const std::vector<std::string> examples = list_items(lines, '\n');
  std::string text = examples.size() == 1 ? "Example:" : "Examples:";
  for (const std::string& example : examples) text += "\n  " + example;
  return text;
}

void add_operation(CLI::App& app, const Operation& operation) {
  struct Command {
    CheckpointOptions checkpoint;
    CheckpointGridOptions grid;
    TypedFields fields;
    bool csv = false;
  };
  const auto command = std::make_shared<Command>();
  CLI::App* const sub = app.add_subcommand(operation.name, std::string(operation.meaning.text()));
  command->checkpoint.add_to(*sub, operation);
  command->fields.add_to(*sub, operation);
  const bool has_default_text = reads_from(operation, FieldSource::text_option);
  if (has_default_text) {
    CLI::Option* const text = sub->get_option("--text");
    text->description(text->get_description() + " (default " + kDefaultText + ")");
  }
  sub->add_flag("--csv", command->csv, "CSV instead of JSON" + rows_of(operation));
  command->grid.add_to(*sub, operation);
  sub->footer(footer_of(operation));
  sub->callback([command, &operation, has_default_text] {
    if (command->grid.given()) return command->grid.run();
    if (has_default_text && command->fields.give("text", kDefaultText)) {
      check_default_text(command->fields.text("text"));
    }
    TypedFields::Reader reader(command->fields);
    command->checkpoint.give(reader);
    const std::unique_ptr<Job> job = operation.job(reader);
    const auto print = [&](std::string_view error) {
      print_result(std::cout, operation, *job, command->csv, error);
    };
    try {
      run_job(*job);
    } catch (const FormatError& error) {
      // A partial result, such as the heads of the layers before one that cannot be read.
      if (job->progress() > 0) print(error.what());
      throw;
    }
    print_notes(*job);
    print({});
  });
}

}  // namespace eigenscope::cli

#include "cli/runs/training_log.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "contract/input.h"
#include "io/replace_file.h"
#include "support/error.h"
#include "text/tokenizer.h"
#include "training/export_file.h"
#include "training/training_file.h"

namespace eigenscope::cli {
namespace {

namespace fs = std::filesystem;

using Steps = std::optional<long long>;

// The step of a row of a CSV log with this header.
Steps csv_step(const std::string& line, const std::string& header) {
  long long step = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
  const bool is_row =
      error == std::errc() && step >= 0 && *end == ',' &&
      line.find_first_not_of("0123456789+-.e,") == std::string::npos &&
      std::count(line.begin(), line.end(), ',') == std::count(header.begin(), header.end(), ',');
  return is_row ? Steps(step) : std::nullopt;
}

Steps json_step(const std::string& line) {
  const Json row = read_json(line);
  const Json step = row.is_object() ? row.value("step", Json()) : Json();
  return step.is_number_unsigned() ? Steps(step.get<long long>()) : std::nullopt;
}

// True if the row has every measure in `names`, those of the log's first row, which sets them; a newer program may add
// some. Values are numbers, or null where they are not finite.
bool has_measures(const std::string& line, std::vector<std::string>& names) {
  const Json row = read_json(line);
  if (!row.is_object() || row.size() < 2) return false;
  const auto is_measure = [](const Json& value) { return value.is_number() || value.is_null(); };
  if (!std::all_of(row.begin(), row.end(), is_measure)) return false;
  if (names.empty()) {
    for (const auto& item : row.items()) names.push_back(item.key());
  }
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return row.contains(name); });
}

/// The rows of a log up to the step at which its run resumes.
struct LogRows {
  std::string text;
  Steps first, last;
};

[[noreturn]] void refuse_log(const std::string& path, const std::string& flaw) {
  throw FormatError(path, "it must have every row up to the checkpoint's step, but " + flaw +
                              "; repair it, or move it away to resume with a new log");
}

LogRows read_rows(const std::string& path, bool csv, long long step, long long between) {
  std::ifstream in(path, std::ios::binary);
  LogRows rows;
  std::string header, line;
  std::vector<std::string> names;
  for (int number = 1; std::getline(in, line) && !in.eof();
       ++number) {  // without a line end: cut short
    if (csv && number == 1) {
      if (!line.starts_with("step,"))
        refuse_log(path, "line 1 is not a header that begins with step");
      rows.text = (header = line) + "\n";
      continue;
    }
    const Steps row_step = csv ? csv_step(line, header) : json_step(line);
    if (!row_step || (!csv && !has_measures(line, names)))
      refuse_log(path, "line " + std::to_string(number) + " is not a row of a log");
    if (*row_step > step) break;
    const long long next = rows.last ? *rows.last - *rows.last % between + between : *row_step;
    if (*row_step != next && !(*row_step == step && *row_step < next)) {
      refuse_log(path, "line " + std::to_string(number) + " has step " + std::to_string(*row_step) +
                           " in place of step " + std::to_string(next));
    }
    if (!rows.first) rows.first = row_step;
    rows.last = row_step;
    rows.text += line + "\n";
  }
  return rows;
}

// Largest step of the rows of a log; 0 without rows. Lines that are no rows are skipped.
long long last_step(const std::string& path, bool csv) {
  std::ifstream in(path, std::ios::binary);
  std::string header, line;
  if (csv) std::getline(in, header);
  long long last = 0;
  while (std::getline(in, line)) {
    last = std::max(last, (csv ? csv_step(line, header) : json_step(line)).value_or(0));
  }
  return last;
}

// The columns of an existing CSV log; none for a new one.
std::vector<std::string> columns_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string header;
  std::getline(in, header);
  return header.empty() ? std::vector<std::string>() : list_items(header);
}

// The row with the columns of an existing log: an older program wrote fewer.
Json selected(const Json& row, const std::vector<std::string>& columns) {
  if (columns.empty()) return row;
  Json kept = Json::object();
  for (const std::string& name : columns) kept[name] = row.value(name, Json());
  return kept;
}

// Writes config.json and, for bytes, tokenizer.json beside a checkpoint's weights.
void write_description(const std::string& folder, const Trainer& trainer,
                       const std::string& config) {
  replace_file(folder + "/config.json", config);
  if (!trainer.tokenizer().words()) {
    replace_file(folder + "/tokenizer.json", byte_tokenizer_json());
  }
}

}  // namespace

Json to_json(const LogRow& row) {
  Json json{{"step", row.step}};
  for (std::size_t i = 0; i < kRunMeasures.size(); ++i) {
    json[std::string(kRunMeasures[i].name)] = row.run[i];
  }
  const std::size_t heads = row.layers.empty() ? 0 : row.heads.size() / row.layers.size();
  for (std::size_t layer = 0; layer < row.layers.size(); ++layer) {
    const std::string place = "layer" + std::to_string(layer) + "_";
    for (std::size_t i = 0; i < kRunLayerMeasures.size(); ++i) {
      json[place + std::string(kRunLayerMeasures[i].name)] = row.layers[layer][i];
    }
    for (std::size_t head = 0; head < heads; ++head) {
      const std::string name = place + "head" + std::to_string(head) + "_";
      for (std::size_t i = 0; i < kRunHeadMeasures.size(); ++i) {
        json[name + std::string(kRunHeadMeasures[i].name)] = row.heads[layer * heads + head][i];
      }
    }
  }
  return json;
}

RunFolder::RunFolder(std::string path, std::string validation, bool csv)
    : path_(std::move(path)), validation_(std::move(validation)), csv_(csv) {
  make_folder(path_);
}

std::optional<Safetensors> RunFolder::checkpoint() const {
  const std::string file = path_ + "/model.safetensors";
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  return Safetensors(std::make_shared<FileSource>(file));
}

void RunFolder::begin_log() const {
  // A run writes its first checkpoint after the row of step 0.
  for (const bool csv : {true, false}) {
    const long long last = last_step(log_path(csv), csv);
    if (last == 0) continue;
    throw FormatError(path_ + "/model.safetensors",
                      "it must exist to resume the run, whose log " + log_path(csv) +
                          " has rows up to step " + std::to_string(last) +
                          "; restore it, or remove the log to start at step 0");
  }
  check_new_run();
  replace_file(log_path(), std::string());
}

// A run that was killed before its first checkpoint has a log of step 0, and perhaps the files that are written before
// the checkpoint.
void RunFolder::check_new_run() const {
  std::error_code error;
  const bool has_log = fs::exists(log_path(true), error) || fs::exists(log_path(false), error);
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    const fs::path name = entry.path().filename();
    const bool is_log =
        name == fs::path(log_path(true)).filename() || name == fs::path(log_path(false)).filename();
    const bool is_description = name == "config.json" || name == "tokenizer.json";
    if (is_log || (has_log && is_description)) continue;
    throw FormatError(path_,
                      "it must be empty to start a run at step 0, or have the checkpoint "
                      "model.safetensors to resume it: found " +
                          name.string());
  }
}

std::string RunFolder::resume_log(Eigen::Index step, const TrainSettings& settings) const {
  std::error_code error;
  const bool has_log = fs::exists(log_path(), error);
  if (const std::string other = log_path(!csv_); !has_log && fs::exists(other, error)) {
    throw InvalidArgument(
        "csv", std::string(csv_ ? "be omitted" : "be given") + " to continue the existing log",
        other);
  }
  const LogRows rows = read_rows(log_path(), csv_, step, settings.log_every);
  const Eigen::Index last =
      step == settings.optimizer.steps ? step : step - step % settings.log_every;
  if (rows.last && *rows.last != last) {
    refuse_log(log_path(), "its last row has step " + std::to_string(*rows.last) +
                               " in place of step " + std::to_string(last));
  }
  replace_file(log_path(), rows.text);
  if (!rows.first)
    return log_path() + ": the rows up to step " + std::to_string(step) + " are missing";
  if (*rows.first == 0) return "";
  return log_path() + ": the rows before step " + std::to_string(*rows.first) + " are missing";
}

void RunFolder::append(const std::vector<LogRow>& rows) const {
  if (rows.empty()) return;
  const std::vector<std::string> columns =
      csv_ ? columns_of(log_path()) : std::vector<std::string>();
  std::ofstream out(log_path(), std::ios::binary | std::ios::app);
  for (const LogRow& row : rows) {
    const Json json = selected(to_json(row), columns);
    if (csv_) {
      if (out.tellp() == 0) write_csv_header(out, json);
      write_csv_row(out, json);
    } else {
      out << write_json(json) << '\n';
    }
  }
  if (!out.flush()) throw FormatError(log_path(), "it cannot be written");
}

void RunFolder::save(const Trainer& trainer) const {
  write_description(path_, trainer, config_text(trainer.settings().model));
  std::map<std::string, std::string> metadata;
  if (!validation_.empty()) metadata[kValidationKey] = validation_;
  replace_file(path_ + "/model.safetensors", trainer.checkpoint(metadata));
}

void RunFolder::export_as(const Trainer& trainer, TensorFormat format) const {
  const std::string folder = path_ + "/export";
  make_folder(folder);
  write_description(folder, trainer, export_config(trainer.settings().model, format));
  replace_file(folder + "/model.safetensors", export_model(trainer.model(), format));
}

void RunFolder::save_weights(const Trainer& trainer, TensorFormat format) const {
  replace_file(path_ + "/weights.safetensors", trainer.weights(format));
}

void RunFolder::save_step(const Trainer& trainer) const {
  std::string step = std::to_string(trainer.steps_done());
  const std::size_t digits = std::to_string(trainer.settings().optimizer.steps).size();
  step.insert(0, digits - std::min(digits, step.size()), '0');
  const std::string folder = path_ + "/steps/step" + step;
  make_folder(folder);
  write_description(folder, trainer, config_text(trainer.settings().model));
  replace_file(folder + "/model.safetensors", trainer.weights(TensorFormat::f16));
}

}  // namespace eigenscope::cli

#include "cli/training_log.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include "io/replace_file.h"
#include "support/error.h"
#include "text/write_tokenizer.h"
#include "training/export_file.h"
#include "training/training_file.h"

namespace eigenscope::cli {
namespace {

namespace fs = std::filesystem;

// The step of a line of a log; nothing for the header of a CSV and for a line cut short.
std::optional<long long> step_of(const std::string& line, bool csv) {
  if (csv) {
    if (line.empty() || line.find_first_not_of("0123456789") != line.find(',')) return std::nullopt;
    return std::stoll(line);
  }
  const Json row = read_json(line);
  if (!row.is_object() || !row.contains("step")) return std::nullopt;
  return row["step"].get<long long>();
}

// The columns of the CSV log that is there; none of a new one.
std::vector<std::string> columns_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> columns;
  std::string header, name;
  std::getline(in, header);
  for (std::istringstream names(header); std::getline(names, name, ',');) columns.push_back(name);
  return columns;
}

// A log goes on with its own columns: an older program wrote fewer.
Json selected(const Json& row, const std::vector<std::string>& columns) {
  if (columns.empty()) return row;
  Json own = Json::object();
  for (const std::string& name : columns) own[name] = row.value(name, Json());
  return own;
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
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw FormatError(path_, "the folder cannot be made: " + error.message());
}

std::optional<Safetensors> RunFolder::checkpoint() const {
  const std::string file = path_ + "/model.safetensors";
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  return Safetensors(std::make_shared<FileSource>(file));
}

void RunFolder::cut_log(Eigen::Index step) const {
  std::ifstream in(log_path(), std::ios::binary);
  std::string kept, line;
  while (step >= 0 && std::getline(in, line)) {
    if (in.eof()) break;  // no line end: cut short by a kill
    const auto own = step_of(line, csv_);
    if (own ? *own <= step : csv_ && kept.empty()) kept += line + "\n";
  }
  in.close();
  replace_file(log_path(), kept);
}

void RunFolder::append(const std::vector<LogRow>& rows) const {
  if (rows.empty()) return;
  const std::vector<std::string> columns =
      csv_ ? columns_of(log_path()) : std::vector<std::string>();
  std::ofstream out(log_path(), std::ios::binary | std::ios::app);
  for (const LogRow& row : rows) {
    const Json json = selected(to_json(row), columns);
    if (csv_ && out.tellp() == 0) write_csv_header(out, json);
    csv_ ? write_csv_row(out, json) : void(out << write_json(json) << '\n');
  }
  if (!out.flush()) throw FormatError(log_path(), "it cannot be written");
}

void RunFolder::save(const Trainer& trainer) const {
  replace_file(path_ + "/config.json", config_text(trainer.settings().model));
  if (!trainer.tokenizer().words()) {
    replace_file(path_ + "/tokenizer.json", byte_tokenizer_json());
  }
  std::map<std::string, std::string> metadata;
  if (!validation_.empty()) metadata[kValidationKey] = validation_;
  replace_file(path_ + "/model.safetensors", trainer.checkpoint(metadata));
}

void RunFolder::export_as(const Trainer& trainer, TensorFormat format) const {
  const std::string folder = path_ + "/export";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw FormatError(folder, "the folder cannot be made: " + error.message());
  replace_file(folder + "/config.json", export_config(trainer.settings().model, format));
  if (!trainer.tokenizer().words()) {
    replace_file(folder + "/tokenizer.json", byte_tokenizer_json());
  }
  replace_file(folder + "/model.safetensors", export_model(trainer.model(), format));
}

}  // namespace eigenscope::cli

#include "cli/runs/steps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>

#include "checkpoint/trainer_state.h"
#include "cli/remote/hub.h"
#include "cli/remote/remote_checkpoint.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

namespace fs = std::filesystem;

/// Nothing for a number out of range too: opening the checkpoint refuses it.
std::optional<Eigen::Index> step_of(const CheckpointName& checkpoint) {
  try {
    return step_in_name(checkpoint.name);
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

/// The head's place, in the words of its fields.
std::string place_of(const Json& head) {
  std::string place;
  for (const char* const name : {"stack", "layer", "head"}) {
    if (head.at(name) == "") continue;
    place += (place.empty() ? "" : " ") + std::string(name) + " " + csv_value(head.at(name));
  }
  return place;
}

constexpr std::array kAlike{
#include "checkpoint/step_fields.inc"
};

}  // namespace

CheckpointName checkpoint_name(const std::string& path) {
  if (is_url(path) || path == "-") return {};
  const std::optional<HubModel> model = is_path(path) ? std::nullopt : hub_model(path);
  if (model) return {model->name + "/" + model->file, model->revision};
  std::error_code error;
  fs::path folder = fs::absolute(path).lexically_normal();
  if (!folder.has_filename() || fs::is_regular_file(folder, error)) folder = folder.parent_path();
  return {folder.parent_path().string(), folder.filename().string()};
}

void note_steps_in(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    std::string name = entry.path().filename().string();
    if (entry.is_directory(error) && step_of({path, name})) names.push_back(std::move(name));
  }
  if (names.empty()) return;
  note(path + " has weights, which are read, and " + std::to_string(names.size()) +
       " steps of a run, which are read where they are named: " +
       (fs::path(path) / *std::min_element(names.begin(), names.end())).string());
}

std::vector<std::string> in_step_order(const std::vector<std::string>& paths) {
  struct Step {
    Eigen::Index step;
    std::string path;
  };
  struct Run {
    std::vector<std::size_t> places;
    std::vector<Step> steps;
  };
  std::map<std::string, Run> runs;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const CheckpointName name = checkpoint_name(paths[i]);
    const std::optional<Eigen::Index> step = step_of(name);
    if (!step) continue;
    runs[name.run].places.push_back(i);
    runs[name.run].steps.push_back({*step, paths[i]});
  }
  std::vector<std::string> ordered = paths;
  for (auto& [name, run] : runs) {
    std::stable_sort(run.steps.begin(), run.steps.end(),
                     [](const Step& a, const Step& b) { return a.step < b.step; });
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      const Step& step = run.steps[i];
      ordered[run.places[i]] = step.path;
      if (i == 0 || step.step != run.steps[i - 1].step || step.path == run.steps[i - 1].path)
        continue;
      throw InvalidArgument("MODEL", "have each step of a run once",
                            run.steps[i - 1].path + " and " + step.path + " are both of step " +
                                std::to_string(step.step));
    }
  }
  return ordered;
}

void AlikeSteps::check(const std::string& path, const Json& result) {
  const CheckpointName name = checkpoint_name(path);
  if (!step_of(name)) return;
  const auto [at, is_first] = runs_.try_emplace(name.run);
  First& first = at->second;
  const std::size_t heads = result.at("heads").size() + result.at("excluded").size();
  if (is_first) {
    first = {path, heads, {}};
    for (const Json& row : result.at("heads")) first.rows[place_of(row)] = row;
    return;
  }
  const auto check = [&](const std::string& field, const std::string& before,
                         const std::string& now) {
    if (before == now) return;
    throw FormatError(path, field + " must be that of the other steps of the run: " + now +
                                ", but " + before + " in " + first.path);
  };
  check("the number of heads", std::to_string(first.heads), std::to_string(heads));
  for (const Json& row : result.at("heads")) {
    const auto before = first.rows.find(place_of(row));
    if (before == first.rows.end()) continue;  // left out of the first, for its numbers
    for (const char* const field : kAlike) {
      check(std::string(field) + " of " + before->first, csv_value(before->second.at(field)),
            csv_value(row.at(field)));
    }
  }
}

}  // namespace eigenscope::cli

// `eigenscope heads`: the operation for several checkpoints in one call.
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/checkpoint_grid.h"
#include "cli/checkpoint_options.h"
#include "cli/commands.h"
#include "cli/json_result.h"
#include "operations/operations.h"
#include "support/error.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace eigenscope::cli {
namespace {

// The factors of a wide head are megabytes, which glibc would hand back to the system and ask for again
// with every head: a third of the time of a scan.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 28);
#endif
}

/// Does something with one of several checkpoints. Throws FormatError naming it for what its files have.
template <class Do>
auto with_one(const std::vector<std::string>& paths, const std::string& path, const Do& act) {
  try {
    return act();
  } catch (const FormatError& error) {
    const std::string_view text = error.what();
    const bool is_named = text.starts_with(path + ":") || text.starts_with(path + "/");
    if (paths.size() == 1 || is_named) throw;
    throw FormatError(path, error.what());
  }
}

struct HeadsCommand {
  void run() const {
    keep_freed_memory();
    if (grid.given()) return grid.run();
    if (csv && fields.given("layers")) {
      throw InvalidArgument("layers", "be omitted with --csv, whose rows are the heads");
    }
    const std::vector<std::string> paths = checkpoints.paths();
    // Of those in a folder one that cannot be read is left out; one that was named is refused.
    std::vector<FormatError> left_out;
    const auto read = [&](const std::string& path, const auto& act) {
      try {
        with_one(paths, path, act);
        return true;
      } catch (const FormatError& error) {
        if (checkpoints.names(path)) throw;
        left_out.push_back(error);
        return false;
      }
    };
    // All headers first: an error in the last checkpoint is reported before the first is read.
    std::vector<std::pair<std::string, std::unique_ptr<Job>>> jobs;
    for (const std::string& path : paths) {
      TypedFields::Reader reader(fields);
      read(path, [&] {
        checkpoints.give(reader, path);
        jobs.emplace_back(path, heads_operation.job(reader));
      });
    }
    Json heads = Json::array(), layers = Json::array(), excluded = Json::array();
    Json like;
    for (const auto& [path, job] : jobs) {
      if (!read(path, [&] { run_job(*job); })) continue;
      print_notes(*job, paths.size() > 1 ? path + ": " : "");
      const Json found = json_of(*job);
      const auto take = [&](const char* list, Json& all) {
        for (Json row : found[list]) {
          row["model"] = path;
          all.push_back(std::move(row));
        }
      };
      take("heads", heads);
      take("layers", layers);
      for (const Json& text : found["excluded"]) {
        std::cerr << "eigenscope: left out " << (paths.size() > 1 ? path + " " : "")
                  << text.get<std::string>() << '\n';
        excluded.push_back(text);
      }
      like = described(*job)["heads"].front();
    }
    if (like.is_null() && !left_out.empty()) throw left_out.front();
    for (const FormatError& error : left_out) {
      std::cerr << "eigenscope: left out " << error.what() << '\n';
      excluded.push_back(error.what());
    }
    if (csv) {
      write_csv(std::cout, scalars_of(heads), scalars_of(Json::array({like})).front());
    } else {
      std::cout << write_json({{"heads", heads}, {"layers", layers}, {"excluded", excluded}})
                << '\n';
    }
  }

  TypedFields fields;
  CheckpointOptions checkpoints;
  CheckpointGridOptions grid;
  bool csv = false;
};

}  // namespace

void add_heads(CLI::App& app) {
  const auto command = std::make_shared<HeadsCommand>();
  CLI::App* const sub =
      app.add_subcommand(heads_operation.name, std::string(heads_operation.meaning.text()));
  command->checkpoints.add_to(*sub, heads_operation, /*several=*/true);
  command->fields.add_to(*sub, heads_operation);
  sub->add_flag("--csv", command->csv, "CSV of the heads instead of JSON, without the eigenvalues");
  command->grid.add_to(*sub, heads_operation);
  sub->footer(footer_of(heads_operation));
  sub->callback([command] { command->run(); });
}

}  // namespace eigenscope::cli

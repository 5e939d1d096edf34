// `eigenscope heads`: the operation for several checkpoints in one call.
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/head_counts.h"
#include "cli/checkpoint_options.h"
#include "cli/commands.h"
#include "cli/json_result.h"
#include "cli/remote/remote_checkpoint.h"
#include "cli/runs/checkpoint_grid.h"
#include "cli/runs/steps.h"
#include "operations/operations.h"
#include "support/error.h"
#include "support/named_after.h"

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

/// Prefixes errors with the path (named_after); messages about a URL name it themselves, without its query.
template <class Do>
auto named_checkpoint(const std::string& path, const Do& act) {
  return is_url(path) ? act() : named_after(path, act);
}

struct HeadsCommand {
  void run() const {
    keep_freed_memory();
    if (grid.given()) return grid.run();
    if (csv && fields.given("layers")) {
      throw InvalidArgument("layers", "be omitted with --csv, whose rows are the heads");
    }
    const std::vector<std::string> paths = checkpoints.paths();
    for (const std::string& path : paths) note_steps_in(path);
    if (HeadSettings counts; fields.given("heads")) {  // an empty text is refused too
      set_head_counts(list_items(fields.text("heads")), counts);
    }
    // A checkpoint that cannot be read is left out if it comes from a folder, and an error if it was named.
    std::vector<std::string> left_out;
    std::exception_ptr first;
    const auto read = [&](const std::string& path, const auto& act) {
      try {
        named_checkpoint(path, act);
        return true;
      } catch (const FormatError& error) {
        if (checkpoints.names(path)) throw;
        if (left_out.empty()) first = std::current_exception();
        left_out.push_back(error.what());
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
    AlikeSteps steps;
    for (const auto& opened : jobs) {
      const std::string& path = opened.first;  // clang 14 captures no structured binding
      Job& job = *opened.second;
      if (!read(path, [&] { run_job(job); })) continue;
      print_notes(job, paths.size() > 1 ? path + ": " : "");
      const Json result = json_of(job);
      steps.check(path, result);
      const auto take = [&](const char* list, Json& all) {
        for (Json row : result[list]) {
          row["model"] = path;
          all.push_back(std::move(row));
        }
      };
      take("heads", heads);
      take("layers", layers);
      for (const Json& text : result["excluded"]) {
        note("left out " + (paths.size() > 1 ? path + " " : "") + text.get<std::string>());
        excluded.push_back(text);
      }
      like = described(job)["heads"].front();
    }
    if (like.is_null() && !left_out.empty()) std::rethrow_exception(first);
    for (const std::string& reason : left_out) {
      note("left out " + reason);
      excluded.push_back(reason);
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

// Rules for output that exists already. A command replaces a file only as a whole, after it has read
// everything, and only when its content can be made again from files that stay: a table from the runs beside it,
// results from their cells. It never replaces what took computing: training runs, cells, or the results of cells
// that exist nowhere else.
#pragma once

#include <string>

#include "cli/output.h"

namespace eigenscope::cli {

/// The folder --out of training runs, locked until the end of its scope, so that no other training writes to it. The
/// system drops the lock (flock) when the process ends, however it ends, also on other hosts of a network file system
/// that has locks; where a file system has none, a note on standard error says so.
class RunsFolder {
 public:
  /// Makes the folder and removes what killed trainings have left half written. Throws InvalidArgument ("out") when
  /// another process has the lock, and, unless it is to `resume` runs, when anything else is in it; FormatError when
  /// the folder cannot be made or written to.
  RunsFolder(const std::string& path, bool resume);
  ~RunsFolder();
  RunsFolder(const RunsFolder&) = delete;
  RunsFolder& operator=(const RunsFolder&) = delete;

 private:
  int lock_;
};

/// Throws InvalidArgument ("out") when the file at `path` is not empty and no results of the same experiment, or has
/// cells that `results` names as missing.
void check_replaces(const std::string& path, const Json& results);

}  // namespace eigenscope::cli

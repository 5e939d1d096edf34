// Cells of a grid: trained, stored on disk, read again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "experiment/grid.h"
#include "training/log_row.h"
#include "training/text.h"

namespace eigenscope {

/// A row of the log as the result of a cell has it: step, every measure of the run, and means over heads and layers;
/// null for NaN.
OrderedJson row_means(const LogRow& row);

/// Throws InvalidArgument ("measures", "curve") for a name that row_means does not have, and that is not
/// NAME.smallest or NAME.largest, the extremes over heads of one of their measures, in a curve.
void check_measures(const Grid& grid);

/// The files of an experiment's cells in one folder: `<id>.json` of a finished cell, `<id>.partial` of one
/// under way (a checkpoint with the log so far in its metadata).
///
/// Every file is written beside its place and moved there, so that a process that is killed at any moment
/// leaves whole files only, and one that comes later goes on from them. Nothing in a file depends on the
/// process or the time: two processes at the same cell, on machines with the same C library, write the same bytes, and
/// no lock is needed.
class CellFolder {
 public:
  /// Makes the folder. Throws FormatError naming what cannot be made.
  explicit CellFolder(std::string path);

  /// The result of a finished cell; nothing when it has none. `text`: the fingerprint of the text that it was trained
  /// on, empty to accept any. Throws FormatError when the file is of other settings or of another text, or cannot be
  /// read.
  std::optional<OrderedJson> result(const Grid& grid, const GridCell& cell,
                                    const std::string& text) const;
  /// The fingerprint of the text that a result was trained on; empty in results that have none.
  static std::string text_of(const OrderedJson& result);

  /// Trains the cell to its end from where its files are. `pause(progress)` is called after each piece
  /// with the share that is done; true asks to save the state. Throws FormatError naming the file that
  /// cannot be written (a full disk): what is on the disk stays valid.
  void run(const Grid& grid, const GridCell& cell, std::shared_ptr<const Text> text,
           const std::function<bool(double)>& pause) const;

 private:
  std::string file(const GridCell& cell, const char* ending) const;
  void remove_leftovers(const GridCell& cell) const;
  std::string path_;
};

/// The JSON object in the file; nothing when there is no file. Throws FormatError when it cannot be read, or is no
/// object that `is_result` accepts.
std::optional<OrderedJson> read_cell(const std::string& path,
                                     const std::function<bool(const OrderedJson&)>& is_result);

}  // namespace eigenscope

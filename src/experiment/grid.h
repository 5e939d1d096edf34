// An experiment as a grid file: every training run is a cell of the grid.
#pragma once

#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json.h"
#include "support/parameter.h"
#include "training/settings.h"

namespace eigenscope {

inline constexpr Parameter kSeeds{"seeds", integers(1, 1000), 1,
                                  "number of seeds per regularizer, beginning with the given seed"};

/// A number of a cell or a results file: null where it is not finite, which JSON cannot say.
inline OrderedJson finite(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr);
}

/// A training run of the grid.
struct GridCell {
  std::string id;  ///< the axes' labels, "alpha=0.5,norm=pre,seed=3"; a file name
  std::vector<std::pair<std::string, std::string>> axes;  ///< name and label, in the grid's order
  std::uint64_t seed = 1;
  TrainSettings settings;  ///< without the vocabulary, which is the text's
};

/// A grid file; docs/cluster.md explains its keys.
struct Grid {
  std::string experiment, text, validation, tokenizer = "bytes";
  Eigen::Index min_count = 3;
  std::vector<GridCell> cells;
  std::vector<std::string> axes, measures, curve;
  std::string baseline_axis, baseline_label;
  OrderedJson source;  ///< the file
};

/// Throws InvalidArgument naming the key of the file that is missing, unknown or out of range, FormatError where it is
/// not JSON.
Grid parse_grid(const std::string& json);

/// The settings that differ from the defaults, by their names.
OrderedJson changed_settings(const TrainSettings& settings);

/// Throws InvalidArgument naming a key of `object` that is not among `known`. `where` stands before the
/// key in the message; `file` names the owner of the object, such as "a grid file".
void check_keys(const std::string& where, const OrderedJson& object, const char* file,
                std::initializer_list<std::string_view> known);

/// The value of `key` as a reference into `object`. Throws InvalidArgument (the key) "it must be
/// `what`" when it is missing or of another kind.
const OrderedJson& required(const OrderedJson& object, const char* key, const char* what,
                            bool (OrderedJson::*is)() const noexcept);

}  // namespace eigenscope

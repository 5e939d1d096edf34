#include "experiment/cell_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "support/error.h"

namespace eigenscope {

std::optional<OrderedJson> read_cell(const std::string& path,
                                     const std::function<bool(const OrderedJson&)>& is_result) {
  // Not a FileSource, which refuses a file that another process replaces with the same bytes.
  std::ifstream in(path, std::ios::binary);
  std::error_code error;
  if (!in && !std::filesystem::exists(path, error)) return std::nullopt;
  if (!in) throw FormatError(path, "it must be a file that can be opened for reading");
  std::ostringstream text;
  text << in.rdbuf();
  OrderedJson json = read_json(text.str());
  if (!json.is_object() || !is_result(json)) {
    throw FormatError(path, "it must be the result of a run; remove it to compute the run again");
  }
  return json;
}

}  // namespace eigenscope

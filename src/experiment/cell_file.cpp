#include "experiment/cell_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "support/error.h"

namespace eigenscope {

std::optional<OrderedJson> read_cell(const std::string& path,
                                     std::initializer_list<const char*> keys) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  OrderedJson json = read_json(text.str());
  const auto has = [&](const char* key) { return json.contains(key); };
  if (!json.is_object() || !std::all_of(keys.begin(), keys.end(), has)) {
    throw FormatError(path, "it is not the result of a cell; remove it to run the cell again");
  }
  return json;
}

}  // namespace eigenscope

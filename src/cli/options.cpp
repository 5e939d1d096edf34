#include "cli/options.h"

#include <algorithm>
#include <utility>

#include "contract/input.h"
#include "support/error.h"

namespace eigenscope::cli {

std::string option_name(std::string_view name) {
  std::string text = "--" + std::string(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

CLI::Option* refuse_empty(CLI::Option* option) {
  return option->check([option](const std::string& value) {
    if (value.empty()) {
      throw InvalidArgument(option->get_single_name(), "be a path or a name",
                            "found an empty text");
    }
    return std::string();
  });
}

std::vector<std::string> distinct_items(const std::string& name, const std::string& list) {
  std::vector<std::string> items = list_items(list);
  for (auto item = items.begin(); item != items.end(); ++item) {
    if (std::find(items.begin(), item, *item) == item) continue;
    throw InvalidArgument(name, "have each item once", "'" + *item + "' occurs twice");
  }
  return items;
}

}  // namespace eigenscope::cli

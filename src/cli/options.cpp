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
      throw InvalidArgument(option->get_single_name(),
                            "an empty text is not allowed; it must be a path or a name");
    }
    return std::string();
  });
}

std::vector<std::string> distinct_items(const std::string& name, const std::string& list) {
  std::vector<std::string> items = list_items(list);
  for (auto item = items.begin(); item != items.end(); ++item) {
    if (std::find(items.begin(), item, *item) == item) continue;
    throw InvalidArgument(name, "each item must be there once, but '" + *item + "' is there twice");
  }
  return items;
}

const Parameter& described_parameter(std::string_view name) {
  parameter(name);  // throws where there is none
  const auto known = parameters();
  return *std::find_if(known.begin(), known.end(),
                       [&](const Parameter& it) { return it.name == name; });
}

CLI::Option* Numbers::add(CLI::App& app, std::string_view name) {
  const Parameter& p = described_parameter(name);
  const std::string& standard =
      defaults_.try_emplace(std::string(name), shown(p.default_value)).first->second;
  Typed& typed = typed_[std::string(name)];
  typed.option = app.add_option(option_name(name), typed.text,
                                std::string(p.meaning) + " (" + allowed_range(p) + "; default " +
                                    standard + ")")
                     ->type_name("NUMBER");
  return typed.option;
}

bool Numbers::given(std::string_view name) const {
  const auto typed = typed_.find(name);
  return typed != typed_.end() && typed->second.option->count() > 0;
}

double Numbers::number(std::string_view name) const {
  if (!given(name)) return parse_parameter(name, defaults_.find(name)->second);
  return parse_parameter(name, typed_.find(name)->second.text);
}

}  // namespace eigenscope::cli

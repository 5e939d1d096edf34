#include "experiment/grid_keys.h"

#include <algorithm>

#include "support/error.h"

namespace eigenscope {

void check_keys(const std::string& where, const OrderedJson& object, const char* file,
                std::initializer_list<std::string_view> known) {
  if (!object.is_object()) {
    throw InvalidArgument(where.substr(0, where.find(':')), "have objects as entries");
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string names;
    for (const std::string_view name : known)
      names += (names.empty() ? "" : ", ") + std::string(name);
    throw InvalidArgument(where + key, std::string("be a key of ") + file + ": " + names);
  }
}

const OrderedJson& required(const OrderedJson& object, const char* key, const char* what,
                            bool (OrderedJson::*is)() const noexcept) {
  if (!object.contains(key) || !(object.at(key).*is)())
    throw InvalidArgument(key, std::string("be ") + what);
  return object.at(key);
}

}  // namespace eigenscope

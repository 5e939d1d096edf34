#include "contract/operation.h"

#include "support/error.h"

namespace eigenscope {

void check_text(const Operation& operation, const std::string& field, const std::string& text) {
  bool is_field = false;
  for_each_field(operation, [&](const InputField& one) {
    if (field != one.name) return;
    is_field = true;
    read_text(one, text);
  });
  if (!is_field) throw InvalidArgument(field, "be a field of the operation");
}

}  // namespace eigenscope

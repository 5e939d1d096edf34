#include "contract/operation.h"

#include "support/error.h"

namespace eigenscope {

void check_text(const Operation& operation, const std::string& field, const std::string& text) {
  struct Check final : InputFields {
    void visit(const InputField& one) override {
      if (name != one.name) return;
      found = true;
      read_text(one, text);
    }
    std::string name, text;
    bool found = false;
  };
  Check check;
  check.name = field;
  check.text = text;
  operation.describe_input(check);
  if (!check.found) throw InvalidArgument(field, "be a field of the operation");
}

}  // namespace eigenscope

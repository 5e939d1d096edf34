#include "io/json.h"

namespace eigenscope {

OrderedJson read_json(const std::string& text) { return OrderedJson::parse(text, nullptr, false); }

std::string write_json(const OrderedJson& value, int indent) {
  return value.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace eigenscope

// Fuzzes the reader of pickles: whatever the bytes, the outcome is a value that nests at most as deep as allowed,
// whose tensors have a stride for every size, or a FormatError. Seeds are in corpus/pickle, opcodes and names in
// pickle.dict.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>
#include <vector>

#include "checkpoint/pickle.h"
#include "support/error.h"

using namespace eigenscope;

namespace {

void check(const PickleValue::Pointer& whole) {
  std::vector<PickleValue::Pointer> open{whole};
  std::set<const PickleValue*> seen{whole.get()};  // a value may be inside many others
  while (!open.empty()) {
    const PickleValue::Pointer value = open.back();
    open.pop_back();
    if (value->shape.size() != value->strides.size()) std::abort();
    for (const PickleValue::Pointer& item : value->items) {
      if (item->depth >= value->depth) std::abort();  // else a value could be inside itself
      if (seen.insert(item.get()).second) open.push_back(item);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(read_pickle({reinterpret_cast<const char*>(data), size}, "data.pkl"));
  } catch (const FormatError&) {
  }
  return 0;
}

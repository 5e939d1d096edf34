// The pickle of a PyTorch file: a closed list of opcodes and of names, of which nothing is executed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eigenscope {

/// A value of a pickle.
struct PickleValue {
  enum class Kind { none, truth, integer, number, text, list, dict, global, storage, tensor };
  using Pointer = std::shared_ptr<PickleValue>;

  Kind kind = Kind::none;
  std::int64_t integer =
      0;  ///< of integers and truth values; offset of a tensor in its storage, in elements
  std::string text =
      {};  ///< of texts; "module name" of a global; key of a storage, whose type is `type`
  /// For a storage and a tensor the name of the storage's class, such as "FloatStorage", or of the type of the
  /// elements, such as "float8_e4m3fn", where the class is UntypedStorage.
  std::string type = {};
  std::vector<Pointer> items = {};  ///< of lists and tuples; of dicts keys and values in turn
  std::vector<std::uint64_t> shape = {}, strides = {};  ///< of tensors, in elements
  std::uint64_t elements = 0;  ///< of a storage; bytes of an UntypedStorage
  int depth = 0;               ///< of the values inside
  bool is_inside =
      false;  ///< of another value: its items are complete, so that no value is inside itself
};

/// The value of `pickle` (protocols 2 to 5), the file data.pkl of what torch.save writes. Names are allowed for
/// tensors, their storages and ordered dicts only. Throws FormatError naming `item` and the byte for everything else.
/// Source: Lib/pickletools.py of CPython; torch/serialization.py and torch/_utils.py of PyTorch.
PickleValue::Pointer read_pickle(std::string_view pickle, const std::string& item);

}  // namespace eigenscope

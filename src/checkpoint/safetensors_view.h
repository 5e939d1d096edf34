// Files of other formats with the bytes of a .safetensors file, so that everything that reads one reads them too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"

namespace eigenscope {

/// A tensor as the view shows it.
struct ViewedTensor {
  std::string name;
  std::string_view dtype;  ///< of .safetensors
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = 0;
};

/// The header of a .safetensors file, made from a list, and behind it the bytes of the tensors in the order of that
/// list, which a format delivers.
class SafetensorsView : public ByteSource {
 protected:
  /// Throws FormatError naming the file when it has no tensor, or 2^60 bytes and more.
  SafetensorsView(const std::string& name, const std::vector<ViewedTensor>& tensors);

 private:
  struct Contents {
    std::string header;
    std::vector<std::uint64_t> ends;  // of the tensors, from the end of the header
  };
  static Contents contents_of(const std::string& name, const std::vector<ViewedTensor>& tensors);
  SafetensorsView(const std::string& name, Contents contents);

  void read_exactly(std::uint64_t offset, std::span<std::byte> out) final;
  /// Fills all of `out` with bytes of tensor `place` from `offset` on, or throws FormatError.
  virtual void read_tensor(std::size_t place, std::uint64_t offset, std::span<std::byte> out) = 0;

  Contents contents_;
};

}  // namespace eigenscope

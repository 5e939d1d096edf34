// Files of other formats with the bytes of a .safetensors file, so that everything that reads one reads them too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

/// Fills `out` with the bytes from `offset` on of a tensor whose elements are computed: `compute(first, values)` fills
/// `values` with the elements from number `first` on, at most 2^16 at a time.
template <class Element, class Compute>
void read_computed(std::uint64_t offset, std::span<std::byte> out, Compute compute) {
  constexpr std::uint64_t kMostElements = 1 << 16;
  std::vector<Element> values;
  while (!out.empty()) {
    const std::uint64_t first = offset / sizeof(Element), within = offset % sizeof(Element);
    values.resize(static_cast<std::size_t>(std::min<std::uint64_t>(
        (within + out.size() + sizeof(Element) - 1) / sizeof(Element), kMostElements)));
    compute(first, std::span<Element>(values));
    const std::span<const std::byte> raw =
        std::as_bytes(std::span(values)).subspan(static_cast<std::size_t>(within));
    const std::size_t size = std::min(out.size(), raw.size());
    std::copy_n(raw.begin(), size, out.begin());
    out = out.subspan(size);
    offset += size;
  }
}

/// Parts from which the elements of a tensor are computed, by the tensor's place; the last three are kept, since
/// queries and keys of a layer are read in turn.
template <class Parts>
class LastParts {
 public:
  /// The parts of tensor `place`, made by `make()` if they are not kept. Valid until the next call.
  template <class Make>
  const Parts& get(std::size_t place, Make make) {
    const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                   [&](const auto& entry) { return entry.first == place; });
    if (kept != kept_.end()) return kept->second;
    Parts parts = make();
    constexpr std::size_t kMostKept = 3;
    if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
    kept_.emplace_back(place, std::move(parts));
    return kept_.back().second;
  }

 private:
  std::vector<std::pair<std::size_t, Parts>> kept_;
};

}  // namespace eigenscope

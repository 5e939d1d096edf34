#include "checkpoint/safetensors_view.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "checkpoint/safetensors_header.h"
#include "support/error.h"

namespace eigenscope {

SafetensorsView::Contents SafetensorsView::contents_of(const std::string& name,
                                                       const std::vector<ViewedTensor>& tensors) {
  if (tensors.empty()) throw FormatError(name, "it must have at least one tensor");
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
  Contents contents;
  std::uint64_t end = 0;
  std::string text;
  for (const ViewedTensor& tensor : tensors) {
    const std::uint64_t begin = end;
    if (tensor.bytes > kMostBytes - end)
      throw FormatError(name, "its tensors must have less than 2^60 bytes");
    end += tensor.bytes;
    contents.ends.push_back(end);
    text += text.empty() ? "{" : ",";
    text += header_entry(tensor.name, tensor.dtype, tensor.shape, begin, end);
  }
  text += "}";
  const std::uint64_t length = text.size();
  contents.header.resize(sizeof length);
  std::memcpy(contents.header.data(), &length, sizeof length);
  contents.header += text;
  return contents;
}

SafetensorsView::SafetensorsView(const std::string& name, const std::vector<ViewedTensor>& tensors)
    : SafetensorsView(name, contents_of(name, tensors)) {}

SafetensorsView::SafetensorsView(const std::string& name, Contents contents)
    : ByteSource(name, contents.header.size() + contents.ends.back()),
      contents_(std::move(contents)) {}

void SafetensorsView::read_exactly(std::uint64_t offset, std::span<std::byte> out) {
  const auto& [header, ends] = contents_;
  if (offset < header.size()) {
    const auto at = static_cast<std::size_t>(offset);
    const std::size_t count = std::min(out.size(), header.size() - at);
    std::memcpy(out.data(), header.data() + at, count);
    out = out.subspan(count);
    offset += count;
  }
  while (!out.empty()) {
    const std::uint64_t at = offset - header.size();
    const auto place =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), at) - ends.begin());
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), ends[place] - at));
    read_tensor(place, at - (place == 0 ? 0 : ends[place - 1]), out.first(count));
    out = out.subspan(count);
    offset += count;
  }
}

}  // namespace eigenscope

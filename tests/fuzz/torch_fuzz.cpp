// Fuzzes the ZIP directory and the view of a file of torch.save as .safetensors: whatever the bytes, the outcome is
// numbers or a FormatError. Seeds are in corpus/torch, words in torch.dict.
#include "checkpoint/torch_file.h"
#include "checkpoint/zip_directory.h"
#include "input.h"

using namespace eigenscope;

namespace {

void read_places(const std::shared_ptr<ByteSource>& source) {
  const ZipDirectory archive(source);
  for (const auto& [name, file] : archive.files()) {
    try {
      std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(file.size, kMostElements)));
      archive.read(archive.begin_of(name), bytes);
    } catch (const FormatError&) {
    }
  }
}

void read_view(const std::shared_ptr<ByteSource>& source) {
  read_tensors(Safetensors(safetensors_of_torch(source)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = source_of("fuzz.bin", data, size);
  is_torch_file(*source);
  for (const auto read : {read_places, read_view}) {
    try {
      read(source);
    } catch (const FormatError&) {
    }
  }
  return 0;
}

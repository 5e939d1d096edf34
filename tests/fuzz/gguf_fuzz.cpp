// Fuzzes the GGUF reader and its view as .safetensors: whatever the bytes, the outcome is numbers or one of the
// library's two exceptions.
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/gguf.h"
#include "input.h"

using namespace eigenscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = source_of("fuzz.gguf", data, size);
  try {
    read_tensors(Safetensors(safetensors_of_gguf({source}), "fuzz.gguf"));
  } catch (const FormatError&) {
  }
  try {
    config_of_gguf({source});
  } catch (const FormatError&) {
  }
  return 0;
}

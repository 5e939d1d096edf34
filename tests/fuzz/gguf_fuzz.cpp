// Fuzzes the GGUF reader, its view as .safetensors and the tokenizer inside: whatever the bytes, the outcome is numbers,
// ids of the vocabulary or one of the library's two exceptions.
#include <cstdlib>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/gguf.h"
#include "input.h"
#include "text/gguf_tokenizer.h"

using namespace eigenscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = source_of("fuzz.gguf", data, size);
  try {
    read_tensors(Safetensors({safetensors_of_gguf({source})}, "fuzz.gguf"));
  } catch (const FormatError&) {
  }
  try {
    config_of_gguf({source});
  } catch (const FormatError&) {
  }
  try {
    if (const auto tokenizer = tokenizer_of_gguf({source})) {
      for (const int id : tokenizer->encode(" Unable ab\n12 \u00e9\u4e00<s>")) {
        if (!tokenizer->vocabulary().contains(id)) std::abort();
      }
    }
  } catch (const FormatError&) {
  } catch (const InvalidArgument&) {
  }
  return 0;
}

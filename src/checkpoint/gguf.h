// GGUF files (llama.cpp) as checkpoints of Hugging Face: everything that reads .safetensors reads them too.
#pragma once

#include <memory>
#include <vector>

#include "checkpoint/config.h"
#include "checkpoint/gguf_header.h"
#include "io/byte_source.h"

namespace eigenscope {

/// The bytes of a .safetensors file with the tensors of a GGUF model in one file or several parts. Where the
/// architecture is known, names and the order of the rows of rotary queries and keys are those of Hugging Face. Numbers
/// of 16, 32 and 64 bits stay as they are; quantized ones, and two tensors that are one in Hugging Face, are F32,
/// decoded when they are read. Throws FormatError as read_gguf_parts does, when a tensor's data overlap another's or
/// run past the end of the file, when one of two tensors that are one is missing or does not fit, and when the metadata
/// do not give the order of rotary rows; on reading, naming the tensor, for a type that cannot be decoded.
std::shared_ptr<ByteSource> safetensors_of_gguf(
    const std::vector<std::shared_ptr<ByteSource>>& files);

/// The config.json of a GGUF model, from its metadata; for an unknown architecture it has the same keys, and the
/// architecture's name as model type. Throws FormatError as read_gguf_parts does, and naming the key for a number that
/// is not finite and for a scaling of rotary angles that config.json cannot state.
Config config_of_gguf(const std::vector<std::shared_ptr<ByteSource>>& files);

}  // namespace eigenscope

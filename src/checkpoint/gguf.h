// GGUF files (llama.cpp) as checkpoints of Hugging Face: everything that reads .safetensors reads them too.
#pragma once

#include <memory>

#include "checkpoint/config.h"
#include "checkpoint/gguf_header.h"
#include "io/byte_source.h"

namespace eigenscope {

/// The bytes of a .safetensors file with the tensors of the GGUF file `source`: under the names of Hugging Face where
/// the architecture is known, in whose order the rows of rotary queries and keys are put back; numbers of 16, 32 and 64
/// bits as they are, quantized ones as F32, decoded when they are read. Throws FormatError as GgufHeader::read does,
/// for one part of several, and when a tensor's data run past the end of the file; on reading, naming the tensor, for a
/// type that cannot be decoded.
std::shared_ptr<ByteSource> safetensors_of_gguf(std::shared_ptr<ByteSource> source);

/// The config.json that belongs to it, from the metadata. Throws FormatError as GgufHeader::read does, and naming
/// `general.architecture` when it is not known.
Config config_of_gguf(ByteSource& source);

}  // namespace eigenscope

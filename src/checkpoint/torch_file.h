// Files of torch.save (PyTorch 1.6 and later) as checkpoints: .bin, .pt, .pth.
#pragma once

#include <memory>
#include <optional>

#include "checkpoint/config.h"
#include "io/byte_source.h"

namespace eigenscope {

/// Whether the file begins as a ZIP archive whose first file is a pickle, which is how torch.save writes.
bool is_torch_file(ByteSource& source);

/// The bytes of a .safetensors file with the tensors of the state_dict in `source`: of its entry `state_dict`,
/// `model_state_dict`, `model` or `module` where one holds tensors, else of the saved dict itself. Other entries are
/// left out; a number of 128 bits (complex) is two of F64. Big-endian files are read as their record `byteorder` says.
/// Nothing in the file is executed. Throws FormatError, naming the file, the tensor or the byte of the pickle, for what
/// is not such a file; when it is read, for a tensor that is not stored row by row or lies outside its storage.
std::shared_ptr<ByteSource> safetensors_of_torch(std::shared_ptr<ByteSource> source);

/// The config.json made of the integers, truth values and texts of the entry `model_args`, as nanoGPT ("model_type":
/// "nanogpt") and llama2.c ("llama2.c") write them; nothing where the file has no such entry. Throws FormatError as
/// above.
std::optional<Config> config_of_torch(std::shared_ptr<ByteSource> source);

}  // namespace eigenscope

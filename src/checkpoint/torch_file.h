// Files of torch.save (PyTorch 1.6 and later) as checkpoints: .bin, .pt, .pth.
#pragma once

#include <memory>

#include "io/byte_source.h"

namespace eigenscope {

/// Whether the file begins as a ZIP archive whose first file is a pickle, which is how torch.save writes.
bool is_torch_file(ByteSource& source);

/// The bytes of a .safetensors file with the tensors of the state_dict in `source`: the saved dict itself, or its entry
/// `state_dict` or `model`. Other entries are left out. Nothing in the file is executed. Throws FormatError, naming the
/// file, the tensor or the byte of the pickle, for what is not such a file, a tensor that is not stored row by row, and
/// a tensor outside its storage.
std::shared_ptr<ByteSource> safetensors_of_torch(std::shared_ptr<ByteSource> source);

}  // namespace eigenscope

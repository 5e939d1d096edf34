// A GGUF model in one file or in the parts that llama-gguf-split makes of it: NAME-00001-of-00003.gguf.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/gguf_header.h"
#include "io/byte_source.h"

namespace eigenscope {

struct GgufPart {
  std::shared_ptr<ByteSource> source;
  GgufHeader header;
};

/// The headers of a model's files in the order of their numbers (`split.no`); the first has the metadata of all. Throws
/// FormatError as GgufHeader::read does, naming the part that is missing, and for parts that do not belong together.
std::vector<GgufPart> read_gguf_parts(const std::vector<std::shared_ptr<ByteSource>>& files);

/// The names of all parts of the model to which a file of this name (without a path) belongs; only itself for one that
/// is no part.
std::vector<std::string> gguf_part_names(const std::string& name);

}  // namespace eigenscope

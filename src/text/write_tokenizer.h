// Writes a tokenizer.json.
#pragma once

#include <string>

namespace eigenscope {

/// The tokenizer.json of a model that reads bytes, token k the byte k: byte-level BPE without merges,
/// which TextTokenizer reads.
std::string byte_tokenizer_json();

}  // namespace eigenscope

// MiniLM, a checkpoint of 6 layers and 12 heads. What calls these functions has the tag [sample] (paths.h).
#pragma once

#include "paths.h"
#include "text/tokenizer.h"

namespace eigenscope::testing {

inline TextTokenizer minilm_tokenizer() {
  FileSource source(minilm_folder() + "/tokenizer.json");
  return TextTokenizer::read(source);
}

}  // namespace eigenscope::testing

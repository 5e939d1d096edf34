// MiniLM, a checkpoint of 6 layers and 12 heads. What calls these functions has the tag [sample] (paths.h).
#pragma once

#include <memory>

#include "checkpoint/open_checkpoint.h"
#include "inference/transformer.h"
#include "paths.h"
#include "text/tokenizer.h"

namespace eigenscope::testing {

inline std::shared_ptr<const Transformer> minilm_transformer() {
  const Checkpoint checkpoint = open_checkpoint(minilm_folder());
  return std::make_shared<const Transformer>(checkpoint.tensors, *checkpoint.config);
}

inline TextTokenizer minilm_tokenizer() {
  FileSource source(minilm_folder() + "/tokenizer.json");
  return TextTokenizer::read(source);
}

}  // namespace eigenscope::testing

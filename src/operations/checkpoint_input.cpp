#include "operations/checkpoint_input.h"

#include <optional>
#include <utility>

namespace eigenscope {

void describe(InputFields& f, CheckpointFiles& files) {
  f.files(FieldSource::model, "model", files.model,
          ".safetensors files, the parts of a GGUF model, or files of PyTorch; a LoRA adapter of "
          "them with its adapter_config.json changes the weights");
  f.file(FieldSource::model_index, "index", files.index,
         "index of a sharded checkpoint, which names its files");
  f.file(FieldSource::model_config, "config", files.config, "config.json");
  f.text("model_type", files.model_type,
         "model type of the Hugging Face Hub whose conventions the checkpoint has (norm gains, "
         "rotary positions, scale), for one without a known model type",
         "from config.json");
  f.text("stack", files.stack,
         "stack of a model of several parts to read alone: what the names of its tensors begin "
         "with, up to its layers, such as language_model.model",
         "all, or that of the token embeddings where several have alike layers");
}

FormatError missing_beside(const CheckpointFiles& files, const std::string& field) {
  const std::string weights = files.model.empty() ? "the weights" : files.model.front()->name();
  return {weights, field + ".json must be beside it, or be given (--" + field +
                       " on the command line): found neither"};
}

Config needed_config(const CheckpointFiles& files) {
  std::optional<Config> config = read_config(files);
  if (!config) throw missing_beside(files, "config");
  return std::move(*config);
}

}  // namespace eigenscope

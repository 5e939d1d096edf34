#include "bindings/files.h"

namespace eigenscope::bindings {

std::shared_ptr<const Safetensors> tensors_of(const val& input) {
  return std::make_shared<const Safetensors>(std::make_shared<ScriptSource>(input["model"]));
}

std::optional<Config> config_of(const val& input) {
  if (input["config"].isNull()) return std::nullopt;
  ScriptSource source(input["config"]);
  return Config::read(source);
}

}  // namespace eigenscope::bindings

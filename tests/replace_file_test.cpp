// Files that are whole or not there: what other writers of the same file have beside it stays.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint_failure.h"
#include "io/replace_file.h"
#include "temporary_folder.h"

#ifndef __EMSCRIPTEN__
#include <unistd.h>

#include <thread>
#endif

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a file is replaced as a whole, and nothing is left beside it") {
  const TemporaryFolder folder;
  const std::string path = folder.path("cell.json");
  for (const std::string text : {"a long first text", "second", ""}) {
    replace_file(path, text);
    CHECK(content(path) == text);
  }
  const std::filesystem::directory_iterator files(folder.path());
  CHECK(std::distance(begin(files), end(files)) == 1);
  const std::string nowhere = folder.path("none") + "/cell.json";
  check_failure(failure_of([&] { replace_file(nowhere, ""); }), nowhere, "it cannot be written");
}

#ifndef __EMSCRIPTEN__  // one thread
TEST_CASE("writers with one process number, as in two containers, do not mix their files") {
  const TemporaryFolder folder;
  const std::string path = folder.path("cell.json");
  const std::string other = folder.write("cell.json.new-" + std::to_string(::getpid()), "other's");
  const auto whole = [](const std::string& text) {
    return text.size() == 100'000 && std::count(text.begin(), text.end(), text[0]) == 100'000;
  };
  replace_file(path, std::string(100'000, '0'));
  std::vector<std::thread> writers;
  for (const char own : {'1', '2', '3', '4'}) {
    writers.emplace_back([&path, own] {
      for (int i = 0; i < 20; ++i) replace_file(path, std::string(100'000, own));
    });
  }
  std::size_t torn = 0;
  for (int i = 0; i < 200; ++i) torn += !whole(content(path));
  for (std::thread& writer : writers) writer.join();
  CHECK(torn == 0);
  CHECK(whole(content(path)));
  CHECK(content(other) == "other's");
}
#endif

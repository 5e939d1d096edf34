#include "cli/text_input.h"

#include <cstdint>
#include <filesystem>
#include <span>

#include "checkpoint/open_checkpoint.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

constexpr std::uint64_t kLargestText = 1'000'000'000;

std::string beside(const std::string& model, const char* name) {
  const std::filesystem::path path(model);
  std::error_code error;
  return ((std::filesystem::is_directory(path, error) ? path : path.parent_path()) / name).string();
}

}  // namespace

ReaderOptions::ReaderOptions(CLI::App& app) {
  app.add_option("MODEL", model_,
                 "a .safetensors file of the BERT or GPT-2 family, or the folder that holds one")
      ->required();
  app.add_option("--config", config_, "config.json, where it is not beside the weights");
  app.add_option("--tokenizer", tokenizer_, "tokenizer.json, where it is not beside the weights");
}

Reader ReaderOptions::open() const {
  if (model_.empty()) {
    throw InvalidArgument("MODEL", "an empty text is not allowed; it must be a path");
  }
  const Checkpoint checkpoint = open_checkpoint(model_, config_);
  if (!checkpoint.config) throw FormatError(beside(model_, "config.json"), "it is missing");
  FileSource source(tokenizer_.empty() ? beside(model_, "tokenizer.json") : tokenizer_);
  return {std::make_shared<const TextModel>(checkpoint.tensors, *checkpoint.config),
          TextTokenizer::read(source)};
}

std::string read_text(const std::string& path) {
  FileSource source(path);
  return source.read_text(kLargestText, "a text");
}

}  // namespace eigenscope::cli

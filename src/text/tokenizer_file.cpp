// Reads tokenizer.json, the format of Hugging Face's `tokenizers`.
#include <string>
#include <utility>
#include <vector>

#include "io/file_format.h"
#include "support/error.h"
#include "support/named_after.h"
#include "text/json_node.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace eigenscope {

namespace {

void read_added_tokens(const JsonNode& list, TokenizerStages& stages) {
  std::vector<AddedToken> added, normalized_added;
  for (const JsonNode& node : list.optional_items()) {
    const JsonNode single = node.at("single_word");
    if (single.flag(false)) single.refuse("it must be false; true is not supported");
    const std::string& content = node.at("content").text();
    if (content.empty()) continue;  // as Hugging Face's `tokenizers` does
    AddedToken token{unicode::decode(content), known_token(*stages.vocabulary, node.at("content")),
                     node.at("lstrip").flag(false), node.at("rstrip").flag(false)};
    const bool normalized = node.at("normalized").flag(!node.at("special").flag(false));
    if (normalized) {
      token.text = normalize(stages.normalizers, token.text);
      if (token.text.empty()) node.refuse("its content must not be empty when normalized");
    }
    (normalized ? normalized_added : added).push_back(std::move(token));
  }
  stages.added = AddedTokens(std::move(added));
  stages.normalized_added = AddedTokens(std::move(normalized_added));
}

TokenizerStages read_stages(const nlohmann::json& json, const std::string& name) {
  if (!json.is_object()) throw FormatError(name, "it must be a JSON object");
  const JsonNode root(&json, "");
  const auto vocabulary = read_vocabulary(root);
  TokenizerStages stages{vocabulary, read_tokenizer_model(root.at("model"), vocabulary)};
  stages.normalizers = read_normalizers(root.at("normalizer"));
  stages.pre_tokenizers = read_pre_tokenizers(root.at("pre_tokenizer"));
  stages.special = read_post_processors(root.at("post_processor"), *vocabulary);
  read_added_tokens(root.at("added_tokens"), stages);
  return stages;
}

}  // namespace

TextTokenizer TextTokenizer::parse(std::string_view text, const std::string& name) {
  return named_after(
      name, [&] { return TextTokenizer(name, read_stages(read_json_tree(text, name), name)); });
}

TextTokenizer TextTokenizer::read(ByteSource& source) {
  const std::string text = read_json_text(source, kLargestFile, "a tokenizer");
  return parse(text, source.name());
}

}  // namespace eigenscope

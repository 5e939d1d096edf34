// Reads tokenizer.json, the format of Hugging Face's `tokenizers`, and writes that of a model that reads bytes.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/file_format.h"
#include "io/json.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/named_after.h"
#include "text/json_node.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"
#include "text/tokenizer_stages.h"
#include "text/unicode.h"

namespace eigenscope {
namespace {

using VocabularyPointer = std::shared_ptr<const Vocabulary>;

// Characters of a word, bytes of a unigram, of what is put before or behind a word: a hostile file could ask for hours
// of search.
constexpr std::size_t kLongest = 1000;

void check_length(const JsonNode& node, std::size_t bytes) {
  if (bytes <= kLongest) return;
  node.refuse("it must have at most " + std::to_string(kLongest) + " bytes, but has " +
              std::to_string(bytes));
}

/// `standard` when it is null.
std::string short_text(const JsonNode& node, const std::string& standard) {
  const std::string text = node.text_or(standard);
  check_length(node, text.size());
  return text;
}

/// The pair of a token and its score in a unigram's vocabulary.
std::pair<std::string, double> read_scored(const JsonNode& node) {
  const std::vector<JsonNode> pair = node.items();
  if (pair.size() != 2) node.refuse("it must be a pair of a token and its score");
  check_length(pair[0], pair[0].text().size());
  return {pair[0].text(), pair[1].number()};
}

WordPiece read_word_piece(const JsonNode& model, VocabularyPointer vocabulary) {
  WordPiece::Rules rules;
  const JsonNode unknown = model.at("unk_token");
  rules.unknown = known_token(*vocabulary, unknown);
  if (!vocabulary->find_in_model(unknown.text())) {
    unknown.refuse("it must be in the vocabulary of the model, but is an added token");
  }
  rules.continuation = short_text(model.at("continuing_subword_prefix"), rules.continuation);
  const JsonNode longest = model.at("max_input_chars_per_word");
  if (!longest.is_null()) {
    if (longest.natural() < 1 || longest.natural() > kLongest) {
      longest.refuse("it must be from 1 to " + std::to_string(kLongest));
    }
    rules.longest_word = static_cast<std::size_t>(longest.natural());
  }
  return {std::move(vocabulary), std::move(rules)};
}

/// A merge is "left right" or ["left", "right"].
std::pair<std::string, std::string> read_merge(const JsonNode& node) {
  if (!node.is_text()) {
    const std::vector<JsonNode> both = node.items();
    if (both.size() != 2) node.refuse("it must be a pair of tokens");
    return {both[0].text(), both[1].text()};
  }
  const std::string& text = node.text();
  const std::size_t space = text.find(' ');
  if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
    node.refuse("it must be two tokens with a space between, but is '" + shown_name(text) + "'");
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

BytePair read_byte_pair(const JsonNode& model, const VocabularyPointer& vocabulary) {
  const JsonNode prefix = model.at("continuing_subword_prefix");
  if (!prefix.text_or("").empty()) prefix.refuse("it must be empty; prefixes are not supported");
  if (!model.at("dropout").is_null())
    model.at("dropout").refuse("it must be null; dropout is not supported");
  BytePair::Rules rules;
  const JsonNode unknown = model.at("unk_token");
  if (!unknown.text_or("").empty()) {
    known_token(*vocabulary, unknown);
    rules.unknown = vocabulary->find_in_model(unknown.text());
  }
  rules.fuse_unknown = model.at("fuse_unk").flag(false);
  rules.byte_fallback = model.at("byte_fallback").flag(false);
  rules.whole_first = model.at("ignore_merges").flag(false);
  rules.end = short_text(model.at("end_of_word_suffix"), "");
  BytePair pairs(vocabulary, std::move(rules));
  for (const JsonNode& node : model.at("merges").items()) {
    const auto [left, right] = read_merge(node);
    const auto id_of = [&](const std::string& token) {
      const auto id = vocabulary->find_in_model(token);
      if (!id) {
        node.refuse("its tokens must be in the vocabulary, but '" + shown_name(token) + "' is not");
      }
      return *id;
    };
    pairs.add_merge(id_of(left), id_of(right), id_of(left + right));
  }
  return pairs;
}

Unigram read_unigram(const JsonNode& model, VocabularyPointer vocabulary) {
  std::vector<double> scores;
  for (const JsonNode& node : model.at("vocab").items()) scores.push_back(read_scored(node).second);
  Unigram::Rules rules;
  const JsonNode unknown = model.at("unk_id");
  if (!unknown.is_null()) {
    if (unknown.natural() >= scores.size()) {
      unknown.refuse("it must be below the size of the vocabulary, " +
                     std::to_string(scores.size()));
    }
    rules.unknown = static_cast<int>(unknown.natural());
  }
  rules.byte_fallback = model.at("byte_fallback").flag(false);
  return {std::move(vocabulary), std::move(scores), rules};
}

/// Files of older versions do not name the type of their model.
std::string model_type(const JsonNode& model) {
  const std::string type = model.type();
  if (!type.empty()) return type;
  if (!model.at("merges").is_null()) return "BPE";
  if (model.at("vocab").is_list()) return "Unigram";
  return model.at("continuing_subword_prefix").is_null() ? "" : "WordPiece";
}

/// The tokens of the model and the added ones, from the whole file. Throws FormatError naming the token or key for what
/// is malformed.
std::shared_ptr<const Vocabulary> read_vocabulary(const JsonNode& root) {
  auto vocabulary = std::make_shared<Vocabulary>();
  const JsonNode vocab = root.at("model").at("vocab");
  std::uint64_t size = 0;  // of the vocabulary, then the id of the next added token
  if (vocab.is_list()) {
    for (const JsonNode& node : vocab.items()) vocabulary->add(read_scored(node).first, size++);
  } else {
    for (const auto& [token, id] : vocab.object()) {
      vocabulary->add(token, JsonNode(&id, shown_name(token)).natural());
      ++size;
    }
  }
  if (size == 0) vocab.refuse("it must have at least one token");
  for (const JsonNode& added : root.at("added_tokens").optional_items()) {
    const std::string& content = added.at("content").text();
    if (content.empty()) continue;
    // Whatever id the file gives it. Source: Hugging Face's `tokenizers`, AddedVocabulary::add_tokens.
    const std::optional<int> known = vocabulary->find(content);
    const std::uint64_t id = known ? static_cast<std::uint64_t>(*known) : size;
    if (!known) vocabulary->add_beside_model(content, id);
    size = std::max(size, id + 1);
  }
  return vocabulary;
}

/// Throws FormatError naming the key for what is malformed or not supported.
TokenizerModel read_tokenizer_model(const JsonNode& model, VocabularyPointer vocabulary) {
  const std::string type = model_type(model);
  if (type == "WordPiece") return read_word_piece(model, std::move(vocabulary));
  if (type == "BPE") return read_byte_pair(model, vocabulary);
  if (type == "Unigram") return read_unigram(model, std::move(vocabulary));
  model.refuse_type("BPE, Unigram and WordPiece");
}

struct ListedToken {
  std::string content;
  bool is_special, is_normalized, strips_left, strips_right;
  bool operator==(const ListedToken&) const = default;
};

ListedToken read_added_token(const JsonNode& node) {
  const JsonNode single = node.at("single_word");
  if (single.flag(false)) single.refuse("it must be false; true is not supported");
  const bool is_special = node.at("special").flag(false);
  return {node.at("content").text(), is_special, node.at("normalized").flag(!is_special),
          node.at("lstrip").flag(false), node.at("rstrip").flag(false)};
}

void read_added_tokens(const JsonNode& list, TokenizerStages& stages) {
  std::vector<AddedToken> special, special_normalized, added, normalized;
  std::unordered_map<std::string, ListedToken> known;
  for (const JsonNode& node : list.optional_items()) {
    const ListedToken token = read_added_token(node);
    if (token.content.empty()) continue;  // as Hugging Face's `tokenizers` does
    const auto [place, is_new] = known.emplace(token.content, token);
    if (place->second != token) {
      node.at("content").refuse("'" + shown_name(token.content) +
                                "' must not come again with other flags");
    }
    if (!is_new) continue;
    AddedToken read{unicode::decode(token.content),
                    known_token(*stages.vocabulary, node.at("content")), token.strips_left,
                    token.strips_right};
    if (token.is_normalized) {
      read.text = normalize(stages.normalizers, read.text).text;
      if (read.text.empty()) node.refuse("its content must not be empty when normalized");
    }
    auto& first = token.is_normalized ? special_normalized : special;
    auto& others = token.is_normalized ? normalized : added;
    (token.is_special ? first : others).push_back(std::move(read));
  }
  // The first of tokens with the same normalized text counts, special tokens before others: `refresh_added_tokens` of
  // AddedVocabulary in Hugging Face's `tokenizers`. AddedTokens takes the last.
  const auto joined = [](std::vector<AddedToken> first, const std::vector<AddedToken>& others) {
    first.insert(first.end(), others.begin(), others.end());
    std::reverse(first.begin(), first.end());
    return AddedTokens(std::move(first));
  };
  stages.added = joined(std::move(special), added);
  stages.normalized_added = joined(std::move(special_normalized), normalized);
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

std::string byte_tokenizer_json() {
  using Json = OrderedJson;
  Json vocabulary = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t symbol = byte_symbol(static_cast<unsigned char>(byte));
    vocabulary[unicode::encode({&symbol, 1})] = byte;
  }
  const Json step{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const Json file{{"version", "1.0"},
                  {"added_tokens", Json::array()},
                  {"normalizer", nullptr},
                  {"pre_tokenizer", step},
                  {"post_processor", nullptr},
                  {"decoder", {{"type", "ByteLevel"}}},
                  {"model",
                   {{"type", "BPE"},
                    {"unk_token", nullptr},
                    {"vocab", vocabulary},
                    {"merges", Json::array()}}}};
  return write_json(file, 1) + "\n";
}

}  // namespace eigenscope

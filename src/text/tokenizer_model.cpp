#include "text/tokenizer_model.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/json_events.h"
#include "support/error.h"
#include "text/tokenizer_stages.h"

namespace eigenscope {
namespace {

using VocabularyPointer = std::shared_ptr<const Vocabulary>;

// Characters of a word, bytes of a unigram, of what is put before or behind a word: a hostile file could ask for hours of search.
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
  rules.unknown = known_token(*vocabulary, model.at("unk_token"));
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
  if (!unknown.text_or("").empty()) rules.unknown = known_token(*vocabulary, unknown);
  rules.fuse_unknown = model.at("fuse_unk").flag(false);
  rules.byte_fallback = model.at("byte_fallback").flag(false);
  rules.whole_first = model.at("ignore_merges").flag(false);
  rules.end = short_text(model.at("end_of_word_suffix"), "");
  BytePair pairs(vocabulary, std::move(rules));
  for (const JsonNode& node : model.at("merges").items()) {
    const auto [left, right] = read_merge(node);
    const auto id_of = [&](const std::string& token) {
      const auto id = vocabulary->find(token);
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

}  // namespace

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
    vocabulary->add(content, id);
    size = std::max(size, id + 1);
  }
  return vocabulary;
}

TokenizerModel read_tokenizer_model(const JsonNode& model, VocabularyPointer vocabulary) {
  const std::string type = model_type(model);
  if (type == "WordPiece") return read_word_piece(model, std::move(vocabulary));
  if (type == "BPE") return read_byte_pair(model, vocabulary);
  if (type == "Unigram") return read_unigram(model, std::move(vocabulary));
  model.refuse_type("BPE, Unigram and WordPiece");
}

}  // namespace eigenscope

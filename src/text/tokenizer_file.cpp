// Reads tokenizer.json, the format of Hugging Face's `tokenizers`.
#include <algorithm>
#include <utility>

#include "io/file_format.h"
#include "io/json_events.h"
#include "support/error.h"
#include "text/json_tree.h"
#include "text/tokenizer.h"

namespace eigenscope {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestWord =
    1000;  // characters; a hostile file could ask for hours of search

/// One value of the file with the path that messages call it by.
class Node {
 public:
  Node(const Json* json, std::string path) : json_(json), path_(std::move(path)) {}

  [[noreturn]] void refuse(const std::string& message) const { throw FormatError(path_, message); }
  bool is_null() const { return json_ == nullptr || json_->is_null(); }

  /// The entry of an object; null when it is absent.
  Node at(const std::string& key) const {
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (!is_null() && !json_->is_object()) refuse("it is not an object");
    if (is_null() || !json_->contains(key)) return {nullptr, path};
    return {&(*json_)[key], path};
  }

  std::vector<Node> items() const {
    if (is_null() || !json_->is_array()) refuse("it is not a list");
    std::vector<Node> nodes;
    for (const Json& item : *json_) {
      nodes.emplace_back(&item, path_ + "[" + std::to_string(nodes.size()) + "]");
    }
    return nodes;
  }

  const Json::object_t& object() const {
    if (is_null() || !json_->is_object()) refuse("it is not an object");
    return json_->get_ref<const Json::object_t&>();
  }

  bool is_text() const { return !is_null() && json_->is_string(); }
  const std::string& text() const {
    if (!is_text()) refuse("it is not a string");
    return json_->get_ref<const std::string&>();
  }

  std::uint64_t natural() const {
    if (is_null() || !json_->is_number_unsigned()) refuse("it is not a non-negative integer");
    return json_->get<std::uint64_t>();
  }

  bool flag(bool standard) const {
    if (is_null()) return standard;
    if (!json_->is_boolean()) refuse("it is neither true nor false");
    return json_->get<bool>();
  }

  /// The string "type" of an object; empty where there is none.
  std::string type() const { return is_null() ? "" : at("type").text(); }

  [[noreturn]] void refuse_type(const std::string& known) const {
    refuse("the type '" + shown_name(type()) + "' is not supported; supported: " + known);
  }

 private:
  const Json* json_;
  std::string path_;
};

std::shared_ptr<const Vocabulary> read_vocabulary(const Node& root) {
  auto vocabulary = std::make_shared<Vocabulary>();
  const Node vocab = root.at("model").at("vocab");
  for (const auto& [token, id] : vocab.object()) {
    vocabulary->add(token, Node(&id, shown_name(token)).natural());
  }
  if (vocabulary->size() == 0) vocab.refuse("it is empty");
  if (!root.at("added_tokens").is_null()) {
    for (const Node& added : root.at("added_tokens").items()) {
      if (added.at("content").text().empty()) added.refuse("its content is empty");
      vocabulary->add(added.at("content").text(), added.at("id").natural());
    }
  }
  return vocabulary;
}

int known_token(const Vocabulary& vocabulary, const Node& node) {
  const auto id = vocabulary.find(node.text());
  if (!id) node.refuse("'" + shown_name(node.text()) + "' is not in the vocabulary");
  return *id;
}

WordPiece read_word_piece(const Node& model, std::shared_ptr<const Vocabulary> vocabulary) {
  WordPiece::Rules rules;
  rules.unknown = known_token(*vocabulary, model.at("unk_token"));
  const Node prefix = model.at("continuing_subword_prefix");
  if (!prefix.is_null()) rules.continuation = prefix.text();
  const Node longest = model.at("max_input_chars_per_word");
  if (!longest.is_null()) {
    if (longest.natural() < 1 || longest.natural() > kLongestWord) {
      longest.refuse("it must be from 1 to " + std::to_string(kLongestWord));
    }
    rules.longest_word = static_cast<std::size_t>(longest.natural());
  }
  return {std::move(vocabulary), std::move(rules)};
}

/// A merge is "left right" or ["left", "right"].
std::pair<std::string, std::string> read_merge(const Node& node) {
  if (!node.is_text()) {
    const std::vector<Node> both = node.items();
    if (both.size() != 2) node.refuse("it is not a pair");
    return {both[0].text(), both[1].text()};
  }
  const std::string& text = node.text();
  const std::size_t space = text.find(' ');
  if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
    node.refuse("'" + shown_name(text) + "' is not two tokens with a space between");
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

/// The ByteLevel step of a pre-tokenizer, which must be there alone.
Node byte_level(const Node& root) {
  const Node step = root.at("pre_tokenizer");
  if (step.type() != "ByteLevel") step.refuse_type("for BPE ByteLevel");
  return step;
}

BytePair read_byte_pair(const Node& root, std::shared_ptr<const Vocabulary> vocabulary) {
  const Node model = root.at("model"), step = byte_level(root);
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const Node node = model.at(affix);
    if (!node.is_null() && !node.text().empty()) node.refuse("only an empty string is supported");
  }
  if (!model.at("dropout").is_null()) model.at("dropout").refuse("only null is supported");
  BytePair::Rules rules;
  if (!model.at("unk_token").is_null()) {
    rules.unknown = known_token(*vocabulary, model.at("unk_token"));
  }
  rules.prefix_space = step.at("add_prefix_space").flag(true);
  rules.cut = step.at("use_regex").flag(true);
  rules.whole_first = model.at("ignore_merges").flag(false);
  BytePair pairs(std::move(vocabulary), rules);
  for (const Node& node : model.at("merges").items()) {
    const auto [left, right] = read_merge(node);
    pairs.add_merge(left, right);
  }
  return pairs;
}

std::optional<BertNormalizer> read_normalizer(const Node& node) {
  if (node.is_null()) return std::nullopt;
  if (node.type() != "BertNormalizer") node.refuse_type("BertNormalizer and null");
  BertNormalizer rules;
  rules.clean_text = node.at("clean_text").flag(true);
  rules.chinese = node.at("handle_chinese_chars").flag(true);
  rules.lowercase = node.at("lowercase").flag(true);
  rules.strip_accents = node.at("strip_accents").flag(rules.lowercase);
  return rules;
}

std::variant<WordPiece, BytePair> read_model(const Node& root,
                                             const std::shared_ptr<const Vocabulary>& vocabulary) {
  const Node model = root.at("model");
  if (model.type() == "WordPiece") {
    const Node step = root.at("pre_tokenizer");
    if (step.type() != "BertPreTokenizer") step.refuse_type("for WordPiece BertPreTokenizer");
    return read_word_piece(model, vocabulary);
  }
  if (model.type() == "BPE") return read_byte_pair(root, vocabulary);
  model.refuse_type("WordPiece and BPE");
}

struct Around {
  std::vector<int> before, after;
};

Around read_template(const Node& node, const Vocabulary& vocabulary) {
  Around around;
  int sequences = 0;
  for (const Node& item : node.at("single").items()) {
    if (!item.at("Sequence").is_null()) {
      ++sequences;
      continue;
    }
    const std::string name = item.at("SpecialToken").at("id").text();
    for (const Node& token : node.at("special_tokens").at(name).at("tokens").items()) {
      (sequences == 0 ? around.before : around.after).push_back(known_token(vocabulary, token));
    }
  }
  if (sequences != 1) node.at("single").refuse("it must hold one Sequence");
  return around;
}

/// Of BertProcessing and RobertaProcessing: "sep" and "cls" are pairs of a token and its id.
Around read_pairs(const Node& node, const Vocabulary& vocabulary) {
  const auto token = [&](const char* key) {
    const std::vector<Node> pair = node.at(key).items();
    if (pair.size() != 2) node.at(key).refuse("it is not a pair of a token and its id");
    return known_token(vocabulary, pair[0]);
  };
  return {{token("cls")}, {token("sep")}};
}

Around read_post_processor(const Node& node, const Vocabulary& vocabulary) {
  const std::string type = node.type();
  if (type.empty() || type == "ByteLevel") return {};
  if (type == "TemplateProcessing") return read_template(node, vocabulary);
  if (type == "BertProcessing" || type == "RobertaProcessing") return read_pairs(node, vocabulary);
  node.refuse_type("TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel and null");
}

}  // namespace

/// Fills a TextTokenizer from the tree of its file.
class TokenizerFile {
 public:
  static TextTokenizer read(const Json& json, const std::string& name) {
    if (!json.is_object()) throw FormatError(name, "it must be a JSON object");
    const Node root(&json, "");
    const auto vocabulary = read_vocabulary(root);
    TextTokenizer tokenizer(vocabulary, read_model(root, vocabulary));
    tokenizer.normalizer_ = read_normalizer(root.at("normalizer"));
    Around around = read_post_processor(root.at("post_processor"), *vocabulary);
    tokenizer.before_ = std::move(around.before);
    tokenizer.after_ = std::move(around.after);
    if (!root.at("added_tokens").is_null()) {
      for (const Node& added : root.at("added_tokens").items()) {
        tokenizer.added_.push_back(
            {added.at("content").text(), known_token(*vocabulary, added.at("content"))});
      }
    }
    std::stable_sort(tokenizer.added_.begin(), tokenizer.added_.end(),
                     [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
    return tokenizer;
  }
};

TextTokenizer TextTokenizer::parse(std::string_view text, const std::string& name) {
  return TokenizerFile::read(read_json_tree(text, name), name);
}

TextTokenizer TextTokenizer::read(ByteSource& source) {
  return parse(read_json_text(source, kLargestFile, "a tokenizer"), source.name());
}

}  // namespace eigenscope

#include "text/tokenizer_stages.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/json_events.h"
#include "support/error.h"
#include "text/unicode.h"

namespace eigenscope {
namespace {

using unicode::NormalForm;

std::u32string decoded(const JsonNode& node) { return unicode::decode(node.text()); }

/// `read(stage)` for each stage of a Sequence, whose list has the name `list`.
void for_each_stage(const JsonNode& node, const char* list,
                    const std::function<void(const JsonNode&)>& read) {
  if (node.is_null()) return;
  if (node.type() != "Sequence") {
    read(node);
    return;
  }
  for (const JsonNode& item : node.at(list).items()) for_each_stage(item, list, read);
}

BertNormalizer read_bert_normalizer(const JsonNode& node) {
  BertNormalizer rules;
  rules.clean_text = node.at("clean_text").flag(true);
  rules.chinese = node.at("handle_chinese_chars").flag(true);
  rules.lowercase = node.at("lowercase").flag(true);
  rules.strip_accents = node.at("strip_accents").flag(rules.lowercase);
  return rules;
}

/// A regular expression, or a text that is not empty.
Pattern read_pattern(const JsonNode& node) {
  const JsonNode regex = node.at("Regex"), string = node.at("String");
  if (regex.is_null()) {
    if (string.text().empty()) string.refuse("it must not be empty");
    return Pattern::literal(decoded(string));
  }
  try {
    return Pattern(regex.text());
  } catch (const InvalidArgument& error) {
    regex.refuse(error.what());
  }
}

std::string decoded_base64(const JsonNode& node) {
  std::string_view text = node.text();
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) node.refuse("it must be base64");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xffu);
    }
  }
  return bytes;
}

CharacterMap read_character_map(const JsonNode& node) {
  const JsonNode table = node.at("precompiled_charsmap");
  try {
    return CharacterMap(decoded_base64(table));
  } catch (const InvalidArgument& error) {
    table.refuse(error.what());
  }
}

std::optional<NormalForm> normal_form(const std::string& type) {
  if (type == "NFC") return NormalForm::nfc;
  if (type == "NFD") return NormalForm::nfd;
  if (type == "NFKC") return NormalForm::nfkc;
  if (type == "NFKD") return NormalForm::nfkd;
  return std::nullopt;
}

Normalizer read_normalizer(const JsonNode& node) {
  const std::string type = node.type();
  if (const auto form = normal_form(type)) return *form;
  if (type == "BertNormalizer") return read_bert_normalizer(node);
  if (type == "Lowercase") return Lowercase{};
  if (type == "StripAccents") return StripAccents{};
  if (type == "Strip") {
    return Strip{node.at("strip_left").flag(true), node.at("strip_right").flag(true)};
  }
  if (type == "Prepend") return Prepend{decoded(node.at("prepend"))};
  if (type == "Replace")
    return Replace{read_pattern(node.at("pattern")), decoded(node.at("content"))};
  if (type == "Precompiled") return read_character_map(node);
  node.refuse_type(
      "BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Precompiled, Prepend, Replace, Sequence, "
      "Strip, StripAccents and null");
}

Metaspace read_metaspace(const JsonNode& node) {
  Metaspace rules;
  const JsonNode replacement = node.at("replacement"), scheme = node.at("prepend_scheme");
  if (!replacement.is_null()) {
    const std::u32string character = decoded(replacement);
    if (character.size() != 1) replacement.refuse("it must be one character");
    rules.replacement = character[0];
  }
  // Files of older versions have add_prefix_space in place of prepend_scheme.
  const std::string legacy = node.at("add_prefix_space").flag(true) ? "always" : "never";
  const std::string prefix = scheme.text_or(legacy);
  if (prefix != "always" && prefix != "first" && prefix != "never") {
    scheme.refuse_choice("always, first and never");
  }
  rules.prefix = prefix == "always"  ? Metaspace::Prefix::always
                 : prefix == "first" ? Metaspace::Prefix::first
                                     : Metaspace::Prefix::never;
  rules.cut = node.at("split").flag(true);
  return rules;
}

Split::Behavior read_behavior(const JsonNode& node) {
  const std::string& name = node.text();
  if (name == "Removed") return Split::Behavior::removed;
  if (name == "Isolated") return Split::Behavior::isolated;
  if (name == "MergedWithPrevious") return Split::Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Split::Behavior::merged_with_next;
  if (name == "Contiguous") return Split::Behavior::contiguous;
  node.refuse_choice("Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous");
}

PreTokenizer read_pre_tokenizer(const JsonNode& node) {
  const std::string type = node.type();
  if (type == "BertPreTokenizer") return BertWords{};
  if (type == "WhitespaceSplit") return WhitespaceSplit{};
  if (type == "Digits") return Digits{node.at("individual_digits").flag(false)};
  if (type == "ByteLevel") {
    return ByteLevel{node.at("add_prefix_space").flag(true), node.at("use_regex").flag(true)};
  }
  if (type == "Metaspace") return read_metaspace(node);
  if (type == "Split") {
    return Split{read_pattern(node.at("pattern")), read_behavior(node.at("behavior")),
                 node.at("invert").flag(false)};
  }
  node.refuse_type(
      "BertPreTokenizer, ByteLevel, Digits, Metaspace, Sequence, Split, WhitespaceSplit and null");
}

/// The id of a token, which must be the one beside its name: `tokenizers` adds that id, whatever the vocabulary has.
int named_token(const Vocabulary& vocabulary, const JsonNode& token, const JsonNode& id) {
  const int known = known_token(vocabulary, token);
  if (!id.is_null() && id.natural() != static_cast<std::uint64_t>(known)) {
    id.refuse("it must be the id " + std::to_string(known) + " of '" + shown_name(token.text()) +
              "', but is " + std::to_string(id.natural()));
  }
  return known;
}

/// The ids of one of the special tokens of a template; a missing list of ids contradicts nothing.
std::vector<int> read_special(const JsonNode& node, const Vocabulary& vocabulary) {
  const std::vector<JsonNode> tokens = node.at("tokens").items();
  const JsonNode list = node.at("ids");
  const std::vector<JsonNode> ids = list.optional_items();
  if (!list.is_null() && ids.size() != tokens.size()) {
    list.refuse("it must have as many ids as tokens, " + std::to_string(tokens.size()) +
                ", but has " + std::to_string(ids.size()));
  }
  std::vector<int> read;
  for (std::size_t k = 0; k < tokens.size(); ++k)
    read.push_back(named_token(vocabulary, tokens[k], ids.empty() ? list : ids[k]));
  return read;
}

SpecialTokens read_template(const JsonNode& node, const Vocabulary& vocabulary) {
  constexpr std::size_t kMostSpecial = 1000;
  SpecialTokens special;
  int sequences = 0;
  for (const JsonNode& item : node.at("single").items()) {
    if (!item.at("Sequence").is_null()) {
      ++sequences;
      continue;
    }
    const std::string name = item.at("SpecialToken").at("id").text();
    for (const int id : read_special(node.at("special_tokens").at(name), vocabulary)) {
      if (special.before.size() + special.after.size() == kMostSpecial) {
        node.at("single").refuse("it must add at most " + std::to_string(kMostSpecial) + " tokens");
      }
      (sequences == 0 ? special.before : special.after).push_back(id);
    }
  }
  if (sequences != 1) node.at("single").refuse("it must hold one Sequence");
  return special;
}

/// The special tokens of BertProcessing and RobertaProcessing: "sep" and "cls" are pairs of a token and its id.
SpecialTokens read_pairs(const JsonNode& node, const Vocabulary& vocabulary) {
  const auto token = [&](const char* key) {
    const std::vector<JsonNode> pair = node.at(key).items();
    if (pair.size() != 2) node.at(key).refuse("it must be a pair of a token and its id");
    return named_token(vocabulary, pair[0], pair[1]);
  };
  return {{token("cls")}, {token("sep")}};
}

SpecialTokens read_post_processor(const JsonNode& node, const Vocabulary& vocabulary) {
  const std::string type = node.type();
  if (type == "ByteLevel") return {};  // only trims offsets
  if (type == "TemplateProcessing") return read_template(node, vocabulary);
  if (type == "BertProcessing" || type == "RobertaProcessing") return read_pairs(node, vocabulary);
  node.refuse_type(
      "BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing and null");
}

}  // namespace

std::vector<Normalizer> read_normalizers(const JsonNode& node) {
  std::vector<Normalizer> stages;
  for_each_stage(node, "normalizers",
                 [&](const JsonNode& stage) { stages.push_back(read_normalizer(stage)); });
  return stages;
}

std::vector<PreTokenizer> read_pre_tokenizers(const JsonNode& node) {
  std::vector<PreTokenizer> stages;
  for_each_stage(node, "pretokenizers",
                 [&](const JsonNode& stage) { stages.push_back(read_pre_tokenizer(stage)); });
  return stages;
}

SpecialTokens read_post_processors(const JsonNode& node, const Vocabulary& vocabulary) {
  SpecialTokens all;
  for_each_stage(node, "processors", [&](const JsonNode& stage) {
    const SpecialTokens outer = read_post_processor(stage, vocabulary);
    all.before.insert(all.before.begin(), outer.before.begin(), outer.before.end());
    all.after.insert(all.after.end(), outer.after.begin(), outer.after.end());
  });
  return all;
}

int known_token(const Vocabulary& vocabulary, const JsonNode& node) {
  const auto id = vocabulary.find(node.text());
  if (!id)
    node.refuse("it must be in the vocabulary, but '" + shown_name(node.text()) + "' is not");
  return *id;
}

}  // namespace eigenscope

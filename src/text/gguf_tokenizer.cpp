#include "text/gguf_tokenizer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "checkpoint/gguf_parts.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/named_after.h"
#include "text/gguf_pre_tokenizers.h"
#include "text/unicode.h"

namespace eigenscope {
namespace {

constexpr std::string_view kPrefix = "tokenizer.ggml.";
constexpr std::string_view kSpaceMark = "\u2581";  // SentencePiece's character for a space
constexpr char32_t kSpaceCharacter = U'\u2581';

/// llama.cpp's numbers of the types of tokens.
enum class TokenType { normal = 1, unknown, control, user_defined, unused, byte };

/// Reads `tokenizer.ggml.*` of the file that has the metadata.
class GgufTokenizer {
 public:
  explicit GgufTokenizer(const GgufPart& part)
      : source_(*part.source),
        header_(part.header),
        model_(header_.text(key("model"))),
        tokens_(header_.texts(source_, key("tokens"))),
        vocabulary_(std::make_shared<Vocabulary>()) {
    read_types();
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      // llama.cpp's text of an empty token.
      if (tokens_[id].empty()) tokens_[id] = "[EMPTY_" + std::to_string(id) + "]";
      vocabulary_->add(token_text(id), id);
    }
    if (tokens_.empty()) refuse("tokens", "it must be a list of at least one string");
  }

  TokenizerStages stages() const {
    TokenizerStages stages = model_stages();
    stages.added = added_tokens();
    return stages;
  }

 private:
  static std::string key(std::string_view name) { return std::string(kPrefix) + std::string(name); }

  [[noreturn]] void refuse(std::string_view name, const std::string& message) const {
    refuse_item(key(name), message);
  }

  bool flag(std::string_view name, bool standard) const {
    const auto entry = header_.metadata.find(key(name));
    if (entry == header_.metadata.end()) return standard;
    if (!entry->is_boolean()) refuse(name, "it must be true or false");
    return entry->get<bool>();
  }

  bool is(std::size_t id, TokenType type) const { return types_[id] == static_cast<int>(type); }

  void check_count(std::string_view name, std::size_t count) const {
    if (count == tokens_.size()) return;
    refuse(name, "it must have an entry for each of the " + std::to_string(tokens_.size()) +
                     " tokens, but has " + std::to_string(count));
  }

  void read_types() {
    const std::vector<double> types = header_.numbers(source_, key("token_type"));
    if (!types.empty()) check_count("token_type", types.size());
    types_.assign(tokens_.size(), static_cast<int>(TokenType::normal));
    for (std::size_t id = 0; id < types.size(); ++id) {
      if (types[id] >= 1 && types[id] <= 6) types_[id] = static_cast<int>(types[id]);
    }
  }

  /// The text of a token in the vocabulary. WordPiece in GGUF marks the tokens that begin a word, Hugging Face's
  /// those that continue one.
  std::string token_text(std::size_t id) const {
    const std::string& text = tokens_[id];
    if (model_ != "bert" || !is(id, TokenType::normal)) return text;
    return text.starts_with(kSpaceMark) ? text.substr(kSpaceMark.size()) : "##" + text;
  }

  std::vector<double> scores() const {
    std::vector<double> scores = header_.numbers(source_, key("scores"));
    check_count("scores", scores.size());
    const auto finite = [](double score) { return std::isfinite(score); };
    if (!std::all_of(scores.begin(), scores.end(), finite))
      refuse("scores", "its numbers must be finite");
    return scores;
  }

  /// The id of the token with a role, such as "bos": the key's, else that of the first of `names` in the vocabulary.
  int special_token(std::string_view role, std::initializer_list<std::string_view> names) const {
    const std::string name = std::string(role) + "_token_id";
    if (header_.metadata.contains(key(name))) {
      const std::uint64_t id = header_.integer(key(name));
      if (id < tokens_.size()) return static_cast<int>(id);
      refuse(name, "it must be below the " + std::to_string(tokens_.size()) + " tokens, but is " +
                       std::to_string(id));
    }
    for (const std::string_view text : names) {
      if (const auto id = vocabulary_->find(std::string(text))) return *id;
    }
    refuse(name, "it must name a token, but is missing");
  }

  /// Control and user-defined tokens and the unknown token, which stand for their texts before the model cuts it.
  AddedTokens added_tokens() const {
    // llama.cpp tells the models whose special tokens take the white space behind them by their names.
    std::string name = header_.text("general.name");
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool is_phi3 =
        name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos;
    constexpr std::array<std::string_view, 3> kUnstripped{"<unk>", "<s>", "<|endoftext|>"};
    std::vector<AddedToken> added;
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      if (!is(id, TokenType::control) && !is(id, TokenType::user_defined) &&
          !is(id, TokenType::unknown)) {
        continue;
      }
      const bool strips = is_phi3 && std::find(kUnstripped.begin(), kUnstripped.end(),
                                               tokens_[id]) == kUnstripped.end();
      added.push_back({unicode::decode(tokens_[id]), static_cast<int>(id), false, strips});
    }
    return AddedTokens(std::move(added));
  }

  SpecialTokens begin_and_end(bool adds_bos, bool adds_eos) const {
    SpecialTokens special;
    if (flag("add_bos_token", adds_bos)) special.before = {special_token("bos", {})};
    if (flag("add_eos_token", adds_eos)) special.after = {special_token("eos", {})};
    return special;
  }

  /// Spaces become the mark of SentencePiece, which stands before a text with `prefix`.
  static std::vector<Normalizer> marked_spaces(bool prefix) {
    std::vector<Normalizer> normalizers;
    if (prefix) normalizers.emplace_back(Prepend{std::u32string(1, kSpaceCharacter)});
    normalizers.emplace_back(Replace{Pattern(" "), std::u32string(1, kSpaceCharacter)});
    return normalizers;
  }

  TokenizerStages model_stages() const {
    if (model_ == "llama") return llama();
    if (model_ == "gpt2") return gpt2();
    if (model_ == "gemma4") return gemma4();
    if (model_ == "bert") return bert();
    if (model_ == "t5") return t5();
    refuse("model", "it must be bert, gemma4, gpt2, llama or t5, but is '" + shown_name(model_) +
                        "' (a tokenizer.json beside the file is read instead)");
  }

  TokenizerStages llama() const {
    BytePair::Rules rules;
    rules.byte_fallback = true;
    BytePair pairs(vocabulary_, rules);
    pairs.merge_by_scores(scores());
    TokenizerStages stages{vocabulary_, std::move(pairs)};
    stages.normalizers = marked_spaces(flag("add_space_prefix", true));
    stages.special = begin_and_end(true, false);
    return stages;
  }

  BytePair listed_pairs(BytePair::Rules rules) const {
    BytePair pairs(vocabulary_, std::move(rules));
    const std::vector<std::string> merges = header_.texts(source_, key("merges"));
    if (merges.empty()) refuse("merges", "it must be a list of at least one string");
    for (const std::string& merge : merges) {
      // A token may begin with a space.
      const std::size_t space = merge.find(' ', 1);
      if (space == std::string::npos)
        refuse("merges", "'" + shown_name(merge) + "' must be two tokens with a space between");
      const std::string left = merge.substr(0, space), right = merge.substr(space + 1);
      const auto known = [&](const std::string& token) {
        const auto id = vocabulary_->find(token);
        if (!id) refuse("merges", "'" + shown_name(token) + "' must be one of the tokens");
        return *id;
      };
      pairs.add_merge(known(left), known(right), known(left + right));
    }
    return pairs;
  }

  TokenizerStages gpt2() const {
    const GgufPreTokenizer& row = gguf_pre_tokenizer(header_.text(key("pre")));
    BytePair::Rules rules;
    rules.whole_first = row.whole_first;
    TokenizerStages stages{vocabulary_, listed_pairs(rules)};
    for (const std::string_view pattern : row.patterns) {
      if (!pattern.empty()) stages.pre_tokenizers.emplace_back(Split{Pattern(pattern)});
    }
    stages.pre_tokenizers.emplace_back(ByteLevel{false, false});
    stages.special = begin_and_end(row.adds_bos, false);
    return stages;
  }

  TokenizerStages gemma4() const {
    BytePair::Rules rules;
    rules.byte_fallback = true;
    TokenizerStages stages{vocabulary_, listed_pairs(rules)};
    stages.normalizers = marked_spaces(false);
    stages.pre_tokenizers.emplace_back(Split{Pattern(kLinesPattern)});
    stages.special = {{special_token("bos", {})}, {}};
    return stages;
  }

  TokenizerStages bert() const {
    WordPiece::Rules rules;
    rules.unknown = special_token("unknown", {"[UNK]"});
    rules.longest_word = std::numeric_limits<std::size_t>::max();
    TokenizerStages stages{vocabulary_, WordPiece(vocabulary_, rules)};
    BertNormalizer normalizer;
    normalizer.lowercase = flag("normalizer.lowercase", true);
    normalizer.strip_accents = flag("normalizer.strip_accents", normalizer.lowercase);
    stages.normalizers = {normalizer};
    stages.pre_tokenizers = {BertWords{}};
    const bool has_bos = header_.metadata.contains(key("bos_token_id"));
    stages.special.before = {special_token(has_bos ? "bos" : "cls", {"[CLS]"})};
    stages.special.after = {special_token("seperator", {"[SEP]"})};  // llama.cpp's spelling
    return stages;
  }

  TokenizerStages t5() const {
    std::vector<double> scores = this->scores();
    bool cuts = false;
    for (std::size_t id = 0; id < scores.size(); ++id) {
      if (is(id, TokenType::user_defined)) scores[id] = 0;
      if (!is(id, TokenType::normal) && !is(id, TokenType::user_defined) &&
          !is(id, TokenType::unused)) {
        scores[id] = -std::numeric_limits<double>::infinity();
      }
      cuts = cuts || std::isfinite(scores[id]);
    }
    if (!cuts) refuse("token_type", "it must have at least one normal token");
    Unigram::Rules rules;
    rules.unknown = special_token("unknown", {"<unk>"});
    TokenizerStages stages{vocabulary_, Unigram(vocabulary_, std::move(scores), rules)};
    if (flag("treat_whitespace_as_suffix", false))
      refuse("treat_whitespace_as_suffix", "it must be false; true is not supported");
    std::string map;
    for (const double byte : header_.numbers(source_, key("precompiled_charsmap")))
      map += static_cast<char>(static_cast<int>(byte));
    if (!map.empty()) {
      try {
        stages.normalizers.emplace_back(CharacterMap(map));
      } catch (const InvalidArgument& error) {
        refuse("precompiled_charsmap", error.what());
      }
    }
    const bool merges_spaces = flag("remove_extra_whitespaces", false);
    if (merges_spaces) {
      stages.normalizers.emplace_back(Strip{true, true, true});
      stages.normalizers.emplace_back(Replace{Pattern(" {2,}"), U" "});
    }
    for (Normalizer& it : marked_spaces(merges_spaces || flag("add_space_prefix", false)))
      stages.normalizers.push_back(std::move(it));
    stages.special = begin_and_end(false, true);
    return stages;
  }

  ByteSource& source_;
  const GgufHeader& header_;
  std::string model_;
  std::vector<std::string> tokens_;
  std::vector<int> types_;  // by id
  std::shared_ptr<Vocabulary> vocabulary_;
};

}  // namespace

std::optional<TextTokenizer> tokenizer_of_gguf(
    const std::vector<std::shared_ptr<ByteSource>>& files) {
  const std::vector<GgufPart> parts = read_gguf_parts(files);
  const GgufPart& first = parts.front();
  if (first.header.text(std::string(kPrefix) + "model").empty()) return std::nullopt;
  return named_after(first.source->name(), [&] {
    return TextTokenizer(first.source->name(), GgufTokenizer(first).stages());
  });
}

}  // namespace eigenscope

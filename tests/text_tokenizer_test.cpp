// Tokenizers: known sentences against MiniLM's vocabulary, small models and stages worked by hand, hostile
// files. tests/cli/tokenizers.test.ts compares with another implementation on thousands of texts.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint_failure.h"
#include "minilm.h"
#include "text/gguf_pre_tokenizers.h"
#include "text/normalizer.h"
#include "text/passages.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Json = nlohmann::json;

namespace {

const TextTokenizer& minilm() {
  static const TextTokenizer tokenizer = minilm_tokenizer();
  return tokenizer;
}

/// The ids of words in lower-case ASCII by a greedy search of the test's own, in the file as JSON.
std::vector<int> greedy(const std::vector<std::string>& words) {
  static const Json vocab = [] {
    std::ifstream file(minilm_folder() + "/tokenizer.json");
    return Json::parse(file).at("model").at("vocab");
  }();
  std::vector<int> ids;
  for (const std::string& word : words) {
    std::string rest = word, prefix;
    while (!rest.empty()) {
      std::size_t length = rest.size();
      while (length > 0 && !vocab.contains(prefix + rest.substr(0, length))) --length;
      REQUIRE(length > 0);
      ids.push_back(vocab.at(prefix + rest.substr(0, length)));
      rest = rest.substr(length);
      prefix = "##";
    }
  }
  return ids;
}

Json word_piece_file() {
  return Json::parse(R"({"normalizer":{"type":"BertNormalizer"},
    "pre_tokenizer":{"type":"BertPreTokenizer"},
    "added_tokens":[{"id":0,"content":"[UNK]"},{"id":5,"content":"[CLS]"}],
    "post_processor":{"type":"TemplateProcessing",
      "single":[{"SpecialToken":{"id":"C"}},{"Sequence":{"id":"A"}}],
      "special_tokens":{"C":{"tokens":["[CLS]"]}}},
    "model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"a":1,"##b":2,"c":3,"ab":4}}})");
}

std::string text_of(char32_t c) { return unicode::encode({&c, 1}); }

/// Merges l+o, lo+w, space+low, e+r in this order.
Json byte_pair_file() {
  Json vocab{{"lo", 256}, {"low", 257}, {"Ġlow", 258}, {"er", 259}, {"<|end|>", 260}};
  for (int byte = 0; byte < 256; ++byte) {
    vocab[text_of(byte_symbol(static_cast<unsigned char>(byte)))] = byte;
  }
  return {
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
      {"post_processor", {{"type", "ByteLevel"}}},
      {"added_tokens", {{{"id", 260}, {"content", "<|end|>"}}}},
      {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"l o", "lo w", "Ġ low", "e r"}}}}};
}

TextTokenizer parsed(const Json& file) { return TextTokenizer::parse(file.dump()); }

Failure failure_with(Json file, const std::string& pointer, const Json& value) {
  file[Json::json_pointer(pointer)] = value;
  return failure_of([&] { parsed(file).encode("a"); });
}

using Ids = std::vector<int>;

/// The pieces of a text with a bar behind each.
std::string pieces_of(const std::vector<PreTokenizer>& stages, const std::string& text) {
  std::string joined;
  for (const auto& piece : pre_tokenize(stages, {unicode::decode(text), 1})) {
    joined += unicode::encode(piece) + "|";
  }
  return joined;
}

std::string normalized(const Normalizer& stage, const std::string& text) {
  return unicode::encode(normalize({stage}, unicode::decode(text)).text);
}

/// Characters as tokens, then "ab" twice as likely as "a" and "b" together.
Json unigram_file() {
  return Json::parse(R"({"normalizer":null,"pre_tokenizer":{"type":"Metaspace"},
    "model":{"type":"Unigram","unk_id":0,
      "vocab":[["<unk>",0],["▁",-1],["a",-2],["b",-2],["ab",-3],["ba",-3],["<0xC3>",-9],["<0xA9>",-9]]}})");
}

/// Byte pairs without merges: characters by their places, unknown ones 0.
Json characters_file(const std::string& characters) {
  Json vocab{{"<unk>", 0}};
  for (const char32_t c : unicode::decode(characters)) vocab[text_of(c)] = vocab.size();
  return {{"model",
           {{"type", "BPE"}, {"unk_token", "<unk>"}, {"vocab", vocab}, {"merges", Json::array()}}}};
}

Json added_token(const std::string& content, const std::vector<std::string>& flags = {}) {
  Json token{{"content", content}, {"special", true}};
  for (const std::string& flag : flags) token[flag] = true;
  return token;
}

Json sequence(const char* list, const Json& stages) {
  return {{"type", "Sequence"}, {list, stages}};
}

Json replacement(const char* pattern, const char* content) {
  return {{"type", "Replace"}, {"pattern", {{"String", pattern}}}, {"content", content}};
}

}  // namespace

TEST_CASE("sentences have the ids of an independent greedy search", "[text][sample]") {
  CHECK(minilm().word_piece() != nullptr);
  CHECK(minilm().vocabulary().size() == 30522);
  CHECK(minilm().before() == Ids{101});
  CHECK(minilm().after() == Ids{102});
  CHECK(minilm().encode("The whale, a creature of embeddings, swam.") ==
        greedy({"the", "whale", ",", "a", "creature", "of", "embeddings", ",", "swam", "."}));
  CHECK(minilm().encode("  Unaffable\tQueequeg's\n$5 [sic]") ==
        greedy({"unaffable", "queequeg", "'", "s", "$", "5", "[", "sic", "]"}));
  CHECK(minilm().wrapped(Ids{7592}) == Ids{101, 7592, 102});
}

TEST_CASE("BERT's normalization strips accents and controls and sets ideographs apart",
          "[text][sample]") {
  CHECK(minilm().encode("ÀÉÎõü Ångström naïve") == minilm().encode("aeiou angstrom naive"));
  CHECK(minilm().encode("Cafe\u0301") == minilm().encode("cafe"));
  CHECK(minilm().encode("wh\u200bale\a") == minilm().encode("whale"));
  CHECK(minilm().encode("the\u00a0whale\u2003swam") == minilm().encode("the whale swam"));
  CHECK(minilm().encode("中国") == minilm().encode(" 中  国 "));
  CHECK(minilm().encode("“whale”—swam") == greedy({"“", "whale", "”", "—", "swam"}));
  CHECK(minilm().encode("ΑΘΗΝΑ") == minilm().encode("αθηνα"));
  CHECK(minilm().encode(std::string(101, 'a')) ==
        Ids{100});                               // longer than max_input_chars_per_word
  CHECK(minilm().encode("\u0378") == Ids{100});  // no such character
}

TEST_CASE("an added token is itself wherever it stands", "[text][sample]") {
  CHECK(minilm().encode("the [MASK] swam") == Ids{greedy({"the"})[0], 103, greedy({"swam"})[0]});
  CHECK(minilm().encode("[SEP]") == Ids{102});
  CHECK(minilm().encode("").empty());
  CHECK(minilm().encode(" \n").empty());
}

TEST_CASE("a word that no tokens make up is unknown as a whole", "[text]") {
  const TextTokenizer tokenizer = parsed(word_piece_file());
  CHECK(tokenizer.encode("ab abb ba c") == Ids{4, 4, 2, 0, 3});
  CHECK(tokenizer.wrapped(Ids{1}) == Ids{5, 1});
}

TEST_CASE("byte pairs merge in the order of their ranks", "[text]") {
  const TextTokenizer tokenizer = parsed(byte_pair_file());
  CHECK(tokenizer.word_piece() == nullptr);
  CHECK(tokenizer.encode("low lower") == Ids{257, 258, 259});
  CHECK(tokenizer.encode("loo") == Ids{256, 'o'});
  CHECK(tokenizer.encode("a<|end|>low") == Ids{'a', 260, 257});
  CHECK(tokenizer.encode("é") == Ids{0xc3, 0xa9});
  CHECK(tokenizer.encode("a  b\n") == Ids{'a', ' ', ' ', 'b', '\n'});
  Json pairs = byte_pair_file();
  pairs["model"]["merges"] = Json::parse(R"([["l","o"],["lo","w"],["Ġ","low"],["e","r"]])");
  CHECK(parsed(pairs).encode("low lower") == Ids{257, 258, 259});
  pairs["pre_tokenizer"]["add_prefix_space"] = true;
  CHECK(parsed(pairs).encode("low") == Ids{258});
}

TEST_CASE("a long word merges as quickly as its length allows", "[text]") {
  std::string word;
  for (int i = 0; i < 100000; ++i) word += "low";
  CHECK(parsed(byte_pair_file()).encode(word) == Ids(100000, 257));
}

TEST_CASE("pieces are those of GPT-2's expression", "[text]") {
  const auto pieces = [](const std::string& text) {
    return pieces_of({Split{Pattern(kGpt2Pattern)}}, text);
  };
  CHECK(pieces("Hello world's end") == "Hello| world|'s| end|");
  CHECK(pieces("we'll  go\n\n now") == "we|'ll| | go|\n\n| now|");
  CHECK(pieces("a1b22 33!? x") == "a|1|b|22| 33|!?| x|");
  CHECK(pieces("x \n") == "x| \n|");
  CHECK(pieces("x\ny 'S") == "x|\n|y| '|S|");
  CHECK(pieces("naïve 東京²") == "naïve| 東京|²|");
}

TEST_CASE("pieces of later models keep prefixes, line ends and capitals apart", "[text]") {
  const auto pieces = [](const std::string& name, const std::string& text) {
    std::vector<PreTokenizer> stages;
    for (const std::string_view pattern : gguf_pre_tokenizer(name).patterns) {
      if (!pattern.empty()) stages.push_back(Split{Pattern(pattern)});
    }
    return pieces_of(stages, text);
  };
  CHECK(pieces("llama3", "we'LL (go) 12345!?\n\n x  y") ==
        "we|'LL| (|go|)| |123|45|!?\n\n| x| | y|");
  CHECK(pieces("qwen2", "a 12 \r\n b") == "a| |1|2| \r\n| b|");
  CHECK(pieces("gpt-4o", "CamelCase HTTPServer's a/b//\n") ==
        "Camel|Case| HTTPServer's| a|/b|//\n|");
  CHECK(pieces("gpt-4o", "ABCß 1234") == "ABCß| |123|4|");
  CHECK(pieces("kimi-k2", "CamelCase's 東京abc 1234") == "Camel|Case's| |東京|abc| |123|4|");
  CHECK(pieces("deepseek-v3", "it's x+1 東京は $5\n 1234") ==
        "it|'s| x|+|1| |東京は| $|5|\n| |123|4|");
  CHECK(pieces("deepseek-llm", "ab ж!?\n  x  ") == "ab| ж|!?|\n| | x|  |");
}

TEST_CASE("a pattern matches as Oniguruma does", "[text]") {
  const auto pieces = [](const std::string& pattern, const std::string& text) {
    return pieces_of({Split{Pattern(pattern)}}, text);
  };
  CHECK(pieces("a|ab", "xaby") == "x|a|by|");  // the first alternative, not the longest
  CHECK(pieces("(?:a|ab)c", "xabcy") == "x|abc|y|");
  CHECK(pieces("(ab)+c", "abababc") == "abababc|");
  CHECK(pieces("(?:ab){2,3}", "abababab") == "ababab|ab|");
  CHECK(pieces("a{2}b?|x{2,}", "aaabxxx") == "aa|ab|xxx|");
  CHECK(pieces("a+ab", "aaab") == "aaab|");
  CHECK(pieces("a++ab|b", "aaab") == "aaa|b|");
  CHECK(pieces("a(?=b(?!c))", "abcab") == "abc|a|b|");
  CHECK(pieces(" +$", " a  \n  ") == " a|  |\n|  |");
  CHECK(pieces("(?i:A[b-d]x)|é", "aBX éÉ aEx") == "aBX| |é|É aEx|");
  CHECK(pieces(R"([^\]\-a-c&]+.)", "ab]xy-&\n") == "ab]|xy-|&\n|");
  CHECK(pieces(R"([\p{Lu}\p{Nd}\P{C}]?\p{Han}\p{M}*)", "A東々\u0301") == "A東|々\u0301|");
  CHECK(pieces(R"(\d+|\D\S)", "12\u0664³ab c") == "12\u0664|³a|b| c|");
}

TEST_CASE("a pattern is refused with the part that is not supported", "[text]") {
  const auto refused = [](const std::string& pattern) {
    return failure_of([&] { Pattern{pattern}; }).message;
  };
  CHECK(refused("ab(?<=c)d") ==
        "pattern must consist of the parts of regular expressions that are supported: '(?<=c)d' at "
        "character 3 is not");
  for (const char* part :
       {"(?>a)", "(?i)a",    "^a",      "a*?",     "a+?",     "a??",     "a{1,2}+",   "a{,2}",
        "a{0}",  "a{2,1}",   "a{1001}", "{1",      "a**",     "[]a]",    "[a[b]]",    "[a&&b]",
        "[b-a]", "[a-\\s]",  "\\w",     "\\bx",    "\\k",     "\\p{Nl}", "\\p{LuLl}", "\\p{}",
        "\\pL",  "\\P{Han}", "]",       "(?:a?)*", "(?:ab)++"}) {
    CAPTURE(part);
    CHECK_THAT(refused(std::string("x") + part), ContainsSubstring("are supported: '"));
  }
  for (const char* part : {"(a", "[a", "[^", "a\\", "x(?=", "x{"}) {
    CAPTURE(part);
    CHECK(refused(part) == "pattern must not end within a group, a class or an escape");
  }
  CHECK_THAT(refused("a)"), ContainsSubstring("')' at character 2"));
  for (const char* part : {"", "a*", "a|", "(?=a)", "$", "(a?|b*)"})
    CHECK(refused(part) == "pattern must not match the empty text");
  CHECK(refused(std::string(4001, 'a')) == "pattern must have at most 4000 characters");
  CHECK(refused("(?:(?:ab){1000}){1000}") == "pattern must have at most 10000 steps");
  CHECK(refused(std::string(21, '(') + "a" + std::string(21, ')')) ==
        "pattern must nest at most 20 groups");
}

TEST_CASE("a pattern takes a bounded number of steps", "[text]") {
  const auto failure = [](const std::string& pattern, const std::string& text) {
    return failure_of([&] { pieces_of({Split{Pattern(pattern)}}, text); });
  };
  check_failure(failure("(?:(?:a+)+)+b", std::string(100, 'a')), "pattern '(?:(?:a+)+)+b'",
                "at most 10000 steps for each character of the text");
  const std::string spaces(5000, ' ');
  CHECK(pieces_of({Split{Pattern(R"(\s+$)")}}, spaces + "a") == spaces + "a|");
  CHECK(pieces_of({Split{Pattern("(?:a|b)+")}}, std::string(100000, 'a')).size() == 100001);
}

TEST_CASE("unassigned characters among letters are none", "[text]") {
  const Pattern letters(R"(\p{L}+|[^\s\p{L}\p{N}]+)");
  for (const char32_t unassigned : {U'\U00000378', U'\U000158BA'}) {
    const std::string text = "a" + text_of(unassigned) + "!";
    CHECK(pieces_of({Split{letters}}, text) == "a|" + text_of(unassigned) + "!|");
  }
}

TEST_CASE("a split keeps, drops or joins what its string matches", "[text]") {
  using Behavior = Split::Behavior;
  const auto pieces = [](Behavior behavior, bool invert = false) {
    return pieces_of({Split{Pattern("-"), behavior, invert}}, "-a--b");
  };
  CHECK(pieces(Behavior::removed) == "a|b|");
  CHECK(pieces(Behavior::isolated) == "-|a|-|-|b|");
  CHECK(pieces(Behavior::merged_with_previous) == "-|a-|-|b|");
  CHECK(pieces(Behavior::merged_with_next) == "-a|-|-b|");
  CHECK(pieces(Behavior::contiguous) == "-|a|--|b|");
  CHECK(pieces(Behavior::removed, true) == "-|-|-|");
}

TEST_CASE("pre-tokenizers cut the pieces of those before", "[text]") {
  CHECK(pieces_of({WhitespaceSplit{}, Metaspace{}}, " a  b") == "▁a|▁b|");
  CHECK(pieces_of({Metaspace{}}, "a  b") == "▁a|▁|▁b|");
  CHECK(pieces_of({Metaspace{U'_', Metaspace::Prefix::first, false}}, "a b") == "_a_b|");
  CHECK(pieces_of({Metaspace{U'_', Metaspace::Prefix::never, true}}, "a b") == "a|_b|");
  CHECK(pieces_of({Digits{}}, "a12b") == "a|12|b|");
  CHECK(pieces_of({Digits{true}, ByteLevel{true, true}}, "a 12") == "Ġa|Ġ|Ġ1|Ġ2|");
  CHECK(pieces_of({}, "a b") == "a b|");
}

TEST_CASE("normalizers replace, strip and map characters", "[text]") {
  CHECK(normalized(Replace{Pattern::literal(U"$."), U"!"}, "$$.a$.") == "$!a!");
  CHECK(normalized(Replace{Pattern(" {2,}"), U"_"}, " a  b   c") == " a_b_c");
  CHECK(normalized(Strip{}, "\u00a0 a b\n") == "a b");
  CHECK(normalized(Strip{false, true}, " a ") == " a");
  CHECK(normalized(Prepend{U"▁"}, "a") == "▁a");
  CHECK(normalized(Prepend{U"▁"}, "") == "");
  CHECK(normalized(StripAccents{}, "e\u0301\u0903") == "e");
  CHECK(normalized(Lowercase{}, "ÀΣ") == "àσ");
  CHECK(normalized(unicode::NormalForm::nfkc, "ｶﾞ ﬁ") == "ガ fi");
  CHECK(normalized(unicode::NormalForm::nfd, "각") == "\u1100\u1161\u11a8");
}

TEST_CASE("a unigram takes the likeliest tokens, and one unknown for characters in a row",
          "[text]") {
  const TextTokenizer tokenizer = parsed(unigram_file());
  CHECK(tokenizer.encode("abab") == Ids{1, 4, 4});
  CHECK(tokenizer.encode("aba") == Ids{1, 2, 5});  // as likely as ab, a: the longer last token
  CHECK(tokenizer.encode("éé b") == Ids{1, 0, 1, 3});
  Json bytes = unigram_file();
  bytes["model"]["byte_fallback"] = true;
  CHECK(parsed(bytes).encode("é") == Ids{1, 6, 7});
  CHECK(parsed(bytes).encode("ü") == Ids{1, 0});
  bytes["model"].erase("unk_id");
  CHECK(failure_of([&] { parsed(bytes).encode("ü"); }).item == "text");
}

TEST_CASE("byte pairs fall back to bytes, or to one unknown token", "[text]") {
  Json file = Json::parse(R"({"normalizer":{"type":"Sequence","normalizers":[
      {"type":"Prepend","prepend":"▁"},{"type":"Replace","pattern":{"String":" "},"content":"▁"}]},
    "model":{"unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,"merges":["▁ a"],
      "vocab":{"<unk>":0,"▁":1,"a":2,"▁a":3,"<0xC3>":4,"<0xA9>":5}}})");
  CHECK(parsed(file).encode("a aé") == Ids{3, 3, 4, 5});
  CHECK(parsed(file).encode("üüa") == Ids{1, 0, 2});
  file["model"]["fuse_unk"] = false;
  CHECK(parsed(file).encode("üü") == Ids{1, 0, 0});
}

TEST_CASE("added tokens are found before or after normalization, with the spaces beside them",
          "[text]") {
  Json file = unigram_file();
  file["normalizer"] = {{"type", "Lowercase"}};
  file["added_tokens"] = {
      {{"id", 8}, {"content", "<M>"}, {"lstrip", true}, {"rstrip", true}, {"special", true}},
      {{"id", 9}, {"content", "AA"}, {"normalized", true}}};
  const TextTokenizer tokenizer = parsed(file);
  CHECK(tokenizer.encode("a <M> b") == Ids{1, 2, 8, 1, 3});
  CHECK(tokenizer.encode("<m>") == Ids{1, 0});
  CHECK(tokenizer.encode("Aab") == Ids{9, 1, 3});
}

TEST_CASE("repeated entries of a file have the meaning that Hugging Face's tokenizers gives them",
          "[text]") {
  // The last rank of a merge, so that "lo w" comes first.
  Json pairs = byte_pair_file();
  pairs["model"]["merges"] = {"l o", "lo w", "o w", "l o"};
  pairs["model"]["vocab"]["ow"] = 261;
  CHECK(parsed(pairs).encode("low") == Ids{'l', 261});
  // The last id of a token.
  Json unigram = unigram_file();
  unigram["model"]["vocab"].push_back({"ab", -3});
  CHECK(parsed(unigram).encode("abab") == Ids{1, 8, 8});
  // The vocabulary's id of an added token, or else the next free one.
  Json words = word_piece_file();
  words["added_tokens"] = {{{"id", 5}, {"content", "[UNK]"}},
                           {{"id", 9}, {"content", "[CLS]"}},
                           {{"id", 7}, {"content", ""}},
                           {{"id", 2}, {"content", "[C]"}}};
  CHECK(parsed(words).encode("[UNK] [C] a") == Ids{0, 6, 1});
  CHECK(parsed(words).wrapped(Ids{}) == Ids{5});
}

// The ids below are those that version 0.22.2 of Hugging Face's `tokenizers` gives.

// A model is asked for ids in its own vocabulary: `token_to_id` of AddedVocabulary alone knows the added tokens.
TEST_CASE("a model does not cut a text into tokens that are only added", "[text]") {
  Json file = characters_file("b");
  file["normalizer"] = {{"type", "Lowercase"}};
  file["added_tokens"] = {added_token("a"), added_token("ab"), added_token("<0x61>")};
  CHECK(parsed(file).encode("aBA") == Ids{2, 1, 0});
  CHECK(parsed(file).encode("AB") == Ids{0, 1});
  file["model"]["ignore_merges"] = true;
  CHECK(parsed(file).encode("AB") == Ids{0, 1});
  file["model"]["byte_fallback"] = true;
  CHECK(parsed(file).encode("AB") == Ids{0, 1});
  Json merge = file;
  merge["model"]["merges"] = Json::array({"b b"});
  merge["added_tokens"].push_back(added_token("bb"));
  CHECK(failure_of([&] { parsed(merge); }).item == "model.merges[0]");

  Json words = Json::parse(R"({"normalizer":{"type":"Lowercase"},
    "pre_tokenizer":{"type":"WhitespaceSplit"},"added_tokens":[{"content":"a","special":true}],
    "model":{"type":"WordPiece","unk_token":"<unk>","vocab":{"<unk>":0,"b":1,"##b":2}}})");
  CHECK(parsed(words).encode("A a b") == Ids{0, 3, 1});
  words["model"]["unk_token"] = "a";
  CHECK(failure_of([&] { parsed(words); }).item == "model.unk_token");

  const Json unigram = Json::parse(R"({"normalizer":{"type":"Lowercase"},
    "added_tokens":[{"content":"a","special":true}],
    "model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["b",-1]]}})");
  CHECK(parsed(unigram).encode("Aab") == Ids{0, 2, 1});

  // An unknown token that is only added is none for the model.
  Json pairs = characters_file("b");
  pairs["model"]["vocab"] = {{"b", 0}};
  pairs["added_tokens"] = Json::array({added_token("<unk>")});
  CHECK(parsed(pairs).encode("b") == Ids{0});
  CHECK(failure_of([&] { parsed(pairs).encode("a"); }).item == "text");
}

// The rule of Metaspace is that `offsets_original` of its piece begins at 0, which NormalizedString carries through
// every stage: what replaces a match is aligned with its last character, what is put before a text with its first.
TEST_CASE("Metaspace marks what is aligned with the beginning of the text", "[text]") {
  const Json mark{{"type", "Metaspace"}, {"prepend_scheme", "first"}, {"split", false}};
  const auto ids = [&](const Json& normalizer, const Json& before, const std::string& text,
                       const Json& added = Json::array()) {
    Json file = characters_file("▁abxée\u0301Ã©Ġ");
    file["normalizer"] = normalizer;
    file["added_tokens"] = added;
    file["pre_tokenizer"] = sequence(
        "pretokenizers", before.is_null() ? Json::array({mark}) : Json::array({before, mark}));
    return parsed(file).encode(text);
  };
  const auto split = [](const char* at, const char* behavior) {
    return Json{{"type", "Split"}, {"pattern", {{"String", at}}}, {"behavior", behavior}};
  };
  const auto bytes = [](bool prefix) {
    return Json{{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"use_regex", false}};
  };
  const Json strip{{"type", "Strip"}, {"strip_right", false}}, nfd{{"type", "NFD"}};
  CHECK(ids(strip, nullptr, "a") == Ids{1, 2});
  CHECK(ids(strip, nullptr, " a") == Ids{2});
  CHECK(ids(replacement("ab", "x"), nullptr, "ab") == Ids{4});
  CHECK(ids(replacement("ab", "x"), nullptr, "xab") == Ids{1, 4, 4});
  CHECK(ids(replacement("a", "xx"), nullptr, "ab") == Ids{1, 4, 4, 3});
  CHECK(ids(replacement("a", ""), nullptr, "ab") == Ids{3});
  CHECK(ids(replacement("a", ""), nullptr, "ba") == Ids{1, 3});
  const Json prepend{{"type", "Prepend"}, {"prepend", "x"}};
  CHECK(ids(prepend, nullptr, "ab") == Ids{1, 4, 2, 3});
  CHECK(ids(sequence("normalizers", {strip, prepend}), nullptr, " ab") == Ids{4, 2, 3});
  // Several pieces of one character.
  CHECK(ids(nfd, split("e", "Isolated"), "éa") == Ids{1, 6, 1, 7, 2});
  CHECK(ids(sequence("normalizers", {nfd, {{"type", "NFC"}}}), split("é", "Isolated"), "éa") ==
        Ids{1, 5, 2});
  CHECK(ids(nullptr, sequence("pretokenizers", {bytes(false), split("Ã", "Isolated")}), "éa") ==
        Ids{1, 8, 1, 9, 2});
  CHECK(ids(nullptr, sequence("pretokenizers", {bytes(true), split("Ġ", "Removed")}), "ab") ==
        Ids{1, 2, 3});
  CHECK(ids(nullptr, {{"type", "WhitespaceSplit"}}, "a a") == Ids{1, 2, 2});
  CHECK(ids(nullptr, {{"type", "WhitespaceSplit"}}, " a") == Ids{2});
  // A token found in the normalized text, and what is left of the same character behind it.
  CHECK(ids(replacement("a", "xb"), nullptr, "ab",
            Json::array({Json{{"content", "x"}, {"normalized", true}}})) == Ids{4, 1, 3, 3});
}

// Likewise, by `replace` of the normalizer Precompiled: more characters than they replace are aligned with the last of
// these, and a removed one belongs to the character before, or else to the next.
TEST_CASE("a Precompiled normalizer keeps what is aligned with the beginning of the text",
          "[text]") {
  // A trie of the two bytes of "ß", and the text that replaces it.
  const auto map = [](const std::string& text) {
    std::vector<std::uint32_t> units(513);
    const std::uint32_t first = 1 ^ 0xc3u, second = 256 ^ 0x9fu;
    units[0] = 1u << 10;
    units[first] = 0xc3u | (first ^ 256u) << 10;
    units[second] = 0x9fu | 1u << 8 | (second ^ 512u) << 10;
    units[512] = 0x80000000u;
    units.insert(units.begin(), static_cast<std::uint32_t>(4 * units.size()));
    std::string bytes;
    for (const std::uint32_t unit : units) {
      for (int k = 0; k < 4; ++k) bytes += static_cast<char>(unit >> 8 * k & 0xffu);
    }
    return CharacterMap(bytes + text + '\0');
  };
  const auto check = [](const CharacterMap& it, const char32_t* text, const char32_t* changed,
                        std::size_t leading) {
    const AlignedText aligned = normalize({it}, text);
    CHECK(aligned.text == changed);
    CHECK(aligned.leading == leading);
  };
  check(map("sss"), U"ßa", U"sssa", 3);
  check(map("sss"), U"aß", U"asss", 1);
  check(map(""), U"ßab", U"ab", 1);
  check(map(""), U"aßb", U"ab", 1);
  check(map(""), U"ß", U"", 0);
}

// `find_matches` of AddedVocabulary goes on behind a token's own text, not behind the white space that it takes.
TEST_CASE("an added token may begin in the white space of the one before", "[text]") {
  const auto ids = [](const Json& added, const std::string& text) {
    Json file = characters_file("ab \t");
    file["added_tokens"] = added;
    return parsed(file).encode(text);
  };
  const Json right = added_token("<r>", {"rstrip"});
  CHECK(ids({right, added_token(" ")}, "<r>  b") == Ids{5, 3, 3, 2});
  // The tab is not taken a second time, since the space before it ends the tokens so far.
  CHECK(ids({right, added_token(" ")}, "<r> \t b") == Ids{5, 3, 4, 3, 2});
  CHECK(ids({right, added_token(" ")}, "<r>\tb") == Ids{5, 2});
  CHECK(ids({right, added_token(" b")}, "<r>  b") == Ids{5, 6});
  CHECK(ids({right, added_token("<l>", {"lstrip"})}, "<r>  <l>") == Ids{5, 6});
  // Nothing is left of these spaces.
  CHECK(ids({right, added_token(" ", {"lstrip", "rstrip"})}, "<r>  b") == Ids{5, 2});
  CHECK(ids({right, added_token(" ", {"lstrip"})}, "<r> b") == Ids{5, 2});
  // The original stops with an error here.
  check_failure(failure_of([&] {
                  ids({right, added_token(" ", {"lstrip"})}, "<r>  b");
                }),
                "added_tokens", "' ' must not have lstrip");
  const std::string spaces(200000, ' ');
  CHECK(ids({right, added_token(" ", {"rstrip"})}, "<r>" + spaces + "b").size() == 200002);
}

TEST_CASE(
    "of added tokens that are equal when normalized the first counts, special ones before others",
    "[text]") {
  Json file = characters_file("ab");
  file["normalizer"] = {{"type", "Lowercase"}};
  const auto token = [](const char* content, bool special) {
    return Json{{"content", content}, {"normalized", true}, {"special", special}};
  };
  file["added_tokens"] = {token("X", false), token("x", false)};
  CHECK(parsed(file).encode("xX") == Ids{3, 3});
  file["added_tokens"] = {token("X", false), token("x", true), token("x", true)};
  CHECK(parsed(file).encode("xX") == Ids{4, 4});
  file["added_tokens"].push_back(token("x", false));
  check_failure(failure_of([&] { parsed(file); }), "added_tokens[3].content",
                "'x' must not come again with other flags");
}

// `merge_word` of BPE keeps an unknown token back until a character of the vocabulary comes.
TEST_CASE("bytes are put before an unknown token that waits", "[text]") {
  Json file = characters_file("b");
  file["model"]["byte_fallback"] = true;
  file["model"]["vocab"].update({{"<0xC3>", 2}, {"<0xA9>", 3}});
  CHECK(parsed(file).encode("üéb") == Ids{2, 3, 0, 1});
  CHECK(parsed(file).encode("üéü") == Ids{2, 3, 0, 0});
  file["model"]["fuse_unk"] = true;
  CHECK(parsed(file).encode("üéü") == Ids{2, 3, 0});
  CHECK(parsed(file).encode("übü") == Ids{0, 1, 0});
}

TEST_CASE("a unigram joins its unknown token in a text with unknown characters beside it",
          "[text]") {
  Json file = Json::parse(R"({"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,
    "vocab":[["<unk>",0],["b",-1],["<0xC3>",-2],["<0xA9>",-2]]}})");
  CHECK(parsed(file).encode("<unk>") == Ids{0});
  CHECK(parsed(file).encode("<unk>é") == Ids{0});
  CHECK(parsed(file).encode("é<unk>b") == Ids{0, 1});
  CHECK(parsed(file).encode("b<unk><unk>é") == Ids{1, 0});
  CHECK(parsed(file).encode("é") == Ids{2, 3});
  file["model"].erase("unk_id");
  CHECK(failure_of([&] { parsed(file).encode("é"); }).item == "text");
}

// TemplateProcessing and BertProcessing add the ids of the file, also where the vocabulary has others.
TEST_CASE("a post-processor with other ids than those of its tokens is refused", "[text]") {
  Json file = word_piece_file();
  file["post_processor"]["special_tokens"]["C"]["ids"] = Json::array({5});
  CHECK(parsed(file).wrapped(Ids{1}) == Ids{5, 1});
  file["post_processor"]["special_tokens"]["C"]["ids"] = Json::array({6});
  check_failure(failure_of([&] { parsed(file); }), "post_processor.special_tokens.C.ids[0]",
                "it must be the id 5 of '[CLS]', but is 6");
  file["post_processor"]["special_tokens"]["C"]["ids"] = Json::array({5, 1});
  CHECK(failure_of([&] { parsed(file); }).item == "post_processor.special_tokens.C.ids");
  file["post_processor"] = Json::parse(R"({"type":"BertProcessing","cls":["a",1],"sep":["c",2]})");
  CHECK(failure_of([&] { parsed(file); }).item == "post_processor.sep[1]");
}

TEST_CASE("a text grows to a bounded length, and the stage that would make more is named",
          "[text]") {
  const auto replace = [](const std::string& pattern, const std::string& content) {
    return Json{{"type", "Replace"}, {"pattern", {{"String", pattern}}}, {"content", content}};
  };
  const auto failure = [](const char* key, const char* list, const Json& stages,
                          const std::string& text) {
    Json file = unigram_file();
    file[key] = {{"type", "Sequence"}, {list, stages}};
    return failure_of([&] { parsed(file).encode(text); });
  };
  check_failure(failure("normalizer", "normalizers", Json(40, replace("a", "aa")), "aaaaaaa"),
                "normalizer 8 of 40", "tokenizer.json: normalizer 8 of 40: the text must not grow");
  check_failure(failure("normalizer", "normalizers", Json(3, replace("a", std::string(1000, 'a'))),
                        std::string(100000, 'a')),
                "normalizer 1 of 3", "4001000 are allowed, found more");
  const Json spaces{
      {"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", std::string(3000, ' ')}};
  CHECK(failure("normalizer", "normalizers", Json(1, spaces), "a b c").item == "normalizer 1 of 1");
  const Json prefix{{"type", "Prepend"}, {"prepend", std::string(2000, 'a')}};
  CHECK(failure("normalizer", "normalizers", Json(1, prefix), "a").item == "normalizer 1 of 1");
  const Json bytes{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  CHECK(failure("pre_tokenizer", "pretokenizers", Json(40, bytes), "é").item ==
        "pre-tokenizer 11 of 40");
  Json end = byte_pair_file();
  end["model"]["byte_fallback"] = true;
  end["model"]["end_of_word_suffix"] = std::string(1000, '<');
  for (const char* token : {"<0x61>", "<0x3C>"}) {
    end["model"]["vocab"][token] = end["model"]["vocab"].size();
  }
  CHECK(parsed(end).encode("a").size() == 1001);
  CHECK(failure_of([&] { parsed(end).encode("a a a"); }).item == "model 1 of 1");
}

TEST_CASE("thousands of added tokens that begin alike are found in one pass", "[text]") {
  Json file = unigram_file();
  const std::string as(3000, 'a');
  for (std::size_t size = 1; size <= as.size(); ++size) {
    file["added_tokens"].push_back({{"content", as.substr(0, size) + "b"}, {"special", true}});
  }
  const TextTokenizer tokenizer = parsed(file);
  CHECK(tokenizer.encode(as + "b") == Ids{8 + 2998});
  // The longest token at the first place where one begins.
  CHECK(tokenizer.encode("a" + as + "b").back() == 8 + 2998);
  CHECK(tokenizer.encode(std::string(200000, 'a')).size() == 200001);
}

TEST_CASE("post-processors wrap what those before them made", "[text]") {
  Json file = word_piece_file();
  const Json inner = file["post_processor"];
  const Json outer = Json::parse(R"({"type":"BertProcessing","cls":["a",1],"sep":["c",3]})");
  file["post_processor"] = {{"type", "Sequence"},
                            {"processors", {{{"type", "ByteLevel"}}, inner, outer}}};
  CHECK(parsed(file).wrapped(Ids{4}) == Ids{1, 5, 4, 3});
}

TEST_CASE("text that is not UTF-8 is refused with its byte", "[text][sample]") {
  for (const std::string bad : {"ab\xff", "ab\xc3", "ab\xc0\x80", "ab\xed\xa0\x80",
                                "ab\xf4\x90\x80\x80", "ab\xe2\x82", "ab\x80"}) {
    check_failure(failure_of([&] { minilm().encode(bad); }), "text", "byte 3 is not");
  }
  for (int byte = 0; byte < 128; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    CHECK(unicode::encode(unicode::decode(text)) == text);
    CHECK(minilm().encode(text).size() <= 1);
  }
}

TEST_CASE("hostile tokenizers are refused by name", "[text]") {
  const std::string whole = word_piece_file().dump();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    CHECK(failure_of([&] { TextTokenizer::parse(whole.substr(0, size)); }).kind == "format");
  }
  CHECK_THAT(failure_of([] { TextTokenizer::parse(std::string(100, '[')); }).message,
             ContainsSubstring("deeper than 32"));
  CHECK(failure_of([] { TextTokenizer::parse("[]"); }).item == "tokenizer.json");
  CHECK(failure_of([] { TextTokenizer::parse("{}"); }).item == "model.vocab");
  CHECK_THAT(
      failure_of([] { TextTokenizer::parse(R"({"model":{"vocab":{"a":1,"a":2}}})"); }).message,
      ContainsSubstring("duplicate key 'a'"));
  CHECK(failure_of([] { TextTokenizer::parse("{\"model\xff\":1}"); }).kind == "format");

  const auto words = [](const std::string& pointer, const Json& value) {
    return failure_with(word_piece_file(), pointer, value).item;
  };
  CHECK_THAT(failure_with(word_piece_file(), "/model/vocab/a", -1).message,
             ContainsSubstring("it must be a non-negative integer, but is -1"));
  CHECK_THAT(failure_with(word_piece_file(), "/model/vocab", "a").message,
             ContainsSubstring("but is of type string"));
  CHECK_THAT(failure_of([] { TextTokenizer::parse("{}"); }).message,
             ContainsSubstring("but is missing"));
  CHECK(words("/model/vocab/a", 2) != "");
  CHECK(words("/model/vocab/a", -1) == "a");
  CHECK(words("/model/vocab/a", 1.5) == "a");
  CHECK(words("/model/vocab/a", std::uint64_t{1} << 33) == "a");
  CHECK(words("/model/vocab", Json::object()) == "model.vocab");
  CHECK(words("/model/vocab", 3) == "model.vocab");
  CHECK(words("/model/type", "WordLevel") == "model");
  CHECK(words("/model/type", "Unigram") == "model.vocab");
  CHECK(words("/model/unk_token", "none") == "model.unk_token");
  CHECK(words("/model/max_input_chars_per_word", 0) == "model.max_input_chars_per_word");
  CHECK(words("/model", nullptr) == "model.vocab");
  CHECK(words("/normalizer/type", "Nmt") == "normalizer");
  CHECK(
      words("/normalizer", Json::parse(R"({"type":"Sequence","normalizers":[{"type":"Nmt"}]})")) ==
      "normalizer.normalizers[0]");
  CHECK(words("/normalizer",
              Json::parse(R"({"type":"Replace","pattern":{"Regex":"^x"},"content":""})")) ==
        "normalizer.pattern.Regex");
  CHECK(words("/normalizer",
              Json::parse(R"({"type":"Replace","pattern":{"String":""},"content":""})")) ==
        "normalizer.pattern.String");
  for (const char* table : {"?", "AAAA", "AAAAAA==", "CAAAAAAAAAA="}) {
    CHECK(words("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", table}}) ==
          "normalizer.precompiled_charsmap");
  }
  CHECK_THAT(failure_with(word_piece_file(), "/normalizer",
                          {{"type", "Precompiled"}, {"precompiled_charsmap", "CAAAAAAAAAA="}})
                 .message,
             ContainsSubstring("precompiled_charsmap: it must begin with the bytes of its trie"));
  CHECK(words("/normalizer/lowercase", "yes") == "normalizer.lowercase");
  CHECK(words("/pre_tokenizer/type", "Whitespace") == "pre_tokenizer");
  const auto split = [](const Json& pattern, const char* behavior) {
    return Json{{"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}};
  };
  check_failure(
      failure_with(word_piece_file(), "/pre_tokenizer", split({{"Regex", "\\w+"}}, "Isolated")),
      "pre_tokenizer.pattern.Regex", "'\\w+' at character 1 is not");
  CHECK(words("/pre_tokenizer", split({{"String", ""}}, "Isolated")) ==
        "pre_tokenizer.pattern.String");
  CHECK(words("/pre_tokenizer", split({{"String", "a"}}, "Joined")) == "pre_tokenizer.behavior");
  CHECK(words("/pre_tokenizer", {{"type", "Metaspace"}, {"prepend_scheme", "last"}}) ==
        "pre_tokenizer.prepend_scheme");
  CHECK(words("/pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "__"}}) ==
        "pre_tokenizer.replacement");
  CHECK(words("/added_tokens/0/single_word", true) == "added_tokens[0].single_word");
  CHECK(words("/added_tokens", "x") == "added_tokens");
  CHECK(words("/post_processor/single", Json::array()) == "post_processor.single");
  CHECK(words("/post_processor/special_tokens/C/tokens", std::vector<std::string>(1001, "[CLS]")) ==
        "post_processor.single");
  CHECK(words("/post_processor/special_tokens/C/tokens/0", "?") ==
        "post_processor.special_tokens.C.tokens[0]");
}

TEST_CASE("hostile byte pairs are refused by name", "[text]") {
  const auto pairs = [](const std::string& pointer, const Json& value) {
    return failure_with(byte_pair_file(), pointer, value).item;
  };
  CHECK(pairs("/model/merges/1", "lo x") == "model.merges[1]");
  CHECK(pairs("/model/merges/1", "w e") == "model.merges[1]");
  CHECK(pairs("/model/end_of_word_suffix", std::string(1001, 'a')) == "model.end_of_word_suffix");
  CHECK(pairs("/model/merges/1", "low") == "model.merges[1]");
  CHECK(pairs("/model/merges/1", Json{"l", "o", "w"}) == "model.merges[1]");
  CHECK(pairs("/model/merges", nullptr) == "model.merges");
  CHECK(pairs("/model/dropout", 0.1) == "model.dropout");
  CHECK(pairs("/model/continuing_subword_prefix", "##") == "model.continuing_subword_prefix");
  CHECK(pairs("/model/byte_fallback", "yes") == "model.byte_fallback");
  Json without = byte_pair_file();
  without["model"]["vocab"].erase("a");
  CHECK(failure_of([&] { parsed(without).encode("a"); }).item == "text");
  without["model"]["unk_token"] = "<|end|>";
  CHECK(parsed(without).encode("a") == Ids{260});
}

TEST_CASE("hostile unigrams are refused by name", "[text]") {
  const auto unigram = [](const std::string& pointer, const Json& value) {
    return failure_with(unigram_file(), pointer, value).item;
  };
  CHECK(unigram("/model/vocab/2", Json{"a"}) == "model.vocab[2]");
  CHECK(unigram("/model/vocab/2/1", "x") == "model.vocab[2][1]");
  CHECK(unigram("/model/vocab/2/0", std::string(1001, 'a')) == "model.vocab[2][0]");
  CHECK(unigram("/model/vocab", Json::array()) == "model.vocab");
  CHECK(unigram("/model/unk_id", 8) == "model.unk_id");
}

TEST_CASE("the tokenizer of bytes that is written reads every byte as itself", "[text]") {
  const TextTokenizer bytes = TextTokenizer::parse(byte_tokenizer_json());
  CHECK(bytes.vocabulary().size() == 256);
  // In UTF-8: every byte that can be in a valid text, with a space and line ends.
  const std::string text = "A \"whale\"\\\r\n\t\x01\x7f\xc3\xa9\xf0\x9f\x90\x8b  .";
  Ids expected;
  for (const char c : text) expected.push_back(static_cast<unsigned char>(c));
  CHECK(bytes.encode(text) == expected);
  CHECK(bytes.before().empty());
  CHECK(bytes.after().empty());
}

TEST_CASE("a text is cut into passages, and a seed chooses among the whole ones",
          "[text][sample]") {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "low";
  const TextTokenizer tokenizer = parsed(byte_pair_file());
  const std::vector<Passage> cut = cut_passages(tokenizer, text + text, 8);
  REQUIRE(cut.size() == 13);
  CHECK(cut[0].length() == 8);
  CHECK(cut[12].length() == 4);
  const auto chosen = choose_passages(cut, 12, 8, 3);
  CHECK(chosen.size() == 12);
  CHECK(failure_of([&] { choose_passages(cut, 13, 8, 3); }).item == "passages");
  CHECK(failure_of([&] { cut_passages(tokenizer, "", 8); }).item == "text");
  CHECK(failure_of([&] { cut_passages(minilm(), "a", 2); }).item == "length");
  const std::vector<Passage> empty = cut_passages(minilm(), "", 8);
  REQUIRE(empty.size() == 1);
  CHECK(empty[0].ids == Ids{101, 102});
  CHECK(empty[0].leading == 1);
  CHECK(empty[0].trailing == 1);
}

#include "text/gguf_pre_tokenizers.h"

#include <algorithm>

#include "io/json_events.h"
#include "text/pattern.h"

namespace eigenscope {
namespace {

constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kNumber = R"(\p{N})";
constexpr std::string_view kThreeNumbers = R"(\p{N}{1,3})";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";
constexpr std::string_view kLineEnd = R"([\r\n])";
constexpr std::string_view kAsian = "[一-龥ࠀ-一가-퟿]+";
constexpr std::string_view kBloom = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr std::string_view kDeepSeekWords =
    R"(\s?[)"
    R"(A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ)"
    R"(-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ)"
    R"(-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-)"
    R"(ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃)"
    "]+";

constexpr std::array kPreTokenizers{
    GgufPreTokenizer{"gpt-2 phi-2 mpt olmo jais trillion granite-docling exaone4 roberta-bpe "
                     "gigachat a.x-4.0 mellum jina-es jina-de jina-v1-en jina-v2-es jina-v2-de "
                     "jina-v2-code modern-bert ",
                     {kGpt2Pattern}},
    GgufPreTokenizer{"starcoder refact command-r smollm codeshell exaone minerva-7b mellum2 ",
                     {kNumber, kGpt2Pattern}},
    GgufPreTokenizer{"falcon ", {R"([\p{P}$+<=>^~|`]+)", kGpt2Pattern, kThreeDigits}},
    GgufPreTokenizer{"default ", {R"([\p{P}$+<=>^~|]+)", kGpt2Pattern, R"(\p{N}+)", kThreeDigits}},
    GgufPreTokenizer{"chameleon ",
                     {"<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z", R"([\t\n]|    |  )", kNumber,
                      R"([\p{P}!-/:-@\[-`{-~])", kGpt2Pattern},
                     false,
                     true},
    GgufPreTokenizer{"bloom poro-chat gpt3-finnish ", {kBloom}},
    GgufPreTokenizer{"viking ", {kBloom, kNumber}},
    GgufPreTokenizer{"llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 "
                     "jina-v5-nano ",
                     {kLlama3},
                     true,
                     true},
    GgufPreTokenizer{"dbrx smaug-bpe glm4 chatglm-bpe ", {kLlama3}},
    GgufPreTokenizer{"jais-2 ",
                     {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|)"
                      R"(\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|)"
                      R"(\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"}},
    GgufPreTokenizer{"qwen2 deepseek-r1-qwen stablelm2 megrez hunyuan solar-open grok-2 kormo "
                     "f2llmv2 ",
                     {kQwen2}},
    GgufPreTokenizer{"laguna ", {kLinesPattern, kQwen2}},
    GgufPreTokenizer{"qwen35 ",
                     {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
                      R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    GgufPreTokenizer{"seed-coder ",
                     {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                      R"( ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    GgufPreTokenizer{"bailingmoe bailingmoe2 llada-moe ",
                     {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"}},
    GgufPreTokenizer{"exaone-moe ",
                     {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|)"
                      R"([^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|)"
                      R"( ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"}},
    GgufPreTokenizer{
        "minicpm5 ",
        {kThreeNumbers, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+|)"
                        R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
        true},
    GgufPreTokenizer{"gpt-4o llama4 kanana2 minimax-m2 talkie ", {kGpt4o}},
    GgufPreTokenizer{"granite-embed-multi-97m ", {kGpt4o}, true},
    GgufPreTokenizer{
        "youtu ",
        {R"([가-힣ㄱ-ㆎ]+|)"
         R"([！…“”‘’—：；，、-〿︰-﹏]+|)"
         R"([ㄅ-ㄯ]+|)"
         R"([一-龥぀-ゟ゠-ヿ]+)",
         R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
         R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
         R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
         R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
         R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
        true},
    GgufPreTokenizer{
        "tekken ",
        {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
         R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
         R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
        true,
        true},
    // (?!\p{Han}) stands where the original intersects a class with [^\p{Han}].
    GgufPreTokenizer{
        "kimi-k2 ",
        {R"(\p{Han}+|[^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])*)"
         R"((?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
         R"([^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])+)"
         R"((?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
         R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    GgufPreTokenizer{"deepseek-llm ",
                     {kLineEnd, kDeepSeekWords, R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)", R"(\s+$)",
                      kAsian, R"(\p{N}+)"}},
    GgufPreTokenizer{"deepseek-coder ",
                     {kLineEnd, R"(\s?\p{L}+)", R"(\s?\p{P}+)", kAsian, kNumber}},
    GgufPreTokenizer{"deepseek-v3 hunyuan-dense joyai-llm ",
                     {kThreeNumbers, "[一-龥぀-ゟ゠-ヿ]+",
                      R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)"
                      R"([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)"
                      R"(\s*[\r\n]+|\s+(?!\S)|\s+)"}},
};

}  // namespace

const GgufPreTokenizer& gguf_pre_tokenizer(const std::string& name) {
  const auto has_name = [&](const GgufPreTokenizer& row) {
    return !name.empty() &&
           (" " + std::string(row.names)).find(" " + name + " ") != std::string::npos;
  };
  const auto row = std::find_if(kPreTokenizers.begin(), kPreTokenizers.end(), has_name);
  if (row != kPreTokenizers.end()) return *row;
  std::string known;
  for (const GgufPreTokenizer& it : kPreTokenizers) known += it.names;
  refuse_item("tokenizer.ggml.pre",
              {"the pre-tokenizer '", shown_name(name), "' is not supported; supported: ", known,
               "(a tokenizer.json beside the file is read instead)"});
}

}  // namespace eigenscope

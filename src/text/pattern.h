// The regular expressions that tokenizers cut texts at.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace eigenscope {

enum class Pattern { gpt2, llama3, qwen2, qwen35, gpt4o, tekken, clip, lines };

/// The patterns as a tokenizer.json spells them. Contractions of Llama 3, Qwen 2, Qwen 3.5 and GPT-4o are
/// matched without regard to the case of ASCII letters.
inline constexpr std::array kPatterns{
    std::pair<Pattern, std::string_view>{
        Pattern::gpt2,
        R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    std::pair<Pattern, std::string_view>{
        Pattern::llama3, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                         R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    std::pair<Pattern, std::string_view>{
        Pattern::qwen2,
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
        R"(\s*[\r\n]+|\s+(?!\S)|\s+)"},
    std::pair<Pattern, std::string_view>{
        Pattern::qwen35, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
                         R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    std::pair<Pattern, std::string_view>{
        Pattern::gpt4o,
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|)"
        R"('re|'ve|'m|'ll|'d)?|)"
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|)"
        R"('re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    std::pair<Pattern, std::string_view>{
        Pattern::tekken,
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
        R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    std::pair<Pattern, std::string_view>{
        Pattern::clip, R"('s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)"},
    std::pair<Pattern, std::string_view>{Pattern::lines, R"([^\n]+|[\n]+)"},
};

/// Characters of the match at the start of `text`, which is not empty: at least one, because every
/// character matches some alternative of each pattern, but 0 for white space by that of CLIP.
std::size_t match_length(Pattern pattern, std::u32string_view text);

}  // namespace eigenscope

#include "training/text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "io/json_events.h"
#include "nn/tokens.h"
#include "support/argsort.h"
#include "support/error.h"
#include "support/random.h"
#include "support/shared_parameters.h"
#include "training/settings.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr std::string_view kSpaces = " \t\r\v\f";
constexpr TokenId kUnknown = 0, kEnd = 1;

bool is_space(char c) { return c == '\n' || kSpaces.find(c) != std::string_view::npos; }

// Calls word(view) for each word and line_end() at each line's end, in order.
template <class Word, class LineEnd>
void split_words(std::string_view text, Word word, LineEnd line_end) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\n') line_end();
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    word(text.substr(at, end - at));
    at = end;
  }
}

std::string escaped(const std::string& word) {
  std::string out;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 127 && c != '%') {
      out += c;
    } else {
      char code[4];
      std::snprintf(code, sizeof code, "%%%02X", byte);
      out += code;
    }
  }
  return out;
}

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string unescaped(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      out += word[i];
      continue;
    }
    const int high = i + 2 < word.size() ? hexadecimal(word[i + 1]) : -1;
    const int low = i + 2 < word.size() ? hexadecimal(word[i + 2]) : -1;
    if (high < 0 || low < 0) {
      throw FormatError("tokenizer",
                        "the word '" + shown_name(word) + "' has a % without two digits");
    }
    out += static_cast<char>(16 * high + low);
    i += 2;
  }
  return out;
}

Text encoded(std::string_view training, std::string_view validation, bool words, Index min_count) {
  Text out;
  if (words) out.tokenizer = Tokenizer::of_words(training, min_count);
  out.training = out.tokenizer.encode(training);
  out.validation = out.tokenizer.encode(validation);
  out.references = ngram_losses(out.training, out.validation, out.tokenizer.vocabulary());
  out.bytes_per_token =
      static_cast<double>(validation.size()) / static_cast<double>(out.validation.size());
  return out;
}

Text cut_text(std::string_view text, bool words, Index min_count) {
  if (text.empty()) throw InvalidArgument("text", "have text to learn", "it is empty");
  const std::size_t cut = validation_start(text, words);
  Text out = encoded(text.substr(0, cut), text.substr(cut), words, min_count);
  if (out.training.empty() || out.validation.empty()) {
    throw InvalidArgument("text",
                          "have a token in its first nine tenths, for training, and one in its "
                          "last tenth, for validation",
                          "found " + std::to_string(text.size()) + " bytes");
  }
  return out;
}

bool is_words(std::string_view tokenizer) {
  return Choices(kTokenizerNames).index_of("tokenizer", tokenizer) == 1;
}

}  // namespace

Tokenizer Tokenizer::of_words(std::string_view text, Index min_count) {
  checked(shared::kMinCount, static_cast<double>(min_count));
  std::map<std::string, Index, std::less<>> counts;
  split_words(
      text, [&](std::string_view word) { ++counts[std::string(word)]; }, [] {});
  std::vector<std::string> words;
  std::vector<double> order;
  for (const auto& [word, count] : counts) {
    if (count < min_count) continue;
    words.push_back(word);
    order.push_back(static_cast<double>(-count));
  }
  Tokenizer tokenizer;
  tokenizer.add("<unk>");
  tokenizer.add("<eos>");
  for (const std::size_t place : argsort(order)) {
    std::string& word = words[place];
    if (!tokenizer.ids_.contains(word)) tokenizer.add(std::move(word));
  }
  return tokenizer;
}

void Tokenizer::add(std::string word) {
  ids_.emplace(word, static_cast<TokenId>(words_.size()));
  words_.push_back(std::move(word));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  std::vector<TokenId> tokens;
  if (!words()) {
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return tokens;
  }
  split_words(
      text,
      [&](std::string_view word) {
        const auto id = ids_.find(word);
        tokens.push_back(id == ids_.end() ? kUnknown : id->second);
      },
      [&] { tokens.push_back(kEnd); });
  return tokens;
}

std::string Tokenizer::decode(std::span<const TokenId> tokens) const {
  std::string text;
  for (const TokenId token : tokens) {
    if (!words()) {
      text += static_cast<char>(token);
    } else if (token == kEnd) {
      text += '\n';
    } else {
      if (!text.empty() && text.back() != '\n') text += ' ';
      text += words_[static_cast<std::size_t>(token)];
    }
  }
  return text;
}

std::string Tokenizer::serialized() const {
  if (!words()) return "bytes";
  std::string text = "words";
  for (const std::string& word : words_) text += "\n" + escaped(word);
  return text;
}

Tokenizer Tokenizer::parse(std::string_view serialized) {
  Tokenizer tokenizer;
  if (serialized == "bytes") return tokenizer;
  if (!serialized.starts_with("words\n<unk>\n<eos>")) {
    throw FormatError("tokenizer", "it must be 'bytes', or 'words' with <unk> and <eos> first");
  }
  for (std::size_t at = serialized.find('\n'); at != std::string_view::npos;) {
    const std::size_t next = serialized.find('\n', at + 1);
    std::string word = unescaped(serialized.substr(at + 1, next - at - 1));
    if (word.empty() || tokenizer.ids_.contains(word)) {
      throw FormatError("tokenizer", "each word must occur once and not be empty, but '" +
                                         shown_name(word) + "' does not");
    }
    tokenizer.add(std::move(word));
    at = next;
  }
  return tokenizer;
}

std::size_t validation_start(std::string_view text, bool words) {
  std::size_t start = text.size() - text.size() / 10;
  while (words && start < text.size() && !is_space(text[start])) ++start;
  return start;
}

std::string fingerprint(const Text& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const std::vector<TokenId>* tokens : {&text.training, &text.validation}) {
    add(tokens->size());
    for (const TokenId token : *tokens) add(static_cast<std::uint64_t>(token));
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

Text byte_text(std::string_view text) { return cut_text(text, false, 1); }
Text word_text(std::string_view text, Index min_count) { return cut_text(text, true, min_count); }

Text tokenized_text(std::string_view tokenizer, std::string_view text, Index min_count) {
  return is_words(tokenizer) ? word_text(text, min_count) : byte_text(text);
}

Text tokenized_texts(std::string_view tokenizer, std::string_view text, std::string_view validation,
                     Index min_count) {
  Text out = encoded(text, validation, is_words(tokenizer), min_count);
  out.separate_validation = true;
  if (out.training.empty()) throw InvalidArgument("text", "have at least one token");
  if (out.validation.empty()) throw InvalidArgument("validation", "have at least one token");
  const auto known = [&](TokenId token) { return token != kUnknown && token != kEnd; };
  if (out.tokenizer.words() && std::none_of(out.validation.begin(), out.validation.end(), known)) {
    throw InvalidArgument("validation", "have a word that occurs in the training text at least " +
                                            std::to_string(min_count) + " times (min_count)");
  }
  return out;
}

Eigen::Index model_vocabulary(const ModelSettings& settings, Eigen::Index tokens) {
  return tokens + (settings.objective == Objective::masked ? 1 : 0);
}

void mask_tokens(double share, TokenId mask, std::uint64_t seed, std::uint64_t draw,
                 std::span<TokenId> inputs, std::span<TokenId> targets) {
  constexpr std::uint64_t kMaskStream = std::uint64_t{1} << 47;
  const std::size_t length = inputs.size();
  const auto wanted = static_cast<std::size_t>(std::round(share * static_cast<double>(length)));
  const std::size_t count = std::clamp<std::size_t>(wanted, 1, length);
  std::vector<std::size_t> places(length);
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (std::size_t i = 0; i < count; ++i) {  // the first steps of a shuffle
    const std::uint64_t at = random_below(length - i, seed, kMaskStream, draw * length + i);
    std::swap(places[i], places[i + at]);
    inputs[places[i]] = mask;
  }
  for (std::size_t i = count; i < length; ++i) targets[places[i]] = kNoTarget;
}

void add_example(const TrainSettings& settings, std::span<const TokenId> tokens, std::uint64_t seed,
                 std::uint64_t draw, std::vector<TokenId>& inputs, std::vector<TokenId>& targets) {
  const bool masked = settings.model.objective == Objective::masked;
  const std::size_t length = tokens.size() - 1;
  const auto read = tokens.subspan(masked ? 1 : 0, length), predicted = tokens.subspan(1);
  inputs.insert(inputs.end(), read.begin(), read.end());
  targets.insert(targets.end(), predicted.begin(), predicted.end());
  if (!masked) return;
  mask_tokens(settings.masked_share, static_cast<TokenId>(settings.model.vocabulary - 1), seed,
              draw, std::span(inputs).last(length), std::span(targets).last(length));
}

}  // namespace eigenscope

#include "text/pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "text/growth.h"
#include "text/matcher.h"
#include "text/unicode.h"

namespace eigenscope {
namespace {

using Pieces = std::vector<AlignedText>;
using View = std::u32string_view;

bool is_bert_punctuation(char32_t c) {
  const bool ascii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
                     (c >= 123 && c <= 126);
  return ascii || unicode::is_punctuation(c);
}

/// A part of a text, and whether it matches what the text is cut at.
struct Part {
  View text;
  bool is_match;
  std::size_t leading;
};

/// Length of the match at the start of a text that is not empty, or 0.
using MatchLength = std::function<std::size_t(View)>;

/// All of the text in parts.
std::vector<Part> parts_of(const AlignedText& aligned, const MatchLength& length) {
  const View text = aligned.text;
  std::vector<Part> parts;
  std::size_t start = 0;
  const auto add = [&](std::size_t end, bool is_match) {
    const std::size_t size = end - start;
    if (size == 0) return;
    parts.push_back({text.substr(start, size), is_match, leading_in(aligned.leading, start, size)});
    start = end;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = length(text.substr(at));
    if (size == 0) {
      ++at;
      continue;
    }
    add(at, false);
    add(at += size, true);
  }
  add(text.size(), false);
  return parts;
}

/// Whether a part belongs to the piece of the part before it.
bool joins(Split::Behavior behavior, bool was_match, bool is_match) {
  switch (behavior) {
    case Split::Behavior::merged_with_previous:
      return is_match && !was_match;
    case Split::Behavior::merged_with_next:
      return was_match && !is_match;
    case Split::Behavior::contiguous:
      return is_match == was_match;
    case Split::Behavior::removed:
    case Split::Behavior::isolated:
      break;
  }
  return false;
}

void append_parts(const std::vector<Part>& parts, Split::Behavior behavior, Pieces& pieces) {
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto& [text, is_match, leading] = parts[k];
    if (k > 0 && joins(behavior, parts[k - 1].is_match, is_match)) {
      pieces.back().text += text;
      pieces.back().leading += leading;
    } else if (behavior != Split::Behavior::removed || !is_match) {
      pieces.push_back({std::u32string(text), leading});
    }
  }
}

/// The length of a run of characters at the start of a text that all fulfil `holds`.
MatchLength run_of(bool (*holds)(char32_t)) {
  return [=](View text) {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), holds) -
                                    text.begin());
  };
}

void append(const BertWords&, const AlignedText& text, Pieces& pieces) {
  Pieces words;
  append_parts(parts_of(text, run_of(unicode::is_space)), Split::Behavior::removed, words);
  const auto mark = [](View rest) -> std::size_t { return is_bert_punctuation(rest.front()); };
  for (const AlignedText& word : words) {
    append_parts(parts_of(word, mark), Split::Behavior::isolated, pieces);
  }
}

void append(const WhitespaceSplit&, const AlignedText& text, Pieces& pieces) {
  append_parts(parts_of(text, run_of(unicode::is_space)), Split::Behavior::removed, pieces);
}

void append(const Digits& rules, const AlignedText& text, Pieces& pieces) {
  const auto single = [](View rest) -> std::size_t { return unicode::is_number(rest.front()); };
  append_parts(
      rules.individual ? parts_of(text, single) : parts_of(text, run_of(unicode::is_number)),
      Split::Behavior::isolated, pieces);
}

/// A character put before a text is aligned as its first one.
void prepend(char32_t c, AlignedText& text) {
  text.text.insert(text.text.begin(), c);
  if (text.leading > 0) ++text.leading;
}

void append(const ByteLevel& rules, AlignedText text, Pieces& pieces) {
  if (rules.prefix_space && !text.text.starts_with(U' ')) prepend(U' ', text);
  const auto add = [&](View piece, std::size_t leading) {
    AlignedText symbols;
    for (const char byte : unicode::encode(piece)) {
      symbols.text += byte_symbol(static_cast<unsigned char>(byte));
    }
    symbols.leading = unicode::encode(piece.substr(0, leading)).size();
    pieces.push_back(std::move(symbols));
  };
  if (!rules.cut) {
    add(text.text, text.leading);
    return;
  }
  static const Pattern kPattern(kGpt2Pattern);
  for (const Part& part : parts_of(text, Matcher(kPattern, text.text.size()))) {
    add(part.text, part.leading);
  }
}

void append(const Metaspace& rules, AlignedText text, Pieces& pieces) {
  std::replace(text.text.begin(), text.text.end(), U' ', rules.replacement);
  const bool wanted = rules.prefix == Metaspace::Prefix::always ||
                      (rules.prefix == Metaspace::Prefix::first && text.leading > 0);
  if (wanted && !text.text.starts_with(rules.replacement)) prepend(rules.replacement, text);
  const auto mark = [&](View rest) -> std::size_t { return rest.front() == rules.replacement; };
  if (!rules.cut) {
    pieces.push_back(std::move(text));
    return;
  }
  append_parts(parts_of(text, mark), Split::Behavior::merged_with_next, pieces);
}

void append(const Split& rules, const AlignedText& text, Pieces& pieces) {
  std::vector<Part> parts = parts_of(text, Matcher(rules.pattern, text.text.size()));
  if (rules.invert) {
    for (Part& part : parts) part.is_match = !part.is_match;
  }
  append_parts(parts, rules.behavior, pieces);
}

}  // namespace

std::vector<std::u32string> pre_tokenize(const std::vector<PreTokenizer>& stages,
                                         AlignedText text) {
  const std::size_t most = largest_growth(text.text.size());
  Stage named{"pre-tokenizer", 0, stages.size()};
  Pieces pieces{std::move(text)};
  for (const PreTokenizer& stage : stages) {
    ++named.number;
    Pieces cut;
    std::size_t known = 0, characters = 0;  // pieces of this stage whose characters are counted
    for (AlignedText& piece : pieces) {
      std::visit([&](const auto& rules) { append(rules, std::move(piece), cut); }, stage);
      for (; known < cut.size(); ++known) characters += cut[known].text.size();
      check_growth(named, characters, most);
    }
    pieces = std::move(cut);
  }
  std::vector<std::u32string> texts;
  for (AlignedText& piece : pieces) texts.push_back(std::move(piece.text));
  return texts;
}

char32_t byte_symbol(unsigned char byte) {
  static const auto kSymbols = [] {
    std::array<char32_t, 256> symbols{};
    char32_t next = 0x100;
    for (char32_t c = 0; c < 256; ++c) {
      const bool printed = (c >= '!' && c <= '~') || (c >= 0xa1 && c <= 0xac) || c >= 0xae;
      symbols[c] = printed ? c : next++;
    }
    return symbols;
  }();
  return kSymbols[byte];
}

}  // namespace eigenscope

#include "text/pattern.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kLongestExpression = 4000, kMostSteps = 10'000, kDeepestGroup = 20;
constexpr std::uint32_t kMostRepeats = 1000;

}  // namespace

void CharacterSet::add(unicode::Run run) {
  for (char32_t c = run.first; c <= run.last && c < kAscii; c += run.step) ascii_.set(c);
  if (run.last >= kAscii) runs_.push_back(run);
}

void CharacterSet::add(unicode::Categories categories) {
  for (char32_t c = 0; c < kAscii; ++c) {
    if ((unicode::category_of(c) & categories) != 0) ascii_.set(c);
  }
  categories_ |= categories;
}

void CharacterSet::add_other_cases() {
  constexpr char32_t kDifference = 'a' - 'A';
  for (char32_t c = 'A'; c <= 'Z'; ++c) {
    if (ascii_[c] || ascii_[c + kDifference]) ascii_.set(c).set(c + kDifference);
  }
}

void CharacterSet::invert() {
  ascii_.flip();
  is_inverted_ = !is_inverted_;
}

bool CharacterSet::has_beyond_ascii(char32_t c) const {
  const auto has = [&](const unicode::Run& run) {
    return run.first <= c && c <= run.last && (c - run.first) % run.step == 0;
  };
  const bool is_in = (categories_ != 0 && (unicode::category_of(c) & categories_) != 0) ||
                     std::any_of(runs_.begin(), runs_.end(), has);
  return is_in != is_inverted_;
}

/// Appends the steps of an expression, from the left. Functions that append steps return whether these may match the
/// empty text.
class PatternCompiler {
 public:
  using Action = Pattern::Action;
  using Step = Pattern::Step;

  explicit PatternCompiler(std::string_view expression) : text_(unicode::decode(expression)) {
    if (text_.size() > kLongestExpression)
      refuse("have at most " + std::to_string(kLongestExpression) + " characters");
  }

  std::vector<Step> steps() {
    const bool is_empty = alternatives(0);
    if (at_ < text_.size()) refuse_part();
    if (is_empty) refuse("not match the empty text");
    append(Action::done);
    return std::move(steps_);
  }

 private:
  [[noreturn]] static void refuse(const std::string& must) {
    throw InvalidArgument("pattern", must);
  }

  /// Refuses what is next.
  [[noreturn]] void refuse_part() const {
    if (at_ >= text_.size()) refuse("not end within a group, a class or an escape");
    constexpr std::size_t kShown = 8;
    throw InvalidArgument("pattern",
                          "consist of the parts of regular expressions that are supported",
                          "'" + shown_name(unicode::encode(text_.substr(at_, kShown))) +
                              "' at character " + std::to_string(at_ + 1) + " is not");
  }

  bool accept(std::u32string_view part) {
    if (text_.compare(at_, part.size(), part) != 0) return false;
    at_ += part.size();
    return true;
  }

  bool is_next(char32_t c) const { return at_ < text_.size() && text_[at_] == c; }

  /// The place of the step that it appends.
  std::size_t append(Step step) {
    if (steps_.size() >= kMostSteps)
      refuse("have at most " + std::to_string(kMostSteps) + " steps");
    steps_.push_back(std::move(step));
    return steps_.size() - 1;
  }

  std::size_t append(Action action, std::size_t jump = 0) {
    return append(Step{action, static_cast<std::int32_t>(jump)});
  }

  void append(const std::vector<Step>& steps) {
    for (const Step& step : steps) append(step);
  }

  /// Lets a step jump to what is appended next.
  void end_jump(std::size_t step) {
    steps_[step].jump = static_cast<std::int32_t>(steps_.size() - step);
  }

  bool alternatives(std::size_t depth) {
    if (depth > kDeepestGroup) refuse("nest at most " + std::to_string(kDeepestGroup) + " groups");
    std::vector<std::size_t> ends;
    std::size_t start = steps_.size();
    bool is_any_empty = sequence(depth);
    while (accept(U"|")) {
      ends.push_back(append(Action::jump) + 1);
      steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(start), Step{Action::choose});
      end_jump(start);
      start = steps_.size();
      is_any_empty = sequence(depth) || is_any_empty;
    }
    for (const std::size_t end : ends) end_jump(end);
    return is_any_empty;
  }

  bool sequence(std::size_t depth) {
    bool is_empty = true;
    while (at_ < text_.size() && !is_next('|') && !is_next(')')) {
      const std::size_t start = steps_.size();
      const bool is_part_empty = part(depth);
      is_empty = repeated(start, is_part_empty) && is_empty;
    }
    return is_empty;
  }

  bool part(std::size_t depth) {
    if (accept(U"(?=")) return lookahead(Action::ahead, depth);
    if (accept(U"(?!")) return lookahead(Action::not_ahead, depth);
    if (accept(U"(?i:")) {
      const bool outer = std::exchange(ignores_case_, true);
      const bool is_empty = group(depth);
      ignores_case_ = outer;
      return is_empty;
    }
    if (accept(U"(?:")) return group(depth);
    if (text_.compare(at_, 2, U"(?") == 0) refuse_part();
    if (accept(U"(")) return group(depth);
    if (accept(U"$")) {
      append(Action::line_end);
      return true;
    }
    CharacterSet set;
    if (accept(U"[")) {
      read_class(set);
    } else if (accept(U".")) {
      set.add({'\n', '\n'});
      set.invert();
    } else if (is_one_of(U"^*+?{}]")) {
      refuse_part();
    } else {
      if (const auto c = character(set)) set.add({*c, *c});
      if (ignores_case_) set.add_other_cases();
    }
    steps_[append(Action::characters)].set = std::move(set);
    return false;
  }

  bool is_one_of(std::u32string_view characters) const {
    return at_ < text_.size() && characters.find(text_[at_]) != std::u32string_view::npos;
  }

  bool group(std::size_t depth) {
    const bool is_empty = alternatives(depth + 1);
    if (!accept(U")")) refuse_part();
    return is_empty;
  }

  bool lookahead(Action action, std::size_t depth) {
    const std::size_t start = append(action);
    group(depth);
    append(Action::done);
    end_jump(start);
    return true;
  }

  /// The next character, or none after adding those that an escape names.
  std::optional<char32_t> character(CharacterSet& set) {
    const std::size_t start = at_;
    if (!accept(U"\\")) return text_[at_++];
    if (at_ == text_.size()) refuse_part();
    const char32_t c = text_[at_++];
    constexpr std::u32string_view kNames = U"nrtvf", kCharacters = U"\n\r\t\v\f";
    if (const std::size_t k = kNames.find(c); k != kNames.npos) return kCharacters[k];
    if (c == 's' || c == 'S') {
      set.add(c == 's' ? unicode::white_space() : ~unicode::white_space());
    } else if (c == 'd' || c == 'D') {
      const unicode::Categories digits = unicode::categories_named("Nd");
      set.add(c == 'd' ? digits : ~digits);
    } else if (c == 'p' && accept(U"{Han}")) {
      for (const unicode::Run& run : unicode::han()) set.add(run);
    } else if (c == 'p' || c == 'P') {
      const std::size_t end = std::min(text_.find(U'}', at_), text_.size());
      const std::string name = unicode::encode(text_.substr(at_, end - at_));
      const unicode::Categories categories =
          name.starts_with('{') ? unicode::categories_named(name.substr(1)) : 0;
      if (categories == 0) refuse_from(start);
      set.add(c == 'p' ? categories : ~categories);
      at_ = end + 1;
    } else if (c < '!' || c > '~' || (c | 0x20u) - 'a' < 26 || c - '0' < 10) {
      refuse_from(start);
    } else {
      return c;
    }
    return std::nullopt;
  }

  [[noreturn]] void refuse_from(std::size_t start) {
    at_ = start;
    refuse_part();
  }

  /// A class behind its bracket.
  void read_class(CharacterSet& set) {
    const bool is_inverted = accept(U"^");
    if (is_next(']')) refuse_part();
    while (!accept(U"]")) {
      if (at_ == text_.size() || is_next('[') || text_.compare(at_, 2, U"&&") == 0) refuse_part();
      const std::size_t start = at_;
      const auto first = character(set);
      if (!first) continue;
      char32_t last = *first;
      if (is_next('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        if (is_next('[')) refuse_part();
        const auto end = character(set);
        if (!end || *end < *first) refuse_from(start);
        last = *end;
      }
      set.add({*first, last});
    }
    if (ignores_case_) set.add_other_cases();
    if (is_inverted) set.invert();
  }

  std::uint32_t number() {
    std::uint32_t value = 0;
    const std::size_t start = at_;
    for (; is_one_of(U"0123456789"); ++at_) {
      value = 10 * value + (text_[at_] - U'0');
      if (value > kMostRepeats) refuse_from(start);
    }
    if (at_ == start) refuse_part();
    return value;
  }

  /// Repeats the steps from `start` on as what is next says.
  bool repeated(std::size_t start, bool is_empty) {
    std::uint32_t least = 0, most = kUnlimited;
    const std::size_t before = at_;
    bool is_possessive = false;
    if (accept(U"{")) {
      least = most = number();
      if (accept(U",")) most = is_next('}') ? kUnlimited : number();
      if (!accept(U"}") || most < least || most == 0) refuse_from(before);
    } else {
      if (accept(U"+")) {
        least = 1;
      } else if (accept(U"?")) {
        most = 1;
      } else if (!accept(U"*")) {
        return is_empty;
      }
      is_possessive = accept(U"+");
    }
    if (is_one_of(U"*+?{")) refuse_from(before);
    Step& step = steps_[start];
    if (steps_.size() == start + 1 && step.action == Action::characters && step.least == 1 &&
        step.most == 1) {
      step.least = least;
      step.most = most;
      step.is_possessive = is_possessive;
      return least == 0;
    }
    // A group that may match nothing could be repeated without end.
    if (is_possessive || (is_empty && most > 1)) refuse_from(before);
    const std::vector<Step> group(steps_.begin() + static_cast<std::ptrdiff_t>(start),
                                  steps_.end());
    steps_.resize(start);
    for (std::uint32_t k = 0; k < least; ++k) append(group);
    if (most == kUnlimited) {
      append(Action::choose, group.size() + 2);
      append(group);
      append(Action::jump, 0 - group.size() - 1);
    } else {
      for (std::size_t left = most - least; left > 0; --left) {
        append(Action::choose, (group.size() + 1) * left);
        append(group);
      }
    }
    return is_empty || least == 0;
  }

  std::u32string text_;
  std::size_t at_ = 0;
  bool ignores_case_ = false;
  std::vector<Step> steps_;
};

Pattern::Pattern(std::string_view expression)
    : expression_(expression), steps_(PatternCompiler(expression).steps()) {}

Pattern Pattern::literal(std::u32string_view text) {
  Pattern pattern;
  pattern.expression_ = unicode::encode(text);
  for (const char32_t c : text)
    pattern.steps_.emplace_back(Step{Action::characters}).set.add({c, c});
  pattern.steps_.push_back({Action::done});
  return pattern;
}

}  // namespace eigenscope

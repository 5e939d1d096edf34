#include "text/matcher.h"

#include <algorithm>
#include <string>

#include "io/json_events.h"
#include "support/error.h"
#include "text/growth.h"

namespace eigenscope {
namespace {

constexpr std::size_t kMostEffort = 10'000;  // steps for a character of the text

}  // namespace

Matcher::Matcher(const Pattern& pattern, std::size_t size)
    : pattern_(pattern),
      most_choices_(largest_growth(size)),
      effort_(kMostEffort * (std::uint64_t{size} + 100)) {}

std::size_t Matcher::operator()(std::u32string_view rest) {
  text_ = rest;
  std::size_t end = 0;
  choices_.clear();
  return matches(0, end) ? end : 0;
}

bool Matcher::matches(std::size_t start, std::size_t& place) {
  using Action = Pattern::Action;
  const Pattern::Step* const steps = pattern_.steps_.data();
  const std::size_t known = choices_.size();
  const auto choose = [&](std::size_t step, std::size_t least, std::size_t end) {
    choices_.push_back({static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(least),
                        static_cast<std::uint32_t>(end)});
  };
  std::size_t at = place, k = start;
  for (;;) {
    const Pattern::Step& step = steps[k];
    bool holds = true;
    std::size_t taken = 0;
    switch (step.action) {
      case Action::characters: {
        const std::size_t most = std::min<std::size_t>(step.most, text_.size() - at);
        while (taken < most && step.set.has(text_[at + taken])) ++taken;
        holds = taken >= step.least;
        if (holds && taken > step.least && !step.is_possessive)
          choose(k + 1, at + step.least, at + taken);
        if (holds) at += taken;
        ++k;
        break;
      }
      case Action::choose: {
        const auto other = k + static_cast<std::size_t>(step.jump);
        const Pattern::Step& next = steps[k + 1];
        // Most alternatives fail at their first character.
        const bool fails = next.action == Action::characters && next.least > 0 &&
                           (at == text_.size() || !next.set.has(text_[at]));
        if (!fails) choose(other, at, at + 1);
        k = fails ? other : k + 1;
        break;
      }
      case Action::jump:
        k += static_cast<std::size_t>(step.jump);
        break;
      case Action::ahead:
      case Action::not_ahead: {
        std::size_t end = at;
        holds = matches(k + 1, end) == (step.action == Action::ahead);
        k += static_cast<std::size_t>(step.jump);
        break;
      }
      case Action::line_end:
        holds = at == text_.size() || text_[at] == '\n';
        ++k;
        break;
      case Action::done:
        place = at;
        choices_.resize(known);
        return true;
    }
    if (effort_ <= taken || choices_.size() > most_choices_) {
      throw FormatError("pattern '" + shown_name(pattern_.expression_) + "'",
                        "matches must take at most " + std::to_string(kMostEffort) +
                            " steps for each character of the text, but take more");
    }
    effort_ -= 1 + taken;
    if (holds) continue;
    if (choices_.size() == known) return false;
    Choice& choice = choices_.back();
    at = --choice.end;
    k = choice.step;
    if (choice.end == choice.least) choices_.pop_back();
  }
}

}  // namespace eigenscope

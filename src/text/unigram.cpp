#include "text/unigram.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "support/error.h"
#include "text/unicode.h"

namespace eigenscope {
namespace {

constexpr double kUnknownPenalty = 10;  // below the least likely token; SentencePiece's kUnkPenalty

constexpr double kNever = -std::numeric_limits<double>::infinity();

constexpr int kUnknown = -1;

/// The best way to cut the characters up to a place: its score, and its last token.
struct Path {
  double score = kNever;
  std::size_t start = 0;
  int token = kUnknown;
};

}  // namespace

Unigram::Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
                 Rules rules)
    : vocabulary_(std::move(vocabulary)), scores_(std::move(scores)), longest_(0), rules_(rules) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t id = 0; id < scores_.size(); ++id) {
    if (scores_[id] == kNever) continue;
    least = std::min(least, scores_[id]);
    longest_ = std::max(longest_, vocabulary_->token(static_cast<int>(id)).size());
  }
  unknown_score_ = least - kUnknownPenalty;
  if (rules_.unknown) scores_[static_cast<std::size_t>(*rules_.unknown)] = unknown_score_;
}

void Unigram::append_unknown(std::string_view characters, std::vector<int>& ids) const {
  if (rules_.byte_fallback) {
    if (const auto bytes = vocabulary_->bytes_of(characters)) {
      ids.insert(ids.end(), bytes->begin(), bytes->end());
      return;
    }
  }
  if (!rules_.unknown) {
    throw InvalidArgument("text", "have characters of the vocabulary",
                          "it has no tokens for '" + std::string(characters) + "'");
  }
  ids.push_back(*rules_.unknown);
}

void Unigram::append(std::u32string_view piece, std::vector<int>& ids) const {
  std::vector<Path> paths(piece.size() + 1);
  paths[0].score = 0;
  const auto offer = [&](std::size_t start, std::size_t end, double score, int token) {
    const double sum = paths[start].score + score;
    // Of equal sums the first stays, the one with the longest last token.
    if (sum > paths[end].score) paths[end] = {sum, start, token};
  };
  for (std::size_t start = 0; start < piece.size(); ++start) {
    std::string token;
    bool has_single = false;
    for (std::size_t end = start + 1; end <= piece.size(); ++end) {
      unicode::append(token, piece[end - 1]);
      if (token.size() > longest_) break;
      const auto id = vocabulary_->find(token);
      if (!id || static_cast<std::size_t>(*id) >= scores_.size()) continue;
      const double score = scores_[static_cast<std::size_t>(*id)];
      if (score == kNever) continue;
      offer(start, end, score, *id);
      has_single = has_single || end == start + 1;
    }
    if (!has_single) offer(start, start + 1, unknown_score_, kUnknown);
  }
  std::vector<std::pair<Path, std::size_t>> tokens;  // with their ends, the last first
  for (std::size_t end = piece.size(); end > 0; end = paths[end].start) {
    const Path& path = paths[end];
    if (path.token == kUnknown && !tokens.empty() && tokens.back().first.token == kUnknown) {
      tokens.back().first.start = path.start;
    } else {
      tokens.emplace_back(path, end);
    }
  }
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
    const auto& [path, end] = *token;
    if (path.token == kUnknown) {
      append_unknown(unicode::encode(piece.substr(path.start, end - path.start)), ids);
    } else {
      ids.push_back(path.token);
    }
  }
}

}  // namespace eigenscope

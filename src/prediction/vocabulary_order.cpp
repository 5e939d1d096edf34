#include "prediction/vocabulary_order.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "support/argsort.h"
#include "support/error.h"
#include "support/gemm.h"
#include "text/pre_tokenizer.h"
#include "text/unicode.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kChunk = 1024;        // rows of embeddings read at once
constexpr Index kFittedWords = 8192;  // rarer words hardly count in the fit
constexpr double kRidge = 1e-9;       // of the mean diagonal

bool is_special(std::string_view token) {
  return token.size() > 2 && ((token.front() == '[' && token.back() == ']') ||
                              (token.front() == '<' && token.back() == '>'));
}

bool is_word(std::string_view token) {
  for (const char32_t space : {byte_symbol(' '), Metaspace{}.replacement}) {
    const std::string bytes = unicode::encode({&space, 1});
    if (token.starts_with(bytes)) token.remove_prefix(bytes.size());
  }
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return token.size() > 1 && std::all_of(token.begin(), token.end(), letter);
}

bool is_separate(std::string_view token, const WordPiece* pieces) {
  const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  return !pieces || (!pieces->continues(token) && std::all_of(token.begin(), token.end(), ascii));
}

std::optional<int> id_of(const Config& config, const std::string& key, Index vocabulary) {
  const auto id = config.number(key, 0, static_cast<double>(vocabulary - 1));
  if (!id) return std::nullopt;
  return static_cast<int>(*id);
}

/// A token embedding, its norm and 1: what the logarithm of its rank is regressed on.
MatrixXd regressors(const MatrixXd& embeddings) {
  MatrixXd x(embeddings.rows(), embeddings.cols() + 2);
  x << embeddings, embeddings.rowwise().norm(), VectorXd::Ones(embeddings.rows());
  return x;
}

/// Coefficients of the regression over the words from `first` on.
VectorXd frequency_direction(const Transformer& model, Index first, double offset) {
  const Index size = model.embedding_width() + 2,
              end = std::min(model.vocabulary(), first + kFittedWords);
  MatrixXd square = MatrixXd::Zero(size, size);
  VectorXd product = VectorXd::Zero(size);
  for (Index begin = first; begin < end; begin += kChunk) {
    const MatrixXd x = regressors(model.token_embeddings(begin, std::min(end, begin + kChunk)));
    const VectorXd ranks = VectorXd::LinSpaced(x.rows(), static_cast<double>(begin - first + 1),
                                               static_cast<double>(begin - first + x.rows()));
    const VectorXd weights = (ranks.array() + offset).inverse();
    square += transposed_times(x, weights.asDiagonal() * x);
    product += x.transpose() * (weights.array() * (ranks.array() + offset).log()).matrix();
  }
  square.diagonal().array() += kRidge * square.trace() / static_cast<double>(size);
  return square.ldlt().solve(product);
}

}  // namespace

VocabularyLayout vocabulary_layout(const TextTokenizer& tokenizer, Index vocabulary) {
  VocabularyLayout layout;
  layout.before = tokenizer.before();
  layout.after = tokenizer.after();
  std::optional<int> word;
  for (int id = 0; id < static_cast<int>(vocabulary); ++id) {
    if (!tokenizer.vocabulary().contains(id)) continue;
    const std::string& token = tokenizer.vocabulary().token(id);
    if (is_special(token)) continue;
    layout.ordinary.push_back(id);
    if (is_separate(token, tokenizer.word_piece())) layout.separate.push_back(id);
    if (!word && is_word(token)) word = id;
  }
  if (layout.ordinary.empty())
    throw FormatError("tokenizer.json", "it must have at least one ordinary token");
  if (layout.separate.empty()) layout.separate = layout.ordinary;
  layout.first_word = word.value_or(layout.ordinary.front());
  return layout;
}

VocabularyLayout vocabulary_layout(const Config& config, const Transformer& model) {
  const auto first_of = [&](const char* key, const char* other) {
    const auto id = id_of(config, key, model.vocabulary());
    return id ? id : id_of(config, other, model.vocabulary());
  };
  VocabularyLayout layout;
  if (const auto id = first_of("cls_token_id", "bos_token_id")) layout.before = {*id};
  if (!model.causal()) {
    if (const auto id = first_of("sep_token_id", "eos_token_id")) layout.after = {*id};
  }
  const std::optional<int> padding = id_of(config, "pad_token_id", model.vocabulary());
  for (int id = 0; id < static_cast<int>(model.vocabulary()); ++id) {
    const bool special = id == padding ||
                         std::count(layout.before.begin(), layout.before.end(), id) > 0 ||
                         std::count(layout.after.begin(), layout.after.end(), id) > 0;
    if (!special) layout.ordinary.push_back(id);
  }
  if (layout.ordinary.empty())
    throw FormatError(config.name(), "it must leave at least one ordinary token");
  layout.separate = layout.ordinary;
  layout.first_word = layout.ordinary.front();
  return layout;
}

std::vector<int> ids_by_frequency(TokenOrder order, double offset, const VocabularyLayout& layout,
                                  const Transformer& model) {
  if (order == TokenOrder::vocabulary) {
    return {std::lower_bound(layout.ordinary.begin(), layout.ordinary.end(), layout.first_word),
            layout.ordinary.end()};
  }
  const VectorXd direction = frequency_direction(model, layout.first_word, offset);
  VectorXd logarithms(model.vocabulary());  // of the ranks
  for (Index begin = 0; begin < logarithms.size(); begin += kChunk) {
    const Index end = std::min(logarithms.size(), begin + kChunk);
    logarithms.segment(begin, end - begin) =
        regressors(model.token_embeddings(begin, end)) * direction;
  }
  std::vector<double> ranks;
  for (const int id : layout.separate) ranks.push_back(logarithms[id]);
  std::vector<int> ids;
  for (const std::size_t place : argsort(ranks)) ids.push_back(layout.separate[place]);
  return ids;
}

}  // namespace eigenscope

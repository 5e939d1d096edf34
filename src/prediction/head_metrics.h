// A head's spectrum in several metrics: of W_QK alone, and of W_QK with the covariance of tokens.
#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <string_view>

#include "inference/head_measures.h"
#include "prediction/token_statistics.h"
#include "spectrum/weighted_spectrum.h"
#include "support/choice.h"

namespace eigenscope {

/// The source of the covariance C of the tokens.
enum class Metric { bare, weighted, mean_field };
inline constexpr std::array kMetricNames{Choice{"bare", "C = I, the spectrum of W_QK alone"},
                                         Choice{"weighted", "C of the tokens of the statistics"},
                                         Choice{"mean-field", "C of the mean-field population"}};

/// Numbers of the spectrum of a head with C, the covariance of the content tokens (without SinkKeys) around their mean
/// over all positions and passages. W is W_QK / sqrt(d_h), so that all numbers are in units of logits, before a cap; of
/// a rotary head it is W at offset 0. Norms of queries and keys: with C = I, W is made of the nearest linear maps;
/// otherwise the products of W with C are covariances of the normalized queries and keys. NaN where nothing is known.
struct HeadInMetric {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  /// tr(W C): by how much the mean logit of a token with itself exceeds that with another one.
  double trace = kUnknown;
  /// ||C^(1/2) W C^(1/2)||_F: standard deviation of the logits of independent centred tokens.
  double spread = kUnknown;
  /// The trace and the spread in the covariance around the mean token of each position (smoothed_by_position), that of
  /// the content without position; NaN with C = I.
  double trace_content = kUnknown, spread_content = kUnknown;
  double components = kUnknown;       ///< WeightedSpectrum::components
  double symmetric_share = kUnknown;  ///< ||(A + A^T)/2||_F^2 / ||A||_F^2, A = C^(1/2) W C^(1/2)
  /// Mean query, with its bias, times the mean key of the sinks at the start minus the mean content key: by
  /// how much the logit of the first token exceeds the others; NaN with C = I.
  double sink_gap = kUnknown;
  /// Upper bound of the largest |logit|: max |q| max |k| over all tokens, plus the largest |bias| of an offset. With C
  /// = I: sigma_max(W) max |x|^2 over their states x, which is a bound without biases only; with norms of queries and
  /// keys the bound that these norms set.
  double logit_bound = kUnknown;
  Eigen::VectorXd singular_values;  ///< of A, as in WeightedSpectrum
  Eigen::VectorXcd eigenvalues;

  /// Calls visit(number) or visit(array) for each member, to write or read it.
  template <class Head, class Visit>
  static void each(Head& of, const Visit& visit) {
    for (auto* number : {&of.trace, &of.spread, &of.trace_content, &of.spread_content,
                         &of.components, &of.symmetric_share, &of.sink_gap, &of.logit_bound}) {
      visit(*number);
    }
    visit(of.singular_values);
    visit(of.eigenvalues);
  }
};

/// Products of a head with the covariance of the content tokens of `states`, which must be at least two, all
/// passages together: from their queries and keys, in O(d_h^2) a token. Their width is d_h.
FactorProducts content_products(const HeadStates& states, const SinkKeys& sinks);

/// Numbers in the metric of the tokens of `states`; rotary positions multiply logits by at most `rotary_factor`. Throws
/// InvalidArgument ("matrix") for numbers that are not finite.
HeadInMetric head_in_metric(const HeadStates& states, const SinkKeys& sinks, double rotary_factor);

/// Numbers with C = I, from the products of W_QK / sqrt(d_h) and the bound of its logits.
HeadInMetric head_in_identity(const FactorProducts& products, double logit_bound);

/// Composition of the logits of measured passages.
struct MeasuredLogits {
  /// Mean over passages of the number of components (WeightedSpectrum) of the passage's content logits, all queries by
  /// all keys, without the means of rows and columns; before rotary positions turn them.
  double components = std::numeric_limits<double>::quiet_NaN();
  double largest = std::numeric_limits<double>::quiet_NaN();  ///< largest |logit| of a visible key
};

/// The quantities of HeadInMetric, for results and documentation.
struct SpectralQuantity : Choice {
  bool bare;  ///< exists with C = I
  double (*value)(const HeadInMetric&);
};
inline constexpr std::array kSpectralQuantities{
    SpectralQuantity{{"trace",
                      "tr(W C), W = W_QK/sqrt(d_h): mean logit of a token with itself minus that "
                      "with other tokens"},
                     true,
                     [](const HeadInMetric& head) { return head.trace; }},
    SpectralQuantity{
        {"spread",
         "||C^(1/2) W C^(1/2)||_F: standard deviation of the logits of independent tokens"},
        true,
        [](const HeadInMetric& head) { return head.spread; }},
    SpectralQuantity{{"trace_content", "trace with C around the mean token of each position"},
                     false,
                     [](const HeadInMetric& head) { return head.trace_content; }},
    SpectralQuantity{{"spread_content", "spread with C around the mean token of each position"},
                     false,
                     [](const HeadInMetric& head) { return head.spread_content; }},
    SpectralQuantity{{"components", "singular values that hold 90% of the sum of their squares"},
                     true,
                     [](const HeadInMetric& head) { return head.components; }},
    SpectralQuantity{
        {"symmetric_share", "||(A + A^T)/2||_F^2 / ||A||_F^2 of A = C^(1/2) W C^(1/2)"},
        true,
        [](const HeadInMetric& head) { return head.symmetric_share; }},
    SpectralQuantity{{"sink_gap", "mean logit of the first token minus that of the content"},
                     false,
                     [](const HeadInMetric& head) { return head.sink_gap; }},
    SpectralQuantity{
        {"logit_bound",
         "upper bound of the largest |logit|: max|q| max|k|, bare sigma_max(W) max|x|^2 or that of "
         "query-key norms"},
        true,
        [](const HeadInMetric& head) { return head.logit_bound; }},
};

/// The row of this name, which must be there.
consteval const SpectralQuantity& spectral_quantity(std::string_view name) {
  for (const SpectralQuantity& quantity : kSpectralQuantities) {
    if (quantity.name == name) return quantity;
  }
  throw "no such quantity";
}

}  // namespace eigenscope

// The table of regularizers: a new one is a file in this folder and a row here.
#pragma once

/// row(kind): the value of RegularizerKind and the name of its RegularizerRow without `_regularizer`. The order is
/// that of the lists of the command line and the page.
#define EIGENSCOPE_REGULARIZERS(row)                                             \
  row(none) row(locater) row(locater_frobenius) row(sigma_reparam) row(qk_decay) \
      row(locater_effective) row(locater_covariance) row(locater_random) row(attention_prior)

namespace eigenscope {

enum class RegularizerKind {
#define EIGENSCOPE_KIND(kind) kind,
  EIGENSCOPE_REGULARIZERS(EIGENSCOPE_KIND)
#undef EIGENSCOPE_KIND
};

}  // namespace eigenscope

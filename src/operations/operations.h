// The table of operations: a new one is a file in this room and a row here.
#pragma once

#include <array>

#include "contract/operation.h"

/// An experiment that takes minutes, which no figure asks for: the WASM module is smaller without it.
#ifdef __EMSCRIPTEN__
#define EIGENSCOPE_COMMAND_ONLY(row)
#else
#define EIGENSCOPE_COMMAND_ONLY(row) row(head_surgery)
#endif

/// row(operation): the name of its variable without `_operation`. The order is that of the commands in the
/// help.
#define EIGENSCOPE_OPERATIONS(row)                                                                 \
  row(propagation) row(simulate) row(sweep) row(map) row(spectrum) row(attention) row(random_head) \
      row(row_entropy) row(softmax_row) row(rank_correlation) row(lines) row(head_theory)          \
          row(collapse) row(collapse_map) row(cosines) row(token_plane) row(heads) row(head_drift) \
              row(rotary_circuits) row(tensors) row(attend) row(layer_spectra) row(predict)        \
                  row(train) row(evaluate) row(generate) row(run_attention) row(position_meaning)  \
                      row(latent_classes) row(latent_values) row(attention_prior) row(token_prior) \
                          row(agent_attention) row(hard_retrieval) row(parallel_contexts)          \
                              row(attention_sinks) EIGENSCOPE_COMMAND_ONLY(row) row(edit_head)     \
                                  row(attention_explanation) row(attention_entries)

namespace eigenscope {

#define EIGENSCOPE_DECLARE(operation) extern const Operation operation##_operation;
EIGENSCOPE_OPERATIONS(EIGENSCOPE_DECLARE)
#undef EIGENSCOPE_DECLARE

inline constexpr std::array kOperations{
#define EIGENSCOPE_ADDRESS(operation) &operation##_operation,
    EIGENSCOPE_OPERATIONS(EIGENSCOPE_ADDRESS)
#undef EIGENSCOPE_ADDRESS
};

}  // namespace eigenscope

// What a layer does on passages, kept for tests.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "inference/forward_pass.h"

namespace eigenscope {

struct PassageTrace {
  Eigen::MatrixXf states;
  std::vector<HeadTrace> heads;
};

/// Takes all passages through the present layer, with an intervention on each.
inline std::vector<PassageTrace> advance_layer(
    ForwardPass& pass, std::function<AttentionEdit(std::size_t passage)> edit = {}) {
  std::vector<PassageTrace> kept(pass.passages().size());
  PassageVisitors visitors;
  visitors.edit = std::move(edit);
  visitors.states = [&](std::size_t passage, const Eigen::MatrixXf& states) {
    kept[passage].states = states;
  };
  visitors.head = [&](std::size_t passage, int, const HeadTrace& trace) {
    kept[passage].heads.push_back(trace);
  };
  for (const int layer = pass.layer(); !pass.done() && pass.layer() == layer;)
    pass.advance(visitors);
  return kept;
}

}  // namespace eigenscope

#include "collapse/stack_run.h"

#include <string>

#include "support/error.h"

namespace eigenscope {
namespace {

constexpr std::uint64_t kSample = 0;

}  // namespace

StackRun::StackRun(const StackSettings& settings, const SpectrumPoint& point, Eigen::Index layers)
    : settings_(settings), wanted_(layers), draw_(settings.weights, kSample) {
  check_stack(settings_);
  if (wanted_ > settings_.depth) {
    throw InvalidArgument(
        "layer", "be at most the depth",
        "depth " + std::to_string(settings_.depth) + ", layer " + std::to_string(wanted_));
  }
  spectrum_ = Ensemble(settings_.weights.ensemble).weights(point.mean, point.variance);
  trace_.tokens = stack_tokens(settings_, kSample);
}

bool StackRun::advance(Eigen::Index layers) {
  for (; layers > 0 && done_ < wanted_; --layers) {
    trace_ = run_layer(settings_, draw_.layer(done_++), spectrum_, trace_.tokens);
  }
  return done_ == wanted_;
}

}  // namespace eigenscope

// The job about trained heads: predict.
#include <optional>

#include "bindings/convert.h"
#include "bindings/localize/gaussian_measure.h"
#include "bindings/localize/module.h"

namespace eigenscope::bindings {
namespace {

std::vector<std::optional<TracedHead>> traced_heads(const val& input) {
  std::vector<std::optional<TracedHead>> heads;
  const val list = input["heads"];
  for (std::size_t i = 0; i < list["length"].as<std::size_t>(); ++i) {
    const val head = list[i];
    heads.push_back(TracedHead{{number(head, "xi"), number(head, "eta_s"), number(head, "eta_f")},
                               number(head, "temperature")});
  }
  return heads;
}

}  // namespace

std::unique_ptr<Job> make_head_job(const std::string& name, const val& input) {
  if (name == "predict") return make_measure_job(traced_heads(input), input);
  return nullptr;
}

}  // namespace eigenscope::bindings

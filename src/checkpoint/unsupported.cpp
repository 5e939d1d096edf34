#include "checkpoint/unsupported.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "io/json_events.h"

namespace eigenscope {
namespace {

struct Part {
  std::string_view name;
  std::array<std::string_view, 2> marks;  ///< in names of its tensors
};
constexpr std::array kParts{
    Part{"a mixture of experts", {".experts.", ".block_sparse_moe."}},
    // Keys and values are made of a compressed state (arXiv:2405.04434).
    Part{"multi-head latent attention", {".kv_a_proj_with_mqa.", ".kv_b_proj."}},
    Part{"state-space or recurrent layers", {".A_log", ".time_decay"}},
};

}  // namespace

std::string unsupported_parts(const std::map<std::string, TensorInfo>& tensors) {
  std::string found;
  for (const Part& part : kParts) {
    const auto shown = std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) {
      return std::any_of(part.marks.begin(), part.marks.end(), [&](std::string_view mark) {
        return tensor.first.find(mark) != std::string::npos;
      });
    });
    if (shown == tensors.end()) continue;
    found += (found.empty() ? "" : ", ") + std::string(part.name) + " ('" +
             shown_name(shown->first) + "')";
  }
  return found;
}

}  // namespace eigenscope

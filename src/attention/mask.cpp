#include "attention/mask.h"

#include <algorithm>
#include <array>

#include "support/names.h"

namespace eigenscope {
namespace {

struct MaskName {
  MaskKind kind;
  std::string_view name;
};
constexpr std::array kNames{MaskName{MaskKind::full, "full"}, MaskName{MaskKind::causal, "causal"},
                            MaskName{MaskKind::window, "window"},
                            MaskName{MaskKind::blocks, "blocks"}};

}  // namespace

bool Mask::sees(Eigen::Index query, Eigen::Index key, Eigen::Index length) const {
  switch (kind) {
    case MaskKind::full:
      return true;
    case MaskKind::causal:
      return key <= query;
    case MaskKind::window:
      return key <= query && query - key < window;
    case MaskKind::blocks: {
      const Eigen::Index size = std::max<Eigen::Index>(1, length / blocks);
      const auto block_of = [&](Eigen::Index t) { return std::min(t / size, blocks - 1); };
      return key <= query && (block_of(query) == blocks - 1 || block_of(query) == block_of(key));
    }
  }
  return false;
}

MaskKind mask_of_name(std::string_view name) {
  for (const MaskName& entry : kNames) {
    if (entry.name == name) return entry.kind;
  }
  refuse_name("mask", name, kNames);
}

}  // namespace eigenscope

#include "training/fault.h"

#include "support/random.h"

namespace eigenscope {

using Eigen::Index;

bool acts(const FaultSettings& fault, Index step) {
  return fault.kind != FaultKind::none && step >= fault.first &&
         (fault.steps == 0 || step < fault.first + fault.steps);
}

double rate_factor(const FaultSettings& fault, Index step) {
  return fault.kind == FaultKind::learning_rate && acts(fault, step) ? fault.size : 1;
}

std::vector<TokenId> faulty_tokens(const FaultSettings& fault, Index step, std::uint64_t seed,
                                   std::uint64_t draw, std::span<const TokenId> tokens,
                                   Index vocabulary) {
  constexpr std::uint64_t kTokenStream = std::uint64_t{1} << 50;
  if (!acts(fault, step)) return {};
  if (fault.kind == FaultKind::repeated_tokens) {
    return std::vector<TokenId>(tokens.size(), tokens.front());
  }
  if (fault.kind == FaultKind::reversed_tokens) return {tokens.rbegin(), tokens.rend()};
  if (fault.kind != FaultKind::random_tokens) return {};
  std::vector<TokenId> random;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    random.push_back(static_cast<TokenId>(random_below(static_cast<std::uint64_t>(vocabulary), seed,
                                                       kTokenStream, draw * tokens.size() + i)));
  }
  return random;
}

std::vector<HeadReading<float>> faulty_readings(const FaultSettings& fault, Index step,
                                                const Model<float>& model) {
  if (fault.kind != FaultKind::rounded_logits || !acts(fault, step)) return {};
  std::vector<HeadReading<float>> readings = model.readings();
  for (HeadReading<float>& reading : readings) reading.bits = static_cast<int>(fault.size);
  return readings;
}

}  // namespace eigenscope

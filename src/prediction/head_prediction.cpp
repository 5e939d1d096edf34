#include "prediction/head_prediction.h"

#include <cstring>
#include <type_traits>

#include "support/error.h"

namespace eigenscope {
namespace {

static_assert(std::is_trivially_copyable_v<HeadNumbers>);

void append(std::vector<std::byte>& bytes, const void* from, std::size_t size) {
  const auto* const first = static_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), first, first + size);
}

void append(std::vector<std::byte>& bytes, const Eigen::VectorXd& values) {
  const auto count = static_cast<std::size_t>(values.size());
  append(bytes, &count, sizeof count);
  append(bytes, values.data(), count * sizeof(double));
}

void take(std::span<const std::byte>& bytes, void* to, std::size_t size) {
  if (size > bytes.size()) throw InvalidArgument("shares", "they are cut short");
  if (size > 0) std::memcpy(to, bytes.data(), size);
  bytes = bytes.subspan(size);
}

void take(std::span<const std::byte>& bytes, Eigen::VectorXd& values) {
  std::size_t count = 0;
  take(bytes, &count, sizeof count);
  if (count > bytes.size() / sizeof(double)) throw InvalidArgument("shares", "they are cut short");
  values.resize(static_cast<Eigen::Index>(count));
  take(bytes, values.data(), count * sizeof(double));
}

}  // namespace

HeadPrediction::HeadPrediction(int of_layer, int number) {
  layer = of_layer;
  head = number;
  const HeadMeasures unknown = HeadMeter().measures();
  measured = ceiling = unknown;
  levels.fill(unknown);
}

std::vector<std::byte> bytes_of(const std::vector<HeadPrediction>& heads) {
  std::vector<std::byte> bytes;
  for (const HeadPrediction& head : heads) {
    append(bytes, static_cast<const HeadNumbers*>(&head), sizeof(HeadNumbers));
    append(bytes, head.measured_by_distance);
    append(bytes, head.gaussian_by_distance);
  }
  return bytes;
}

std::vector<HeadPrediction> heads_of(std::span<const std::byte> bytes) {
  std::vector<HeadPrediction> heads;
  while (!bytes.empty()) {
    HeadPrediction& head = heads.emplace_back();
    HeadNumbers numbers;
    take(bytes, &numbers, sizeof numbers);
    static_cast<HeadNumbers&>(head) = numbers;
    take(bytes, head.measured_by_distance);
    take(bytes, head.gaussian_by_distance);
  }
  return heads;
}

}  // namespace eigenscope

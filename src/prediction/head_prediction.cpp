#include "prediction/head_prediction.h"

#include <cstring>
#include <type_traits>

#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;

void append(std::vector<std::byte>& bytes, const void* from, std::size_t size) {
  const auto* const first = static_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), first, first + size);
}

[[noreturn]] void refuse() { throw InvalidArgument("partitions", "be complete"); }

void take(std::span<const std::byte>& bytes, void* to, std::size_t size) {
  if (size > bytes.size()) refuse();
  if (size > 0) std::memcpy(to, bytes.data(), size);
  bytes = bytes.subspan(size);
}

// Visits each number, and each array of them: the bytes between the members of a struct are not defined.
template <class Head, class Visit>
void each_part(Head& head, const Visit& visit) {
  visit(head.layer);
  visit(head.head);
  HeadMeasures::each(head.measured, visit);
  HeadMeasures::each(head.ceiling, visit);
  HeadMeasures::each(head.transfer, visit);
  visit(head.measured_logits.components);
  visit(head.measured_logits.largest);
  HeadMeter::each_sum(head.ceiling_rows, visit);
  auto& [width, traces, quartic_s, quartic_f] = head.report.moments;
  visit(width);
  for (auto* number : {&traces.xi, &traces.eta_s, &traces.eta_f, &quartic_s, &quartic_f,
                       &head.report.localization}) {
    visit(*number);
  }
  for (auto& metric : head.metrics) HeadInMetric::each(metric, visit);
  for (auto& level : head.levels) HeadMeasures::each(level, visit);
  visit(head.measured_by_distance);
  visit(head.gaussian_by_distance);
}

struct Writer {
  std::vector<std::byte>& bytes;

  template <class Part>
  void operator()(const Part& part) const {
    if constexpr (std::is_arithmetic_v<Part>) {
      append(bytes, &part, sizeof part);
    } else {
      (*this)(part.size());
      append(bytes, part.data(), static_cast<std::size_t>(part.size()) * sizeof(*part.data()));
    }
  }
};

struct Reader {
  std::span<const std::byte>& bytes;

  template <class Part>
  void operator()(Part& part) const {
    if constexpr (std::is_arithmetic_v<Part>) {
      take(bytes, &part, sizeof part);
    } else {
      Index count = 0;
      (*this)(count);
      const std::size_t most = bytes.size() / sizeof(*part.data());
      if (count < 0 || static_cast<std::size_t>(count) > most) refuse();
      part.resize(count);
      take(bytes, part.data(), static_cast<std::size_t>(count) * sizeof(*part.data()));
    }
  }
};

}  // namespace

HeadPrediction::HeadPrediction(int of_layer, int number) : layer(of_layer), head(number) {
  const HeadMeasures unknown = HeadMeter().measures();
  measured = ceiling = transfer = unknown;
  levels.fill(unknown);
}

void HeadPrediction::add_ceiling(const HeadMeter& rows) {
  ceiling_rows += rows;
  if (ceiling_rows.queries() > 0) ceiling = ceiling_rows.measures();
}

std::vector<std::byte> bytes_of(const std::vector<HeadPrediction>& heads) {
  std::vector<std::byte> bytes;
  for (const HeadPrediction& head : heads) each_part(head, Writer{bytes});
  return bytes;
}

std::vector<HeadPrediction> heads_of(std::span<const std::byte> bytes) {
  std::vector<HeadPrediction> heads;
  while (!bytes.empty()) each_part(heads.emplace_back(), Reader{bytes});
  return heads;
}

}  // namespace eigenscope

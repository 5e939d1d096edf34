#include "prediction/head_prediction.h"

#include <cstring>

#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;

void append(std::vector<std::byte>& bytes, const void* from, std::size_t size) {
  const auto* const first = static_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), first, first + size);
}

void take(std::span<const std::byte>& bytes, void* to, std::size_t size) {
  if (size > bytes.size()) throw InvalidArgument("shares", "they are cut short");
  if (size > 0) std::memcpy(to, bytes.data(), size);
  bytes = bytes.subspan(size);
}

// Numbers only: the bytes between the members of a struct are not defined.
template <class Measures, class Visit>
void each_measure(Measures& of, const Visit& visit) {
  visit(of.queries);
  for (auto* number : {&of.row.entropy, &of.row.participation, &of.row.sink_first,
                       &of.row.sink_separator, &of.distance, &of.decay, &of.localization,
                       &of.sensitivity_localization, &of.self_logit, &of.self_weight}) {
    visit(*number);
  }
}

template <class Head, class Visit>
void each_number(Head& head, const Visit& visit) {
  visit(head.layer);
  visit(head.head);
  each_measure(head.measured, visit);
  each_measure(head.ceiling, visit);
  auto& [width, traces, quartic_s, quartic_f] = head.report.moments;
  visit(width);
  for (auto* number : {&traces.xi, &traces.eta_s, &traces.eta_f, &quartic_s, &quartic_f,
                       &head.report.localization}) {
    visit(*number);
  }
  for (auto& level : head.levels) each_measure(level, visit);
}

}  // namespace

HeadPrediction::HeadPrediction(int of_layer, int number) : layer(of_layer), head(number) {
  const HeadMeasures unknown = HeadMeter().measures();
  measured = ceiling = unknown;
  levels.fill(unknown);
}

std::vector<std::byte> bytes_of(const std::vector<HeadPrediction>& heads) {
  std::vector<std::byte> bytes;
  const auto put = [&](const auto& number) { append(bytes, &number, sizeof number); };
  for (const HeadPrediction& head : heads) {
    each_number(head, put);
    for (const auto* weights : {&head.measured_by_distance, &head.gaussian_by_distance}) {
      put(weights->size());
      for (const double weight : *weights) put(weight);
    }
  }
  return bytes;
}

std::vector<HeadPrediction> heads_of(std::span<const std::byte> bytes) {
  std::vector<HeadPrediction> heads;
  const auto get = [&](auto& number) { take(bytes, &number, sizeof number); };
  while (!bytes.empty()) {
    HeadPrediction& head = heads.emplace_back();
    each_number(head, get);
    for (auto* weights : {&head.measured_by_distance, &head.gaussian_by_distance}) {
      Index count = 0;
      get(count);
      if (count < 0 || static_cast<std::size_t>(count) > bytes.size() / sizeof(double)) {
        throw InvalidArgument("shares", "they are cut short");
      }
      weights->resize(count);
      for (double& weight : *weights) get(weight);
    }
  }
  return heads;
}

}  // namespace eigenscope

#include "prediction/head_prediction.h"

#include <cmath>

#include "support/parts_as_bytes.h"

namespace eigenscope {
namespace {

// Visits each number, and each array of them.
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
  for (const HeadPrediction& head : heads) each_part(head, PartWriter(bytes));
  return bytes;
}

std::vector<HeadPrediction> heads_of(std::span<const std::byte> bytes) {
  std::vector<HeadPrediction> heads;
  while (!bytes.empty()) each_part(heads.emplace_back(), PartReader(bytes));
  return heads;
}

Verdict verdict(const HeadPrediction& head) {
  const double measured = head.measured.queries > 0
                              ? head.measured.row.entropy
                              : head.levels[static_cast<std::size_t>(Level::sequences)].row.entropy;
  Verdict result = Verdict::unexplained;
  for (std::size_t level = kNestedLevels; level-- > 0;) {
    if (!(std::abs(head.levels[level].row.entropy - measured) <= kVerdictTolerance)) break;
    result = *kLevels[level].explains;
  }
  return result;
}

}  // namespace eigenscope

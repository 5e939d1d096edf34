#include "checkpoint/head_reader.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace eigenscope {
namespace {

std::array<double, 2> size_of(const ScannedHead& head) {
  return std::visit(
      [](const auto& factors) {
        return std::array{static_cast<double>(factors.width()),
                          static_cast<double>(factors.query.cols())};
      },
      head);
}

}  // namespace

HeadReader::HeadReader(HeadScan scan, CentredKernel kernel)
    : scan_(std::move(scan)), kernel_(std::move(kernel)), settings_(1) {}

bool HeadReader::advance(double work) {
  for (double left = work; left >= 0 && !done();) {
    left -= has_tiles() ? layer_scores_->score_tile() : read_head();
  }
  if (scan_.done()) running_.finish();
  for (HeadReport& report : running_.take()) reports_.push_back(std::move(report));
  return done();
}

double HeadReader::read_head() {
  Needed needed = layer_scores_ ? Needed::factors : Needed::products;
  for (const ReportSettings& report : settings_) {
    if (report.covariance || (report.eigenvalues && report.directionality)) {
      needed = Needed::factors;
    }
    if (report.eigenvalues) needed = std::min(needed, Needed::bounded_products);
  }
  double work = 0;
  for (ScannedHead& head : scan_.advance(1, needed)) {
    // Multiply-adds of the head's moments and eigenvalues.
    const auto [d, d_h] = size_of(head);
    work += 4 * d * d_h * d_h + 25 * d_h * d_h * d_h;
    if (layer_scores_) layer_scores_->add(head);
    running_.add([this, factors = std::move(head)] {
      return report_head(factors, kernel_, settings_of(factors));
    });
  }
  if (layer_scores_ && scan_.done()) layer_scores_->finish();
  return work;
}

const ReportSettings& HeadReader::settings_of(const ScannedHead& head) const {
  const auto layer =
      std::visit([](const auto& it) { return static_cast<std::size_t>(it.layer); }, head);
  return settings_[std::min(layer, settings_.size() - 1)];
}

}  // namespace eigenscope

#include "propagation/phase_map.h"

#include <algorithm>
#include <cmath>

#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope {
namespace {

void check_axis(const char* name, const Axis& axis) {
  const bool ordered = std::isfinite(axis.from) && std::isfinite(axis.to) && axis.from < axis.to;
  if (!ordered || axis.count < 2 || axis.count > 4096) {
    throw InvalidArgument(name, "go from a smaller to a larger number in 2 to 4096 steps");
  }
}

// The fraction of the way along an axis.
double fraction(const Axis& axis, Eigen::Index i) {
  return static_cast<double>(i) / static_cast<double>(axis.count - 1);
}

}  // namespace

PhaseMap::PhaseMap(const PhaseMapSettings& settings)
    : settings_(settings), kernel_(centred_kernel(settings.tokens)) {
  checked(kAsymmetry, settings.asymmetry);
  check_axis("x", settings.x);
  check_axis("y", settings.y);
  if (!(settings.y.from > 0)) throw InvalidArgument("y", "start above 0");
  const auto cells = static_cast<std::size_t>(columns() * rows());
  localization_.assign(cells, std::nanf(""));
  rho_mean_ = localization_;
  regime_.assign(cells, static_cast<std::uint8_t>(Regime::none));
  signal_.assign(cells, static_cast<std::uint8_t>(Signal::none));
}

bool PhaseMap::advance(Eigen::Index cells) {
  for (; cells > 0 && stride_ > 0; --cells) {
    compute(column_, row_);
    next_cell();
  }
  return stride_ == 0;
}

double PhaseMap::progress() const {
  return static_cast<double>(computed_) / static_cast<double>(columns() * rows());
}

double PhaseMap::work_per_step() const {
  return kPropagationWork * static_cast<double>(kernel_.cross.size());
}

double PhaseMap::x(Eigen::Index column) const {
  return settings_.x.from + (settings_.x.to - settings_.x.from) * fraction(settings_.x, column);
}

double PhaseMap::y(Eigen::Index row) const {
  return settings_.y.from * std::pow(settings_.y.to / settings_.y.from, fraction(settings_.y, row));
}

// A cell speaks for the whole block up to the next one of its pass.
void PhaseMap::compute(Eigen::Index column, Eigen::Index row) {
  const double scale = y(row);
  const double eta_f = scale * scale;
  const Propagation propagation =
      propagate(kernel_, {x(column), settings_.asymmetry * eta_f, eta_f}, /*temperature=*/1);
  for (Eigen::Index r = row; r < std::min(row + stride_, rows()); ++r) {
    for (Eigen::Index c = column; c < std::min(column + stride_, columns()); ++c) {
      const auto cell = static_cast<std::size_t>(r * columns() + c);
      localization_[cell] = static_cast<float>(propagation.localization);
      rho_mean_[cell] = static_cast<float>(propagation.rho_mean);
      regime_[cell] = static_cast<std::uint8_t>(propagation.regime);
      signal_[cell] = static_cast<std::uint8_t>(propagation.signal);
    }
  }
  ++computed_;
}

// Each pass visits the multiples of its stride that no earlier pass has visited.
void PhaseMap::next_cell() {
  do {
    column_ += stride_;
    if (column_ >= columns()) {
      column_ = 0;
      row_ += stride_;
    }
    if (row_ >= rows()) {
      row_ = 0;
      stride_ /= 2;
    }
  } while (stride_ > 0 && stride_ < kCoarsest && column_ % (2 * stride_) == 0 &&
           row_ % (2 * stride_) == 0);
}

}  // namespace eigenscope

// Phase map: localization over (xi/lambda, sqrt(eta_F)/lambda).
#include "operations/operations.h"
#include "operations/theory_input.h"
#include "propagation/phase_map.h"
#include "support/error.h"

namespace eigenscope {
namespace {

constexpr Parameter kLeft{"x_from", reals(-10000, 10000), -8, "smallest xi/lambda of a map"};
constexpr Parameter kRight{"x_to", reals(-10000, 10000), 8, "largest xi/lambda of a map"};
constexpr Parameter kColumns{"x_count", integers(2, 1000), 25, "columns of a map"};
constexpr Parameter kBottom{"y_from", reals_above(0, 10000), 0.01,
                            "smallest sqrt(eta_F)/lambda of a map"};
constexpr Parameter kTop{"y_to", reals_above(0, 10000), 100, "largest sqrt(eta_F)/lambda of a map"};
constexpr Parameter kRows{"y_count", integers(2, 1000), 25, "rows of a map"};

void check_order(const char* field, const char* other, const Axis& axis) {
  if (axis.from < axis.to) return;
  throw InvalidArgument(
      field, std::string("be below ") + other,
      std::string(other) + " " + shown(axis.to) + ", " + field + " " + shown(axis.from));
}

struct MapInput {
  TokensInput tokens;
  double asymmetry = 0;
  Axis x, y;

  PhaseMap begin() const {
    check_order("x_from", "x_to", x);
    check_order("y_from", "y_to", y);
    return PhaseMap({tokens.process(), asymmetry, x, y});
  }
};

void describe(InputFields& f, MapInput& in) {
  describe(f, in.tokens);
  f.number(kAsymmetry, in.asymmetry);
  f.number(kLeft, in.x.from);
  f.number(kRight, in.x.to);
  f.number(kColumns, in.x.count);
  f.number(kBottom, in.y.from);
  f.number(kTop, in.y.to);
  f.number(kRows, in.y.count);
}

struct MapResult {
  Eigen::VectorXd x, y;
  std::vector<float> localization, rho_mean;
  std::vector<std::uint8_t> regime, signal;
};

void describe(ResultFields& out, const MapResult& map) {
  const Dimension row{"sqrt_eta_f_over_lambda", map.y.size()},
      column{"xi_over_lambda", map.x.size()};
  out.array("xi_over_lambda", map.x, {column}, "xi/lambda of each column");
  out.array("sqrt_eta_f_over_lambda", map.y, {row}, "sqrt(eta_F)/lambda of each row");
  out.array("localization", map.localization, {row, column},
            "localization index; NaN where no signal propagates");
  out.array("rho_mean", map.rho_mean, {row, column}, "mean of rho over the keys");
  out.choices("regime", map.regime, kRegimeNames, {row, column}, "keys with a large rho");
  out.choices("signal", map.signal, kSignalNames, {row, column},
              "localized, uniform-alive or uniform-dead");
}

MapResult map_result(const PhaseMap& map) {
  MapResult result{Eigen::VectorXd(map.columns()),
                   Eigen::VectorXd(map.rows()),
                   map.localization(),
                   map.rho_mean(),
                   map.regime(),
                   map.signal()};
  for (Eigen::Index i = 0; i < map.columns(); ++i) result.x[i] = map.x(i);
  for (Eigen::Index i = 0; i < map.rows(); ++i) result.y[i] = map.y(i);
  return result;
}

}  // namespace

const Operation map_operation = operation<MapInput, JobOf<&map_result>>(
    "map", "Phase map: localization and regime over (xi/lambda, sqrt(eta_F)/lambda)",
    "# The map of heads as asymmetric as trained ones\n"
    "eigenscope map --tokens normalized-walk --length 128 --asymmetry 0.1 --csv");

}  // namespace eigenscope

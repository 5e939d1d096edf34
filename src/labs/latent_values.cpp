#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "labs/latent_posterior.h"
#include "statistics/estimate.h"
#include "support/error.h"
#include "support/normal_matrix.h"
#include "support/random.h"
#include "support/shared_parameters.h"
#include "support/vector_math.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNoise =
    0.5;  // standard deviation of a value's noise; the function's variance is 1
constexpr double kKeyNormSpread = 0.5;
constexpr int kTemperatures = 33;
constexpr double kColdest = 1e-3, kHottest = 10;
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Features of the function at some angles (keys x angles), such that independent standard normal
/// coefficients give it the variance 1: harmonic h of each angle has the amplitude h^-2.
MatrixXd features_of(const MatrixXd& angles, Index harmonics) {
  if (harmonics == 0) return MatrixXd::Ones(angles.rows(), 1);
  MatrixXd features(angles.rows(), 2 * harmonics * angles.cols());
  double square = 0;
  Index column = 0;
  for (Index h = 1; h <= harmonics; ++h) {
    const double amplitude = 1 / static_cast<double>(h * h);
    square += amplitude * amplitude;
    for (Index a = 0; a < angles.cols(); ++a) {
      const auto turned = (angles.col(a) * static_cast<double>(h)).array();
      features.col(column++) = (amplitude * turned.cos()).matrix();
      features.col(column++) = (amplitude * turned.sin()).matrix();
    }
  }
  return features / std::sqrt(square * static_cast<double>(angles.cols()));
}

/// Slope of y over x by least squares.
double slope_of(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xy = 0, xx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
  }
  return xy / xx;
}

}  // namespace

LatentValues::LatentValues(const ValueSettings& settings) : settings_(settings) {
  checked(kAngles, static_cast<double>(settings.angles));
  checked(kHarmonics, static_cast<double>(settings.harmonics));
  checked(kRelevant, static_cast<double>(settings.relevant));
  checked(kRepeats, static_cast<double>(settings.repeats));
  checked(kSpectrumVariance, settings.spectrum_variance);
  const auto most = static_cast<double>(settings.angles - 1);
  if (settings.spectrum_variance > most) {
    throw InvalidArgument("spectrum_variance",
                          "be at most the number of angles minus 1, " + shown(most),
                          "found " + shown(settings.spectrum_variance));
  }
  if (settings.lengths.empty()) throw InvalidArgument("lengths", "have an entry");
  for (const double length : settings.lengths) checked(shared::kLength, length);
  settings_.relevant = std::min(settings.relevant, settings.angles);
  for (int i = 0; i < kTemperatures; ++i) {
    temperatures_.push_back(kColdest * std::pow(kHottest / kColdest, i / (kTemperatures - 1.0)));
  }
  draws_.resize(settings_.lengths.size());
}

LatentValues::Draw LatentValues::draw(std::size_t length) const {
  const auto keys = static_cast<Index>(settings_.lengths[length]);
  const Index count = settings_.angles;
  const std::uint64_t stream = static_cast<std::uint64_t>(done_) * draws_.size() + length;
  // The torus has no preferred point: the query is at angle 0, the keys are uniform.
  MatrixXd angles(keys, count);
  std::uint64_t drawn = 0;
  for (double& angle : angles.reshaped()) {
    angle = std::numbers::pi * (2 * random_unit(settings_.seed, stream, drawn++) - 1);
  }
  VectorXd norms = VectorXd::Ones(keys);
  if (settings_.norms != KeyNorms::equal) {
    norms = normal_matrix(keys, 1, settings_.seed, stream).cast<double>();
    for (double& norm : norms) norm = std::exp(kKeyNormSpread * norm);
  }
  // Eigenvalues of W, of mean 1: one for the first angle, one for the others.
  VectorXd spectrum = VectorXd::Ones(count);
  if (count > 1) {
    const auto others = static_cast<double>(count - 1);
    const double above = std::sqrt(settings_.spectrum_variance * others);
    spectrum.setConstant(1 - above / others);
    spectrum[0] = 1 + above;
  }
  const MatrixXd cosines = angles.array().cos().matrix();
  const VectorXd products = norms.cwiseProduct(cosines * spectrum) / static_cast<double>(count);
  VectorXd logits = products;
  if (settings_.norms == KeyNorms::corrected) logits -= norms.cwiseAbs2() / 2;

  const MatrixXd features = features_of(angles.leftCols(settings_.relevant), settings_.harmonics);
  const VectorXd wanted =
      features_of(MatrixXd::Zero(1, settings_.relevant), settings_.harmonics).row(0);
  Draw draw;
  const double most = logits.maxCoeff();
  VectorXd weights(keys);
  for (const double temperature : temperatures_) {
    for (Index t = 0; t < keys; ++t) weights[t] = exp_nonpositive((logits[t] - most) / temperature);
    weights /= weights.sum();
    draw.bias.push_back((features.transpose() * weights - wanted).squaredNorm());
    draw.variance.push_back(kNoise * kNoise * weights.squaredNorm());
  }
  MatrixXd precision = features.transpose() * features / (kNoise * kNoise);
  precision.diagonal().array() += 1;
  draw.posterior = wanted.dot(precision.llt().solve(wanted));
  const VectorXd linear =
      2 * norms.cwiseProduct(cosines.rowwise().sum()) / static_cast<double>(keys);
  draw.linear = (features.transpose() * linear - wanted).squaredNorm() +
                kNoise * kNoise * linear.squaredNorm();
  return draw;
}

bool LatentValues::advance() {
  if (done_ == settings_.repeats) return true;
  for (std::size_t i = 0; i < draws_.size(); ++i) draws_[i].push_back(draw(i));
  return ++done_ == settings_.repeats;
}

double LatentValues::progress() const {
  return static_cast<double>(done_) / static_cast<double>(settings_.repeats);
}

std::vector<ValuePoint> LatentValues::points() const {
  std::vector<ValuePoint> points;
  const auto n = static_cast<double>(done_);
  for (std::size_t i = 0; i < draws_.size(); ++i) {
    for (std::size_t k = 0; k < temperatures_.size(); ++k) {
      double bias = 0, variance = 0, square = 0;
      for (const Draw& draw : draws_[i]) {
        const double error = draw.bias[k] + draw.variance[k];
        bias += draw.bias[k];
        variance += draw.variance[k];
        square += error * error;
      }
      points.push_back({static_cast<Index>(settings_.lengths[i]), temperatures_[k],
                        mean_estimate(bias + variance, square, n), bias / n, variance / n});
    }
  }
  return points;
}

template <class Value>
double LatentValues::mean_without(std::size_t length, Index without, const Value& value) const {
  double sum = 0, used = 0;
  for (Index r = 0; r < done_; ++r) {
    if (r == without) continue;
    ++used;
    sum += value(draws_[length][static_cast<std::size_t>(r)]);
  }
  return sum / used;
}

LatentValues::Best LatentValues::best(std::size_t length, Index without) const {
  std::vector<double> errors;
  for (std::size_t k = 0; k < temperatures_.size(); ++k) {
    errors.push_back(mean_without(
        length, without, [&](const Draw& draw) { return draw.bias[k] + draw.variance[k]; }));
  }
  const auto least = std::min_element(errors.begin(), errors.end());
  const auto k = static_cast<std::size_t>(least - errors.begin());
  if (k == 0 || k + 1 == errors.size()) return {temperatures_[k], *least, false};
  // The vertex of the parabola through three points over the logarithm of the temperature.
  const double before = std::log(errors[k - 1]), here = std::log(errors[k]),
               after = std::log(errors[k + 1]);
  const double shift = (before - after) / (2 * (before - 2 * here + after));
  const double step = std::log(temperatures_[k + 1] / temperatures_[k]);
  return {temperatures_[k] * std::exp(shift * step), *least, true};
}

template <std::size_t N, class Value>
std::array<Estimate, N> LatentValues::jackknifed(const Value& value) const {
  const auto n = static_cast<double>(done_);
  const std::array<double, N> all = value(-1);
  std::array<double, N> sum{}, square{};
  for (Index r = 0; r < done_; ++r) {
    const std::array<double, N> part = value(r);
    for (std::size_t m = 0; m < N; ++m) {
      sum[m] += part[m];
      square[m] += part[m] * part[m];
    }
  }
  std::array<Estimate, N> estimates;
  for (std::size_t m = 0; m < N; ++m) {
    const double mean = sum[m] / n;
    estimates[m] = {all[m], std::sqrt((n - 1) * std::max(0.0, square[m] / n - mean * mean))};
  }
  return estimates;
}

std::vector<ValueLength> LatentValues::lengths() const {
  std::vector<ValueLength> rows;
  for (std::size_t i = 0; i < draws_.size(); ++i) {
    const auto over = [&](double Draw::*error) {
      return estimate_over(draws_[i].size(), [&](std::size_t r) { return draws_[i][r].*error; });
    };
    const Best least = done_ > 0 ? best(i, -1) : Best{kUndefined, kUndefined, false};
    Estimate ratio;
    if (done_ > 1) {
      ratio = jackknifed<1>([&](Index left_out) {
        return std::array{best(i, left_out).error / posterior_error(i, left_out)};
      })[0];
    }
    rows.push_back({static_cast<Index>(settings_.lengths[i]), least.temperature, least.error,
                    over(&Draw::posterior), over(&Draw::linear), ratio});
  }
  return rows;
}

double LatentValues::posterior_error(std::size_t length, Index without) const {
  return mean_without(length, without, [](const Draw& draw) { return draw.posterior; });
}

LatentValues::Slopes LatentValues::slopes() const {
  if (draws_.size() < 2 || done_ < 2) return {};
  std::vector<double> logs;
  for (const double length : settings_.lengths) logs.push_back(std::log(length));
  const auto slopes = jackknifed<4>([&](Index left_out) {
    std::vector<double> temperature, error, posterior;
    bool inside = true;
    for (std::size_t i = 0; i < draws_.size(); ++i) {
      const Best least = best(i, left_out);
      inside = inside && least.inside;
      temperature.push_back(std::log(least.temperature));
      error.push_back(std::log(least.error));
      posterior.push_back(std::log(posterior_error(i, left_out)));
    }
    const double falls = slope_of(logs, error), limit = slope_of(logs, posterior);
    return std::array{inside ? slope_of(logs, temperature) : kUndefined, falls, limit,
                      falls - limit};
  });
  return {slopes[0], slopes[1], slopes[2], slopes[3]};
}

}  // namespace eigenscope

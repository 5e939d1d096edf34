// Elementary functions that a compiler can vectorise inside a plain loop, natively and in WASM, and
// that give the same bits on both: libm does neither. In single precision unless noted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "support/bits.h"
#include "support/vector_width.h"

namespace eigenscope {

// The polynomial in x with these coefficients, that of the highest power first.
template <class... Rest>
EIGENSCOPE_INLINE double polynomial(double x, double highest, Rest... rest) {
  double sum = highest;
  ((sum = sum * x + rest), ...);
  return sum;
}

// `value`, or 0 where `zero` holds. By bits: GCC makes jumps of the operator ?:, and no vectors, where the condition
// compares a number that the value depends on.
EIGENSCOPE_INLINE float zero_where(bool zero, float value) {
  return bits_as<float>(bits_as<std::int32_t>(value) & (static_cast<std::int32_t>(zero) - 1));
}
EIGENSCOPE_INLINE double zero_where(bool zero, double value) {
  return bits_as<double>(bits_as<std::int64_t>(value) & (static_cast<std::int64_t>(zero) - 1));
}

// ln(x) for normal x in (0, 1], relative error below 3e-7: x = m 2^e with m in [sqrt(1/2), sqrt(2)),
// ln m = 2 artanh(s), s = (m - 1)/(m + 1), by its odd series.
EIGENSCOPE_INLINE float log_unit(float x) {
  const auto bits = bits_as<std::int32_t>(x);
  const std::int32_t shifted = bits - 0x3f3504f3;  // bits of sqrt(1/2)
  const auto exponent = static_cast<float>(shifted >> 23);
  const float m = bits_as<float>((shifted & 0x007fffff) + 0x3f3504f3);
  const float s = (m - 1.0f) / (m + 1.0f);
  const float z = s * s;
  const float series = 2.0f + z * (0.66666667f + z * (0.4f + z * (0.28571429f + z * 0.22222222f)));
  return s * series + exponent * 0.69314718f;
}

// ln x in double precision, relative error below 4e-16. The exponent becomes a number by the lowest bits of
// 2^52, for vectors of WebAssembly have no conversion from 64-bit integers.
EIGENSCOPE_INLINE double log_unit(double x) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcdu;
  const std::uint64_t shifted = bits_as<std::uint64_t>(x) - kRootHalf + (std::uint64_t{1} << 62);
  const std::uint64_t whole = (shifted >> 52) | 0x4330000000000000u;  // 2^52 + exponent + 2^10
  const double exponent = bits_as<double>(whole) - (0x1p52 + 1024);
  const double m = bits_as<double>((shifted & 0x000fffffffffffffu) + kRootHalf);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  const double series = polynomial(z, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11,
                                   2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0);
  return exponent * 6.93147180369123816490e-1 +
         (s * series + exponent * 1.90821492927058770002e-10);
}

// sin(pi x / 2) and cos(pi x / 2) for |x| <= 1/2 by their Taylor series in pi x / 2, |.| <= 0.7854.
EIGENSCOPE_INLINE float sin_quarter(float x) {
  const float y = 1.57079633f * x;
  const float z = y * y;
  return y * (1.0f + z * (-1.6666667e-1f + z * (8.3333333e-3f + z * -1.9841270e-4f)));
}
EIGENSCOPE_INLINE float cos_quarter(float x) {
  const float y = 1.57079633f * x;
  const float z = y * y;
  return 1.0f + z * (-0.5f + z * (4.1666667e-2f + z * (-1.3888889e-3f + z * 2.4801587e-5f)));
}

// exp(x) for x <= 0, relative error below 3e-7; 0 below -87, where the result leaves the normal
// range: x = n ln 2 + r with |r| <= ln(2)/2, exp(r) by its Taylor series, 2^n by its exponent bits.
EIGENSCOPE_INLINE float exp_nonpositive(float x) {
  const float clamped = std::max(x, -87.0f);
  const auto n = static_cast<std::int32_t>(clamped * 1.44269504f - 0.5f);  // rounds: x <= 0
  const auto whole = static_cast<float>(n);
  const float r = (clamped - whole * 0.693359375f) + whole * 2.12194440e-4f;
  const float series =
      1.0f +
      r * (1.0f + r * (0.5f + r * (1.6666667e-1f +
                                   r * (4.1666667e-2f + r * (8.3333333e-3f + r * 1.3888889e-3f)))));
  const float power = bits_as<float>((n + 127) << 23);
  return zero_where(x < -87.0f, series * power);
}

// exp x in double precision, relative error below 4e-16; 0 below -708. Adding 1.5 * 2^52 rounds to
// an integer that then lies in the lowest bits.
EIGENSCOPE_INLINE double exp_nonpositive(double x) {
  constexpr double kRounder = 6755399441055744.0;
  const double clamped = std::max(x, -708.0);
  const double shifted = clamped * 1.4426950408889634 + kRounder;
  const double whole = shifted - kRounder;
  const double r =
      (clamped - whole * 6.93147180369123816490e-1) - whole * 1.90821492927058770002e-10;
  const double series =
      polynomial(r, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0);
  const auto exponent = bits_as<std::uint64_t>(shifted) + 1023u;
  const auto power = bits_as<double>(exponent << 52);
  return zero_where(x < -708.0, series * power);
}

// Phi(x), the normal distribution's function, absolute error below 3e-7; relative error below 1e-6 from -4 on and 6e-6
// from -13 on, below which it is 0: exp(-x^2/2) times a polynomial in 1/(1 + 0.3 |x|), fitted to the
// least relative error.
EIGENSCOPE_INLINE float normal_cdf(float x) {
  const float size = std::abs(x), t = 1.0f / (1.0f + 0.3f * size);
  const float series =
      t * (0.119624533f +
           t * (0.120826408f +
                t * (0.099464491f +
                     t * (0.130034506f +
                          t * (-0.0564536788f +
                               t * (0.209350303f + t * (-0.158936024f + t * 0.0360893942f)))))));
  const float tail = exp_nonpositive(-0.5f * size * size) * series;
  return x < 0 ? tail : 1.0f - tail;
}
// The normal distribution function of doubles by libm, whose bits may differ in WASM.
EIGENSCOPE_INLINE double normal_cdf(double x) {
  return 0.5 * std::erfc(-x * 0.70710678118654752440);
}

// tanh(x), absolute error below 3e-7 and 5e-16; by exp of what is not positive, so without overflow.
template <class Scalar>
EIGENSCOPE_INLINE Scalar vector_tanh(Scalar x) {
  const Scalar e = exp_nonpositive(-2 * std::abs(x));
  return std::copysign((1 - e) / (1 + e), x);
}

}  // namespace eigenscope

// Number formats: every code of the 16-bit types against the formula of its definition.
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "catch.h"
#include "checkpoint/dtype.h"
#include "checkpoint_failure.h"
#include "safetensors_writer.h"
#include "support/bits.h"

using namespace eigenscope;
using eigenscope::testing::Bytes;
using eigenscope::testing::failure_of;

namespace {

/// sign, exponent and fraction put together in real arithmetic (IEEE 754-2019, 3.4).
double by_definition(unsigned code, int exponent_bits, int fraction_bits) {
  const int sign = (code >> (exponent_bits + fraction_bits)) != 0 ? -1 : 1;
  const int all_ones = (1 << exponent_bits) - 1;
  const int bias = all_ones / 2;
  const int exponent = static_cast<int>(code >> fraction_bits) & all_ones;
  const double fraction =
      std::ldexp(static_cast<double>(code & ((1u << fraction_bits) - 1)), -fraction_bits);
  if (exponent == all_ones && fraction != 0) return std::numeric_limits<double>::quiet_NaN();
  if (exponent == all_ones) return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1 + fraction, exponent - bias);
}

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

/// Codes for which a conversion and the definition disagree.
template <typename Convert>
int disagreements(Convert convert, int exponent_bits, int fraction_bits) {
  int count = 0;
  for (unsigned code = 0; code < 65536; ++code) {
    const double converted = convert(static_cast<std::uint16_t>(code));
    count += same(converted, by_definition(code, exponent_bits, fraction_bits)) ? 0 : 1;
  }
  return count;
}

double decode_one(Dtype dtype, const Bytes& raw) {
  double value = 0;
  decode(dtype, raw, std::span(&value, 1));
  return value;
}

}  // namespace

TEST_CASE("all 65536 codes of F16 and of BF16 have the value of their definition", "[checkpoint]") {
  CHECK(disagreements(half_to_float, 5, 10) == 0);
  CHECK(disagreements(bfloat16_to_float, 8, 7) == 0);
}

TEST_CASE("known values of the 16-bit types", "[checkpoint]") {
  CHECK(half_to_float(0x3c00) == 1.0f);
  CHECK(half_to_float(0x7bff) == 65504.0f);
  CHECK(half_to_float(0x0001) == 0x1p-24f);
  CHECK(half_to_float(0x83ff) == -1023 * 0x1p-24f);
  CHECK(std::signbit(half_to_float(0x8000)));
  CHECK(bfloat16_to_float(0xc049) == -3.140625f);
}

TEST_CASE("NaN of every type is read as a quiet NaN, infinity as infinity", "[checkpoint]") {
  Bytes signalling32;
  Bytes signalling64;
  Bytes infinite64;
  testing::append(signalling32, std::uint32_t{0x7f800001});
  testing::append(signalling64, std::uint64_t{0xfff0000000000001});
  testing::append(infinite64, std::uint64_t{0xfff0000000000000});
  const double widened32 = decode_one(Dtype::kF32, signalling32);
  const double widened64 = decode_one(Dtype::kF64, signalling64);
  CHECK(std::isnan(widened32));
  CHECK(std::isnan(widened64));
  CHECK((bits_as<std::uint64_t>(widened64) >> 51 & 1u) == 1u);
  CHECK(decode_one(Dtype::kF64, infinite64) == -std::numeric_limits<double>::infinity());
  CHECK((bits_as<std::uint32_t>(half_to_float(0x7c01)) >> 22 & 1u) == 1u);
  CHECK((bits_as<std::uint32_t>(bfloat16_to_float(0x7f81)) >> 22 & 1u) == 1u);
}

TEST_CASE("names and sizes of the types", "[checkpoint]") {
  const std::string all[] = {"BOOL",    "F4",      "F6_E2M3", "F6_E3M2",     "U8",          "I8",
                             "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16",
                             "U16",     "F16",     "BF16",    "I32",         "U32",         "F32",
                             "C64",     "F64",     "I64",     "U64"};
  std::set<std::string> decodable;
  for (const std::string& name : all) {
    const auto dtype = dtype_from_name(name);
    REQUIRE(dtype.has_value());
    CHECK(dtype_name(*dtype) == name);
    if (is_decodable(*dtype)) decodable.insert(name);
  }
  CHECK(decodable == std::set<std::string>{"F16", "BF16", "F32", "F64"});
  CHECK(dtype_bits(Dtype::kF4) == 4);
  CHECK(dtype_bits(Dtype::kF6E3M2) == 6);
  CHECK(dtype_bits(Dtype::kC64) == 64);
  CHECK_FALSE(dtype_from_name("f16").has_value());
  CHECK_FALSE(dtype_from_name("").has_value());
}

TEST_CASE("decode refuses types that are not numbers and bytes of another count", "[checkpoint]") {
  double value = 0;
  const std::span out(&value, 1);
  CHECK(failure_of([&] { decode(Dtype::kI32, Bytes(4), out); }).item == "dtype");
  CHECK(failure_of([&] { decode(Dtype::kF32, Bytes(3), out); }).item == "dtype");
  CHECK(failure_of([&] { decode(Dtype::kF16, Bytes(2), out); }).kind == "none");
}

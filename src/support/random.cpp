#include "support/random.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/vector_math.h"

namespace eigenscope {
namespace {

std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

NormalStream::NormalStream(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t mixer = seed;
  mixer = split_mix(mixer) ^ (stream * 0xd1342543de82ef95u + 0x632be59bd9b4e019u);
  for (Lanes& word : state_) {
    for (std::uint32_t& lane : word) lane = static_cast<std::uint32_t>(split_mix(mixer) >> 32);
  }
}

NormalStream::Lanes NormalStream::next() {
  auto& [s0, s1, s2, s3] = state_;
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) {
    out[lane] = std::rotl(s0[lane] + s3[lane], 7) + s0[lane];
    const std::uint32_t t = s1[lane] << 9;
    s2[lane] ^= s0[lane];
    s3[lane] ^= s1[lane];
    s1[lane] ^= s2[lane];
    s0[lane] ^= s3[lane];
    s2[lane] ^= t;
    s3[lane] = std::rotl(s3[lane], 11);
  }
  return out;
}

void NormalStream::next_block(float* out) {
  const Lanes radius_bits = next();
  const Lanes angle_bits = next();
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto top = static_cast<std::int32_t>(radius_bits[lane] >> 8);
    const float uniform = (static_cast<float>(top) + 0.5f) * 0x1p-24f;
    const float radius = std::sqrt(-2.0f * log_unit(uniform));
    // The angle is a quadrant (the two top bits) and a position in [-1/2, 1/2) of a quarter turn.
    // Quadrants are chosen by masks: a branch would keep the loop from vectorising.
    const std::uint32_t turn = angle_bits[lane];
    const auto fraction = static_cast<std::int32_t>((turn >> 6) & 0xffffffu);
    const float position = (static_cast<float>(fraction) + 0.5f) * 0x1p-24f - 0.5f;
    const auto sine = bits_as<std::uint32_t>(sin_quarter(position));
    const auto cosine = bits_as<std::uint32_t>(cos_quarter(position));
    const std::uint32_t swap = 0u - (turn >> 31);
    const float signed_radius =
        bits_as<float>(bits_as<std::uint32_t>(radius) ^ ((turn << 1) & 0x80000000u));
    out[lane] = signed_radius * bits_as<float>((cosine & ~swap) | (sine & swap));
    out[lane + kLanes] =
        signed_radius * bits_as<float>((sine & ~swap) | ((cosine ^ 0x80000000u) & swap));
  }
}

void NormalStream::fill(std::span<float> out) {
  constexpr std::size_t kBlock = 2 * kLanes;
  std::size_t done = 0;
  for (; done + kBlock <= out.size(); done += kBlock) next_block(out.data() + done);
  if (done < out.size()) {
    std::array<float, kBlock> rest;
    next_block(rest.data());
    std::copy_n(rest.begin(), out.size() - done, out.begin() + static_cast<std::ptrdiff_t>(done));
  }
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  std::uint64_t state = seed;
  state = split_mix(state) ^ (stream * 0xd1342543de82ef95u + 0x632be59bd9b4e019u);
  state = split_mix(state) ^ (counter * 0x9e3779b97f4a7c15u);
  return split_mix(state);
}

}  // namespace eigenscope

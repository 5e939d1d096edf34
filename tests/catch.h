// Catch2 of version 2 or 3 under one set of names:
// TEST_CASE, CHECK_THAT and the like, Approx, WithinAbs, WithinRel, ContainsSubstring, StartsWith, EndsWith.
#pragma once

#if __has_include(<catch_amalgamated.hpp>)
#include <catch_amalgamated.hpp>
using Catch::Approx;
#elif __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>

#include <string>

namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& part,
                              CaseSensitive::Choice choice = CaseSensitive::Yes) {
  return Contains(part, choice);
}
}  // namespace Catch::Matchers
#endif

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

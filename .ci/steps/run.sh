#!/usr/bin/env bash
# run.sh <step> <command...>: a step of ./check, whose output is also in build/check/<step>.log. The
# command is a program or one of the functions below or in .ci/setup.sh.
set -euo pipefail
. .ci/setup.sh

build() { cmake --preset "$1" -DBUILD_TESTING=ON && cmake --build --preset "$1"; }

# The fuzz targets beside the tests, so that the library is compiled once for both. The test cases, which
# the sanitizers do not look into, are those of the native build.
build_sanitized() {
  cmake --preset sanitize -DEIGENSCOPE_FUZZ=ON \
    -DEIGENSCOPE_TEST_CASES="$PWD/build/native/tests/libeigenscope-test-cases.a" &&
    cmake --build --preset sanitize --target eigenscope-tests eigenscope-fuzz
}

run_tests() {
  local status=0 log=build/$1/Testing/Temporary/LastTest.log
  ctest --preset "$1" -j2 -E '^consumer$' || status=$? # a step of its own
  # The sums of what passed, which ctest keeps to itself; it shows what failed. A program that ends
  # without a sum ran nothing.
  grep -a 'All tests passed' "$log"
  if [ "$(grep -ac 'All tests passed' "$log")" != "$(grep -c '^Command:' "$log")" ]; then
    echo "A test program was skipped or ended without a summary of its tests."
    status=1
  fi
  return $status
}

# A short run of one target, from its seeds and what earlier runs found, with its words.
fuzz() {
  local found=build/sanitize/corpus/$1
  mkdir -p "$found"
  "build/sanitize/tests/fuzz-$1" -max_total_time=5 -timeout=10 -print_final_stats=1 \
    -dict="tests/fuzz/$1.dict" -artifact_prefix="build/sanitize/$1-" "$found" "tests/fuzz/corpus/$1"
}

step=$1
shift
TIMEFORMAT="$step: %R s, of processors %U s and in the kernel %S s"
time "$@" </dev/null 2>&1 | tee "build/check/$step.log"

#!/usr/bin/env bash
# run.sh <step> [pathspec...] -- <command...>: a step of ./check, whose output is also in
# build/check/<step>.log. The command is a program or one of the functions below or in .ci/setup.sh. With
# EIGENSCOPE_SKIP_PASSED set, a step that passed with the same files (those of the pathspecs of git) and the
# same tools shows what it printed then.
set -euo pipefail
. .ci/setup.sh

build() { cmake --preset "$1" -DBUILD_TESTING=ON && compile "$1"; }

# At these rooms of src, made of parsers, readers and kernels, the sanitizers look in ./check --all only; those of
# theory are compiled, since readers need them.
composed="inference;simulation;statistics;collapse;prediction;training;experiment;labs;operations"
theory="tokens;spectrum;propagation"
all_only="^(${composed//;/|}|${theory//;/|})\$"

# build_sanitized parts|all: without the composed rooms and the tests of theory, or with them. The fuzz targets beside
# the tests, so that the library is compiled once for both.
build_sanitized() {
  local left_out=$composed untested=$theory
  if [ "$1" = all ]; then left_out="" untested=""; fi
  cmake --preset sanitize -DEIGENSCOPE_FUZZ=ON "-DEIGENSCOPE_WITHOUT=$left_out" "-DEIGENSCOPE_UNTESTED=$untested" &&
    compile sanitize --target eigenscope-tests eigenscope-fuzz
}

# run_tests <preset> [option of ctest...]
run_tests() {
  local status=0 log=build/$1/Testing/Temporary/LastTest.log
  ctest --preset "$1" -j2 -E '^consumer$' "${@:2}" || status=$? # a step of its own
  # The sums of what passed, which ctest keeps to itself; it shows what failed. A program that ends
  # without a sum ran nothing.
  grep -a 'All tests passed' "$log"
  if [ "$(grep -ac 'All tests passed' "$log")" != "$(grep -c '^Command:' "$log")" ]; then
    echo "A test program was skipped or ended without a summary of its tests."
    status=1
  fi
  return $status
}

# test_sanitized parts|rest
test_sanitized() {
  local choice=--label-exclude
  if [ "$1" = rest ]; then choice=--label-regex; fi
  run_tests sanitize $choice "$all_only"
}

# A short run of one target, from its seeds and what earlier runs found, with its words.
fuzz() {
  local found=build/sanitize/corpus/$1
  mkdir -p "$found"
  "build/sanitize/tests/fuzz-$1" -max_total_time=2 -timeout=10 -print_final_stats=1 \
    -dict="tests/fuzz/$1.dict" -artifact_prefix="build/sanitize/$1-" "$found" "tests/fuzz/corpus/$1"
}

# Empty outside of a checkout of git, which knows what is no product. The list of packages changes with each
# that is installed, so with headers and libraries too.
fingerprint() {
  local files
  files=$(git ls-files -z --cached --others --exclude-standard -- "$@" | xargs -0 cksum 2>&1) || true
  if [ -z "$files" ]; then return; fi
  { echo "$files" && stat -L -c '%n %s %Y' /var/lib/dpkg/status "$(command -v "$CXX")" \
    "$(command -v em++)" "$(command -v node)" "$(find_browser)" 2>&1; } | cksum
}

step=$1
shift
files=()
while [ "$1" != -- ]; do files+=("$1") && shift; done
shift

log=build/check/$step.log passed=build/check/$step.passed now=""
if [ ${#files[@]} != 0 ]; then now=$(fingerprint "${files[@]}" || true); fi
if [ -n "${EIGENSCOPE_SKIP_PASSED:-}" ] && [ -n "$now" ] && [ "$now" = "$(cat "$passed" 2>/dev/null)" ]; then
  # sum.py counts these lines.
  echo "$step passed with these files and tools before:"
  cat "$log"
  exit
fi
seconds=build/check/$step.seconds # which table.mjs reads
# Of a build, which takes seconds where nothing changed, the table has the first time in this clone.
if [ ${#files[@]} = 0 ] && [ -e "$passed" ]; then seconds=build/check/$step.again; fi
rm -f "$passed"
TIMEFORMAT="$step: %R s, of processors %U s and in the kernel %S s"
trap 'cat "$seconds"' EXIT
{ time "$@" </dev/null 2>&1 | tee "$log"; } 2>"$seconds"
echo "$now" >"$passed"

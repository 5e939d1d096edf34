# shellcheck shell=bash
# The steps of ./check, sourced by it. A step's output goes to build/check/<step>.log, its outcome to
# build/check/<step>.result: "<ok|FAILED|skipped> <tests passed> <tests failed> <seconds>".

steps=build/check
rm -rf $steps
mkdir -p $steps

# Adds up what Catch2 and Vitest say of their tests in a log: "<passed> <failed>".
count_tests() {
  sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
    /^All tests passed \(.* in [0-9]+ test case/ { sub(/.* in /, ""); passed += $1 }
    /^test cases:|^ *Tests  / {
      for (i = 2; i <= NF; i++) {
        if ($i ~ /^passed/) passed += $(i - 1)
        if ($i ~ /^failed/ && $(i + 1) != "as") failed += $(i - 1)
      }
    }
    END { print passed + 0, failed + 0 }'
}

finish() {
  local name=$1 outcome=$2 passed=$3 failed=$4 seconds=$5
  printf '%-8s%-18s%5d s\n' "$outcome" "$name" "$seconds"
  echo "$outcome $passed $failed $seconds" >"$steps/$name.part"
  mv "$steps/$name.part" "$steps/$name.result"
}

# step <name> <command...>; a step without tests of its own counts as one.
step() {
  local name=$1 log=$steps/$1.log start=$SECONDS outcome=ok passed failed
  shift
  logged "$log" "$@" || outcome=FAILED
  read -r passed failed < <(count_tests "$log")
  if [ $outcome = FAILED ] && [ "$failed" = 0 ]; then failed=1; fi
  if [ $((passed + failed)) = 0 ]; then passed=1; fi
  finish "$name" $outcome "$passed" "$failed" $((SECONDS - start))
}

# after "<steps>" <name> <command...>: a step that waits for others, and is left out when one failed.
after() {
  local earlier=$1 other
  shift
  for other in $earlier; do
    until [ -e "$steps/$other.result" ]; do sleep 0.2; done
    if ! grep -q ^ok "$steps/$other.result"; then
      finish "$1" skipped 0 1 0
      return
    fi
  done
  step "$@"
}

# The table of all steps, and the sum; false when something failed.
summary() {
  local file outcome passed failed seconds all_passed=0 all_failed=0
  printf '\n%-18s%-9s%8s%8s%8s\n' step outcome passed failed time
  for file in "$steps"/*.result; do
    read -r outcome passed failed seconds <"$file"
    printf '%-18s%-9s%8d%8d%6d s\n' "$(basename "$file" .result)" "$outcome" "$passed" "$failed" "$seconds"
    all_passed=$((all_passed + passed))
    all_failed=$((all_failed + failed))
  done
  printf '\n%d passed, %d failed\n' $all_passed $all_failed
  [ $all_failed = 0 ]
}

"""Adds up the tests of all steps of ./check: sum.py JUNIT_FILE

A step counts the tests of which Catch2 or Vitest tell in its output, or as one test where there are none;
a step that failed or did not run counts one failure at least.
"""

import re
import sys
from xml.etree import ElementTree

COUNTS = re.compile(r"(\d+) (passed|failed)(?! as)")
all_passed = all_failed = before = 0
for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
    passed = failed = 0
    output = (case.findtext("system-out") or "").splitlines()
    before += any(line.endswith(" passed with these files and tools before:") for line in output)
    for line in output:
        if found := re.match(r"All tests passed \(.* in (\d+) test case", line):
            passed += int(found[1])
        elif re.match(r"test cases:| *Tests  ", line):
            for number, outcome in COUNTS.findall(line):
                passed += int(number) if outcome == "passed" else 0
                failed += int(number) if outcome == "failed" else 0
    if case.get("status") != "run":
        failed = max(failed, 1)
    all_passed += passed if passed + failed else 1
    all_failed += failed
if before:
    print(f"\n{before} steps passed with the same files and tools before: ./check --again runs them too.")
print(f"\n{all_passed} passed, {all_failed} failed")

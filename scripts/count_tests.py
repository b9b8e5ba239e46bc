# SPDX-License-Identifier: Apache-2.0
"""Prints each failed test of an xUnit report of swift test with what it said, then "N passed, N failed".

usage: count_tests.py REPORT
"""

import sys
import xml.etree.ElementTree as tree

try:
    report = tree.parse(sys.argv[1])
except tree.ParseError:
    # swift test says nothing of a test process that a signal ended.
    print("FAIL  the test process ended before its report was written: by a signal, or it crashed (see above)")
    print("0 passed, 1 failed")
    sys.exit(0)

passed = failed = skipped = 0
for case in report.iter("testcase"):
    flaws = case.findall("failure") + case.findall("error")
    if flaws:
        failed += 1
        for flaw in flaws:
            said = flaw.get("message") or flaw.text or ""
            print(f"FAIL  {case.get('classname')} {case.get('name')}: {said.strip()}")
    elif case.find("skipped") is not None:
        skipped += 1
    else:
        passed += 1
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))

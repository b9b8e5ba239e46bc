# SPDX-License-Identifier: Apache-2.0
"""Prints each failed test in xUnit reports of swift test with its message, then "N passed, N failed".

usage: count_tests.py REPORT…
"""

import sys
import xml.etree.ElementTree as tree

passed = failed = skipped = 0
for path in sys.argv[1:]:
    try:
        report = tree.parse(path)
    except (OSError, tree.ParseError):
        # swift test does not report a test process that a signal ended.
        print(f"FAIL  {path}: the test process ended before it was written: by a signal, or it crashed (see above)")
        failed += 1
        continue
    for case in report.iter("testcase"):
        flaws = case.findall("failure") + case.findall("error")
        if flaws:
            failed += 1
            for flaw in flaws:
                message = flaw.get("message") or flaw.text or ""
                print(f"FAIL  {case.get('classname')} {case.get('name')}: {message.strip()}")
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))

# SPDX-License-Identifier: Apache-2.0
"""Writes scripts/test_seconds.txt, by which scripts/test.sh shares the test targets between two processes.

usage: test_seconds.py REPORT…   xUnit reports of a whole run: .build/test-reports/*.xml
"""

import collections
import pathlib
import sys
import xml.etree.ElementTree as tree

HEAD = "# SECONDS TARGET: how long the tests of a target take together, written by scripts/test_seconds.py\n"

if len(sys.argv) < 2:
    sys.exit(__doc__)
seconds = collections.Counter()
for path in sys.argv[1:]:
    for case in tree.parse(path).iter("testcase"):
        seconds[case.get("classname").split(".")[0]] += float(case.get("time"))
lines = [f"{round(time)} {target}\n" for target, time in seconds.most_common()]
(pathlib.Path(__file__).parent / "test_seconds.txt").write_text(HEAD + "".join(lines))

# SPDX-License-Identifier: Apache-2.0
"""Compares the output that a page shows with the real one."""

import re
import textwrap

# The most characters in a line of an output of one column.
WIDTH = 110
MASKS = [
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?( ?UTC|Z|[+-]\d\d(:?\d\d)?)?", "TIME"),
    (r"\b\d\d:\d\d:\d\d(\.\d+)?", "TIME"),
    (r"\b20\d\d-\d\d-\d\d\b", "DATE"),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID"),
    (r"\b\d+\.\d+\b(?!\.\d)", "N"),
    # The duration that libcurl measured.
    (r"\bafter \d+ ms\b", "after N ms"),
    (r"-{3,}(\+-{3,})*", "---"),
    (r"[ \t]+", " "),
]


def trimmed(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n")).rstrip()


def masked(text):
    """The words of an output, without what differs from run to run. Line breaks do not count, so a page may wrap lines."""
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return " ".join(text.split())


def is_equal(shown, real):
    """Whether the real output is what the page shows."""
    pattern = ".*".join(re.escape(masked(part)) for part in re.split(r"^…$", shown, flags=re.M))
    return re.fullmatch(pattern, masked(real)) is not None


def folded(text):
    """The output with its long lines wrapped, as far as it has one column."""
    lines = text.split("\n")
    if "|" in text or max(map(len, lines)) <= WIDTH:
        return text
    return "\n".join(
        "-" * 40 if set(line) == {"-"} else textwrap.fill(line.strip(), WIDTH, initial_indent=" ", subsequent_indent="   ")
        for line in lines)

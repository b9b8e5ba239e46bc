# SPDX-License-Identifier: Apache-2.0
"""Counts places in prose that are hard to read, and compares each area with its limit in scripts/prose_limits.txt.

    check_prose.py            prints each area that is above its limit, and ends with 1 if there is one
    check_prose.py PATH...    prints each place in these files
"""

import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMITS = ROOT / "scripts/prose_limits.txt"
# The highest number of words in a sentence, in a paragraph, in the median paragraph of a page, and in the name of a test.
SENTENCE = 30
PARAGRAPH = 70
MEDIAN = 35
NAME = 17
COMMENT = {".swift": r"\s*///?(?!/)", ".c": r"\s*//+", ".h": r"\s*//+", ".sql": r"--", ".py": r"\s*#", ".sh": r"\s*#"}
# A pronoun in the place of a noun makes the reader look for the noun.
PUZZLES = [
    (re.compile(r"\b(that|those) of\b"), "repeat the noun"),
    (re.compile(r"(^|[,;:] )(who|whoever|what|whatever|that which)\b(?! (if|to)\b)"), "name the person or the thing"),
    (re.compile(r"\b(told|tells)\b"), "say who reports what"),
    (re.compile(r"\bnews\b"), "say notification, or name the change"),
    (re.compile(r"\bbeside\b"), "say next to, together with, while"),
    (re.compile(r"\b(is|are) none\b|\bfor ever\b|\bfor good\b"), "say what is true, and until when"),
]


def paragraphs(path):
    """(line number, text) of each paragraph of a page, or of each block of comments."""
    text = path.read_text(encoding="utf-8")
    mark = COMMENT.get(path.suffix)
    block, start, in_code = [], 0, False
    for number, line in enumerate(text.split("\n") + [""], 1):
        if mark:
            found = re.match(mark + r"(?:\s(.*))?$", line)
            words = found[1] or "" if found and "SPDX" not in line and "#!" not in line else ""
        else:
            in_code ^= line.lstrip().startswith("```")
            words = "" if in_code or re.match(r"\s*(\||```|#|<|    )", line) else line
        item = re.match(r"\s*([-*·] |\d+\. )", words)
        if block and (not words.strip() or item):
            yield start, " ".join(block)
            block = []
        if words.strip():
            if not block:
                start = number
            block.append(words.strip())
    if block:
        yield start, " ".join(block)


def puzzles(number, text):
    for pattern, advice in PUZZLES:
        for match in pattern.finditer(text):
            yield number, f"{advice}: {text[max(0, match.start() - 30):match.end() + 30]}"


def findings(path):
    """(line number, remark) of each place that is hard to read."""
    for number, name in names(path):
        if len(name.split()) > NAME:
            yield number, f"a name of {len(name.split())} words: {name}"
        yield from puzzles(number, name)
    lengths = []
    for number, raw in paragraphs(path):
        text = re.sub(r"`[^`]*`", "x", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", raw))
        lengths.append(len(text.split()))
        if lengths[-1] > PARAGRAPH:
            yield number, f"a paragraph of {lengths[-1]} words"
        for sentence in re.split(r"(?<=[.!?;:])\s+", text):
            if len(sentence.split()) > SENTENCE:
                yield number, f"a sentence of {len(sentence.split())} words: {sentence[:60]}"
        yield from puzzles(number, text)
    if path.suffix == ".md" and lengths and statistics.median(lengths) > MEDIAN:
        yield 1, f"a page whose median paragraph has {statistics.median(lengths):g} words"


def names(path):
    """(line number, name) of each test. A name in backticks is a sentence."""
    if path.suffix == ".swift":
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            for name in re.findall(r"(?:func |^ +)`([^`]+)`\(", line):
                yield number, name


def files(pathspec):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *pathspec.split(",")],
        cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    kept = [ROOT / name for name in listed if name.endswith((".md", *COMMENT))]
    return [path for path in kept if path.is_file()]


def main():
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            for number, remark in findings(pathlib.Path(name).resolve()):
                print(f"{name}:{number}: {remark}")
        return 0
    status = 0
    for line in LIMITS.read_text(encoding="utf-8").split("\n"):
        if not line or line.startswith("#"):
            continue
        area, limit = line.split()[:2]
        paths = files(area)
        count = sum(1 for path in paths for _ in findings(path))
        # A line of prose is 18 words here, so that the rate does not depend on line breaks.
        lines = sum(text.count(" ") // 18 + 1 for path in paths for _, text in paragraphs(path))
        rate = 1000 * count / max(1, lines)
        if rate > float(limit):
            print(f"{area}: {rate:.0f} places in 1,000 lines of prose, at most {limit}; see check_prose.py PATH")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

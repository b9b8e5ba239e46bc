# SPDX-License-Identifier: Apache-2.0
"""Lists the texts that users may see, from the string literals of the sources, for review.

    list_messages.py            prints FILE:LINE: TEXT for each text of at least four words
    list_messages.py --check    prints each text that is too long or has words that puzzle a reader, and ends with 1 if there is one
"""

import re
import sys

import check_prose

# The most words of a text. An error and its hint are two texts.
LONGEST = 25
# Adjacent literals joined by || or + are one text.
SQL = re.compile(r"'((?:[^']|'')*)'(?:\s*\|\|\s*'((?:[^']|'')*)')*")
SWIFT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Literals of these files are no messages: SQL statements, HTML and CSS, names of hostile inputs.
SKIPPED = re.compile(r"StoreStatement|SearchPath|/Audit/|\.css|PGConnectionString|Sources/(PrivateCluster|HostileTarget)/")


def texts(path):
    """(line number, text) of each literal that reads like a sentence."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".sql":
        content = re.sub(r"^\s*--.*$", "", content, flags=re.M)
        content = re.sub(r"comment on .*?;\n", lambda found: "\n" * found[0].count("\n"), content, flags=re.S)
        pattern = SQL
    else:
        content = re.sub(r"^\s*//.*$", "", content, flags=re.M)
        content = re.sub(r'""".*?"""', lambda found: "\n" * found[0].count("\n"), content, flags=re.S)
        pattern = SWIFT
    for found in pattern.finditer(content):
        text = re.sub(r"'\s*\|\|\s*'", "", found[0]).strip("'\"")
        words = [word for word in text.split() if re.fullmatch(r"[A-Za-z][a-z']*[,.;:]?", word)]
        if len(words) >= 4 and not re.match(r"\s*(select|insert|update|delete|with|set|create|from|and|where)\b", text):
            yield content[: found.start()].count("\n") + 1, " ".join(text.split())


def main():
    status = 0
    for path in check_prose.files("migrations/functions/*.sql,migrations/views/*.sql,Sources/*.swift"):
        name = path.relative_to(check_prose.ROOT)
        if SKIPPED.search(str(name)):
            continue
        for line, text in texts(path):
            if sys.argv[1:] != ["--check"]:
                print(f"{name}:{line}: {text}")
                continue
            # Expressions of SQL and jsonpath are no sentences.
            words = [] if re.search(r"\|\||\bcase when\b|like_regex", text) else text.split()
            if len(words) > LONGEST:
                print(f"{name}:{line}: a text of {len(words)} words: {text}")
                status = 1
            for number, remark in check_prose.puzzles(line, text):
                print(f"{name}:{number}: {remark}")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Prints links of pages that lead to a missing file or heading, and ends with 1 if there is one. Links to the web are not followed."""

import re
import sys

import check_prose

LINK = re.compile(r"!?\[[^]]*\]\(([^)\s]+)\)")


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def headings(text):
    """The anchors that GitHub makes of the headings."""
    for heading in re.findall(r"^#+ (.*)$", without_code(text), re.M):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.replace("`", ""))
        yield re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")


def main():
    pages = {path: path.read_text(encoding="utf-8") for path in check_prose.files("*.md")}
    status = 0
    for path, text in pages.items():
        for link in LINK.findall(re.sub(r"`[^`]*`", "", without_code(text))):
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            if re.match(r"\w+:", link):
                continue
            if not target.exists():
                fault = "there is no such file"
            elif anchor and anchor not in headings(pages.get(target, "")):
                fault = "there is no such heading"
            else:
                continue
            print(f"{path.relative_to(check_prose.ROOT)}: {link}: {fault}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Writes Markdown tables between two markers of a page: <!-- begin NAME --> and <!-- end NAME -->."""

import re


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def code(text):
    """Text as code, which no link or emphasis changes."""
    return "`" + str(text).replace("`", "'").replace("|", "¦").replace("\n", " ") + "`"


def lines(heads, rows):
    """A table without padding. Cells that begin with a backquote are code and stay as they are."""
    table = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        table.append("| " + " | ".join(c if str(c).startswith("`") else cell(c) for c in row) + " |")
    return "\n".join(table)


def write(path, name, text):
    """Replaces the text between the markers."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    page = path.read_text()
    pattern = re.compile(re.escape(begin) + r".*?" + re.escape(end), re.S)
    if len(pattern.findall(page)) != 1:
        raise SystemExit(f"{path}: the markers of {name} must stand there once")
    path.write_text(pattern.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", page))

# SPDX-License-Identifier: Apache-2.0
"""Replaces the part of a page of the docs that a run writes."""

from pathlib import Path


def replace(page: Path, begin: str, end: str, text: str) -> None:
    """Writes the text between the two marks of the page. Both marks stay."""
    before, mark, rest = page.read_text().partition(begin)
    _, last, after = rest.partition(end)
    if not mark or not last:
        raise SystemExit(f"bench: {page} lacks the line {begin} or {end}")
    page.write_text(before + begin + text + end + after)

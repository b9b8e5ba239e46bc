# SPDX-License-Identifier: Apache-2.0
"""Fails if the files or the folders of a C target use each other in a circle.

A file uses another one if it names a function or variable that the other one defines. So the files of a target form
layers, and each can be understood without the files above it.
"""

import re
import sys
from pathlib import Path

COMMENTS_AND_TEXTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^#[^\n]*', re.S | re.M)
# A definition begins in the first column. A static one is not visible to other files.
FUNCTION = re.compile(r"^(?!static\b|typedef\b)[A-Za-z_][\w \t*]*?\b(\w+)\([^;{}]*\)\s*\{", re.M)
VARIABLE = re.compile(r"^(?!static\b|typedef\b|extern\b)[A-Za-z_][\w \t*]*?\b(\w+)(?:\[[^\]]*\])?\s*=", re.M)


def find_uses(folder: Path) -> dict[str, dict[str, set[str]]]:
    """For each file of a folder, the other files that it uses, with the names."""
    texts = {str(file.relative_to(folder)): COMMENTS_AND_TEXTS.sub(" ", file.read_text()) for file in sorted(folder.glob("**/*.c"))}
    home = {name: file for file, text in texts.items() for name in FUNCTION.findall(text) + VARIABLE.findall(text)}
    uses: dict[str, dict[str, set[str]]] = {}
    for file, text in texts.items():
        uses[file] = {}
        for name in set(re.findall(r"\w+", text)):
            if name in home and home[name] != file:
                uses[file].setdefault(home[name], set()).add(name)
    return uses


def find_folder_uses(uses: dict[str, dict[str, set[str]]]) -> dict[str, dict[str, set[str]]]:
    """The same for the folders below a target."""
    folders: dict[str, dict[str, set[str]]] = {str(Path(file).parent): {} for file in uses}
    for file, used_files in uses.items():
        for used, names in used_files.items():
            user, other = str(Path(file).parent), str(Path(used).parent)
            if user != other:
                folders[user].setdefault(other, set()).update(names)
    return folders


def find_circle(uses: dict[str, dict[str, set[str]]]) -> list[str]:
    """The files of one circle. The first one also stands at the end. Without a circle the list is empty."""
    done: set[str] = set()

    def visit(file: str, path: list[str]) -> list[str]:
        if file in path:
            return path[path.index(file) :] + [file]
        if file in done:
            return []
        for used in sorted(uses[file]):
            if circle := visit(used, path + [file]):
                return circle
        done.add(file)
        return []

    return next((circle for file in uses if (circle := visit(file, []))), [])


def main() -> int:
    failed = False
    for folder in sorted(Path("Sources").glob("C*")):
        files = find_uses(folder)
        for uses in files, find_folder_uses(files):
            circle = find_circle(uses)
            for user, used in zip(circle, circle[1:]):
                print(f"{folder}: {user} uses {used}: {', '.join(sorted(uses[user][used]))}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

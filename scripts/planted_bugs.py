# SPDX-License-Identifier: Apache-2.0
"""Plants bugs in copies of the tree and shows which check finds each: planted_bugs.py [OPTION...] [WORD...]

Each file Tests/PlantedBugs/*.patch has a head with these lines, and behind it a patch of product code:

    Bug: a name
    Breaks: one sentence on what the bug does
    Check: the suite that must find it, as a filter of test names

First, every check must pass without a bug; --skip-clean leaves that out. Then each patch goes into a fresh copy, the
copy is built, and the check has two minutes to find the bug. A check that passes before that runs again, because a
storm depends on the speed of the machine. A patch that no longer applies, a copy that does not build, and a bug that is
not found are failures. With words, only patches with one of them in their names are tried.

As root, the copy is an overlay on the tree, so each build is incremental. Otherwise the first build of the copy is
whole, and .build/planted-bugs keeps the copy for the next run.

Results go to .build/planted-bugs.json, where each patch keeps its last result. --write puts them into the table of
docs/guarantees.md.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import generated_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATCHES = ROOT / "Tests/PlantedBugs"
RESULTS = ROOT / ".build/planted-bugs.json"
LIMIT = 120
BUILD_LIMIT = 3600
ISSUE = re.compile(r"recorded an issue(?: with \d+ arguments? (.*?))? at ([\w+]+)\.swift:\d+:\d+: (.*)")
COLOR = re.compile(r"\x1b\[[0-9;]*m")
OVERLAY = """
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$1" && cd "$1" && shift 2 && exec "$@"
"""


class Failure(Exception):
    """A message for the user."""


class Overlay:
    """A copy as an overlay on the tree, which hides the tree in a mount namespace for each command."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp", prefix="postrider-planted-"))
        for name in ("upper", "work"):
            (self.folder / name).mkdir()

    def words(self, command):
        return ["unshare", "--mount", "bash", "-c", OVERLAY, "-", str(ROOT), str(self.folder), *command]

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def is_possible():
        if os.geteuid() != 0:
            return False
        trial = Overlay()
        try:
            return subprocess.run(trial.words(["true"]), capture_output=True, check=False).returncode == 0
        finally:
            trial.close()


class FullCopy:
    """A copy of all files that Git knows or would add, with its own build folder, which later copies use again."""

    folder = ROOT / ".build/planted-bugs/tree"

    def __init__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
            check=True)
        names = {name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
        kept = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")
                if path.is_file() and path.relative_to(self.folder).parts[0] not in (".build", ".postrider")}
        for name in kept - names:
            (self.folder / name).unlink()
        for name in names:
            source, copy = ROOT / name, self.folder / name
            # An unchanged file keeps its date, so that the build need not read it again.
            if copy.is_file() and copy.read_bytes() == source.read_bytes():
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
        tools = self.folder / ".postrider"
        if not tools.exists() and (ROOT / ".postrider").exists():
            tools.symlink_to(ROOT / ".postrider")

    def words(self, command):
        return ["bash", "-c", 'cd "$1" && shift && exec "$@"', "-", str(self.folder), *command]

    def close(self):
        pass


def run(copy, command, what):
    """Runs a command in the copy. Its output is shown only if it fails."""
    result = subprocess.run(
        copy.words(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        timeout=BUILD_LIMIT, env=environment(copy))
    if result.returncode:
        raise Failure(f"{what}\n{result.stdout[-4000:]}")


def environment(copy):
    """Swift's caches go into the build folder, as in the Makefile."""
    build = (copy.folder if isinstance(copy, FullCopy) else ROOT) / ".build"
    for name in ("tmp", "home", "cache"):
        (build / name).mkdir(parents=True, exist_ok=True)
    return os.environ | {
        "TMPDIR": f"{build}/tmp", "XDG_CACHE_HOME": f"{build}/cache", "HOME": f"{build}/home",
        "SWIFTPM_MODULECACHE_OVERRIDE": f"{build}/cache/modules", "CFFIXED_USER_HOME": f"{build}/home"}


def build(copy):
    run(copy, [sys.executable, "scripts/generate_lists.py"], "the lists of migrations cannot be renewed")
    run(copy, ["swift", "build", "--build-tests"], "the copy does not build")


def find(copy, pattern):
    """Runs a check until it has an issue or its time is over. Returns the issue with its time since the first run."""
    started = time.monotonic()
    runs = 0
    while (left := LIMIT - (time.monotonic() - started)) > 0:
        began = time.monotonic()
        runs += 1
        if issue := check(copy, pattern, left):
            issue["seconds"] = round(issue["seconds"] + began - started, 1)
            return issue
    raise Failure(f"not found: {pattern} passes {runs} times")


def check(copy, pattern, limit=LIMIT):
    """Runs a check. Returns seconds, suite, seed and text of its first issue; None if it has none."""
    program = ".build/debug/postriderPackageTests.xctest"
    started = time.monotonic()
    process = subprocess.Popen(
        copy.words([program, "--testing-library", "swift-testing", "--filter", pattern]), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment(copy))
    # Only the test process gets the signal. Guardians and watchdogs then end its workers and servers.
    timer = threading.Timer(limit, process.terminate)
    timer.start()
    issue, is_told, ran, tail = None, False, 0, []
    try:
        for line in (COLOR.sub("", line) for line in process.stdout):
            tail = tail[-40:] + [line]
            ran += bool(re.search(r"Test .* (passed|failed) after", line))
            match = ISSUE.search(line)
            if match and issue is None:
                issue = {"seconds": round(time.monotonic() - started, 1), "suite": match[2], "seed": seed(line),
                         "text": match[3].strip()}
                process.terminate()
            elif issue and line.startswith("↳") and not is_told:
                # The comment of an issue stands on the next line.
                is_told = True
                issue["seed"] = issue["seed"] or seed(line)
                if issue["text"] == "Issue recorded":
                    issue["text"] += ": " + line[1:].strip()
    finally:
        timer.cancel()
    status = process.wait()
    if issue is None and status:
        late = time.monotonic() - started >= limit
        raise Failure(f"no finding within {LIMIT} s" if late else f"the check ended with {status}\n{''.join(tail)}")
    if issue is None and not ran:
        raise Failure(f"no test matches {pattern}")
    return issue


def seed(line):
    """The seed, which is an argument of the test or part of the message."""
    match = re.search(r"\bseed(?: →)? (\d+)", line)
    return int(match[1]) if match else None


def first_violation(text):
    """The part of an issue that says what was wrong: the first of a list of defects, without the test's own words."""
    for pattern in (
            r'(?:defects|faults|found)[^\[]*\[\s*"((?:[^"\\]|\\.)*)"', r"^Issue recorded: (?:seed \d+: )?(.*)",
            r"^Caught error: (.*)"):
        match = re.search(pattern, text)
        if match:
            # The text is shown with escapes, a line of a worker's log with two levels of them.
            violation = match[1].replace("\\", "")
            reason = re.search(r'^\{"time".*"reason":"(.*)"\}', violation)
            return reason[1] if reason else violation
    return re.sub(r"^Expectation failed: ", "", text)


def head(path):
    """The lines before the patch, by their names."""
    fields = {}
    for line in path.read_text().splitlines():
        if line.startswith("diff --git"):
            break
        name, colon, value = line.partition(": ")
        if colon:
            fields[name] = value.strip()
    for name in ("Bug", "Breaks", "Check"):
        if name not in fields:
            raise Failure(f"{path.name}: its head has no line {name}:")
    return fields


def plant(path, make_copy):
    fields = head(path)
    copy = make_copy()
    try:
        run(copy, ["git", "apply", "--whitespace=nowarn", str(path.relative_to(ROOT))], "the patch no longer applies")
        began = time.monotonic()
        build(copy)
        print(f"   built in {time.monotonic() - began:.0f} s", flush=True)
        issue = find(copy, fields["Check"])
    finally:
        copy.close()
    return {"patch": path.name, "bug": fields["Bug"], "breaks": fields["Breaks"], "check": fields["Check"], **issue}


def table(results):
    rows = []
    for result in results:
        text = first_violation(result["text"])
        text = text if len(text) <= 110 else text[:107] + "…"
        by = f"`{result['suite']}`" + (f", seed {result['seed']}" if result["seed"] is not None else "")
        rows.append([f"[{result['bug']}](../Tests/PlantedBugs/{result['patch']})", by, f"{result['seconds']:.0f} s",
                     generated_table.code(text)])
    return generated_table.lines(["bug", "found by", "after", "first violation"], rows)


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    options = {word for word in sys.argv[1:] if word.startswith("--")}
    if options - {"--write", "--skip-clean"}:
        sys.exit(__doc__)
    os.chdir(ROOT)
    paths = [path for path in sorted(PATCHES.glob("*.patch")) if not words or any(word in path.name for word in words)]
    if not paths:
        sys.exit("no such patch")
    make_copy = Overlay if Overlay.is_possible() else FullCopy
    failed = []
    if "--skip-clean" not in options:
        copy = make_copy()
        try:
            build(copy)
            for pattern in sorted({head(path)["Check"] for path in paths}):
                began = time.monotonic()
                issue = check(copy, pattern)
                if issue:
                    sys.exit(f"without a bug, {pattern} finds: {issue['text']}")
                print(f"without a bug: {pattern} passes in {time.monotonic() - began:.0f} s", flush=True)
        except Failure as failure:
            sys.exit(f"without a bug: {failure}")
        finally:
            copy.close()
    results = []
    for path in paths:
        print(f"{path.stem}: {head(path)['Bug']}", flush=True)
        try:
            result = plant(path, make_copy)
        except Failure as failure:
            print(f"   FAILED: {failure}", flush=True)
            failed.append(path.stem)
            continue
        results.append(result)
        seed_text = "" if result["seed"] is None else f", seed {result['seed']}"
        violation = first_violation(result["text"])[:300]
        print(f"   found by {result['suite']}{seed_text} after {result['seconds']} s: {violation}", flush=True)
    print(f"{len(results)} of {len(paths)} bugs found" + (f"; not found: {', '.join(failed)}" if failed else ""))
    # A run of some patches renews their results only.
    known = {result["patch"]: result for result in (json.loads(RESULTS.read_text()) if RESULTS.exists() else [])}
    known.update({result["patch"]: result for result in results})
    for stem in failed:
        known.pop(stem + ".patch", None)
    RESULTS.write_text(json.dumps([known[name] for name in sorted(known)], indent=1) + "\n")
    if failed:
        sys.exit(1)
    if "--write" in options:
        missing = [path.name for path in sorted(PATCHES.glob("*.patch")) if path.name not in known]
        if missing:
            sys.exit(f"no result yet of {', '.join(missing)}")
        rows = table([known[name] for name in sorted(known)])
        generated_table.write(ROOT / "docs/guarantees.md", "planted bugs", rows)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Runs the blocks of pages in order, and compares the output that the page shows.

    run_page.py PAGE...            compares
    run_page.py --write PAGE...    puts the real output into the page

Each page has its own database and worker. A name in a block stands for one of them:

    https://NAME.example.com       httpbin, which answers every path with the request itself
    https://accounts.example.com   the API of Tests/SmallAPI
    https://login.example.com      the API of Tests/TokenAPI
    https://graphql.example.com    the API of Tests/GraphQLAPI
    https://collector.example.com  the collector of Tests/TraceCollector, which gets all spans

A block that begins with ```sql runs in psql, one with ```sh in bash. ```python, ```ruby and ```go hold whole programs that connect to
DATABASE_URL. Without CI in the environment, a block is left out if its language or an extension that it creates is not installed.
A block ```text directly behind it is the output.
If the block only reads, it runs again until the output is right, for a minute. An output that begins with ERROR must be the
error of its block. `…` alone on a line of the output stands for any text. Times, fractions, uuids and line breaks may differ.

An info string such as ```sql not run: needs a mail server``` gives the reason why a block does not run. A comment that
begins with `<!-- setup` holds SQL that runs at its place and is not shown.
"""

import argparse
import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from page_output import folded, is_equal, trimmed

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = str(ROOT / ".postrider/venv/bin/python")
PATIENCE = 60
# The program that runs a file, for each language whose blocks are programs.
PROGRAMS = {"python": [PYTHON, "-B"], "ruby": ["ruby"], "go": ["go", "run"]}
# The addresses of httpbin, one for each name, so that an output shows which name was called.
NAMES = ["api", "a", "b", "billing", "crm", "hooks", "files", "llm"]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$|^<!-- setup\n(.*?)^-->$", re.M | re.S)
# A statement that calls one of these changes something, so it runs once.
WRITES = re.compile(
    r"^\s*(insert|update|delete|create|drop|alter|grant|revoke|truncate|copy|do|begin|call|set)\b"
    r"|postrider\.(submit|cancel\w*|retry\w*|pause\w*|resume\w*|reschedule|log_in|log_out|run_schedule|switch_server"
    r"|cache_put|cache_invalidate|purge|rerun_callback|restore)\(", re.I | re.M)


class Servers:
    """Servers on loopback, and the addresses that stand for names in pages."""

    def __init__(self):
        self.children, self.names, self.variables = [], [], {}

    def start(self, hosts, app, path="", folder=None, **variables):
        """Starts one server for these names, with an address for each name."""
        port = free_port()
        command = [PYTHON, "-B", "-m", "gunicorn", "--worker-class", "gevent", "--log-level", "error", "--graceful-timeout", "1"]
        for number, host in enumerate(hosts):
            command += ["--bind", f"127.0.0.{number + 1}:{port}"]
            self.names.append((f"{host}.example.com", f"127.0.0.{number + 1}:{port}", path))
        command += (["--chdir", str(folder)] if folder else []) + [app]
        self.children.append(subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.DEVNULL))
        wait_for(f"a server on port {port}", lambda: is_taken(port))

    def for_page(self, text, folder):
        """These servers, and those with a memory, which each page that names them gets for itself."""
        servers = Servers()
        servers.names += self.names
        if "accounts.example.com" in text:
            servers.start(["accounts"], "api:app", folder=ROOT / "Tests/SmallAPI")
        if "graphql.example.com" in text:
            servers.start(["graphql"], "api:app", folder=ROOT / "Tests/GraphQLAPI")
        if "collector.example.com" in text:
            servers.names.append(("collector.example.com", f"127.0.0.1:{(port := free_port())}", ""))
            servers.variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{port}"
            servers.children.append(subprocess.Popen([PYTHON, "-B", ROOT / "Tests/TraceCollector/collector.py", str(port)]))
            wait_for("the collector", lambda: is_taken(port))
        if "login.example.com" in text:
            servers.start(["login"], "api:app", folder=ROOT / "Tests/TokenAPI", TOKEN_API_FOLDER=folder)
        return servers

    def to_real(self, text):
        for name, address, path in self.names:
            text = text.replace(f"https://{name}", f"http://{address}{path}").replace(f"{name}:443", address)
        return text

    def to_shown(self, text):
        for name, address, path in self.names:
            text = text.replace(f"http://{address}{path}", f"https://{name}").replace(f"http://{address}", f"https://{name}").replace(address, f"{name}:443")
        return text

    def close(self):
        for child in self.children:
            child.send_signal(signal.SIGQUIT)
        for child in self.children:
            child.wait()


def free_port():
    """A loopback port that is free now, below the range from which the system chooses ports."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def is_taken(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(what, is_true):
    end = time.monotonic() + PATIENCE
    while not is_true():
        if time.monotonic() > end:
            raise SystemExit(f"run_page: after {PATIENCE} s still not up: {what}")
        time.sleep(0.05)


@contextlib.contextmanager
def playground(worker, folder, variables=None):
    """The URL of a database on a private PostgreSQL, with a worker. Both end with the block."""
    key = pathlib.Path(folder, "key")
    key.write_text("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
    os.makedirs(f"{folder}/files", exist_ok=True)
    with open(f"{folder}/dev.out", "w") as out, open(f"{folder}/dev.log", "w") as log:
        child = subprocess.Popen(
            [worker, "dev", "--files", f"{folder}/files", "--secret-key-file", str(key), "--http", f"127.0.0.1:{free_port()}",
             "--port", str(free_port())],
            cwd=folder, stdout=out, stderr=log, env={**os.environ, "POSTRIDER_WEBHOOK_SECRET": "whsec_" + "c2VjcmV0IG9mIHRoZSBwYWdlcw==", **(variables or {})})
    try:
        found = []
        def is_up():
            if child.poll() is not None:
                raise SystemExit(f"run_page: worker dev has ended, see {folder}/dev.log")
            found[:] = re.findall(r"(?:DATABASE_URL=|psql )'([^']+)'", pathlib.Path(folder, "dev.out").read_text())
            return bool(found)
        wait_for("worker dev", is_up)
        yield found[0]
    finally:
        child.terminate()
        child.wait()


def run_block(language, text, database, folder, worker, more=None):
    """The exit status and the output of one block."""
    variables = {**os.environ, **(more or {}), "DATABASE_URL": database, "PGOPTIONS": "-c timezone=UTC",
                 "PATH": f"{pathlib.Path(worker).parent}:{os.environ['PATH']}"}
    if language == "sql":
        command = [psql(), "-X", "-q", "-P", "pager=off", "-v", "ON_ERROR_STOP=1", "-v", "SHOW_CONTEXT=never", database]
    elif language in PROGRAMS:
        # lib/pq, Rails and libpq read the URI of a socket differently, so this one is TCP's.
        port = re.search(r"port=(\d+)", database)[1]
        variables["DATABASE_URL"] = f"postgresql://postgres@127.0.0.1:{port}/postrider?sslmode=disable"
        # Debian keeps Go's libraries in this GOPATH.
        variables.update(GO111MODULE="off", GOPATH="/usr/share/gocode", GOCACHE=f"{folder}/go-cache")
        file = pathlib.Path(folder, f"block.{language}")
        file.write_text(text)
        command = [*PROGRAMS[language], str(file)]
    else:
        command = ["bash", "-eo", "pipefail"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=variables, cwd=folder, timeout=120)
    return done.returncode, trimmed(done.stdout + re.sub(r"^psql:<stdin>:\d+: ", "", done.stderr, flags=re.M))


def wait_for_jobs(database, folder, worker):
    """Waits until no job is ready or runs, at most 10 s."""
    query = "select count(*) from postrider.job_status where state in ('ready', 'running', 'waiting') \
        or state = 'scheduled' and run_at < now() + interval '5 s'"
    end = time.monotonic() + 10
    while run_block("sql", query, database, folder, worker)[1].split()[2] != "0" and time.monotonic() < end:
        time.sleep(0.2)


def missing_program(language, body):
    """The language of a block, or an extension that it creates, if it is not installed."""
    if language in PROGRAMS:
        return None if shutil.which(PROGRAMS[language][0]) else language
    extension = re.search(r"^create extension (\w+);", body or "", re.M)
    server = pathlib.Path(psql()).parent.parent
    if extension and not pathlib.Path("/usr/share/postgresql", server.name, f"extension/{extension[1]}.control").exists():
        return extension[1]
    return None


def psql():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/psql"))
    return str(found[-1]) if found else shutil.which("psql")


def run_page(page, write, database, servers, folder, worker):
    """Runs one page. Returns the number of blocks that ran and a list of faults."""
    text = page.read_text(encoding="utf-8")
    faults, ran, edits = [], 0, []
    matches = list(BLOCK.finditer(text))
    for index, match in enumerate(matches):
        language, info, body, setup = match.groups()
        line = text[: match.start()].count("\n") + 1
        if setup is None and (language not in ("sql", "sh", *PROGRAMS) or info.strip().startswith("not run: ")):
            continue
        if info and info.strip():
            faults.append(f"{page}:{line}: the info string gives no reason: {info.strip()}")
            continue
        missing = missing_program(language, body)
        if missing:
            if os.environ.get("CI"):
                faults.append(f"{page}:{line}: there is no {missing}")
            else:
                print(f"{page}:{line}: not run: no {missing}")
            continue
        after = matches[index + 1] if index + 1 < len(matches) else None
        has_output = after and after[1] == "text" and not text[match.end():after.start()].strip()
        shown = after[3] if has_output else None
        source = servers.to_real(body if setup is None else setup)
        if write and not WRITES.search(source):
            wait_for_jobs(database, folder, worker)
        end = time.monotonic() + PATIENCE
        while True:
            status, real = run_block("sql" if setup is not None else language, source, database, folder, worker, servers.variables)
            real = servers.to_shown(real)
            is_right = (status == 0 or shown is not None and "ERROR:" in (real if write else shown)) and (shown is None or write or is_equal(shown, real))
            if is_right or WRITES.search(source) or language not in (None, "sql") or time.monotonic() > end:
                break
            time.sleep(0.2)
        ran += 1
        if write and has_output:
            if not is_equal(shown, real):
                edits.append((after.start(3), after.end(3), folded(real) + "\n"))
        if not is_right:
            faults.append(f"{page}:{line}: status {status}, real output:\n{real}")
            if status != 0:
                break
    for start, stop, new in reversed(edits):
        text = text[:start] + new + text[stop:]
    if edits:
        page.write_text(text, encoding="utf-8")
    return ran, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--worker", default=ROOT / ".build/release/worker", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed, shared = 0, Servers()
    with tempfile.TemporaryDirectory(prefix="postrider-pages-", dir="/var/tmp") as folder, contextlib.closing(shared):
        os.chmod(folder, 0o755)
        shared.start(NAMES, "httpbin:app", "/anything")
        for page in options.pages:
            place = f"{folder}/{page.stem}-{random.randrange(10**6)}"
            os.mkdir(place)
            with contextlib.closing(shared.for_page(page.read_text(encoding="utf-8"), place)) as servers, \
                    playground(options.worker, place, servers.variables) as database:
                ran, faults = run_page(page, options.write, database, servers, place, options.worker)
            print(f"{page}: {ran} blocks, {len(faults)} faults")
            print("\n".join(faults), end="\n" if faults else "", flush=True)
            failed += len(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Gives mutated texts to the SQL functions of Tests/Fuzz/SQL.txt, on a private PostgreSQL that it removes at the end.

    fuzz_sql.py WORKER [--seconds N] [--seed N] [--keep FOLDER]

An error that the list does not allow is a finding, and so is a statement that takes 2 s. Each finding is printed with its
arguments, which go into Tests/Fuzz/Corpus/sql/NAME.jsonl once the defect is corrected. With --keep, the inputs that showed
a new kind of result are written to that folder.
"""

import argparse
import base64
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import psycopg
import psycopg.types.json

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "Tests/Fuzz/Corpus/sql"
# Parts of texts that parsers treat in a special way.
WORDS = ["{{", "}}", "{", "}", "[", "]", '"', "\\", "\\u0000", "\\ud800", "null", "true", "-1", "1e999", "$.", "..", "//", "/", "?", "#",
         "&", "=", "%", "%00", "%zz", ";", ",", ":", "@", "*", "*/5", "L", "1-", "mon#2", "\r\n", "\t", "\u0301", "\u202e", "\U0001f600", "'",
         "''", "<", ">", "rel=next", "max-age=", "99999999999999999999", "0", "utf-16", "charset=", "GMT", "http://", "a:b@", "(", ")", "|"]


class Server:
    """A private cluster with the schema."""

    def __init__(self, worker):
        self.home = tempfile.mkdtemp(prefix="postrider-fuzz-", dir="/var/tmp")
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        programs = found[-1].parent if found else pathlib.Path(shutil.which("initdb") or sys.exit("fuzz_sql: no initdb found")).parent
        # The server refuses to run as root.
        self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(self.home, "postgres")
        quiet = {"stdout": subprocess.DEVNULL, "cwd": "/"}
        subprocess.run([*self.user, programs / "initdb", "-D", f"{self.home}/data", "-U", "postgres", "--no-sync", "-A", "trust", "-E", "UTF8",
                        "--locale=C.UTF-8"],
                       check=True, **quiet)
        self.process = subprocess.Popen(
            [*self.user, programs / "postgres", "-D", f"{self.home}/data", "-c", "listen_addresses=", "-c",
             f"unix_socket_directories={self.home}", "-c", "fsync=off"], stderr=open(f"{self.home}/log", "w"), **quiet)
        self.database = f"host={self.home} user=postgres dbname=postgres"
        for _ in range(200):
            try:
                psycopg.connect(self.database).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.05)
        subprocess.run([worker, "migrate", "--database", self.database], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        self.process.send_signal(3)
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)


class JSON:
    """A JSON value as PostgreSQL wrote it. Python refuses some: numbers of more than 4,300 digits and lists 1,000 deep."""

    def __init__(self, data):
        self.text = data.decode()

    def __repr__(self):
        return self.text


class Target:
    """One line of SQL.txt, with its inputs."""

    def __init__(self, name, allowed, statement):
        self.name = name
        self.allowed = [] if allowed == "-" else [re.compile(state.replace("*", ".*") + "$") for state in allowed.split(",")]
        self.count = max(int(number) for number in re.findall(r"\$(\d)", statement))
        self.binary = {int(number) - 1 for number in re.findall(r"decode\(\$(\d)", statement)}
        statement = re.sub(r"(?<!\w)json\((\$\d)\)", r"postrider_internal.try_jsonb(convert_to(\1, 'UTF8'))", statement)
        self.statement = re.sub(r"\$(\d)", r"$\1::text", statement)
        self.inputs = [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text().splitlines()]
        self.kept, self.seen = [], set()

    def is_allowed(self, state):
        return any(pattern.match(state) for pattern in self.allowed)


def targets():
    lines = (ROOT / "Tests/Fuzz/SQL.txt").read_text().splitlines()
    return [Target(*line.split(" ", 2)) for line in lines if line and not line.startswith("#")]


def mutated(text, others):
    """The text after one to four changes."""
    for _ in range(random.randint(1, 4)):
        at = random.randint(0, len(text))
        end = min(len(text), at + random.randint(0, 6))
        other = random.choice(others)
        text = random.choice([
            lambda: text[:at] + random.choice(WORDS) + text[at:],
            lambda: text[:at] + random.choice(WORDS) + text[end:],
            lambda: text[:at] + text[end:],
            lambda: text[:at] + other[random.randint(0, len(other)):] + text[end:],
            lambda: text[:at] + text[at:end] * random.choice([2, 3, 50]) + text[end:],
            lambda: text[:at] + chr(random.choice([0x20, 0x7f, 0x85, 0xa0, 0xe9, 0x130, 0x2028, 0xfffd, random.randint(1, 0x7e)])) + text[end:],
        ])()
    return text[:4000].replace("\0", "")


def mutated_bytes(data, others):
    data = mutated(data.decode("latin1"), [other.decode("latin1") for other in others])
    for _ in range(random.choice([0, 0, 1, 3])):
        at = random.randint(0, len(data))
        data = data[:at] + chr(random.randint(0, 255)) + data[at + random.randint(0, 1):]
    return data.encode("latin1", "replace")


def next_input(target):
    chosen = list(random.choice(target.inputs))
    for place in range(target.count):
        if random.random() < 0.4 and target.count > 1:
            continue
        others = [entry[place] for entry in target.inputs]
        if place in target.binary:
            raw = mutated_bytes(base64.b64decode(chosen[place]), [base64.b64decode(other) for other in others])
            chosen[place] = base64.b64encode(raw).decode()
        else:
            chosen[place] = mutated(chosen[place], others)
    return chosen


def kind_of(result):
    """Results with the same kind differ in names and numbers only."""
    return re.sub(r"\d+", "0", re.sub(r"'[^']*'|\"[^\"]*\"", "x", str(result)))[:60]


def run(connection, target, arguments):
    """Runs one input. Returns the kind of its result, and a finding or None."""
    began = time.monotonic()
    try:
        with connection.transaction(force_rollback=True):
            cursor = psycopg.RawCursor(connection)
            rows = cursor.execute(target.statement, arguments, prepare=True)
            result = rows.fetchall() if rows.description else rows.rowcount
        kind, finding = f"{type(result).__name__} {kind_of(result)}", None
    except psycopg.Error as error:
        state = error.sqlstate or "none"
        kind = f"{state} {kind_of(error)}"
        finding = None if target.is_allowed(state) else f"{state} {str(error).splitlines()[0]}"
    if time.monotonic() - began > 2:
        finding = finding or "it took more than 2 s"
    return kind, finding


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("worker")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep")
    options = parser.parse_args()
    random.seed(options.seed)
    server = Server(options.worker)
    findings, count = {}, 0
    try:
        connection = psycopg.connect(server.database, autocommit=True)
        psycopg.types.json.set_json_loads(JSON, connection)
        connection.execute("set statement_timeout = '2s'; set jit = off")
        all_targets = targets()
        for target in all_targets:
            for arguments in list(target.inputs):
                target.seen.add(run(connection, target, arguments)[0])
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            target = random.choice(all_targets)
            arguments = next_input(target)
            kind, finding = run(connection, target, arguments)
            count += 1
            if finding and (target.name, kind) not in findings:
                findings[target.name, kind] = finding
                print(f"FINDING {target.name}: {finding}\n  {json.dumps(arguments)}", flush=True)
            if kind not in target.seen and not finding:
                target.seen.add(kind)
                target.inputs.append(arguments)
                target.kept.append(arguments)
    finally:
        server.stop()
    if options.keep:
        for target in all_targets:
            with open(pathlib.Path(options.keep) / f"{target.name}.jsonl", "w") as file:
                file.writelines(json.dumps(arguments) + "\n" for arguments in target.kept)
    print(f"sql: {count} statements, {len(findings)} kinds of findings, seed {options.seed}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

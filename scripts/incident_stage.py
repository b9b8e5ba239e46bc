# SPDX-License-Identifier: Apache-2.0
"""The stage of an incident: a private PostgreSQL, a worker with acts, an API that misbehaves, and traffic."""

import json
import os
import pathlib
import pwd
import shutil
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg

from run_page import free_port, is_taken

TOKEN = "0123456789abcdef0123"
PATIENCE = 60


class API:
    """An API on loopback. The first word of a path names a part, and each part can fail in its way."""

    def __init__(self):
        self.broken, self.refused, self.throttled = set(), set(), set()
        self.is_open = threading.Event()
        self.tokens = 0
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                api.answer(self, self.path.split("/")[1], self.path)

            do_POST = do_GET

            def log_message(self, *words):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, handler, part, path):
        if path.endswith("/never"):
            self.is_open.wait()
        time.sleep(0.02)
        if part == "token":
            self.tokens += 1
            send(handler, 200, {"access_token": f"t{self.tokens}", "expires_in": 3600})
        elif part in self.broken:
            send(handler, 500, {"error": "no connection to the ledger", "server": part, "release": "2026-11-28.1"})
        elif part in self.refused:
            send(handler, 401, {"error": "invalid_token", "error_description": "The app has been revoked."})
        elif part in self.throttled:
            send(handler, 429, {"error": "quota of the day is used up"}, {"Retry-After": "3600"})
        else:
            send(handler, 200, {"ok": True})

    def close(self):
        self.is_open.set()
        self.server.shutdown()
        self.server.server_close()


def send(handler, status, body, headers=None):
    data = json.dumps(body).encode()
    try:
        handler.send_response(status)
        all_headers = {"Content-Type": "application/json", "Content-Length": str(len(data)), **(headers or {})}
        for name, value in all_headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)
    except OSError:
        pass  # The worker has ended the call.


class Stage:
    """PostgreSQL, a worker and an API, which end with the block."""

    def __init__(self, worker, folder):
        self.folder, self.worker = folder, worker
        self.api = API()
        self.is_ending = threading.Event()
        self.threads = []
        self.database = f"host={folder} port=5432 user=postgres dbname=postgres"

    def __enter__(self):
        os.chmod(self.folder, 0o755)
        data = pathlib.Path(self.folder, "data")
        data.mkdir()
        # PostgreSQL refuses to run as root.
        self.prefix = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            for place in (self.folder, data):
                os.chown(place, user.pw_uid, user.pw_gid)
            self.prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        self.call("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "--no-sync")
        self.start_database()
        subprocess.run([self.worker, "migrate", "--database", self.database], check=True, stdout=subprocess.DEVNULL)
        token = pathlib.Path(self.folder, "token")
        token.write_text(TOKEN)
        key = pathlib.Path(self.folder, "key")
        key.write_text("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.login = f"http://ada:{TOKEN}@127.0.0.1:{port}"
        self.output = open(f"{self.folder}/worker.log", "w")
        self.child = subprocess.Popen(
            [self.worker, "--database", self.database, "--concurrency", "32", "--allow-private",
             "--http", f"127.0.0.1:{port}", "--http-token-file", str(token), "--http-actions",
             "--secret-key-file", str(key), "--log-format", "json"],
            stderr=self.output)
        self.poll("the dashboard", lambda: is_taken(port))
        return self

    def __exit__(self, *_):
        self.is_ending.set()
        self.join()
        self.api.close()
        if hasattr(self, "child"):
            self.child.terminate()
            self.child.wait()
        self.stop_database()

    def call(self, program, *words):
        folder = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), default=None)
        path = str(folder / program) if folder else shutil.which(program)
        subprocess.run([*self.prefix, path, *words], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def start_database(self):
        self.call("pg_ctl", "-D", f"{self.folder}/data", "-w", "-s", "-l", f"{self.folder}/data/log", "-o",
                  f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync=off", "start")

    def stop_database(self):
        """Stops PostgreSQL like a crash: without a checkpoint, and all connections break."""
        self.call("pg_ctl", "-D", f"{self.folder}/data", "-w", "-s", "-m", "immediate", "stop")

    def sql(self, statements):
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(statements)

    def value(self, query):
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(query).fetchone()[0]

    def until(self, query):
        self.poll(query, lambda: self.value(query))

    def poll(self, what, is_true):
        end = time.monotonic() + PATIENCE
        while not is_true():
            if time.monotonic() > end:
                raise SystemExit(f"incidents: after {PATIENCE} s still not: {what}\n{self.log()}")
            time.sleep(0.1)

    def traffic(self, columns, values, seconds=8):
        """Inserts 20 jobs a second for this time; i is their number."""

        def insert():
            for turn in range(5 * seconds):
                if self.is_ending.wait(0.2):
                    return
                try:
                    self.sql(
                        f"insert into postrider.jobs ({columns}) select {values} "
                        f"from generate_series({turn * 4}, {turn * 4 + 3}) i")
                except psycopg.OperationalError:
                    pass  # The database is away.

        thread = threading.Thread(target=insert)
        thread.start()
        self.threads.append(thread)

    def join(self):
        """Waits for the end of the traffic."""
        for thread in self.threads:
            thread.join()
        self.threads.clear()

    def log(self):
        return "\n".join(pathlib.Path(self.folder, "worker.log").read_text().splitlines()[-20:])

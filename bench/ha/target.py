# SPDX-License-Identifier: Apache-2.0
"""The HTTP server that counts calls: it keeps the key, the worker and both times of each call."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Call:
    """One call. `tag` is the end of its path, which names the job; `key` is its Idempotency-Key.

    `worker` is empty for at_most_once jobs. Each of their calls has a connection of its own, and a search for the owner
    of each would take too long.
    """

    tag: str
    key: str
    worker: str
    arrived: float
    answered: float | None = None


class Server(ThreadingHTTPServer):
    """A thread for each connection. A call of an at_most_once job opens a new one, so many may wait to be accepted."""

    daemon_threads = True
    request_queue_size = 1024


class CountingTarget:
    """Answers most calls after 20 ms and one of ten after 0.5 s, so some are always under way."""

    def __init__(self, port: int):
        self.calls: list[Call] = []
        self.workers: dict[int, str] = {}
        self.port = port
        self._server = Server(("127.0.0.1", port), self._handler())

    @contextmanager
    def serving(self) -> Iterator["CountingTarget"]:
        """Serves until the end of the block."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()

    def worker_at(self, port: int) -> str:
        """The name of the worker whose socket has this port. The kernel's table of sockets tells."""
        local, remote = (f"0100007F:{number:04X}" for number in (port, self.port))
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[1:3] == [local, remote]:
                for pid, name in self.workers.items():
                    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                        with suppress(OSError):
                            if str(descriptor.readlink()) == f"socket:[{fields[9]}]":
                                return name
        return ""

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        target = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            worker = ""

            def do_POST(self) -> None:
                arrived = time.monotonic()
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if not self.worker and "/often/" in self.path:
                    self.worker = target.worker_at(self.client_address[1])
                call = Call(self.path.rsplit("/", 1)[1], self.headers["Idempotency-Key"], self.worker, arrived)
                target.calls.append(call)
                time.sleep(0.5 if random.random() < 0.1 else 0.02)
                with suppress(OSError):
                    self.send_response(200)
                    self.send_header("Content-Length", "2")
                    self.end_headers()
                    self.wfile.write(b"ok")
                    call.answered = time.monotonic()

            def log_message(self, *_: object) -> None:
                """Writes no line for each call."""

        return Handler

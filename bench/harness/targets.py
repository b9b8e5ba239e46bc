# SPDX-License-Identifier: Apache-2.0
"""The targets of the calls: nginx, which counts requests, and the stamp target, which times them. A collector of spans."""

import http.client
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from harness.process import Process

PORTS = range(22500, 23000)  # below the kernel's range of ephemeral ports
START_LIMIT_S = 10


def free_port(taken: set[int]) -> int:
    """A free loopback port outside `taken`."""
    for port in PORTS:
        if port in taken:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise SystemExit(f"bench: no free port from {PORTS.start} to {PORTS.stop - 1}")


class Target:
    """A server on loopback. The benchmark sends its own requests over one kept connection."""

    def __init__(self, process: Process, port: int):
        self.process, self.port, self.base_url = process, port, f"http://127.0.0.1:{port}"
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._await_listening(port)

    @property
    def pid(self) -> int:
        """The process id of the server, for nginx of its master process."""
        return self.process.pid

    def ask(self, path: str) -> str:
        """The body of a GET."""
        self._connection.request("GET", path)
        return self._connection.getresponse().read().decode()

    def close(self) -> None:
        """Ends the server."""
        self._connection.close()
        self.process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _await_listening(self, port: int) -> None:
        deadline = time.monotonic() + START_LIMIT_S
        while True:
            self.process.check()
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


class Nginx(Target):
    """Answers at once with 300 bytes of JSON, and counts."""

    def __init__(self, template: Path, run: Path, port: int):
        run.mkdir(exist_ok=True)
        configuration = run / "nginx.conf"
        text = template.read_text().replace("@RUN@", str(run)).replace("@PORT@", str(port))
        configuration.write_text(text)
        errors = str(run / "nginx.log")
        command = ["nginx", "-e", errors, "-p", str(run), "-c", str(configuration)]
        super().__init__(Process("nginx", command, run / "nginx.out", on_orphaned="TERM"), port)
        self._asked = 0

    def requests(self) -> int:
        """The number of requests since the start, without the requests of this function."""
        self._asked += 1
        numbers = self.ask("/status").splitlines()[2].split()
        return int(numbers[2]) - self._asked

    def watch(self, wanted: int, since: int, worker: Process, limit_s: float) -> Iterator[tuple[float, int]]:
        """Yields (monotonic time, requests after `since`) about every 20 ms, the last pair at or past `wanted`."""
        start = time.monotonic()
        while True:
            count, now = self.requests() - since, time.monotonic()
            yield now, count
            if count >= wanted:
                return
            if now - start > limit_s:
                raise TimeoutError(f"{worker.name}: {count} of {wanted} requests after {limit_s:.0f} s")
            worker.check()
            rate = count / (now - start) if now > start else 0
            left = (wanted - count) / rate if rate else 0.004
            # Checks more often near the end, so that the clock stops in time.
            time.sleep(min(0.02, max(0.002, left / 2)))


class Collector(Nginx):
    """Takes spans, and answers each request with 200 and a body that the worker does not read."""


class StampTarget(Target):
    """Reports when calls arrived, and can delay its answers."""

    NUMBERS = 1 << 24  # STAMPS in stamp_target.c: the number of a call is below it

    def __init__(self, program: Path, run: Path, port: int):
        super().__init__(Process("stamp_target", [str(program), str(port)], run / "stamp_target.out"), port)

    def clear(self) -> None:
        """Forgets all arrivals."""
        self.ask("/clear")

    def arrived(self) -> int:
        """The number of different calls that have arrived."""
        return int(self.ask("/arrived"))

    def arrivals(self, first: int = 0, end: int = NUMBERS) -> dict[int, int]:
        """The wall clock of each call's first arrival in ns, by the number of the call: `first` <= number < `end`."""
        pairs = (line.split() for line in self.ask(f"/stamps/{first}/{end}").splitlines())
        return {int(number): int(stamp) for number, stamp in pairs}

    def waiting(self) -> int:
        """Calls that are held open now."""
        return int(self.ask("/waiting"))

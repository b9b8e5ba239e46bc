# SPDX-License-Identifier: Apache-2.0
"""A running adapter, as the public harness runs it: variables in, JSON lines out."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ADAPTER = Path(__file__).with_name("adapter.py")
DESCRIPTOR_LIMIT_S = 30
STOP_S = 5


class Replica:
    """Starts, kills and stops the adapter of one system, and keeps the lines it prints."""

    def __init__(self, system: str, environment: dict[str, str], log: Path):
        self.samples: list[tuple[float, str, float]] = []  # monotonic time, metric, value
        self._command = [sys.executable, "-B", str(ADAPTER), system]
        self._environment, self._log = {**os.environ, **environment}, log
        self._launcher = ThreadPoolExecutor(1)  # one thread for all starts, see _launch
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Starts the adapter and returns when it has printed its descriptor."""
        self._process = self._launcher.submit(self._launch).result()
        described = threading.Event()
        threading.Thread(target=self._read, args=(self._process, described), daemon=True).start()
        if not described.wait(DESCRIPTOR_LIMIT_S):
            raise RuntimeError(f"the adapter printed no descriptor:\n{self._log.read_text()[-2000:]}")

    def kill(self) -> None:
        """Kills the adapter without a warning. Its worker ends with it."""
        assert self._process
        self._process.kill()
        self._process.wait()

    def check(self) -> None:
        """Raises if the adapter has ended although it was not stopped."""
        assert self._process
        if (code := self._process.poll()) is not None:
            raise RuntimeError(f"the adapter ended with {code}:\n{self._log.read_text(errors='replace')[-2000:]}")

    def stop(self) -> None:
        """Ends the adapter by SIGTERM; raises if it does not end with 0 within the 5 s of the harness."""
        if not self._process or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            code = "SIGKILL, because it did not end within 5 s"
        if code != 0:
            raise RuntimeError(f"the adapter ended with {code}:\n{self._log.read_text(errors='replace')[-2000:]}")

    def values(self, metric: str, since: float) -> list[float]:
        """The samples of a metric after a time, in their order."""
        with self._lock:
            return [value for at, name, value in self.samples if name == metric and at >= since]

    def __enter__(self) -> "Replica":
        self.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind and self._process:
            self.kill()
        else:
            self.stop()

    def _launch(self) -> subprocess.Popen[str]:
        """The kernel ends the adapter at the end of the thread that started it, so also if the benchmark is killed."""
        with open(self._log, "ab") as log:
            return subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "--", *self._command], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=log, env=self._environment, text=True, start_new_session=True)

    def _read(self, process: subprocess.Popen[str], described: threading.Event) -> None:
        assert process.stdout
        for line in process.stdout:
            record = json.loads(line)
            if record["kind"] == "descriptor":
                described.set()
                continue
            with self._lock:
                self.samples.append((time.monotonic(), record["metric"], record["value"]))

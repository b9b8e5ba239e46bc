# SPDX-License-Identifier: Apache-2.0
"""Child processes that end with the benchmark, however it ends."""

import os
import signal
import subprocess
from pathlib import Path


class Died(RuntimeError):
    """A child process ended too early."""


class Process:
    """A child in its own session. So Ctrl-C reaches only the benchmark, which ends its children in order.

    If the benchmark itself is killed, the kernel sends the child `on_orphaned` (setpriv --pdeathsig).
    """

    def __init__(self, name: str, command: list[str], log: Path, environment: dict[str, str] | None = None,
                 user: str | None = None, on_orphaned: str = "KILL", stop_signal: int = signal.SIGTERM):
        self.name, self.log, self._stop_signal = name, log, stop_signal
        become = ["--reuid", user, "--regid", user, "--init-groups"] if user else []
        with open(log, "ab") as output:
            self._child = subprocess.Popen(
                ["setpriv", *become, "--pdeathsig", on_orphaned, "--", *command],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                env={**os.environ, **(environment or {})})
        self.pid = self._child.pid

    def check(self) -> None:
        """Raises `Died`, with the end of its log, if the process is gone."""
        code = self._child.poll()
        if code is not None:
            tail = self.log.read_text(errors="replace")[-2000:]
            raise Died(f"{self.name} ended with {code}; the end of its log:\n{tail}")

    def stop(self, patience_s: float = 40) -> None:
        """Asks it to stop, waits, then kills its whole session."""
        if self._child.poll() is None:
            self._child.send_signal(self._stop_signal)
            try:
                self._child.wait(patience_s)
            except subprocess.TimeoutExpired:
                os.killpg(self.pid, signal.SIGKILL)
                self._child.wait()

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

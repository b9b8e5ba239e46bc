# SPDX-License-Identifier: Apache-2.0
"""The faults, each under load: a switchover, a killed PostgreSQL, a killed node."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from collections.abc import Iterator
from dataclasses import dataclass

from ha.cluster import HighlyAvailableCluster, Node, wait_until
from ha.load import Client
from ha.target import CountingTarget

SETTLE_S = 2.0


@dataclass
class Round:
    """One fault. All times are of the monotonic clock."""

    kind: str
    began: float
    promoted: float
    ended: float
    old: str
    new: str


@dataclass
class Drill:
    """Runs rounds on one cluster, and waits between them until everything is as before."""

    cluster: HighlyAvailableCluster
    target: CountingTarget
    clients: list[Client]
    workers: list[str]
    check: Callable[[], None]
    lag_s: float = 0.0

    def run(self, kind: str) -> Round:
        """One round: a healthy cluster, the fault, a new primary, and traffic on each path."""
        wait_until("the cluster is healthy", self._is_healthy, 180)
        time.sleep(SETTLE_S)
        old = self.cluster.primary()
        assert old
        with self._standbys_behind(old, 0 if kind == "switchover" else self.lag_s):
            began = time.monotonic()
            FAULTS[kind](self.cluster, old)
        wait_until("another node is the primary", lambda: self._new_primary(old), 120)
        new, promoted = self._new_primary(old), time.monotonic()
        assert new
        wait_until("clients insert and workers call again", lambda: self._flows_since(promoted), 60)
        if kind == "node":
            self.cluster.start_patroni(old)
        # The times of this round end here, so that its pauses are complete.
        return Round(kind, began, promoted, time.monotonic(), old.name, new.name)

    def wait_for_traffic(self) -> None:
        """Waits until each client has inserted and each worker has called."""
        wait_until("clients insert and workers call", lambda: self._flows_since(0.0), 60)

    def _is_healthy(self) -> bool:
        self.check()
        return self.cluster.is_healthy() and self._flows_since(time.monotonic() - 1)

    def _new_primary(self, old: Node) -> Node | None:
        self.check()
        primary = self.cluster.primary()
        return primary if primary is not old else None

    def _flows_since(self, moment: float) -> bool:
        self.check()
        recent = {call.worker for call in self.target.calls[-500:] if call.arrived > moment}
        return (all(client.last_acknowledged() > moment for client in self.clients)
                and all(worker in recent for worker in self.workers))

    @contextmanager
    def _standbys_behind(self, primary: Node, lag_s: float) -> Iterator[None]:
        """Stops the WAL receivers for a while before the fault, as a slow network would.

        SIGTERM ends them afterwards. Otherwise they would still read what the kernel holds for them.
        """
        if lag_s == 0:
            yield
            return
        pids = [pid for node in self.cluster.nodes if node is not primary for pid in node.wal_receivers()]
        if len(pids) != len(self.cluster.nodes) - 1:
            raise RuntimeError(f"{len(pids)} WAL receivers are running")
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(lag_s)
            yield
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
                    os.kill(pid, signal.SIGCONT)


def switch_over(_: HighlyAvailableCluster, primary: Node) -> None:
    """Asks Patroni to make a standby the primary. It chooses the synchronous one."""
    primary.ask("/switchover", {"leader": primary.name})


def kill_postgres(_: HighlyAvailableCluster, primary: Node) -> None:
    """kill -9 of the postmaster. Patroni goes on, finds it dead and gives up the leader key."""
    pid = primary.postmaster()
    assert pid
    os.kill(pid, signal.SIGKILL)


def kill_node(cluster: HighlyAvailableCluster, primary: Node) -> None:
    """kill -9 of Patroni and the postmaster. The leader key expires after its ttl."""
    assert primary.patroni
    os.kill(primary.patroni.pid, signal.SIGKILL)
    kill_postgres(cluster, primary)
    primary.patroni.stop()


FAULTS = {"switchover": switch_over, "failover": kill_postgres, "node": kill_node}

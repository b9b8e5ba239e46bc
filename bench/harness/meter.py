# SPDX-License-Identifier: Apache-2.0
"""CPU time and memory of process trees, read from /proc."""

import os
import time
from dataclasses import dataclass

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Reading:
    """CPU seconds (user + system) so far, and the monotonic time of the reading."""

    at: float
    worker: float
    postgres: float
    target: float
    machine: float


@dataclass(frozen=True)
class Usage:
    """The difference of two readings."""

    seconds: float
    worker: float
    postgres: float
    target: float
    other: float  # by other programs and the benchmark itself; much of it means a disturbed run

    @staticmethod
    def between(first: Reading, last: Reading) -> "Usage":
        """The usage from `first` to `last`."""
        worker, postgres, target = (
            getattr(last, part) - getattr(first, part) for part in ("worker", "postgres", "target"))
        machine = last.machine - first.machine
        return Usage(last.at - first.at, worker, postgres, target, machine - worker - postgres - target)


class Meter:
    """Reads the workers, the whole PostgreSQL tree and the target.

    `own_session` is the benchmark's own backend, which is left out of PostgreSQL's share.
    """

    def __init__(self, workers: list[int], postmaster: int, target: int, own_session: int):
        self._workers, self._postmaster, self._target, self._own = workers, postmaster, target, own_session

    def read(self) -> Reading:
        """Takes all values now."""
        at, children = time.monotonic(), _children()
        return Reading(
            at=at,
            worker=sum(_tree_cpu(worker, children) for worker in self._workers),
            postgres=_tree_cpu(self._postmaster, children, without=self._own),
            target=_tree_cpu(self._target, children),
            machine=_machine_cpu())


def peak_rss_mb(root: int) -> float:
    """The sum of the peaks (VmHWM) of a process tree."""
    return _memory_mb(root, "VmHWM")


def rss_mb(root: int) -> float:
    """The resident memory of a process tree now."""
    return _memory_mb(root, "VmRSS")


def running_ms(pid: int) -> float:
    """The CPU time of one single-threaded process, exact to a microsecond; other functions count 10 ms ticks."""
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e6


def _stat(pid: int) -> tuple[int, float] | None:
    """(parent, CPU seconds of the process and of its reaped children); None if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2:].split()
    return int(fields[1]), sum(map(int, fields[11:15])) / TICKS_PER_S


def _children() -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (stat := _stat(int(entry))):
            children.setdefault(stat[0], []).append(int(entry))
    return children


def _tree(root: int, children: dict[int, list[int]]) -> list[int]:
    found, open_ends = [], [root]
    while open_ends:
        pid = open_ends.pop()
        found.append(pid)
        open_ends += children.get(pid, [])
    return found


def _tree_cpu(root: int, children: dict[int, list[int]], without: int = 0) -> float:
    stats = (_stat(pid) for pid in _tree(root, children) if pid != without)
    return sum(stat[1] for stat in stats if stat)


def _machine_cpu() -> float:
    with open("/proc/stat") as file:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_S


def _memory_mb(root: int, key: str) -> float:
    total = 0
    for pid in _tree(root, _children()):
        try:
            with open(f"/proc/{pid}/status") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith(key + ":"))
        except OSError:
            continue
    return total / 1024

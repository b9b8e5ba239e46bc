# SPDX-License-Identifier: Apache-2.0
"""Percentiles over the last seconds, exact to three digits, in bounded memory."""

import time
from collections import Counter, deque
from collections.abc import Callable

PRECISION_BITS = 10  # buckets differ by at most 1/1024 of their value


class Latencies:
    """Counts times in buckets, one set of buckets per second. Sets older than the window are dropped."""

    def __init__(self, window_s: int, clock: Callable[[], float] = time.monotonic):
        self._window_s, self._clock = window_s, clock
        self._seconds: deque[tuple[int, Counter[int]]] = deque()

    def add(self, nanoseconds: int) -> None:
        """Counts one time. A time below 0 counts as 0: the clock was set back."""
        second = int(self._clock())
        if not self._seconds or self._seconds[-1][0] != second:
            self._seconds.append((second, Counter()))
            self._drop_old(second)
        self._seconds[-1][1][_bucket(max(0, nanoseconds // 1000))] += 1

    def quantiles_ms(self, shares: list[float]) -> list[float]:
        """The time that each share of the counted times does not exceed, in ms; 0 if nothing was counted."""
        self._drop_old(int(self._clock()))
        counts: Counter[int] = Counter()
        for _, second in self._seconds:
            counts.update(second)
        buckets, total = sorted(counts), counts.total()
        found = []
        for share in shares:
            rank, value = max(1, round(share * total)), 0.0
            for bucket in buckets:
                rank -= counts[bucket]
                value = _middle_us(bucket) / 1000
                if rank <= 0:
                    break
            found.append(value)
        return found

    def _drop_old(self, second: int) -> None:
        while self._seconds and self._seconds[0][0] <= second - self._window_s:
            self._seconds.popleft()


def _bucket(value: int) -> int:
    """The leading bits of the value, and how far they were shifted, in one number that grows with the value."""
    shift = max(0, value.bit_length() - PRECISION_BITS - 1)
    return (shift << PRECISION_BITS) + (value >> shift)


def _middle_us(bucket: int) -> float:
    """The middle of a bucket."""
    shift = max(0, (bucket >> PRECISION_BITS) - 1)
    return ((bucket - (shift << PRECISION_BITS)) << shift) + ((1 << shift) - 1) / 2

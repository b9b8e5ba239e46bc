# SPDX-License-Identifier: Apache-2.0
"""The variables of the public harness, and three of our own."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """What the harness asks for. Its adapter guide explains the variables."""

    database: str
    scenario: str
    mode: str  # fixed: a rate; depth-target: a number of waiting jobs
    rate: float
    batch_max: int
    batch_s: float
    depth: int
    concurrency: int
    payload: int
    work_ms: int
    sample_s: int
    instance: int
    rate_file: Path | None
    is_paced_by_harness: bool  # the harness sends `ENQUEUE n` on standard input
    window_s: int  # our own: the span of the percentiles
    port: int  # our own: the port of the target, the same for all replicas and after a restart

    @staticmethod
    def from_environment() -> "Settings":
        """Reads the variables. DATABASE_URL is the only one without a default."""
        if not os.environ.get("DATABASE_URL"):
            raise SystemExit("adapter: DATABASE_URL is not set; the harness sets it, see bench/public/README.md")
        rate_file = os.environ.get("PRODUCER_RATE_CONTROL_FILE")
        mode = os.environ.get("PRODUCER_MODE", "fixed")
        if mode not in ("fixed", "depth-target"):
            raise SystemExit(f"adapter: PRODUCER_MODE is {mode}; it must be fixed or depth-target")
        return Settings(
            database=os.environ["DATABASE_URL"],
            scenario=os.environ.get("SCENARIO", "long_horizon"),
            mode=mode,
            rate=_number("PRODUCER_RATE", 800),
            batch_max=max(1, _number("PRODUCER_BATCH_MAX", 128)),
            batch_s=max(1, _number("PRODUCER_BATCH_MS", 25)) / 1000,
            depth=_number("TARGET_DEPTH", 1000),
            concurrency=_number("WORKER_COUNT", 32),
            payload=_number("JOB_PAYLOAD_BYTES", 256),
            work_ms=_number("JOB_WORK_MS", 1),
            sample_s=max(1, _number("SAMPLE_EVERY_S", 5)),
            instance=_number("BENCH_INSTANCE_ID", 0),
            rate_file=Path(rate_file) if rate_file else None,
            is_paced_by_harness=mode == "fixed" and os.environ.get("PRODUCER_PACING") == "harness",
            window_s=max(1, _number("POSTRIDER_BENCH_WINDOW_S", 30)),
            port=_number("POSTRIDER_BENCH_PORT", 22400))

    def current_rate(self) -> float:
        """The rate in the control file, which the harness changes in some phases. Without a file, the first rate."""
        try:
            return float(self.rate_file.read_text()) if self.rate_file else self.rate
        except (OSError, ValueError):
            return self.rate  # the harness is rewriting the file


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    try:
        return int(text)
    except ValueError:
        raise SystemExit(f"adapter: {name} is {text}; it must be a whole number") from None

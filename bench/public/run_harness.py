#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_harness.py CLONE ARGUMENTS…: runs a clone of the public harness without Docker. ARGUMENTS are its own.

CLONE is a checkout of github.com/hardbyte/postgresql-job-queue-benchmarking. The Python that runs this needs the
packages of its pyproject.toml. PostgreSQL is a private cluster, and the adapters run as programs of this machine:
Postrider's, and the harness's own adapter of procrastinate. `bench/run.sh --help` must have made the environment of
the adapters before.
"""

import importlib
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
PYTHON = BENCH.parent / ".postrider/bench-venv/bin/python"
sys.path.insert(0, str(BENCH))
from harness.cluster import Cluster  # noqa: E402


def _import(clone: Path):
    """The modules of the clone that start PostgreSQL and the adapters."""
    sys.path.insert(0, str(clone))
    return importlib.import_module("bench_harness.adapters"), importlib.import_module("bench_harness.orchestrator")


def _use_cluster(adapters, orchestrator, cluster: Cluster) -> None:
    """Replaces the functions that start, stop and address the PostgreSQL of Docker."""
    def url(database: str, host: str = "") -> str:
        return cluster.url(database)

    def keep(_: str) -> None:
        """The cluster runs until the end. With --fast the harness makes a new database for each system."""

    adapters.pg_url = orchestrator.pg_url = url
    orchestrator.start_postgres = orchestrator.stop_postgres = keep


def _add_systems(adapters, clone: Path) -> None:
    """Registers Postrider, and starts procrastinate's adapter without its container."""
    def entry(folder: Path, program: str):
        def launch(manifest, overrides: dict[str, str]):
            return adapters.LaunchSpec(
                argv=[str(PYTHON), "-B", str(folder / program)], env=adapters._base_env(manifest, overrides))

        return adapters.AdapterEntry(bench_dir=folder, builder=lambda _: None, launcher=launch)

    adapters.ADAPTERS["postrider"] = entry(BENCH / "public", "adapter.py")
    adapters.ADAPTERS["procrastinate"] = entry(clone / "procrastinate-bench", "main.py")


def main() -> None:
    """Runs the harness, and removes the cluster afterwards."""
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    clone = Path(sys.argv[1]).resolve()
    adapters, orchestrator = _import(clone)
    with Cluster() as cluster:
        _use_cluster(adapters, orchestrator, cluster)
        _add_systems(adapters, clone)
        sys.exit(orchestrator.main(sys.argv[2:]))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Switchovers and failovers of a highly available PostgreSQL under load: bench/ha/main.py WORKER [OPTIONS]

Builds a cluster of Patroni, etcd, HAProxy and three PostgreSQL nodes on loopback, with two workers. One names all
nodes in its connection string, the other HAProxy. Ends with 1 if a promise was broken.
"""

import argparse
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from ha.cluster import PROGRAMS, HighlyAvailableCluster, wait_until  # noqa: E402
from ha.load import Client  # noqa: E402
from ha.report import UNFINISHED, Evidence, Stored, print_report, write_evidence  # noqa: E402
from ha.rounds import Drill, Round  # noqa: E402
from ha.target import CountingTarget  # noqa: E402
from harness.process import Process  # noqa: E402


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/ha/main.py", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("worker", type=Path, help="the program")
    parser.add_argument("--rounds", type=int, default=2, help="switchovers, and as many failovers; default 2")
    parser.add_argument("--nodes-lost", type=int, default=0, help="rounds that kill Patroni too; default 0")
    parser.add_argument("--asynchronous", action="store_true", help="without synchronous replication: jobs may be lost")
    parser.add_argument("--lag", type=float, default=0.0, metavar="S",
                        help="stop the standbys' WAL receivers so long before each kill")
    parser.add_argument("--first-port", type=int, default=21000, help="takes ten free ports from here on")
    parser.add_argument("--keep-logs", type=Path, help="folder for the logs of all programs")
    return parser.parse_args()


def missing_programs() -> list[str]:
    """The programs that are not installed."""
    return [name for name in PROGRAMS if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")]


def set_up(cluster: HighlyAvailableCluster, worker: Path) -> None:
    """Makes the database with the schema, a login for workers and one for clients."""
    with cluster.connect("postgres") as session:
        session.execute("create database app")
    subprocess.run([worker, "migrate"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "DATABASE_URL": cluster.by_proxy("postgres")})
    with cluster.connect() as session:
        for login, role in [("worker", "postrider_worker"), ("shop", "postrider_client")]:
            session.execute(f"create role {login} login password '{cluster.password}'")
            session.execute(f"grant {role} to {login}")
    # libpq tries no other host if a standby that lags behind does not know the database yet.
    wait_until("each node has the logins", lambda: all(cluster.has_login(node, "shop") for node in cluster.nodes))


def start_workers(cluster: HighlyAvailableCluster, program: Path, target: CountingTarget) -> dict[str, Process]:
    """Two workers: one names all nodes, the other the proxy."""
    workers = {}
    for name, database in [("hosts", cluster.by_hosts("worker")), ("haproxy", cluster.by_proxy("worker"))]:
        process = Process(f"worker {name}", [str(program), "run", "--concurrency", "32", "--allow-private",
                                             "--log-format", "json"],
                          cluster.folder / f"worker-{name}.log", {"DATABASE_URL": database}, on_orphaned="TERM")
        workers[name] = process
        target.workers[process.pid] = name
    return workers


def run(options: argparse.Namespace, cluster: HighlyAvailableCluster) -> bool:
    """All rounds, then the check. Returns whether every promise was kept."""
    set_up(cluster, options.worker)
    with CountingTarget(cluster.target_port).serving() as target:
        workers = start_workers(cluster, options.worker, target)
        url = f"http://127.0.0.1:{target.port}/calls"
        paths = {"hosts": cluster.by_hosts("shop"), "haproxy": cluster.by_proxy("shop")}
        clients = [Client(f"{path}{number}", path, database, url)
                   for path, database in paths.items() for number in (1, 2)]

        def check() -> None:
            for process in workers.values():
                process.check()

        try:
            for client in clients:
                client.start()
            drill = Drill(cluster, target, clients, list(workers), check, options.lag)
            drill.wait_for_traffic()
            rounds = run_rounds(options, drill)
            for client in clients:
                client.stop()
            with cluster.connect() as session:
                wait_until("all jobs have ended", lambda: session.execute(UNFINISHED).fetchone() == (0,), 120)
                stored = Stored.read(session)
            check()
        finally:
            for client in clients:
                client.stop()
            for process in workers.values():
                process.stop()
        logs = {name: process.log for name, process in workers.items()}
        evidence = Evidence(rounds, clients, target, stored)
        if options.keep_logs:
            options.keep_logs.mkdir(parents=True, exist_ok=True)
            write_evidence(options.keep_logs / "evidence.json", evidence)
        return print_report(evidence, logs, clients)


def run_rounds(options: argparse.Namespace, drill: Drill) -> list[Round]:
    """Switchovers and failovers take turns, then nodes are lost."""
    kinds = [*itertools.chain.from_iterable([("switchover", "failover")] * options.rounds),
             *["node"] * options.nodes_lost]
    rounds = []
    for number, kind in enumerate(kinds, 1):
        started = time.monotonic()
        one = drill.run(kind)
        rounds.append(one)
        print(f"ha: {number}/{len(kinds)} {kind} from {one.old} to {one.new}: primary after "
              f"{one.promoted - one.began:.1f} s, traffic after {one.ended - one.began:.1f} s, "
              f"round took {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return rounds


def keep_logs(folder: Path, cluster: HighlyAvailableCluster) -> None:
    """Copies the logs of all programs."""
    for log in [*cluster.folder.glob("*.log"), *cluster.folder.glob("*/*.log")]:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, folder / str(log.relative_to(cluster.folder)).replace("/", "-"))


def main() -> int:
    """Runs everything. SIGTERM ends it like Ctrl-C, so that the cluster is removed."""
    options = arguments()
    options.worker = options.worker.resolve()
    if missing := missing_programs():
        print(f"ha: not installed: {', '.join(missing)}; scripts/setup.sh --for-ha installs them", file=sys.stderr)
        return 69
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    with HighlyAvailableCluster(options.first_port, not options.asynchronous) as cluster:
        try:
            return 0 if run(options, cluster) else 1
        finally:
            if options.keep_logs:
                keep_logs(options.keep_logs, cluster)


if __name__ == "__main__":
    sys.exit(main())

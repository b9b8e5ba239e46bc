# SPDX-License-Identifier: Apache-2.0
"""Three PostgreSQL nodes under Patroni with etcd and HAProxy, on loopback, in one folder that is removed at the end."""

import json
import os
import secrets
import shutil
import signal
import socket
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psycopg

from harness.cluster import server_programs
from harness.process import Process

HERE = Path(__file__).resolve().parent
NAMES = ["a", "b", "c"]
PROGRAMS = ["etcd", "patroni", "haproxy"]


def wait_until(what: str, condition: Callable[[], object], seconds: float = 60) -> None:
    """Polls until the condition holds. Raises TimeoutError with the name of the condition after that many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds:.0f} s still not: {what}")
        time.sleep(0.05)


def free_ports(first: int, count: int) -> list[int]:
    """The first free loopback ports from `first` on."""
    found: list[int] = []
    for port in range(first, 32768):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise SystemExit(f"ha: no {count} free ports from {first} on")


class Node:
    """One Patroni with its PostgreSQL."""

    def __init__(self, name: str, folder: Path, port: int, rest_port: int):
        self.name, self.folder, self.port, self.rest_port = name, folder, port, rest_port
        self.patroni: Process | None = None

    def ask(self, path: str, body: dict[str, str] | None = None, seconds: float = 60) -> str:
        """The answer of the REST server; raises OSError if the server is away."""
        data = json.dumps(body).encode() if body else None
        with urllib.request.urlopen(f"http://127.0.0.1:{self.rest_port}{path}", data, timeout=seconds) as answer:
            return answer.read().decode()

    def postmaster(self) -> int | None:
        """The process id of the running postmaster."""
        try:
            pid = int((self.folder / "data/postmaster.pid").read_text().split("\n", 1)[0])
            is_own = str(self.folder) in Path(f"/proc/{pid}/cmdline").read_text()
        except (OSError, ValueError):
            return None
        return pid if is_own else None

    def wal_receivers(self) -> list[int]:
        """The process ids of the WAL receivers: children of the postmaster with that title."""
        postmaster, found = self.postmaster(), []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(status.read_text().rsplit(")", 1)[1].split()[1])
                title = (status.parent / "cmdline").read_text()
            except OSError:
                continue
            if parent == postmaster and "walreceiver" in title:
                found.append(int(status.parent.name))
        return found


class HighlyAvailableCluster:
    """Owns etcd, the nodes, HAProxy and their folder."""

    def __init__(self, first_port: int, synchronous: bool):
        self._user = "postgres" if os.geteuid() == 0 else None
        self._synchronous = synchronous
        self.password = secrets.token_hex(16)
        self.folder = Path(tempfile.mkdtemp(prefix="postrider-ha-", dir="/var/tmp"))
        self._etcd_port, self._peer_port, self._proxy_port, self.target_port, *ports = free_ports(first_port, 10)
        self.nodes = [Node(name, self.folder / name, *ports[2 * number:2 * number + 2])
                      for number, name in enumerate(NAMES)]
        self._others: list[Process] = []

    def __enter__(self) -> "HighlyAvailableCluster":
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.nodes:
            if node.patroni:
                node.patroni.stop()
            # A killed Patroni leaves its server behind.
            if pid := node.postmaster():
                os.kill(pid, signal.SIGQUIT)
        for process in reversed(self._others):
            process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def by_hosts(self, user: str, database: str = "app") -> str:
        """A connection string that names all nodes."""
        ports = ",".join(str(node.port) for node in self.nodes)
        hosts = ",".join("127.0.0.1" for _ in self.nodes)
        return (f"host={hosts} port={ports} dbname={database} user={user} password={self.password} "
                "target_session_attrs=read-write connect_timeout=3")

    def by_proxy(self, user: str, database: str = "app") -> str:
        """A connection string that names HAProxy only."""
        return (f"host=127.0.0.1 port={self._proxy_port} dbname={database} user={user} password={self.password} "
                "connect_timeout=3")

    def connect(self, database: str = "app") -> psycopg.Connection:
        """A superuser's session on the primary."""
        return psycopg.connect(self.by_hosts("postgres", database), autocommit=True)

    def has_login(self, node: Node, user: str) -> bool:
        """Whether the node accepts this login. A standby does so once it has replayed its creation."""
        try:
            psycopg.connect(host="127.0.0.1", port=node.port, dbname="app", user=user, password=self.password).close()
        except psycopg.OperationalError:
            return False
        return True

    def members(self) -> dict[str, dict[str, object]]:
        """What Patroni says about each node, by name; empty if no REST server answers."""
        for node in self.nodes:
            try:
                return {member["name"]: member for member in json.loads(node.ask("/cluster", seconds=2))["members"]}
            except (OSError, ValueError):
                continue
        return {}

    def primary(self) -> Node | None:
        """The node that holds the leader key and runs as primary."""
        for node in self.nodes:
            if self.members().get(node.name, {}).get("role") == "leader" and self._is_primary(node):
                return node
        return None

    def is_healthy(self) -> bool:
        """One primary, two standbys on its timeline that stream, and one of them synchronous if that is wanted."""
        members = list(self.members().values())
        standbys = [member for member in members if member["role"] != "leader"]
        leaders = [member for member in members if member["role"] == "leader" and member["state"] == "running"]
        return (len(leaders) == 1 and len(standbys) == len(NAMES) - 1 and self.primary() is not None
                and all(member["state"] in ("running", "streaming") and member.get("lag") == 0
                        and member.get("timeline") == leaders[0].get("timeline") for member in standbys)
                and any(member["role"] == "sync_standby" for member in standbys) == self._synchronous
                and self._streams() == len(standbys))

    def start_patroni(self, node: Node) -> None:
        """Starts the Patroni of a node, which starts its PostgreSQL."""
        node.patroni = Process(f"patroni {node.name}", ["patroni", str(node.folder / "patroni.yml")],
                               node.folder / "patroni.log", user=self._user, on_orphaned="TERM")

    def _is_primary(self, node: Node) -> bool:
        try:
            node.ask("/primary", seconds=2)
        except OSError:
            return False
        return True

    def _streams(self) -> int:
        try:
            with self.connect("postgres") as session:
                row = session.execute("select count(*) from pg_stat_replication where state = 'streaming'").fetchone()
        except psycopg.OperationalError:
            return 0
        return row[0] if row else 0

    def _start(self) -> None:
        for variable in [name for name in os.environ if name.startswith(("PG", "PATRONI_", "ETCD_"))]:
            del os.environ[variable]
        for folder in [self.folder, *(node.folder for node in self.nodes)]:
            folder.mkdir(exist_ok=True)
            folder.chmod(0o700)
            if self._user:
                shutil.chown(folder, self._user, self._user)
        self._run("etcd", ["etcd", "--name", "etcd", "--data-dir", str(self.folder / "etcd"), "--log-level", "warn",
                           *self._etcd_addresses()])
        wait_until("etcd answers", lambda: socket.socket().connect_ex(("127.0.0.1", self._etcd_port)) == 0)
        for node in self.nodes:
            self._write(node.folder / "patroni.yml", "patroni.yml.in", NAME=node.name, PORT=node.port,
                        REST_PORT=node.rest_port, ETCD_PORT=self._etcd_port, FOLDER=node.folder,
                        PROGRAMS=server_programs(), PASSWORD=self.password,
                        SYNCHRONOUS="true" if self._synchronous else "false")
            self.start_patroni(node)
        servers = "\n".join(f"  server {node.name} 127.0.0.1:{node.port} check port {node.rest_port}"
                            for node in self.nodes)
        self._write(self.folder / "haproxy.cfg", "haproxy.cfg.in", FOLDER=self.folder, PROXY_PORT=self._proxy_port,
                    SERVERS=servers)
        self._run("haproxy", ["/usr/sbin/haproxy", "-db", "-f", str(self.folder / "haproxy.cfg")])
        wait_until("the cluster is healthy", self._is_up, 120)

    def _is_up(self) -> bool:
        for process in [*self._others, *(node.patroni for node in self.nodes if node.patroni)]:
            process.check()
        return self.is_healthy()

    def _etcd_addresses(self) -> list[str]:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, self._peer_port))
        return ["--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
                "--initial-advertise-peer-urls", peer, "--initial-cluster", f"etcd={peer}"]

    def _run(self, name: str, command: list[str]) -> None:
        self._others.append(Process(name, command, self.folder / f"{name}.log", user=self._user))

    def _write(self, path: Path, template: str, **values: object) -> None:
        text = (HERE / template).read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", str(value))
        path.write_text(text)
        path.chmod(0o600)
        if self._user:
            shutil.chown(path, self._user, self._user)

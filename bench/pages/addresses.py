# SPDX-License-Identifier: Apache-2.0
"""The addresses to measure: each page, filter and combination, and the confirmation of each act."""

from dataclasses import dataclass
from urllib.parse import urlencode

import psycopg

# One job for each place in the life of a job. Null: there is no such job.
JOBS = {
    "that succeeded days ago": "select min(id) + 30 from postrider.jobs",
    "that has failed": "select max(job_id) from postrider_internal.results where state = 'f' and error_code = 'http_status'",
    "with two attempts": "select max(job_id) from postrider_internal.past_attempts",
    "whose call is unknown": "select max(job_id) from postrider_internal.results where state = 'u'",
    "that was cancelled": "select max(job_id) from postrider_internal.results where state = 'c'",
    "that waits for its retry": "select max(job_id) from postrider_internal.scheduled where attempt > 0",
    "that is scheduled": "select max(job_id) from postrider_internal.scheduled where attempt = 0",
    "that is ready behind others": "select max(r.job_id) from postrider_internal.ready r join postrider.jobs j"
                                   " on j.id = r.job_id where j.queue = 'bulk'",
    "that is ready in a paused lane": "select max(r.job_id) from postrider_internal.ready r join postrider.jobs j"
                                      " on j.id = r.job_id where j.lane = 'tenant 41'",
    "whose call is running": "select max(job_id) from postrider_internal.ready where worker > 0",
    "of an operation": "select max(id) from postrider.jobs where operation is not null",
    "of the cache": "select max(id) from postrider.jobs where cache_ttl is not null",
    "of a schedule": "select max(last_job_id) from postrider.schedules",
    "with 10,000 ended members": "select job_id from postrider_internal.trees where children = 10000 and state = 's'",
    "with 10,000 open members": "select job_id from postrider_internal.trees where children = 10000 and state = 'o'",
    "of such a batch": "select m.job_id from postrider_internal.members m join postrider_internal.trees t"
                       " on t.job_id = m.parent_id where t.children = 10000 and t.state = 'o' and m.position = 9000",
    "that is a chain of 200 steps": "select job_id from postrider_internal.trees where children = 200",
    "in the middle of a chain": "select m.job_id from postrider_internal.members m join postrider_internal.trees t"
                                " on t.job_id = m.parent_id where t.children = 100 and m.position = 50",
}
MEMBERS = {"with 10,000 ended members": ["", "/5000"], "with 10,000 open members": ["", "/9900"],
           "that is a chain of 200 steps": [""]}
STATES = ["waiting", "scheduled", "ready", "running", "succeeded", "failed", "cancelled", "expired", "skipped",
          "unknown"]
FAILURE = {"error_code": "http_status", "status": "503"}
# The filters of /jobs. `none` exists nowhere.
FILTERS: list[dict[str, str]] = [
    {}, {"limit": "1000"}, *({"state": state} for state in STATES),
    *({"queue": queue} for queue in ("default", "mail", "bulk", "none")),
    *({"lane": lane} for lane in ("tenant 7", "exports", "none")),
    *({"service": service} for service in ("service 3", "none")),
    *({"operation": operation} for operation in ("orders.read_7", "none")),
    *({"tag": tag} for tag in ("import 7", "campaign 3", "none")),
    *({"error_code": code} for code in ("http_status", "timeout", "envelope", "expired", "dns")),
    *({"error_name": name} for name in ("user_not_found", "none")),
    *({"status": status} for status in ("200", "404", "503", "418")),
    *({"url": part} for part in ("orders/77", "none")),
    {"state": "failed", "lane": "tenant 7"}, {"state": "failed", "service": "service 3"},
    {"state": "failed", "queue": "mail"}, {"state": "failed", "tag": "import 7"},
    {"state": "failed", **FAILURE, "service": "service 1"}, {"state": "failed", "url": "none"},
    {"state": "succeeded", "service": "none"}, {"state": "succeeded", "queue": "mail"},
    {"state": "succeeded", "lane": "tenant 7", "queue": "mail"}, {"state": "succeeded", "tag": "import 7"},
    {"state": "succeeded", "status": "404"}, {"state": "succeeded", "url": "orders/77"},
    {"state": "ready", "lane": "tenant 7"}, {"state": "ready", "queue": "bulk"},
    {"state": "ready", "queue": "default"}, {"state": "ready", "service": "none"},
    {"state": "ready", "tag": "campaign 3"}, {"state": "ready", "url": "none"},
    {"state": "scheduled", "lane": "tenant 7"}, {"state": "scheduled", "queue": "mail"},
    {"state": "scheduled", "service": "none"}, {"state": "scheduled", "queue": "none"},
    {"state": "waiting", "queue": "none"}, {"state": "ready", "queue": "none"}, {"state": "failed", "queue": "none"},
    {"state": "succeeded", "queue": "none"}, {"state": "running", "lane": "exports"},
    {"state": "running", "queue": "mail"}, {"state": "waiting", "lane": "tenant 41"},
    {"state": "waiting", "queue": "mail"}, {"state": "expired", "lane": "none"},
    {"state": "cancelled", "queue": "default"}, {"tag": "import 7", "service": "none"},
    {"queue": "mail", "lane": "tenant 7"}, {"queue": "mail", "url": "none"},
]
FAILURES: list[dict[str, str]] = [
    {}, {"state": "unknown"}, {"state": "expired"}, {"queue": "mail"}, {"lane": "tenant 7"}, {"lane": "none"},
    {"service": "service 3"}, {"service": "none"}, {"operation": "none"}, {"tag": "import 7"}, FAILURE,
    {"error_name": "user_not_found"}, {"url": "fail/404"}, {"url": "none"}, {"error_code": "dns"},
]
LISTS: list[tuple[str, dict[str, str]]] = [
    ("/queues", {}), ("/lanes", {}), ("/lanes", {"page": "2"}), ("/lanes", {"page": "5"}), ("/services", {}),
    ("/services", {"page": "2"}), ("/services", {"service": "eu 3"}), ("/operations", {}),
    ("/operations", {"service": "service 3"}), ("/credentials", {}), ("/schedules", {}), ("/workers", {}),
    ("/cache", {}), ("/clients", {}), ("/log", {}),
]
CHARTED = [("/", {}), ("/", {"queue": "mail"}), ("/", {"lane": "tenant 7"}), ("/", {"service": "none"}),
           ("/queues", {"queue": "bulk"}), ("/queues", {"queue": "mail"}), ("/lanes", {"lane": "tenant 7"}),
           ("/services", {"service": "service 3"})]
# The page that confirms an act on many jobs counts them first.
BULK: list[dict[str, str]] = [
    {"do": "retry", "state": "failed"}, {"do": "retry", **FAILURE}, {"do": "retry", "lane": "tenant 7"},
    {"do": "retry", "service": "none"}, {"do": "retry", "tag": "import 7"}, {"do": "retry", "url": "none"},
    {"do": "retry", "state": "succeeded", "service": "service 3"}, {"do": "retry", "state": "unknown"},
    {"do": "retry", "state": "succeeded", "lane": "none"}, {"do": "cancel", "queue": "bulk"},
    {"do": "cancel", "service": "service 3"}, {"do": "cancel", "lane": "tenant 7"}, {"do": "cancel", "tag": "none"},
    {"do": "cancel", "url": "none"}, {"do": "reschedule", "queue": "default"},
    {"do": "reschedule", "lane": "tenant 7"}, {"do": "reschedule", "state": "scheduled", "service": "none"},
]
SINGLE = [
    {"do": "pause-queue", "queue": "bulk"}, {"do": "pause-lane", "lane": "tenant 7"},
    {"do": "resume-lane", "lane": "tenant 41"}, {"do": "run-schedule", "schedule": "report 7"},
    {"do": "switch-server", "service": "eu 3", "environment": "release", "position": "2"},
    {"do": "log-out", "credential": "login 3"},
]


@dataclass(frozen=True)
class Address:
    """A group of the table, the text of its row, and the path to request."""

    group: str
    label: str
    path: str


def addresses(session: psycopg.Connection) -> list[Address]:
    """All addresses. Ids and times come from the database."""
    found = []

    def add(group: str, path: str, arguments: dict[str, str], label: str | None = None) -> None:
        text = "&".join(f"{name}={value}" for name, value in arguments.items())
        found.append(Address(group, (label or path) + (f"?{text}" if text else ""),
                             path + (f"?{urlencode(arguments)}" if arguments else "")))

    for path, arguments in CHARTED:
        for span in ("1h", "24h", "7d"):
            add("overview" if path == "/" else "charts", path, {**arguments, "range": span})
    for arguments in FILTERS:
        add("jobs", "/jobs", arguments)
    for times in _times(session):
        for arguments in ({}, {"state": "failed"}, {"state": "succeeded"}, {"service": "service 3"}):
            add("jobs in a time", "/jobs", {**arguments, **times})
        for arguments in ({}, {"service": "service 3"}, {"error_code": "timeout"}):
            add("failures", "/failures", {**arguments, **times})
    row = session.execute("select max(id) / 2 from postrider.jobs").fetchone()
    assert row
    for arguments in ({}, *({"state": state} for state in STATES), {"queue": "mail"}, {"tag": "import 7"},
                      {"service": "none"}, {"state": "failed", "lane": "tenant 7"}):
        add("jobs from the middle on", "/jobs", {**arguments, "before": str(row[0])})
    _add_jobs(session, add)
    for arguments in FAILURES:
        add("failures", "/failures", arguments)
    for path, arguments in LISTS:
        add("lists", path, arguments)
    for arguments in BULK:
        add("count before an act on many jobs", "/act", arguments)
    for arguments in SINGLE:
        add("confirmation of one act", "/act", arguments)
    add("metrics", "/metrics", {})
    return found


def _add_jobs(session: psycopg.Connection, add) -> None:
    for name, query in JOBS.items():
        row = session.execute(query).fetchone()
        if not row or row[0] is None:
            raise SystemExit(f"bench: there is no job {name}")
        path = f"/jobs/{row[0]}"
        add("one job", path, {}, f"a job {name}")
        for place in MEMBERS.get(name, []):
            add("one job", f"{path}/members{place}", {}, f"a job {name}: its members{' from' if place else ''}"
                                                         f"{place.replace('/', ' ')}")
        if name == "that has failed":
            add("one job", f"{path}/body", {}, f"a job {name}: its body")
            add("confirmation of one act", "/act", {"do": "retry", "id": str(row[0])}, "/act: retry a job")


def _times(session: psycopg.Connection) -> list[dict[str, str]]:
    """Spans of time: the last hour, the time before some days, and a day between."""
    row = session.execute(
        "select " + ", ".join(f"to_char(now() at time zone 'UTC' - interval '{past}', 'YYYY-MM-DD HH24:MI')"
                              for past in ("1 hour", "6 days", "5 days"))).fetchone()
    assert row
    return [{"since": row[0]}, {"until": row[1]}, {"since": row[1], "until": row[2]}]

# SPDX-License-Identifier: Apache-2.0
"""Checks what was promised, and prints the figures of all rounds."""

import json
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import psycopg

from ha.load import DELAY_S, Client, Insert
from ha.rounds import Round
from ha.target import Call, CountingTarget

JOBS = "select tag, id, state, coalesce(error_code, '') from postrider.job_status"
ATTEMPTS = """
select j.tag, array_agg(coalesce(a.error_code, 'none') order by a.attempt)
  from postrider.attempts a join postrider.jobs j on j.id = a.job_id group by 1
"""
RESTORES = "select found_at::text, lost_leases, unknown_jobs, above_id from postrider.restores order by found_at"
UNFINISHED = "select count(*) from postrider.job_status where state in ('waiting', 'scheduled', 'ready', 'running')"


@dataclass
class Stored:
    """What the database holds at the end: the state and error of each job, and the errors of its attempts."""

    jobs: dict[str, tuple[str, str, int]]
    attempts: dict[str, list[str]]
    restores: list[tuple[str, int, int, int]]

    @classmethod
    def read(cls, session: psycopg.Connection) -> "Stored":
        """Reads both."""
        jobs = {tag: (state, error, number) for tag, number, state, error in session.execute(JOBS)}
        return cls(jobs, dict(session.execute(ATTEMPTS).fetchall()), session.execute(RESTORES).fetchall())


def quantiles(values: list[float]) -> str:
    """p50, p99 and the maximum in ms. The p99 of up to 100 values is their maximum."""
    if not values:
        return "-"
    ordered = sorted(values)
    shown = (ordered[max(0, math.ceil(share * len(ordered)) - 1)] for share in (0.5, 0.99, 1.0))
    return " / ".join(f"{value * 1000:,.0f}" for value in shown)


def longest_gap(times: list[float], begin: float, end: float) -> float:
    """The longest time without an event that overlaps the period. The last event before it counts too."""
    ordered = sorted(times)
    before = [time for time in ordered if time < begin][-1:]
    inside = [time for time in ordered if begin <= time <= end] + [time for time in ordered if time > end][:1]
    points = before + inside
    return max((b - a for a, b in zip(points, points[1:])), default=0.0)


class Evidence:
    """All inserts and calls of a run, sorted by job."""

    def __init__(self, rounds: list[Round], clients: list[Client], target: CountingTarget, stored: Stored):
        self.rounds, self.stored, self.calls = rounds, stored, list(target.calls)
        self.inserts: dict[str, Insert] = {i.tag: i for client in clients for i in client.inserts}
        self.calls_of: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls:
            self.calls_of[call.tag].append(call)

    def violations(self) -> dict[str, list[str]]:
        """The broken promises, each with the jobs that show it. All lists must be empty."""
        jobs, acknowledged = self.stored.jobs, [i for i in self.inserts.values() if i.acknowledged]
        kept = [i for i in acknowledged if i.tag in jobs]
        tags_of = defaultdict(set)
        for call in self.calls:
            tags_of[call.key].add(call.tag)
        return {
            "acknowledged jobs that are lost": [i.tag for i in acknowledged if i.tag not in jobs],
            "at_most_once jobs called twice": [
                tag for tag, calls in self.calls_of.items() if self.inserts[tag].at_most_once and len(calls) > 1],
            "at_least_once jobs that did not succeed": [
                i.tag for i in kept if not i.at_most_once and jobs[i.tag][0] != "succeeded"],
            "at_most_once jobs neither succeeded nor unknown": [
                i.tag for i in kept if i.at_most_once and jobs[i.tag][0] not in ("succeeded", "unknown")],
            "succeeded jobs without a call": [
                tag for tag, (state, *_) in jobs.items() if state == "succeeded" and not self.calls_of.get(tag)],
            "jobs with several Idempotency-Keys": [
                tag for tag, calls in self.calls_of.items() if len({call.key for call in calls}) > 1],
            "Idempotency-Keys of several jobs": [key for key, tags in tags_of.items() if len(tags) > 1],
        }

    def repeats(self) -> Counter[tuple[str, str, str]]:
        """How many calls were repeated, by the kind of the fault, the earlier call, and the errors of the attempts."""
        counts: Counter[tuple[str, str, str]] = Counter()
        for tag, calls in self.calls_of.items():
            for earlier, later in zip(calls, calls[1:]):
                fault = next((r for r in reversed(self.rounds) if r.began <= later.arrived), None)
                errors = sorted(set(self.stored.attempts.get(tag, [])) - {"none"}) or ["no attempt counted"]
                counts[fault.kind if fault else "no fault", self._moment(earlier, fault), ", ".join(errors)] += 1
        return counts

    def _moment(self, call: Call, fault: Round | None) -> str:
        """Where the call was when the old primary stored the last INSERT."""
        if fault is None:
            return "without a fault"
        stored = [i.acknowledged for i in self.inserts.values() if i.acknowledged and i.acknowledged < fault.promoted]
        last = self._last_before_gap(sorted(stored), fault)
        if call.arrived > last:
            return "called after the primary stopped"
        if call.answered is None or call.answered > last:
            return "under way when the primary stopped"
        return "answered, result not stored"

    @staticmethod
    def _last_before_gap(acknowledged: list[float], fault: Round) -> float:
        points = [time for time in acknowledged if time >= fault.began - 1] + [fault.promoted]
        return max(zip(points, points[1:]), key=lambda pair: pair[1] - pair[0], default=(fault.began, 0.0))[0]

    def pauses(self, kind: str) -> dict[str, list[float]]:
        """For each path the pause of each round: between two acknowledged INSERTs, and between two calls."""
        found: dict[str, list[float]] = defaultdict(list)
        inserts, calls = defaultdict(list), defaultdict(list)
        for insert in self.inserts.values():
            if insert.acknowledged:
                inserts[insert.path].append(insert.acknowledged)
        for call in self.calls:
            calls[call.worker].append(call.arrived)
        for r in (r for r in self.rounds if r.kind == kind):
            for path, times in sorted(inserts.items()):
                found[f"no INSERT, {path}"].append(longest_gap(times, r.began, r.ended))
            for worker, times in sorted((worker, times) for worker, times in calls.items() if worker):
                found[f"no call, {worker}"].append(longest_gap(times, r.began, r.ended))
            every = [time for times in calls.values() for time in times]
            found["no call by any worker"].append(longest_gap(every, r.began, r.ended))
            found["fault to new primary"].append(r.promoted - r.began)
        return found

    def delays(self, kind: str | None) -> list[float]:
        """From the acknowledged INSERT, or run_at, to the first call, for jobs inserted in rounds of the kind."""
        found = []
        for tag, insert in self.inserts.items():
            if insert.acknowledged and self.calls_of.get(tag):
                moment = insert.acknowledged
                near = next((r.kind for r in self.rounds if r.began - DELAY_S <= moment <= r.ended), None)
                if near == kind and not insert.delayed:
                    found.append(max(0.0, self.calls_of[tag][0].arrived - moment))
        return found


def write_evidence(path: Path, evidence: Evidence) -> None:
    """Writes all inserts, calls, rounds and ended jobs as JSON, for a closer look."""
    path.write_text(json.dumps({
        "rounds": [vars(r) for r in evidence.rounds], "inserts": [vars(i) for i in evidence.inserts.values()],
        "calls": [vars(call) for call in evidence.calls], **vars(evidence.stored)}))


def print_report(evidence: Evidence, logs: dict[str, Path], clients: list[Client]) -> bool:
    """Prints all tables. Returns whether every promise was kept."""
    kinds = list(dict.fromkeys(r.kind for r in evidence.rounds))
    for kind in kinds:
        count = sum(r.kind == kind for r in evidence.rounds)
        print(f"\n{kind}, {count} rounds: p50 / p99 / max in ms")
        for name, values in evidence.pauses(kind).items():
            print(f"  {name:34}{quantiles(values)}")
        print(f"  {'INSERT to call, job in the round':34}{quantiles(evidence.delays(kind))}")
    print(f"\nbetween the rounds\n  {'INSERT to call':34}{quantiles(evidence.delays(None))}")
    jobs, inserts = evidence.stored.jobs, evidence.inserts.values()
    states = Counter((i.at_most_once, jobs.get(i.tag, ("absent",))[0]) for i in inserts)
    acknowledged = sum(i.acknowledged is not None for i in inserts)
    print(f"\n{len(inserts)} INSERTs, {acknowledged} acknowledged, {len(evidence.calls)} calls")
    for (once, state), count in sorted(states.items()):
        print(f"  {'at_most_once' if once else 'at_least_once':16}{state:12}{count}")
    errors = Counter()
    for client in clients:
        errors.update(client.errors)
    print(f"errors of clients by SQLSTATE: {dict(sorted(errors.items()))}")
    print("\nrepeated calls: fault, earlier call, errors of attempts")
    for (fault, moment, error), count in sorted(evidence.repeats().items()):
        print(f"  {count:6}  {fault}; {moment}; {error}")
    for name, log in logs.items():
        events = Counter(json.loads(line)["event"] for line in log.read_text().splitlines() if line.startswith("{"))
        print(f"log of {name}: " + ", ".join(f"{event} {count}" for event, count in sorted(events.items())))
    print("\nmust be 0")
    violations = evidence.violations()
    for name, found in violations.items():
        print(f"  {len(found):6}  {name}{': ' + ', '.join(found[:5]) if found else ''}")
    return not any(violations.values())

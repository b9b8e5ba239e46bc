# SPDX-License-Identifier: Apache-2.0
"""Postrider through its public surface, except for an internal table that counts results at no cost."""

import os
import subprocess
from pathlib import Path

from contenders.contender import Contender


def _hits(service: str, base: str) -> str:
    """Stores 100 answers, as large as those of nginx, then adds `count` jobs that they serve."""
    return (
        "with stored as materialized (select count(postrider.cache_put("
        f"jsonb_build_object('service', {service}, 'url', {base} || 'call/' || i),"
        " jsonb_build_object('answer', repeat('x', 286)))) from generate_series(1, 100) i)"
        " insert into postrider.jobs (service, url, cache_ttl)"
        f" select {service}, {base} || 'call/' || 1 + i %% 100, '1 hour'"
        " from stored, generate_series(1, %(count)s) i")


class Postrider(Contender):
    """The worker in POSTRIDER_WORKER, by default the release build."""

    name = "postrider"
    load_sql = "insert into postrider.jobs (url) select %(url)s::text from generate_series(1, %(count)s)"
    load_later_sql = (
        "insert into postrider.jobs (url, run_at)"
        " select %(url)s::text, now() + interval '1 day' from generate_series(1, %(count)s)")
    insert_sql = "insert into postrider.jobs (url) values (%s::text)"
    insert_many_sql = "insert into postrider.jobs (url) select unnest(%s::text[])"
    # The table is chosen at run time, so that builds with one schema and with two can be measured in turn.
    finished_sql = (
        "select (xpath('//count/text()', query_to_xml(format('select count(*) from %s', coalesce("
        "to_regclass('postrider_internal.results'), to_regclass('postrider.results'))), false, true, '')))[1]"
        "::text::bigint")
    kept_sql = (
        "select count(*) from postrider.job_status"
        " where state = 'succeeded' and status_code = 200 and length(body) > 200")
    claim_pattern = "%postrider%.claim(%"
    jobs_table = "postrider.jobs"
    event_tables = ("postrider_internal.jobs_1", "postrider_internal.ready", "postrider_internal.results_1")
    depth_sql = "select coalesce(sum(ready), 0)::bigint from postrider.queue_status"
    added_sql = "select count(*) from postrider.jobs"
    succeeded_sql = "select count(*) from postrider_internal.results where state = 's'"
    load_batches_sql = (
        "with b as (insert into postrider.jobs (kind)"
        " select 'batch' from generate_series(1, %(count)s / %(size)s) returning id)"
        " insert into postrider.jobs (parent_id, url) select b.id, %(url)s::text from b, generate_series(1, %(size)s)")
    load_chain_sql = (
        "with c as (insert into postrider.jobs (kind) values ('chain') returning id)"
        " insert into postrider.jobs (parent_id, position, url)"
        " select c.id, n, %(url)s::text || (n - 1) from c, generate_series(1, %(count)s) n")
    load_lanes_sql = (
        "insert into postrider.jobs (lane, url)"
        " select 'lane ' || i %% %(lanes)s, %(url)s::text from generate_series(0, %(count)s - 1) i")
    limit_sql = "insert into postrider.lanes (name, max_in_flight, rate_limit) values ('lane 0', %(calls)s, %(rate)s)"
    service_sql = (
        "with added as (insert into postrider.services (name, base_url, headers, query, timeout) values"
        " ('bench', %(base)s, '{\"Accept\": \"application/json\"}', '{\"key\": 7}', '10 s') returning name)"
        " select name from added")
    load_service_sql = (
        "insert into postrider.jobs (service, url) select 'bench', 'call' from generate_series(1, %(count)s)")
    rich_setup_sql = (
        "insert into postrider.credentials (name, kind) values ('bench', 'bearer')",
        "select postrider.log_in('bench', '{\"access_token\": \"t1\"}')",
        "insert into postrider.services (name, base_url, credential, envelope) values ('bench_rich', %(base)s, 'bench',"
        " '{\"code\": \"$.order.currency\", \"success\": [\"EUR\"], \"result\": \"$.order\"}')",
        "insert into postrider.operations (name, service, arguments, spec) values ('ask', 'bench_rich',"
        " '{\"id\": \"number\"}', '{\"url\": \"call/{{arg.id}}\", \"cache_ttl\": \"1 hour\","
        " \"validator\": {\"accepted\": \"boolean\", \"id\": \"string\", \"message\": \"string\", \"order\": \"object\"}}')",
    )
    load_rich_sql = (
        "insert into postrider.jobs (operation, arguments)"
        " select 'ask', jsonb_build_object('id', i) from generate_series(1, %(count)s) i")
    load_hits_sql = _hits("null", "%(base)s::text || '/'")
    load_service_hits_sql = _hits("'bench'", "''")

    def __init__(self, repository: Path, build: Path):
        super().__init__(repository, build)
        program = Path(os.environ.get("POSTRIDER_WORKER", repository / ".build/release/worker")).absolute()
        if not program.exists():
            raise SystemExit(f"bench: {program} is not there; run `make build` first, or set POSTRIDER_WORKER")
        self._program = str(program)

    def version(self) -> str:
        done = subprocess.run([self._program, "--version"], capture_output=True, text=True, check=True)
        return done.stdout.split()[-1]

    def prepare(self, url: str) -> None:
        self.install([self._program, "migrate", "--database", url])

    def command(self, url: str, concurrency: int) -> list[str]:
        return self.command_without_calls(url, concurrency) + ["--allow-private"]

    def command_without_calls(self, url: str, concurrency: int) -> list[str]:
        return [self._program, "--concurrency", str(concurrency), "--database", url]
